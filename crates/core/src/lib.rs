//! The narrow waist: contracts and pure logic, no I/O.

pub mod json;
