//! Names and ports with a meaning, and lists of hosts.

use std::net::Ipv6Addr;

use super::host::{self, Host};

/// One entry of a list of hosts: `example.com` is the host and everything below it, `*.example.com` only what is
/// below, an address is that address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    host: Host,
    only_below: bool,
}

impl HostRule {
    /// Reads an entry as people write it: with a scheme, port or path after it, in any case. None if there is no
    /// host in it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(v6) = text.parse::<Ipv6Addr>() {
            return Some(Self { host: Host::Address(v6.into()), only_below: false });
        }
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let text = text.split(['/', '?', '#']).next()?;
        let (only_below, text) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('.').unwrap_or(text)),
        };
        let bare = match text.rsplit_once(':') {
            Some((host, port)) if !text.starts_with('[') && port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => text.split_once("]:").map_or(text, |(host, _)| host),
        };
        let bare =
            if bare.starts_with('[') && !bare.ends_with(']') { format!("{bare}]") } else { bare.to_owned() };
        Some(Self { host: host::parse(&bare).ok()?, only_below })
    }

    /// The host, and whether only what is below it is meant.
    pub(super) fn into_parts(self) -> (Host, bool) {
        (self.host, self.only_below)
    }

    /// Whether a host falls under the entry.
    pub fn matches(&self, other: &Host) -> bool {
        match (&self.host, other) {
            (Host::Address(rule), Host::Address(address)) => rule.to_canonical() == address.to_canonical(),
            (Host::Name(rule), Host::Name(name)) => {
                let (rule, name) = (host::written_out(rule), host::written_out(name));
                let below = name.strip_suffix(rule.as_str()).is_some_and(|head| head.ends_with('.'));
                below || (!self.only_below && rule == name)
            }
            _ => false,
        }
    }
}

/// Names of metadata services.
pub(super) fn is_metadata(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.internal",
        "metadata.packet.net",
        "metadata.tencentyun.com",
        "kubernetes.default.svc",
    ];
    NAMES.iter().any(|end| ends(name, end))
}

/// Names that never belong to the open internet.
pub(super) fn is_private(name: &str) -> bool {
    const ENDS: [&str; 16] = [
        "localhost",
        "localdomain",
        "local",
        "internal",
        "intranet",
        "lan",
        "home",
        "corp",
        "private",
        "test",
        "invalid",
        "onion",
        "home.arpa",
        "ip6-localhost",
        "ip6-loopback",
        "svc",
    ];
    !name.contains('.') || ENDS.iter().any(|end| ends(name, end))
}

/// Whether a name is `end` or lies below it.
fn ends(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|head| head.is_empty() || head.ends_with('.'))
}

/// Ports of protocols that an HTTP request can be made to speak, as browsers refuse them.
pub(super) fn is_foreign_port(port: u16) -> bool {
    const PORTS: [u16; 68] = [
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
        104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
        514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 2049, 3659,
        6000, 6379, 11211,
    ];
    port == 0 || PORTS.binary_search(&port).is_ok()
}
