//! What is written about a server and has no effect: keys that nobody knows, values that say nothing, names of
//! tools that it does not have. Nothing of it keeps the server from being used, so it is told and no more.

use hermes_core::approval_words::visible;
use hermes_core::suggest::suggest;
use hermes_net::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::Server;
use super::written::{pairs, seconds, unfit, word};

/// Something that is written and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// Where it stands below the server.
    pub at: Vec<String>,
    /// What is the matter.
    pub what: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl Ignored {
    /// In one line.
    pub fn words(&self) -> String {
        let hint = self.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("`{}` {}{hint}", visible(&self.at.join(".")), self.what)
    }
}

/// A map of settings, and what it knows.
struct Room {
    /// Where it stands.
    at: &'static [&'static str],
    /// What it knows beside times and switches.
    plain: &'static [&'static str],
    times: &'static [&'static str],
    switches: &'static [&'static str],
    /// Whole numbers.
    numbers: &'static [&'static str],
    /// Maps of settings, or of names and texts.
    maps: &'static [&'static str],
    /// Words of which there are only these.
    choices: &'static [(&'static str, &'static [&'static str])],
}

impl Room {
    const EMPTY: Self =
        Self { at: &[], plain: &[], times: &[], switches: &[], numbers: &[], maps: &[], choices: &[] };
}

const LIFECYCLE: &[&str] =
    &["timeout", "connect_timeout", "keepalive_interval", "idle_timeout_seconds", "max_lifetime_seconds"];

/// Lists that many write beside `tools`.
const OF_TOOLS: &[&str] = &["include", "exclude"];

const ROOMS: &[Room] = &[
    Room {
        at: &[],
        plain: &[
            "command",
            "args",
            "cwd",
            "url",
            "transport",
            "type",
            "ssl_verify",
            "client_cert",
            "client_key",
            "tools",
            "enabled",
            "disabled",
        ],
        times: LIFECYCLE,
        switches: &["supports_parallel_tool_calls"],
        maps: &["env", "headers", "oauth", "sampling", "elicitation", "lifecycle"],
        choices: &[("auth", &["oauth", "header", "none"])],
        ..Room::EMPTY
    },
    Room { at: &["lifecycle"], times: LIFECYCLE, ..Room::EMPTY },
    Room { at: &["tools"], plain: OF_TOOLS, switches: &["resources", "prompts"], ..Room::EMPTY },
    Room {
        at: &["sampling"],
        plain: &["model", "allowed_models"],
        times: &["timeout"],
        switches: &["enabled"],
        numbers: &["max_tokens_cap", "max_rpm", "max_tool_rounds"],
        choices: &[("log_level", &["debug", "info", "warning", "warn", "error", "critical", "off", "none"])],
        ..Room::EMPTY
    },
    Room { at: &["elicitation"], times: &["timeout"], switches: &["enabled"], ..Room::EMPTY },
    Room {
        at: &["oauth"],
        plain: &[
            "client_id",
            "client_secret",
            "private_key",
            "client_metadata_url",
            "scope",
            "client_name",
            "redirect_uri",
            "redirect_host",
            "grant",
            "directory",
        ],
        times: &["timeout"],
        numbers: &["redirect_port"],
        ..Room::EMPTY
    },
    Room {
        at: &["oauth", "directory"],
        plain: &["issuer", "token_endpoint", "client_id", "client_secret", "id_token"],
        ..Room::EMPTY
    },
];

/// What is written about a server and has no effect, in the order of the file.
pub fn ignored(written: &Value) -> Vec<Ignored> {
    let mut found = Vec::new();
    for room in ROOMS {
        let place = room.at.iter().try_fold(written, |above, key| above.get(key));
        if let Some(map) = place.and_then(Value::as_object) {
            room.look(map, &mut found);
        }
    }
    if let Some(written) = written.as_object() {
        found.extend(way(written));
        found.extend(no_texts(written));
        found.extend(no_names(written));
        found.extend(not_handed_on(written));
        found.extend(not_sent(written));
    }
    found
}

