//! The `drover` binary.

/// A simulation on 10,000 nodes takes a quarter less time than with the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    drover::cli::main()
}
