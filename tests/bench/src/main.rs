//! The same as `cargo bench`, as a program that the tests can start, and the servers that it measures as children.

fn main() -> std::process::ExitCode {
    mizzen_bench::main()
}