/// Lists of tools with nothing behind them. One that may be a slip of the pen must not mean that all are taken.
fn no_names(map: &Map<String, Value>) -> Vec<Ignored> {
    let none = ("has nothing behind it, so no tool is taken", Some("without it all are"));
    let lists: [(&[&str], _); 3] = [
        (&["tools"], none),
        (&["tools", "include"], none),
        (&["tools", "exclude"], ("has nothing behind it, so no tool is left out", None)),
    ];
    let is_empty = |at: &[&str]| {
        let (first, rest) = at.split_first()?;
        rest.iter().try_fold(map.get(*first)?, |above, key| above.get(key)).filter(|value| value.is_null())
    };
    let told = lists.into_iter().filter(|(at, _)| is_empty(at).is_some()).map(|(at, (what, hint))| Ignored {
        at: at.iter().map(|part| (*part).to_owned()).collect(),
        what: what.to_owned(),
        hint: hint.map(str::to_owned),
    });
    told.collect()
}

/// What is no text where only texts are taken.
fn no_texts(map: &Map<String, Value>) -> Vec<Ignored> {
    let is_text = |value: &Value| word(value).is_some();
    let ignored = |at: Vec<String>, value: &Value| {
        let what = format!("is {}, and has to be a text", kind(value));
        Ignored { at, what, hint: None }
    };
    let pairs = ["env", "headers"].into_iter().flat_map(|key| {
        let pairs = map.get(key).and_then(Value::as_object).into_iter().flatten();
        pairs.map(move |(name, value)| (vec![key.to_owned(), name.clone()], value))
    });
    let args = map.get("args").filter(|args| !args.is_null());
    let args = args
        .and_then(Value::as_array)
        .map_or_else(|| args.into_iter().collect(), |args| args.iter().collect::<Vec<_>>());
    let args = args.into_iter().map(|arg| (vec!["args".to_owned()], arg));
    pairs.chain(args).filter(|(_, value)| !is_text(value)).map(|(at, value)| ignored(at, value)).collect()
}

/// Variables that no program can be given.
fn not_handed_on(map: &Map<String, Value>) -> Vec<Ignored> {
    let told = |(name, value): (String, String)| {
        let what = format!("{}, and cannot be handed on", unfit(&name, &value)?);
        Some(Ignored { at: entry("env", name), what, hint: None })
    };
    pairs(map, "env").into_iter().filter_map(told).collect()
}

/// Headers that cannot be sent. Their values may be secrets.
fn not_sent(map: &Map<String, Value>) -> Vec<Ignored> {
    let told = |(name, value): (String, String)| {
        let what = if name.is_empty() {
            "has an entry without a name, and cannot be sent"
        } else if HeaderName::from_bytes(name.as_bytes()).is_err() {
            "is no name of a header, and cannot be sent"
        } else if HeaderValue::from_str(&value).is_err() {
            "has a value that cannot be sent"
        } else {
            return None;
        };
        Some(Ignored { at: entry("headers", name), what: what.to_owned(), hint: None })
    };
    pairs(map, "headers").into_iter().filter_map(told).collect()
}

/// Where an entry of this name stands; the map itself for one without a name.
fn entry(map: &str, name: String) -> Vec<String> {
    [map.to_owned(), name].into_iter().filter(|part| !part.is_empty()).collect()
}

