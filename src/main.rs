//! The drover service.
fn main() {}
