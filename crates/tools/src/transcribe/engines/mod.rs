//! Programs of this machine that listen, one file each. A file here is an engine; nothing else lists it.

use super::plan::Engine;

include!(concat!(env!("OUT_DIR"), "/transcribe.engines.rs"));

gathered! {
    /// Every engine, sorted by name.
    pub(crate) static ENGINES: [&Engine] = ENGINE;
}
