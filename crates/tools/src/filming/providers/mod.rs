//! Who films, one file each. A file here is a provider; nothing else lists it.

use super::Provider;

include!(concat!(env!("OUT_DIR"), "/filming.providers.rs"));

gathered! {
    /// Every provider, sorted by name.
    pub(crate) static PROVIDERS: [&Provider] = PROVIDER;
}
