//! The narrow waist: contracts and pure logic, no I/O.

pub mod call;
pub mod effect;
pub mod error;
pub mod files;
pub mod host;
pub mod permit;
pub mod toolset;
