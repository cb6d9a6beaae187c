//! Who speaks, one file each. A file here is a provider; nothing else lists it.

use super::voice::Provider;

include!(concat!(env!("OUT_DIR"), "/speech.providers.rs"));

gathered! {
    /// Every provider, sorted by name.
    pub(crate) static PROVIDERS: [&Provider] = PROVIDER;
}