impl Room {
    fn look(&self, map: &Map<String, Value>, found: &mut Vec<Ignored>) {
        for (key, value) in map {
            let knows = |keys: &[&str]| keys.contains(&key.as_str());
            let choice = self.choices.iter().find(|(name, _)| name == key).map(|(_, words)| *words);
            let wrong = if let Some(words) = choice {
                (!is_choice(value, words))
                    .then(|| (format!("is none of {}: {value}", words.join(", ")), None))
            } else if knows(self.numbers) {
                (!is_number(value)).then(|| (format!("is no whole number: {value}"), None))
            } else if knows(self.maps) {
                let is_map = value.is_null() || value.is_object();
                let what = || format!("is {}, and has to be a map of names and values", kind(value));
                (!is_map).then(|| (what(), None))
            } else if knows(self.times) {
                let is_time = value.is_null() || names_variable(value) || seconds(map, key).is_some();
                (!is_time).then(|| (format!("is no number of seconds: {value}"), None))
            } else if knows(self.switches) {
                (!is_switch(value)).then(|| (format!("is neither yes nor no: {value}"), None))
            } else if knows(self.plain) {
                None
            } else if self.at.is_empty() && OF_TOOLS.contains(&key.as_str()) {
                Some(("is not known here".to_owned(), Some("it belongs below `tools`".to_owned())))
            } else {
                let choices = self.choices.iter().map(|(name, _)| *name);
                let all = [self.plain, self.times, self.switches, self.numbers, self.maps].concat();
                let all = all.into_iter().chain(choices);
                let near = suggest(key, all, 1).pop().map(|near| format!("did you mean `{near}`?"));
                Some(("is not known".to_owned(), near))
            };
            if let Some((what, hint)) = wrong {
                let at = self.at.iter().map(|part| (*part).to_owned()).chain([key.clone()]).collect();
                found.push(Ignored { at, what, hint });
            }
        }
    }
}

/// A way to talk that is none.
fn way(map: &Map<String, Value>) -> Option<Ignored> {
    let key = if map.contains_key("transport") { "transport" } else { "type" };
    let word = map.get(key)?.as_str()?;
    let known = ["http", "streamable-http", "streamable_http", "streamablehttp", "sse", "stdio"];
    if names_variable(map.get(key)?) || known.contains(&word.trim().to_ascii_lowercase().as_str()) {
        return None;
    }
    let used = if map.contains_key("url") { "`http` is used" } else { "`stdio` is used" };
    let what = format!("is no way to talk that is known here: `{word}`; {used}");
    Some(Ignored { at: vec![key.to_owned()], what, hint: None })
}

fn names_variable(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("${"))
}

/// What a value is, for places whose values may be secrets.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn is_choice(value: &Value, words: &[&str]) -> bool {
    let known = |word: &str| words.contains(&word.trim().to_ascii_lowercase().as_str());
    value.is_null() || names_variable(value) || value.as_str().is_some_and(known)
}

fn is_number(value: &Value) -> bool {
    let number = |text: String| text.trim().parse::<u32>().is_ok();
    value.is_null() || names_variable(value) || word(value).is_some_and(number)
}

fn is_switch(value: &Value) -> bool {
    match value {
        Value::String(word) => {
            let words = ["true", "yes", "on", "1", "false", "no", "off", "0"];
            names_variable(value) || words.contains(&word.trim().to_ascii_lowercase().as_str())
        }
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    }
}

impl Server {
    /// How many of its tools are taken, as far as they are known.
    pub fn taken(&self) -> usize {
        self.known().tools.iter().filter(|tool| self.config().filter.takes(&tool.name)).count()
    }

