//! Reads a URL strictly: what different programs would read differently is refused.

use std::fmt;

use super::host::{self, Host};

/// Most characters of a URL.
const LONGEST: usize = 8192;

/// The schemes that are fetched at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Without encryption.
    Http,
    /// With encryption.
    Https,
}

impl Scheme {
    /// The name before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Why a text is not a URL that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing there, or far too much.
    Length,
    /// Not `http` or `https`.
    Scheme,
    /// Not exactly two slashes after the scheme.
    Slashes,
    /// A backslash, space, control character or tab, which programs treat differently.
    Character,
    /// No host, or one that is neither a name nor an address.
    Host,
    /// A port that is no number up to 65535.
    Port,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "it is empty or too long",
            Self::Scheme => "only http and https are fetched",
            Self::Slashes => "the scheme must be followed by exactly two slashes",
            Self::Character => "it holds a space, backslash or control character",
            Self::Host => "the host is neither a name nor an address",
            Self::Port => "the port is not a number up to 65535",
        })
    }
}

impl std::error::Error for ParseError {}

/// A URL as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// How to connect.
    pub scheme: Scheme,
    /// Where to connect.
    pub host: Host,
    /// The port, also when the text does not name it.
    pub port: u16,
    /// Path, query and nothing else: what goes into the request line. Begins with `/`.
    pub target: String,
    /// Whether the text carried a user name or password (which is not kept).
    pub has_userinfo: bool,
}

impl Url {
    /// Reads the text of an absolute URL.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let text = text.trim_matches(' ');
        check(text)?;
        let (scheme, rest) = text.split_once(':').ok_or(ParseError::Scheme)?;
        let scheme = match scheme {
            s if s.eq_ignore_ascii_case("http") => Scheme::Http,
            s if s.eq_ignore_ascii_case("https") => Scheme::Https,
            _ => return Err(ParseError::Scheme),
        };
        let rest = rest.strip_prefix("//").ok_or(ParseError::Slashes)?;
        if rest.starts_with('/') {
            return Err(ParseError::Slashes);
        }
        Self::after_slashes(scheme, rest)
    }

    /// Reads what follows `scheme://`.
    fn after_slashes(scheme: Scheme, rest: &str) -> Result<Self, ParseError> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let (userinfo, place) = match authority.rsplit_once('@') {
            Some((userinfo, place)) => (Some(userinfo), place),
            None => (None, authority),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (place, None),
        };
        let port = match port {
            None | Some("") => scheme.port(),
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().map_err(|_| ParseError::Port)?
            }
            Some(_) => return Err(ParseError::Port),
        };
        let tail = tail.split('#').next().unwrap_or_default();
        let target = if tail.starts_with('/') { tail.to_owned() } else { format!("/{tail}") };
        Ok(Self { scheme, host: host::parse(host)?, port, target, has_userinfo: userinfo.is_some() })
    }

    /// The URL that a reference found at this one leads to.
    pub fn join(&self, reference: &str) -> Result<Self, ParseError> {
        let reference = reference.trim_matches(' ');
        if reference.is_empty() || reference.starts_with('#') {
            return Ok(Self { has_userinfo: false, ..self.clone() });
        }
        check(reference)?;
        if let Some(rest) = reference.strip_prefix("//") {
            return if rest.starts_with('/') {
                Err(ParseError::Slashes)
            } else {
                Self::after_slashes(self.scheme, rest)
            };
        }
        let head = reference.split(['/', '?', '#']).next().unwrap_or_default();
        if head.contains(':') {
            return Self::parse(reference);
        }
        let reference = reference.split('#').next().unwrap_or_default();
        let path = self.target.split('?').next().unwrap_or_default();
        let target = match reference.chars().next() {
            Some('/') => dotless(reference),
            Some('?') => format!("{path}{reference}"),
            _ => {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                dotless(&format!("{folder}/{reference}"))
            }
        };
        Ok(Self { target, has_userinfo: false, ..self.clone() })
    }

    /// Whether scheme, host and port are the same.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.host)?;
        if self.port != self.scheme.port() {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(&self.target)
    }
}

/// Refuses what cannot be part of a URL.
fn check(text: &str) -> Result<(), ParseError> {
    if text.is_empty() || text.len() > LONGEST {
        return Err(ParseError::Length);
    }
    let odd = |c: char| c.is_control() || c == '\\' || c.is_whitespace();
    if text.chars().any(odd) { Err(ParseError::Character) } else { Ok(()) }
}

/// A path without `.` and `..` parts; the query is left alone.
fn dotless(target: &str) -> String {
    let (path, query) = match target.find('?') {
        Some(at) => target.split_at(at),
        None => (target, ""),
    };
    let mut out: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part.to_ascii_lowercase().as_str() {
            "." | "%2e" if last => out.push(""),
            "." | "%2e" => {}
            ".." | ".%2e" | "%2e." | "%2e%2e" => {
                out.pop();
                if last {
                    out.push("");
                }
            }
            _ => out.push(part),
        }
    }
    format!("/{}{query}", out.join("/"))
}
