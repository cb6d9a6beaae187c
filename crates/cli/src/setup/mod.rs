//! The ways of `hermes setup`, one file each, and the keys of tools, which the doctor wants too.

pub(crate) mod ask;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod values;
