//! Addresses that would give something away to whoever they lead to.

/// Beginnings of keys that well-known services hand out.
const KEY_BEGINNINGS: [&str; 14] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
];

/// Names of values that are nobody's business.
const SECRET_NAMES: [&str; 14] = [
    "access_token",
    "api_key",
    "apikey",
    "auth_token",
    "client_secret",
    "id_token",
    "passwd",
    "password",
    "private_key",
    "refresh_token",
    "secret",
    "session_token",
    "token",
    "x-api-key",
];

/// Shortest value that can be a key.
const SHORTEST_KEY: usize = 16;

/// Why an address should not be asked for: it carries what looks like a key. The key is not repeated.
pub(crate) fn carries_secret(url: &str) -> Option<String> {
    let text = decoded(url);
    let (_, query) = text.split_once('?').unwrap_or((&text, ""));
    for pair in query.split(['&', ';', '#']) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !value.is_empty() && SECRET_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
            return Some(format!("the address carries a `{name}`, which would be given away"));
        }
    }
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    let is_key = |word: &str| {
        word.len() >= SHORTEST_KEY && KEY_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
    };
    let found = words.into_iter().any(is_key);
    found.then(|| "the address carries what looks like a key, which would be given away".to_owned())
}

/// The text with `%41` and the like written out; what is no such thing stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, more)) = rest.split_first() {
        let pair = (*first == b'%').then(|| more.get(..2)).flatten();
        let number = pair.and_then(|pair| std::str::from_utf8(pair).ok());
        if let Some(byte) = number.and_then(|number| u8::from_str_radix(number, 16).ok()) {
            out.push(byte);
            rest = more.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::carries_secret;

    #[test]
    fn keys_in_addresses_are_noticed_however_they_are_written() {
        for url in [
            "https://a.example/?api_key=12345",
            "https://a.example/?q=1&ACCESS_TOKEN=x",
            "https://a.example/sk-abcdefghijklmnopqrst",
            "https://a.example/?q=%67hp_abcdefghijklmnop1234",
        ] {
            assert!(carries_secret(url).is_some(), "{url}");
        }
    }

    #[test]
    fn ordinary_addresses_pass() {
        for url in [
            "https://docs.example/api_key?section=token",
            "https://a.example/sk-learn",
            "https://shop.example/?page=2&token=",
            "https://a.example/50%_off",
            // What stands behind `#` stays here.
            "https://a.example/#token=abc",
        ] {
            assert_eq!(carries_secret(url), None, "{url}");
        }
    }
}
