//! The `hermes` command line.

fn main() {}
