//! The `drover` binary.

fn main() {}
