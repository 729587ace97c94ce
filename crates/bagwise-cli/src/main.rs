//! The `bagwise` command.
fn main() {}
