//! Secrets of this installation, taken out of every result.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use hermes_core::road::Redact;
use hermes_core::sudo::Password;
use hermes_guard::redact::Redactor;
use serde_json::Value;

use crate::world::World;

/// Parts of a variable's name that say that its value is a secret.
const SECRET_WORDS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE"];

/// Shorter values of a server's configuration are words: `bearer`, `oauth2`.
const SHORTEST_KEY: usize = 8;

/// Takes secrets out by what the runtime knows of the world; made when a result first needs it.
pub(crate) struct WorldRedact {
    world: Arc<RwLock<World>>,
    ready: RwLock<Option<Secrets>>,
    /// What was known before something changed.
    before: RwLock<Option<Secrets>>,
    /// What the person typed in the meantime.
    typed: RwLock<Vec<Password>>,
}

/// What is known about secrets at one moment.
#[derive(Clone)]
enum Secrets {
    /// The user does not want them taken out.
    LeftIn,
    TakenOut(Arc<Redactor>),
}

impl WorldRedact {
    pub(crate) fn new(world: Arc<RwLock<World>>) -> Self {
        Self { world, ready: RwLock::default(), before: RwLock::default(), typed: RwLock::default() }
    }

    /// Forgets the known values: they have changed.
    pub(crate) fn forget(&self) {
        let known = self.ready.write().unwrap_or_else(PoisonError::into_inner).take();
        if known.is_some() {
            *self.before.write().unwrap_or_else(PoisonError::into_inner) = known;
        }
    }

    /// Takes this out as well, from now on.
    pub(crate) fn learn(&self, password: &Password) {
        let mut typed = self.typed.write().unwrap_or_else(PoisonError::into_inner);
        if !typed.contains(password) {
            typed.push(password.clone());
            drop(typed);
            self.forget();
        }
    }

    /// A text without secrets, for those who must not wait: while somebody changes what is known, what was known
    /// before counts. Where nothing was, a remark takes the text's place.
    pub(crate) fn at_once<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let made = || Some(self.keep(self.look(&*self.world.try_read().ok()?)));
        let before = || self.before.read().unwrap_or_else(PoisonError::into_inner).clone();
        let known = self.ready().or_else(made).or_else(before);
        known.map_or("(a text that came while settings changed)".into(), |known| known.out_of(text))
    }

    fn secrets(&self) -> Secrets {
        let made = || {
            let world = self.world.read().unwrap_or_else(PoisonError::into_inner);
            self.keep(self.look(&world))
        };
        self.ready().unwrap_or_else(made)
    }

    fn ready(&self) -> Option<Secrets> {
        self.ready.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, made: Secrets) -> Secrets {
        *self.ready.write().unwrap_or_else(PoisonError::into_inner) = Some(made.clone());
        made
    }

    fn look(&self, world: &World) -> Secrets {
        if world.config("security.redact_secrets") == Some(Value::Bool(false)) {
            return Secrets::LeftIn;
        }
        let values = world.variables().filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
        let of_servers = of_servers(world.config("mcp_servers").as_ref());
        let typed = self.typed.read().unwrap_or_else(PoisonError::into_inner);
        let typed = typed.iter().filter_map(|password| std::str::from_utf8(password.reveal()).ok());
        Secrets::TakenOut(Arc::new(Redactor::new(
            values.chain(typed).chain(of_servers.iter().map(String::as_str)),
        )))
    }
}

impl Secrets {
    fn out_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self {
            Secrets::LeftIn => Cow::Borrowed(text),
            Secrets::TakenOut(redactor) => redactor.redact(text),
        }
    }
}

