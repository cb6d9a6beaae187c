//! What may run, as pure functions: no files, clock, network or environment.

pub mod paths;
pub mod redact;
pub mod urls;
