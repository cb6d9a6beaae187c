//! Which proxy, if any, stands between us and a host. The settings are handed in as values.

use crate::url::Url;

/// What `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxySettings {
    /// For encrypted connections.
    pub https: Option<String>,
    /// For all, when there is no better one.
    pub all: Option<String>,
    /// Hosts that are reached directly, with commas between.
    pub none_for: Option<String>,
}

impl ProxySettings {
    /// Takes the settings out of an environment, whose variables come in either case.
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> Self {
        let any = |name: &str| {
            env(&name.to_ascii_lowercase()).or_else(|| env(name)).filter(|value| !value.trim().is_empty())
        };
        Self { https: any("HTTPS_PROXY"), all: any("ALL_PROXY"), none_for: any("NO_PROXY") }
    }

    /// The proxy for `url`. Plain connections and those on this machine take none.
    pub fn proxy_for(&self, url: &Url) -> Option<Url> {
        if !url.tls || url.is_loopback() || self.exempts(url) {
            return None;
        }
        let proxy = self.https.as_deref().or(self.all.as_deref())?;
        Url::parse(proxy).or_else(|| Url::parse(&format!("http://{proxy}")))
    }

    fn exempts(&self, url: &Url) -> bool {
        let list = self.none_for.as_deref().unwrap_or_default();
        list.split([',', ' '])
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .any(|entry| matches(entry, url))
    }
}

/// `*`, a host, a host with its subdomains, a host with a port, or a network like `10.0.0.0/8`.
fn matches(entry: &str, url: &Url) -> bool {
    if entry == "*" {
        return true;
    }
    let entry = entry.to_ascii_lowercase();
    if let Some((net, bits)) = entry.split_once('/') {
        return in_network(net, bits, url);
    }
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, port.parse::<u16>().ok()),
        _ => (entry.as_str(), None),
    };
    if port.is_some_and(|port| port != url.port) {
        return false;
    }
    let host = host.trim_start_matches("*.").trim_start_matches('.');
    url.host == host || url.host.strip_suffix(host).is_some_and(|before| before.ends_with('.'))
}

fn in_network(net: &str, bits: &str, url: &Url) -> bool {
    let (Ok(net), Ok(bits), Ok(ip)) =
        (net.parse::<std::net::Ipv4Addr>(), bits.parse::<u32>(), url.host.parse::<std::net::Ipv4Addr>())
    else {
        return false;
    };
    let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
    bits <= 32 && u32::from(net) & mask == u32::from(ip) & mask
}

#[cfg(test)]
mod tests {
    use super::{ProxySettings, Url};

    fn settings(none_for: &str) -> ProxySettings {
        ProxySettings { https: Some("http://proxy:3128".into()), all: None, none_for: Some(none_for.into()) }
    }

    fn proxied(none_for: &str, url: &str) -> bool {
        settings(none_for).proxy_for(&Url::parse(url).unwrap()).is_some()
    }

    #[test]
    fn only_encrypted_connections_to_elsewhere_take_the_proxy() {
        assert!(proxied("", "https://api.example.com/v1"));
        assert!(!proxied("", "http://api.example.com/v1"));
        assert!(!proxied("", "https://localhost:8443/v1"));
    }

    #[test]
    fn exempt_hosts_are_reached_directly() {
        for entry in ["*", "example.com", ".example.com", "*.example.com", "x, api.example.com:443"] {
            assert!(!proxied(entry, "https://api.example.com/v1"), "{entry}");
        }
        for entry in ["ample.com", "api.example.com:8443", "other.com"] {
            assert!(proxied(entry, "https://api.example.com/v1"), "{entry}");
        }
        assert!(!proxied("10.0.0.0/8", "https://10.2.3.4/v1"));
        assert!(proxied("10.0.0.0/8", "https://11.2.3.4/v1"));
    }

    #[test]
    fn variables_come_in_either_case() {
        let env = |name: &str| (name == "https_proxy").then(|| "proxy:3128".to_owned());

        let proxy =
            ProxySettings::from_env(env).proxy_for(&Url::parse("https://a.example.com").unwrap()).unwrap();

        assert_eq!((proxy.tls, proxy.host.as_str(), proxy.port), (false, "proxy", 3128));
    }
}
