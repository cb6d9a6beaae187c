//! Speech: who speaks for `text_to_speech`, and how what they say becomes a file.
//!
//! | file | what |
//! |---|---|
//! | [`voice`] | what a provider is, and which one the settings mean |
//! | `providers/` | services and programs that speak, one file each |
//! | [`plan`] | what will be done for a text, worked out before anything is done |
//! | [`wave`] | sound as a file of its own |

pub(crate) mod plan;
mod providers;
pub(crate) mod voice;
pub(crate) mod wave;
