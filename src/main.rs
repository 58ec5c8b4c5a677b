//! The `tarragon` command.

fn main() {}
