//! What is written about a server and has no effect: keys that nobody knows, values that say nothing, names of
//! tools that it does not have. Nothing of it keeps the server from being used, so it is told and no more.

use hermes_core::suggest::suggest;
use serde_json::{Map, Value};

use super::Server;
use super::written::seconds;

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
        format!("`{}` {}{hint}", self.at.join("."), self.what)
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
}

const LIFECYCLE: &[&str] =
    &["timeout", "connect_timeout", "keepalive_interval", "idle_timeout_seconds", "max_lifetime_seconds"];

const ROOMS: &[Room] = &[
    Room {
        at: &[],
        plain: &[
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "headers",
            "transport",
            "type",
            "auth",
            "ssl_verify",
            "client_cert",
            "client_key",
            "tools",
            "oauth",
            "sampling",
            "elicitation",
            "lifecycle",
        ],
        times: LIFECYCLE,
        switches: &["enabled", "supports_parallel_tool_calls"],
    },
    Room { at: &["lifecycle"], plain: &[], times: LIFECYCLE, switches: &[] },
    Room { at: &["tools"], plain: &["include", "exclude"], times: &[], switches: &["resources", "prompts"] },
    Room {
        at: &["sampling"],
        plain: &["max_tokens_cap", "max_rpm", "model", "allowed_models", "max_tool_rounds", "log_level"],
        times: &["timeout"],
        switches: &["enabled"],
    },
    Room { at: &["elicitation"], plain: &[], times: &["timeout"], switches: &["enabled"] },
    Room {
        at: &["oauth"],
        plain: &[
            "client_id",
            "client_secret",
            "private_key",
            "client_metadata_url",
            "scope",
            "client_name",
            "redirect_port",
            "redirect_uri",
            "redirect_host",
            "grant",
            "directory",
        ],
        times: &["timeout"],
        switches: &[],
    },
    Room {
        at: &["oauth", "directory"],
        plain: &["issuer", "token_endpoint", "client_id", "client_secret", "id_token"],
        times: &[],
        switches: &[],
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
    found.extend(written.as_object().and_then(way));
    found
}

impl Room {
    fn look(&self, map: &Map<String, Value>, found: &mut Vec<Ignored>) {
        for (key, value) in map {
            let knows = |keys: &[&str]| keys.contains(&key.as_str());
            let wrong = if knows(self.times) {
                let is_time = value.is_null() || names_variable(value) || seconds(map, key).is_some();
                (!is_time).then(|| (format!("is no number of seconds: {value}"), None))
            } else if knows(self.switches) {
                (!is_switch(value)).then(|| (format!("is neither yes nor no: {value}"), None))
            } else if knows(self.plain) {
                None
            } else {
                let all = [self.plain, self.times, self.switches].concat();
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
        let of_list = |(list, wanted): (&str, &Vec<String>)| {
            let strange = wanted.iter().filter(|wanted| !names().any(|name| name == *wanted));
            let told = strange.map(|strange| Ignored {
                at: vec!["tools".to_owned(), list.to_owned()],
                what: format!("names `{strange}`, and it has no such tool"),
                hint: suggest(strange, names(), 1).pop().map(|near| format!("did you mean `{near}`?")),
            });
            told.collect::<Vec<_>>()
        };
        [("include", &filter.include), ("exclude", &filter.exclude)].into_iter().flat_map(of_list).collect()
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
            "transport": "websocket", "enabled": "perhaps",
            "tools": { "includ": ["a"], "resources": true }, "oauth": { "directory": { "isuer": "x" } },
        });

        assert_eq!(
            told(&written),
            [
                "`timout` is not known; did you mean `timeout`?",
                "`timeout` is no number of seconds: \"soon\"",
                "`connect_timeout` is no number of seconds: -1",
                "`enabled` is neither yes nor no: \"perhaps\"",
                "`tools.includ` is not known; did you mean `include`?",
                "`oauth.directory.isuer` is not known; did you mean `issuer`?",
                "`transport` is no way to talk that is known here: `websocket`; `http` is used",
            ]
        );
    }

    #[test]
    fn what_has_an_effect_is_not_told() {
        let fine = json!({
            "command": "x", "args": [], "env": { "ANY": "1" }, "type": "stdio", "timeout": "${T}", "enabled": "yes",
            "connect_timeout": "30", "lifecycle": { "idle_timeout_seconds": 5 }, "sampling": { "enabled": false },
        });

        assert_eq!(told(&fine), Vec::<String>::new());
        assert_eq!(told(&json!("nonsense")), Vec::<String>::new());
    }
}
