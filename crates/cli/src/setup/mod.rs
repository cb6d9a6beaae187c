//! The ways of `hermes setup`, one file each.

pub(crate) mod ask;
pub(crate) mod known;
pub(crate) mod values;
