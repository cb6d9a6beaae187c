//! Where a server is, for people: as it is written in `config.yaml`, so that a variable stays a name, and
//! without what was written down although it is a secret.

use serde_json::{Map, Value};

use super::written::{text, words};

/// What stands in place of a secret.
const HIDDEN: &str = "[REDACTED]";

/// How names of secrets end.
const SECRET: [&str; 9] =
    ["token", "key", "secret", "password", "passwd", "credential", "credentials", "authorization", "cookie"];

/// Names of secrets that are the end of other words, too.
const SECRET_WORDS: [&str; 8] = ["auth", "pass", "pwd", "pat", "sig", "signature", "code", "bearer"];

/// The command with its arguments, or the address.
pub(super) fn place(written: &Map<String, Value>) -> String {
    if let Some(url) = text(written, "url") {
        return address(&url);
    }
    let mut shown = vec![text(written, "command").unwrap_or_default()];
    let mut follows = false;
    for word in words(written, "args") {
        let hidden = follows && !word.starts_with('-') && !is_variable(&word);
        follows = word.starts_with('-') && is_secret(&word);
        shown.push(if hidden { HIDDEN.to_owned() } else { argument(&word) });
    }
    shown.join(" ")
}

/// Whether a name is that of a secret.
fn is_secret(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let last = name.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    SECRET.iter().any(|word| last.ends_with(word)) || SECRET_WORDS.contains(&last)
}

/// Whether a text names where its secret is instead of saying it.
fn is_variable(text: &str) -> bool {
    text.contains("${")
}

/// One argument: an address, `NAME=VALUE` or `Header: value` may hold a secret.
fn argument(word: &str) -> String {
    if word.contains("://") {
        return address(word);
    }
    for sign in ["=", ": "] {
        if let Some((name, value)) = word.split_once(sign)
            && is_secret(name)
            && !value.is_empty()
            && !is_variable(value)
        {
            return format!("{name}{sign}{HIDDEN}");
        }
    }
    word.to_owned()
}

/// An address without its password and without the secrets among its parameters.
fn address(url: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let mut shown = without_password(base);
    if let Some(query) = query {
        let parameter = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if is_secret(name) && !value.is_empty() && !is_variable(value) => {
                format!("{name}={HIDDEN}")
            }
            _ => pair.to_owned(),
        };
        shown.push('?');
        shown.push_str(&query.split('&').map(parameter).collect::<Vec<_>>().join("&"));
    }
    shown
}

fn without_password(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else { return base.to_owned() };
    let host = rest.split('/').next().unwrap_or_default();
    let Some((who, _)) = host.rsplit_once('@') else { return base.to_owned() };
    let behind = rest.strip_prefix(who).unwrap_or_default();
    let shown = match who.split_once(':') {
        Some((name, password)) if !is_variable(password) => format!("{name}:{HIDDEN}"),
        None if !is_variable(who) => HIDDEN.to_owned(),
        _ => who.to_owned(),
    };
    format!("{scheme}://{shown}{behind}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(written: &Value) -> String {
        place(written.as_object().unwrap())
    }

    #[test]
    fn a_variable_stays_a_name_and_a_secret_is_hidden() {
        for (args, expected) in [
            (json!(["--token", "${MY_TOKEN}"]), "x --token ${MY_TOKEN}"),
            (json!(["--token", "abc", "file"]), "x --token [REDACTED] file"),
            (json!(["--api-key=abc", "--key", "-v"]), "x --api-key=[REDACTED] --key -v"),
            (json!(["GITHUB_TOKEN=abc", "PATH=/bin"]), "x GITHUB_TOKEN=[REDACTED] PATH=/bin"),
            (json!(["-H", "Authorization: Bearer abc"]), "x -H Authorization: [REDACTED]"),
            (json!(["-H", "Authorization: Bearer ${T}"]), "x -H Authorization: Bearer ${T}"),
            (json!(["https://h/?key=1&q=2"]), "x https://h/?key=[REDACTED]&q=2"),
            (json!(["-y", "server-filesystem", "/work"]), "x -y server-filesystem /work"),
        ] {
            assert_eq!(shown(&json!({ "command": "x", "args": args })), expected);
        }
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (url, expected) in [
            ("https://h/mcp?api_key=1&b=2", "https://h/mcp?api_key=[REDACTED]&b=2"),
            ("https://h/mcp?token=${T}", "https://h/mcp?token=${T}"),
            ("https://ann:pw@h/mcp", "https://ann:[REDACTED]@h/mcp"),
            ("https://ghp_x@h/mcp", "https://[REDACTED]@h/mcp"),
            ("https://h/mcp", "https://h/mcp"),
        ] {
            assert_eq!(shown(&json!({ "url": url })), expected);
        }
    }
}
