//! Pictures, films and sounds as tools see them.
//!
//! | file | what |
//! |---|---|
//! | [`kind_of`] | what bytes are, by looking at them |
//! | [`source`] | where a model says that something is → its bytes |
//! | [`shelf`] | where what was made is kept |
//! | [`fit`] | pictures made as small as models want them |
//! | [`sight`] | who looks at a picture |
//! | [`look`] | having a model look at them |
//! | [`fal`] | the queue that several of these services share |
//! | [`program`] | running the programs that do so here |
//! | [`service`] | asking the services that make such things |

pub(crate) mod fal;
pub(crate) mod fit;
mod kind;
pub(crate) mod look;
pub(crate) mod program;
pub(crate) mod service;
pub(crate) mod shelf;
pub(crate) mod sight;
pub(crate) mod source;

pub(crate) use kind::{ending, kind_of};
pub use shelf::MediaSettings;