    /// What is written about it and has no effect, as far as that is known, and what it offers and is not taken.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.config().notes.clone();
        notes.extend(self.strange_names().iter().map(Ignored::words));
        notes.extend(self.known().cut_off().filter(|_| self.is_known()));
        notes
    }

    /// Names that are to be taken or left out and that none of its tools has; nothing while these are not known.
    pub fn strange_names(&self) -> Vec<Ignored> {
        if !self.is_known() {
            return Vec::new();
        }
        let (known, filter) = (self.known(), &self.config().filter);
        let names = || known.tools.iter().map(|tool| tool.name.as_str());
        let of_list = |(list, wanted): (&str, &[String])| {
            let strange = wanted.iter().filter(|wanted| !names().any(|name| name == *wanted));
            let told = strange.map(|strange| Ignored {
                at: vec!["tools".to_owned(), list.to_owned()],
                what: format!("names `{strange}`, and it has no such tool"),
                hint: suggest(strange, names(), 1).pop().map(|near| format!("did you mean `{near}`?")),
            });
            told.collect::<Vec<_>>()
        };
        let include = filter.include.as_deref().unwrap_or_default();
        [("include", include), ("exclude", &filter.exclude)].into_iter().flat_map(of_list).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(written: &Value) -> Vec<String> {
        ignored(written).iter().map(Ignored::words).collect()
    }

    #[test]
    fn what_has_no_effect_is_told_with_what_was_meant() {
        let written = json!({
            "url": "https://x.example", "timout": 5, "timeout": "soon", "connect_timeout": -1,
            "transport": "websocket", "supports_parallel_tool_calls": "perhaps",
            "tools": { "includ": ["a"], "resources": true }, "oauth": { "directory": { "isuer": "x" } },
        });

        assert_eq!(
            told(&written),
            [
                "`timout` is not known; did you mean `timeout`?",
                "`timeout` is no number of seconds: \"soon\"",
                "`connect_timeout` is no number of seconds: -1",
                "`supports_parallel_tool_calls` is neither yes nor no: \"perhaps\"",
                "`tools.includ` is not known; did you mean `include`?",
                "`oauth.directory.isuer` is not known; did you mean `issuer`?",
                "`transport` is no way to talk that is known here: `websocket`; `http` is used",
            ]
        );
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_told() {
        let written = json!({
            "url": "https://x.example", "auth": "oath", "headers": "Authorization: x", "env": { "A": ["x"] },
            "args": ["a", { "b": 1 }], "elicitation": true, "lifecycle": 5, "oauth": { "redirect_port": "any" },
            "sampling": { "max_rpm": -3, "max_tokens_cap": "lots", "log_level": "loud" },
        });

        assert_eq!(
            told(&written),
            [
                "`auth` is none of oauth, header, none: \"oath\"",
                "`headers` is a text, and has to be a map of names and values",
                "`elicitation` is a yes or no, and has to be a map of names and values",
                "`lifecycle` is a number, and has to be a map of names and values",
                "`sampling.max_rpm` is no whole number: -3",
                "`sampling.max_tokens_cap` is no whole number: \"lots\"",
                "`sampling.log_level` is none of debug, info, warning, warn, error, critical, off, none: \"loud\"",
                "`oauth.redirect_port` is no whole number: \"any\"",
                "`env.A` is a list, and has to be a text",
                "`args` is a map, and has to be a text",
            ]
        );
    }

    #[test]
    fn what_has_an_effect_is_not_told() {
        let fine = json!({
            "command": "x", "args": [], "env": { "ANY": "1" }, "type": "stdio", "timeout": "${T}", "enabled": "yes",
            "connect_timeout": "30", "lifecycle": { "idle_timeout_seconds": 5 }, "auth": "OAuth",
            "sampling": { "enabled": false, "max_rpm": "5", "max_tokens_cap": "${CAP}", "log_level": "Debug" },
        });

        assert_eq!(told(&fine), Vec::<String>::new());
        assert_eq!(told(&json!("nonsense")), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_handed_on_or_sent_is_named_without_its_value() {
        let written = json!({
            "command": "x", "url": "https://x.example",
            "env": { "": "s1", "A=B": "s2", "C\0": "s3", "D": "s4\0", "E": "fine" },
            "headers": { "Authorization:": "s5", "X Y": "s6", "": "s7", "X-Fine": "fine", "X-Broken": "s8\n" },
        });

        assert_eq!(
            told(&written),
            [
                "`env` has an entry without a name, and cannot be handed on",
                "`env.A=B` has a `=` in its name, and cannot be handed on",
                "`env.C\\u{0}` has a zero byte in its name, and cannot be handed on",
                "`env.D` has a zero byte in its value, and cannot be handed on",
                "`headers` has an entry without a name, and cannot be sent",
                "`headers.Authorization:` is no name of a header, and cannot be sent",
                "`headers.X Y` is no name of a header, and cannot be sent",
                "`headers.X-Broken` has a value that cannot be sent",
            ]
        );
    }

    #[test]
    fn a_list_of_tools_that_stands_beside_tools_is_told_to_belong_below_it() {
        let written = json!({ "command": "x", "disabled": false, "include": ["a"], "exclude": ["b"] });

        assert_eq!(
            told(&written),
            [
                "`include` is not known here; it belongs below `tools`",
                "`exclude` is not known here; it belongs below `tools`",
            ]
        );
    }
}
