//! The providers of the web, one file each. A file here is a provider; nothing else lists it.

use super::provider::Provider;

include!(concat!(env!("OUT_DIR"), "/web.providers.rs"));

gathered! {
    /// Every provider, sorted by name.
    pub(crate) static PROVIDERS: [&Provider] = PROVIDER;
}
