fn main() {
    println!("cargo::rustc-link-arg=--growable-table");
}
