//! Services that listen, one file each. A file here is a service; nothing else lists it.

use super::Provider;

include!(concat!(env!("OUT_DIR"), "/transcribe.providers.rs"));

gathered! {
    /// Every service, sorted by name.
    pub(crate) static PROVIDERS: [&Provider] = PROVIDER;
}
