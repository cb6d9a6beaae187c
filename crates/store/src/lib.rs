//! The state folder: the only crate that touches it.
