//! Addresses of endpoints: just what asking a model needs, with no more than that accepted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An `http` or `https` address; `ws` and `wss` are read as these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// The host in lower case, an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path with a leading `/`, and the query if there is one.
    pub path: String,
    /// `user:password` before the host, for proxies.
    pub user: Option<String>,
}

impl Url {
    /// Reads an address. What stands behind `#` is left out.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return None,
        };
        let rest = rest.split('#').next()?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.to_owned()), host),
            None => (None, authority),
        };
        let (host, port) = host_and_port(authority)?;
        let port = match port {
            Some(port) => port.parse().ok()?,
            None if tls => 443,
            None => 80,
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Some(Self { tls, host, port, path, user })
    }

    /// The same place with `path` after its own, which loses a trailing slash.
    pub fn join(&self, path: &str) -> Self {
        let (own, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let mut whole = format!("{}{path}", own.trim_end_matches('/'));
        if !query.is_empty() {
            whole.push(if path.contains('?') { '&' } else { '?' });
            whole.push_str(query);
        }
        Self { path: whole, ..self.clone() }
    }

    /// The same host with another path altogether.
    pub fn with_path(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// `host:port` as the `Host` header wants it: without the port that is usual.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }

    /// The address in letters, without user and password.
    pub fn text(&self) -> String {
        format!("{}://{}{}", if self.tls { "https" } else { "http" }, self.authority(), self.path)
    }

    /// The host as an address, where it is one; `localhost` is.
    pub fn ip(&self) -> Option<IpAddr> {
        if self.host == "localhost" { Some(Ipv4Addr::LOCALHOST.into()) } else { self.host.parse().ok() }
    }

    /// Whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        self.ip().is_some_and(|ip| ip.is_loopback()) || self.host.ends_with(".localhost")
    }

    /// Whether it is this machine or its own network.
    pub fn is_local(&self) -> bool {
        match self.ip() {
            Some(IpAddr::V4(ip)) => {
                let carrier = matches!(ip.octets(), [100, second, ..] if (64..128).contains(&second));
                ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified() || carrier
            }
            Some(IpAddr::V6(ip)) => local_v6(ip),
            None => {
                const ENDINGS: [&str; 6] =
                    [".local", ".localhost", ".lan", ".internal", ".home.arpa", ".docker"];
                !self.host.contains('.') || ENDINGS.iter().any(|ending| self.host.ends_with(ending))
            }
        }
    }
}

fn local_v6(ip: Ipv6Addr) -> bool {
    ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local()
}

fn host_and_port(authority: &str) -> Option<(String, Option<&str>)> {
    let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
        let (host, after) = inner.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
    } else {
        match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let fits = !host.is_empty() && host.chars().all(plain);
    fits.then(|| (host.trim_end_matches('.').to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn an_address_comes_apart_and_together() {
        let url = Url::parse("https://Api.Example.com/v1/").unwrap();

        assert_eq!((url.tls, url.host.as_str(), url.port), (true, "api.example.com", 443));
        assert_eq!(url.join("/chat/completions").text(), "https://api.example.com/v1/chat/completions");
        assert_eq!(Url::parse("http://[::1]:8080").unwrap().authority(), "[::1]:8080");
        assert_eq!(Url::parse("http://u:p@proxy:3128").unwrap().user.as_deref(), Some("u:p"));
    }

    #[test]
    fn a_query_stays_behind_the_path() {
        let url = Url::parse("https://x.example.com/openai?api-version=1").unwrap();

        assert_eq!(url.join("/responses").path, "/openai/responses?api-version=1");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "ftp://x",
            "http://",
            "http:// x",
            "http://a b/",
            "http://x:99999",
            "http://[::1",
            "https://x\r\ny/",
        ] {
            assert_eq!(Url::parse(text), None, "{text:?}");
        }
    }
}