impl Redact for WorldRedact {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets().out_of(text)
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Keys that are written where MCP servers are configured, and not in a variable.
fn of_servers(servers: Option<&Value>) -> Vec<String> {
    let mut secrets = Vec::new();
    for server in servers.and_then(Value::as_object).into_iter().flat_map(|servers| servers.values()) {
        let parts = ["env", "headers", "oauth"].into_iter().filter_map(|part| server.get(part)?.as_object());
        let named = parts.flatten().filter(|(name, _)| is_named_secret(name));
        let named = named.filter_map(|(_, value)| written(value));
        let found = named.chain(of_words(server.get("args"))).chain(of_address(server.get("url")));
        secrets.extend(found.filter(|value| is_key(value)));
    }
    secrets
}

/// Whether a name is one of a secret. What comes last says what it is: `AUTH_MODE` is a mode.
fn is_named_secret(name: &str) -> bool {
    name.rsplit(['_', '-']).next().is_some_and(is_secret)
}

/// Keys among the words of a command: `--api-key K`, `--api-key=K`, `-e API_KEY=K`, `--header "Authorization: Bearer K"`,
/// and those of addresses.
fn of_words(words: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_next = false;
    for word in words.and_then(Value::as_array).into_iter().flatten() {
        let text = word.as_str().unwrap_or_default();
        let (name, value) = text.split_once(['=', ':']).unwrap_or((text, ""));
        let (is_option, is_named) = (text.starts_with('-'), is_named_secret(name));
        let was_next = std::mem::replace(&mut is_next, is_option && is_named && value.is_empty());
        if was_next && !is_option {
            found.extend(written(word));
        } else if is_named {
            found.extend(value.split_whitespace().next_back().map(str::to_owned));
        }
        found.extend(of_address(Some(word)));
    }
    found
}

/// Keys in the query of an address: `https://a.example/mcp?api_key=K`.
fn of_address(url: Option<&Value>) -> Vec<String> {
    let url = url.and_then(Value::as_str).filter(|url| url.contains("://"));
    let query = url.and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    let pairs =
        query.split('#').next().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| is_named_secret(name)).map(|(_, value)| value.to_owned()).collect()
}

/// A value as it is sent, without the word before it that says of which kind it is (`Bearer`).
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.split_whitespace().next_back().map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a value may be a key, and is no address, path, variable or one of a few words.
fn is_key(value: &str) -> bool {
    value.len() >= SHORTEST_KEY
        && !value.contains("://")
        && !value.contains("${")
        && !value.starts_with(['/', '~', '.'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_secret, of_servers};

    #[test]
    fn a_key_of_a_server_is_known_and_where_it_goes_is_not() {
        let servers = json!({
            "a": { "env": { "MY_API_KEY": "zq81kslw9203", "TOKEN_URL": "https://a.example/token", "LANG": "C.UTF-8-and-more",
                            "AUTH_MODE": "development", "KEY_FILE": "/run/key/of/mine", "OTHER_KEY": "${env:OTHER_KEY}" } },
            "b": { "headers": { "Authorization": "Bearer fnv77uuw1290", "X-Api-Key": 918_273_645_000_u64 },
                   "oauth": { "client_id": "hermes-desktop", "client_secret": "qpw81920kxmm" } },
            "c": "odd",
            "d": { "args": ["--api-key", "hh28skw01mmz", "--key-file", "keys.json", "-e", "APP_TOKEN=tt91kslqpw02", "-y",
                            "--secret=ss72jjskw910", "--token", "--verbose-output", "plain-enough-word",
                            "https://a.example/mcp?token=vv93kkslw012", "--header", "Authorization: Bearer ww02jjskq884",
                            "-v", "auth:/var/lib/auth", "--auth-timeout=1000000000", 7] },
            "e": { "url": "https://a.example/mcp?apiKey=uu82jskq0182&tokens_per_page=1000000000#key=fragment-is-not-sent" },
        });

        let found = of_servers(Some(&servers));

        let wanted =
            ["zq81kslw9203", "fnv77uuw1290", "918273645000", "qpw81920kxmm", "hh28skw01mmz", "tt91kslqpw02"];
        let more = ["ss72jjskw910", "vv93kkslw012", "ww02jjskq884", "uu82jskq0182"];
        assert_eq!(found, [&wanted[..], &more].concat());
    }

    #[test]
    fn names_tell_secrets_from_settings() {
        assert!(is_secret("OPENAI_API_KEY"));
        assert!(is_secret("hass_token"));
        assert!(!is_secret("HERMES_MODEL"));
        assert!(!is_secret("PATH"));
    }
}
