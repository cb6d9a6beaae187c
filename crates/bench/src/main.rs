//! `hermes-bench`: prints one JSON object of measured numbers.

fn main() {}
