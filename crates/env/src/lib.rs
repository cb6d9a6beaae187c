//! Where things run: the environments, and the files in them.

pub mod fence;
pub mod files;
pub mod probe;
