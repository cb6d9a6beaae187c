//! What an IP address is: of the open internet, private, or a metadata service.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anybody may reach it.
    Public,
    /// This machine or a network around it.
    Private(&'static str),
    /// Nothing that a request could be meant for.
    Unusable(&'static str),
    /// Hands out credentials of a cloud machine.
    Metadata,
}

pub(super) fn kind(address: IpAddr) -> Kind {
    match address {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => kind_v6(v6),
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    match address.octets() {
        [169, 254, ..] | [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => Kind::Metadata,
        [0, ..] => Kind::Private("an address of this machine (0.0.0.0/8)"),
        [127, ..] => Kind::Private("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Kind::Private("a private address"),
        [100, 64..=127, ..] => Kind::Private("a carrier's shared address"),
        [198, 18..=19, ..] => Kind::Private("a benchmarking address"),
        [192, 0, 0, _] => Kind::Unusable("a protocol assignment"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Kind::Unusable("a documentation address"),
        [192, 88, 99, _] => Kind::Unusable("a relay address"),
        [224..=239, ..] => Kind::Unusable("a multicast address"),
        [240..=255, ..] => Kind::Unusable("a reserved or broadcast address"),
        _ => Kind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    if let Some(inner) = embedded(address) {
        return match kind_v4(inner) {
            Kind::Public if mapped(address) => Kind::Public,
            Kind::Public => Kind::Unusable("an IPv4 address wrapped in IPv6"),
            other => other,
        };
    }
    match address.segments() {
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, _] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => Kind::Metadata,
        [0, 0, 0, 0, 0, 0, 0, 0] => Kind::Private("the unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Private("a loopback address"),
        [0xfc00..=0xfdff, ..] => Kind::Private("a private address"),
        [0xfe80..=0xfebf, ..] => Kind::Private("a link-local address"),
        [0xfec0..=0xfeff, ..] => Kind::Private("a site-local address"),
        [0xff00..=0xffff, ..] => Kind::Unusable("a multicast address"),
        [0x100, 0, 0, 0, ..] => Kind::Unusable("a discard address"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Kind::Unusable("a documentation address"),
        [0x2001, 0..=0x1ff, ..] => Kind::Unusable("a protocol assignment"),
        [0x2000..=0x3fff, ..] => Kind::Public,
        _ => Kind::Unusable("an unassigned address"),
    }
}

/// The IPv4 address inside an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let low = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, a, b]
        | [0, 0, 0, 0, 0xffff, 0, a, b]
        | [0x64, 0xff9b, 0, 0, 0, 0, a, b]
        | [0x64, 0xff9b, 1, .., a, b]
        | [_, _, _, _, 0 | 0x200, 0x5efe, a, b]
        | [0x2002, a, b, ..] => Some(low(a, b)),
        [0x2001, 0, .., a, b] => Some(low(!a, !b)),
        _ => None,
    }
}

/// The forms in which a resolver or gateway hands out ordinary IPv4 addresses.
fn mapped(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..])
}
