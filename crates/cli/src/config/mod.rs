//! The actions of `hermes config`, one file each, and what they share: the file, and what to hide.

pub(crate) mod check;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod get;
pub(crate) mod path;
pub(crate) mod set;
pub(crate) mod show;
pub(crate) mod unset;

use hermes::extend::hooks::wrong_pattern;
use hermes::store::config::KeyPath;
use hermes::store::{Config, EnvView, Secrets};
use serde_json::Value;

use crate::command::Failure;
use crate::shell::Shell;

/// What stands in place of a value nobody should read over a shoulder.
const HIDDEN: &str = "•••";

/// The configuration of the home, with variables replaced.
pub(crate) fn read(shell: &Shell) -> Result<Config, Failure> {
    let home = shell.home()?;
    let env = EnvView::new(Secrets::read(&home)?, shell.variables().clone());
    Ok(Config::read(&home, &env.lookup())?)
}

/// What is odd about the hooks of a configuration, each with its key and its line.
pub(crate) fn odd_hooks(config: &Config) -> Vec<(String, Option<u64>, String)> {
    let mut odd = Vec::new();
    let mut before: Vec<&str> = Vec::new();
    for hook in &config.settings.hooks {
        let event = hook.event.as_str();
        let at = before.iter().filter(|known| **known == event).count().to_string();
        before.push(event);
        let wrong = hook.matcher.as_deref().and_then(|text| wrong_pattern(text, hook.policy));
        if let Some(wrong) = wrong {
            let line = KeyPath::new(["hooks", event, &at, "matcher"]).and_then(|path| config.line(&path));
            odd.push((format!("hooks.{event}.{at}.matcher"), line, wrong));
        }
    }
    odd
}

/// A dotted path on the command line.
pub(crate) fn key_path(text: &str) -> Result<KeyPath, String> {
    text.parse().map_err(|wrong| format!("{wrong}: write it as `agent.max_turns`"))
}

/// Whether a name is that of a variable, which belongs into `.env`.
pub(crate) fn is_variable(name: &str) -> bool {
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(upper)
}

/// Whether what stands at a key is likely to be a secret.
pub(crate) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let tells = ["api_key", "token", "secret", "password", "authorization", "x-api-key"];
    !key.ends_with("_env") && !key.ends_with("_tokens") && tells.iter().any(|tell| key.contains(tell))
}

/// The value without its secrets.
pub(crate) fn hidden(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), hidden(key, value))).collect())
        }
        Value::Array(items) => items.iter().map(|item| hidden(key, item)).collect(),
        Value::Null => Value::Null,
        _ if is_secret(key) => Value::from(HIDDEN),
        other => other.clone(),
    }
}

/// The value as a person would write it.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand_and_sizes_are_not() {
        let value = json!({ "api_key": "k", "key_env": "NAME", "max_tokens": 5, "list": [{ "token": "t" }] });

        let shown = hidden("model", &value);

        assert_eq!(
            shown,
            json!({ "api_key": HIDDEN, "key_env": "NAME", "max_tokens": 5, "list": [{ "token": HIDDEN }] })
        );
        assert!(is_variable("OPENAI_API_KEY") && !is_variable("model") && !is_variable("Model"));
    }
}
