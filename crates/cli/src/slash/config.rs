//! `/config`: the settings in force.

use hermes::store::Config;
use serde_json::Value;

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("config", "[KEY]", "Show where the settings are, and their values", Act::Now(run));

/// Parts of a name that mean its value is not shown.
const SECRET: [&str; 5] = ["key", "token", "secret", "password", "credential"];

fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let read = || {
        let home = cx.shell.home().map_err(|wrong| wrong.why().unwrap_or_default().to_owned())?;
        let variable = |name: &str| cx.shell.variable(name).map(str::to_owned);
        Config::read(&home, &variable).map_err(|wrong| wrong.to_string())
    };
    let config = match read() {
        Ok(config) => config,
        Err(why) => return Reply::wrong(why),
    };
    if !words.is_empty() {
        let found = words.split('.').try_fold(config.values(), |value, key| value.get(key));
        let secret = is_secret(words);
        return match found {
            Some(_) if secret => Reply::say(format!("{words} is set and not shown.")),
            Some(value) => Reply::say(format!("{words}: {}", pretty(&hidden(value)))),
            None => Reply::say(format!("{words} is not set in {}.", config.path().display())),
        };
    }
    let values = pretty(&hidden(config.values()));
    Reply::say(format!("{}\n{values}", config.path().display()))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// The value without what should not be on a screen.
fn hidden(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Value::String(_) if is_secret(name) => (name.clone(), Value::from("…")),
                other => (name.clone(), hidden(other)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(hidden).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let value = json!({ "providers": [{ "api_key": "sk-1", "name": "a", "max_tokens": 5 }] });

        assert_eq!(
            hidden(&value),
            json!({ "providers": [{ "api_key": "…", "name": "a", "max_tokens": 5 }] })
        );
    }
}
