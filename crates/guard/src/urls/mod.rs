//! Which addresses may be fetched: a pure policy on URLs, resolved addresses and redirects.
//!
//! The policy does not resolve names. Whoever connects keeps this order, so that check and connection cannot
//! see different addresses:
//!
//! 1. [`judge_url`] on the text. Connect to the host it returns, not to the text.
//! 2. Resolve that host once; [`judge_address`] on **every** address; connect to one that was judged, by number.
//! 3. On a redirect [`judge_redirect`], then again from 1. If [`Redirect::drop_credentials`] is set, send no
//!    `Authorization`, `Cookie` or other secret header to the new place.

mod address;
mod host;
mod hosts;
mod list;
mod parse;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;

use address::Kind;
pub use host::Host;
pub use hosts::HostRule;
pub use list::{BadLine, HostList, Listed, Place};
pub use parse::{ParseError, Scheme, Url};

/// What may be fetched beyond the open internet, and what of it may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlPolicy {
    /// Whether private, loopback and similar addresses may be reached (`security.allow_private_urls`).
    /// Metadata services stay closed.
    pub allow_private: bool,
    /// Hosts that may be private although others may not.
    pub trusted: Vec<HostRule>,
    /// If not empty, the only hosts that may be fetched.
    pub only: Vec<HostRule>,
    /// Hosts that may not be fetched (`security.website_blocklist`). Wins over everything else.
    pub blocked: HostList,
    /// Why nothing may be fetched at all: what would decide it cannot be read.
    pub closed: Option<String>,
    /// Whether a URL may carry a user name or password.
    pub allow_userinfo: bool,
}

/// Why an address is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlRefusal {
    /// The text is not a URL that means one thing only.
    Malformed(ParseError),
    /// It carries a user name or password.
    Userinfo,
    /// The host is on the list of blocked hosts, by this entry.
    Blocked(Listed),
    /// Nothing may be fetched; the text says why.
    Closed(String),
    /// There is a list of permitted hosts, and the host is not on it.
    NotListed,
    /// The host or address hands out credentials of a cloud machine.
    Metadata,
    /// The name stands for this machine or a private network.
    PrivateName,
    /// The address is not one of the open internet; the text says what it is.
    PrivateAddress(&'static str),
    /// The host mixes scripts or imitates ASCII letters.
    LookAlike,
    /// The port belongs to another protocol, which a request could be made to speak.
    Port(u16),
    /// From a secured to an unsecured connection.
    Downgrade,
}

impl fmt::Display for UrlRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "the URL is refused: {error}"),
            Self::Userinfo => f.write_str("the URL carries a user name or password"),
            Self::Blocked(listed) => write!(f, "the site is blocked by {listed}"),
            Self::Closed(why) => write!(f, "nothing is fetched: {why}"),
            Self::NotListed => f.write_str("the host is not on the list of permitted hosts"),
            Self::Metadata => f.write_str("the address is a metadata service, which hands out credentials"),
            Self::PrivateName => f.write_str("the name stands for this machine or a private network"),
            Self::PrivateAddress(what) => write!(f, "the address is {what}, not one of the open internet"),
            Self::LookAlike => f.write_str("the host mixes scripts or imitates other letters"),
            Self::Port(port) => write!(f, "port {port} belongs to another protocol"),
            Self::Downgrade => f.write_str("the redirect leads from https to http"),
        }
    }
}

impl std::error::Error for UrlRefusal {}

/// Judges the text of a URL. The answer is the URL as it was understood: connect to that.
pub fn judge_url(text: &str, policy: &UrlPolicy) -> Result<Url, UrlRefusal> {
    let url = Url::parse(text).map_err(UrlRefusal::Malformed)?;
    judge_parsed(url, policy)
}

fn judge_parsed(url: Url, policy: &UrlPolicy) -> Result<Url, UrlRefusal> {
    if url.has_userinfo && !policy.allow_userinfo {
        return Err(UrlRefusal::Userinfo);
    }
    if let Some(why) = &policy.closed {
        return Err(UrlRefusal::Closed(why.clone()));
    }
    if let Some(listed) = policy.blocked.find(&url.host) {
        return Err(UrlRefusal::Blocked(listed));
    }
    let listed = |rules: &[HostRule]| rules.iter().any(|rule| rule.matches(&url.host));
    let trusted = policy.allow_private || listed(&policy.trusted);
    match &url.host {
        Host::Address(address) => judge_trusted(*address, trusted)?,
        Host::Name(name) => {
            if hosts::is_metadata(name) {
                return Err(UrlRefusal::Metadata);
            }
            if hosts::is_private(name) && !trusted {
                return Err(UrlRefusal::PrivateName);
            }
            if host::is_look_alike(name) {
                return Err(UrlRefusal::LookAlike);
            }
        }
    }
    if !policy.only.is_empty() && !listed(&policy.only) {
        return Err(UrlRefusal::NotListed);
    }
    if hosts::is_foreign_port(url.port) {
        return Err(UrlRefusal::Port(url.port));
    }
    Ok(url)
}

/// Judges one address that `host` resolved to. Every address of a host has to pass.
///
/// A host on [`UrlPolicy::trusted`] may resolve to a private address; none may resolve to a metadata service.
pub fn judge_resolved(host: &Host, address: IpAddr, policy: &UrlPolicy) -> Result<(), UrlRefusal> {
    let trusted = policy.allow_private || policy.trusted.iter().any(|rule| rule.matches(host));
    judge_trusted(address, trusted)
}

/// Judges one address by itself.
pub fn judge_address(address: IpAddr, policy: &UrlPolicy) -> Result<(), UrlRefusal> {
    judge_trusted(address, policy.allow_private)
}

fn judge_trusted(address: IpAddr, private_too: bool) -> Result<(), UrlRefusal> {
    match address::kind(address) {
        Kind::Public => Ok(()),
        Kind::Metadata => Err(UrlRefusal::Metadata),
        Kind::Private(_) if private_too => Ok(()),
        Kind::Private(what) | Kind::Unusable(what) => Err(UrlRefusal::PrivateAddress(what)),
    }
}

/// A redirect that may be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Where it leads.
    pub to: Url,
    /// Whether the new place is another origin (scheme, host or port), so that no credentials may go there.
    pub drop_credentials: bool,
}

/// Judges a redirect from a URL that was permitted to the text of a `Location` header, which may be relative.
pub fn judge_redirect(from: &Url, location: &str, policy: &UrlPolicy) -> Result<Redirect, UrlRefusal> {
    let to = judge_parsed(from.join(location).map_err(UrlRefusal::Malformed)?, policy)?;
    if from.scheme == Scheme::Https && to.scheme == Scheme::Http {
        return Err(UrlRefusal::Downgrade);
    }
    let drop_credentials = !from.same_origin(&to);
    Ok(Redirect { to, drop_credentials })
}
