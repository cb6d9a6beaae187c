//! Where things run: the environments, and the files in them.

pub mod files;
pub mod probe;
