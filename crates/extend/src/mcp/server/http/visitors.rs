//! Who may come in, by what a request says about itself. Pure.
//!
//! A web page that somebody has open can send requests to this machine, and can make its own name
//! lead here. Such a request names a foreign `Host` or `Origin`, and is refused before anything is
//! read of it, whatever token it shows.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{StatusCode, Uri};

use super::token::Token;

/// Where the protocol is spoken.
pub(super) const PATH: &str = "/mcp";

/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Who is let in.
#[derive(Debug, Clone)]
pub enum Access {
    /// Who shows the token.
    Token(Token),
    /// Anyone who can reach the socket: for tests, and behind something that checks itself.
    Anyone,
}

/// The rules at the door.
pub(super) struct Visitors {
    pub(super) access: Access,
    /// Names by which the server may be called, beside those of this machine for itself.
    pub(super) names: Vec<String>,
}

/// Why a request was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It was meant for somebody else.
    Host,
    /// It comes from a foreign web page.
    Origin,
    /// Nothing is here.
    Path,
    /// It shows no token, or a wrong one.
    Token,
}

impl Refused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Path => StatusCode::NOT_FOUND,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Host => "this server is not called by that name",
            Self::Origin => "requests of foreign web pages are not taken",
            Self::Path => "the protocol is spoken at /mcp",
            Self::Token => "a bearer token is needed: Authorization: Bearer …",
        }
    }
}

impl Visitors {
    /// Looks at a request.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        // A request may name the server in its first line too, or only there; whoever stands in between goes by either.
        let named = uri.authority().map(hyper::http::uri::Authority::as_str);
        let host = single(headers, &HOST)?;
        let mut names = host.into_iter().chain(named).peekable();
        if names.peek().is_none() || !names.all(|name| self.is_ours(name)) {
            return Err(Refused::Host);
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().map_err(|_| Refused::Origin)?;
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !host.is_some_and(|host| self.is_ours(host)) {
                return Err(Refused::Origin);
            }
        }
        if let Access::Token(token) = &self.access {
            let mut shown = headers.get_all(AUTHORIZATION).iter();
            let (first, second) = (shown.next(), shown.next());
            if second.is_some() || !first.is_some_and(|header| token.is_shown_in(header.as_bytes())) {
                return Err(Refused::Token);
            }
        }
        if uri.path().trim_end_matches('/') == PATH { Ok(()) } else { Err(Refused::Path) }
    }

    /// Whether `name` or `name:port` means this server.
    fn is_ours(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let names = LOOPBACK.iter().copied().chain(self.names.iter().map(String::as_str));
        names.into_iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The one value of a header that is there at most once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Refused::Host),
        (Some(_), Some(_)) => Err(Refused::Host),
    }
}

/// The name of a host without its port; nothing when it is neither.
fn without_port(host: &str) -> Option<&str> {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at_checked(end)?;
    let is_port = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn visitors() -> Visitors {
        let token = Token::new("0123456789abcdef").unwrap();
        Visitors { access: Access::Token(token), names: vec!["build.example".to_owned()] }
    }

    fn check(path: &str, headers: &[(&'static str, &str)]) -> Result<(), Refused> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        visitors().check(&path.parse().unwrap(), &map)
    }

    const SHOWN: (&str, &str) = ("authorization", "Bearer 0123456789abcdef");

    #[test]
    fn who_calls_us_by_a_name_of_ours_and_shows_the_token_comes_in() {
        for host in ["localhost", "localhost:80", "127.0.0.1:9", "[::1]", "[::1]:9", "build.example:443"] {
            assert_eq!(check("/mcp", &[("host", host), SHOWN]), Ok(()), "{host}");
        }
        let origin = ("origin", "http://localhost:6274");
        assert_eq!(check("/mcp/", &[("host", "LOCALHOST"), origin, SHOWN]), Ok(()));
        assert_eq!(check("http://localhost/mcp", &[("host", "localhost"), SHOWN]), Ok(()));
    }

    #[test]
    fn a_name_that_was_made_to_lead_here_is_refused_whatever_it_shows() {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "evil.example:80",
            "127.0.0.1.nip.io",
            "",
            "localhost:",
            "localhost:80x",
            "[::1",
            "[::1]x",
            "@localhost",
            "localhost@evil.example",
            "0.0.0.0",
        ] {
            assert_eq!(check("/mcp", &[("host", host), SHOWN]), Err(Refused::Host), "{host:?}");
        }
        assert_eq!(check("/mcp", &[SHOWN]), Err(Refused::Host));
        let twice = [("host", "localhost"), ("host", "evil.example"), SHOWN];
        assert_eq!(check("/mcp", &twice), Err(Refused::Host));
    }

    #[test]
    fn a_foreign_name_in_the_first_line_is_refused_whatever_host_is_named() {
        let foreign = check("http://evil.example/mcp", &[("host", "localhost"), SHOWN]);

        assert_eq!(foreign, Err(Refused::Host));
    }

    #[test]
    fn a_page_from_elsewhere_is_refused_whatever_it_shows() {
        for origin in ["http://evil.example", "null", "localhost", "file://", "http://localhost.evil.example"]
        {
            let headers = [("host", "localhost"), ("origin", origin), SHOWN];
            assert_eq!(check("/mcp", &headers), Err(Refused::Origin), "{origin}");
        }
        let twice =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example"), SHOWN];
        assert_eq!(check("/mcp", &twice), Err(Refused::Origin));
    }

    #[test]
    fn without_the_token_nothing_is_told_not_even_what_is_here() {
        assert_eq!(check("/mcp", &[("host", "localhost")]), Err(Refused::Token));
        assert_eq!(check("/secret", &[("host", "localhost")]), Err(Refused::Token));
        assert_eq!(check("/mcp", &[("host", "localhost"), SHOWN, SHOWN]), Err(Refused::Token));
        assert_eq!(check("/else", &[("host", "localhost"), SHOWN]), Err(Refused::Path));
    }

    proptest! {
        #[test]
        fn no_name_comes_in_that_is_none_of_ours(host in "[ -~]{0,24}") {
            let name = without_port(&host).unwrap_or_default().to_lowercase();
            let known = ["localhost", "127.0.0.1", "[::1]", "build.example"].contains(&name.as_str());

            prop_assert_eq!(visitors().is_ours(&host), known);
        }
    }
}
