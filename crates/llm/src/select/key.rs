//! Keys and addresses out of the environment, where it takes more than reading a variable.

use crate::provider::ProviderDef;
use crate::secret::Secret;
use hermes_net::Url;

/// The key for an address of the user's own: `FOO_API_KEY` for `api.foo.com`. An address of the own
/// network has none.
pub(super) fn of_host(url: &str, env: &(dyn Fn(&str) -> Option<String> + Sync)) -> Option<Secret> {
    let url = Url::parse(url).filter(|url| !url.is_local())?;
    let mut labels: Vec<&str> = url.host.split('.').collect();
    labels.pop();
    // `co.uk` and its like: the vendor is before.
    if labels.last().is_some_and(|label| matches!(*label, "co" | "com" | "org" | "net")) {
        labels.pop();
    }
    let vendor: String = labels
        .pop()?
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    Secret::new(&env(&format!("{vendor}_API_KEY"))?)
}

/// An address as people write it into a variable: without scheme, as the one a server binds to, or
/// without the path.
pub(super) fn address(provider: &ProviderDef, written: &str) -> String {
    let written = written.trim().trim_end_matches('/');
    let whole = if written.contains("://") { written.to_owned() } else { format!("http://{written}") };
    let Some(url) = Url::parse(&whole) else { return whole };
    if provider.ports.is_empty() {
        return whole;
    }
    let host = if url.host == "0.0.0.0" { "127.0.0.1".to_owned() } else { url.host.clone() };
    let has_port = whole
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.split('/').next().is_some_and(|p| p.parse::<u16>().is_ok()));
    let port =
        if has_port || url.tls { url.port } else { provider.ports.first().copied().unwrap_or(url.port) };
    let url = Url { host, port, ..url };
    if url.path == "/" { url.with_path("/v1").text() } else { url.text() }
}
