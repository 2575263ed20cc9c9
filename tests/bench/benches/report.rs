//! `cargo bench -p mizzen-bench [-- FILTER] [--quick | --long]`.

fn main() -> std::process::ExitCode {
    mizzen_bench::main()
}
