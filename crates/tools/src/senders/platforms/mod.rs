//! The platforms, one file each. A file here is a platform; nothing else lists it.

use super::sender::Sender;

include!(concat!(env!("OUT_DIR"), "/senders.platforms.rs"));

gathered! {
    /// Every platform, sorted by name.
    pub(crate) static SENDERS: [&Sender] = SENDER;
}
