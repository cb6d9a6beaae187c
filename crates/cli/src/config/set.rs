//! `hermes config set KEY VALUE`: changes one value of `config.yaml`, or one variable of `.env`.

use hermes::store::config::{KeyKind, KeyPath, Standing, standing};
use hermes::store::error::Problem;
use hermes::store::{Config, ConfigFile, Secrets, StoreError};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::config::{is_secret, is_variable, key_path, plain};
use crate::output;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Set {
    /// Dotted path, such as `agent.max_turns`, or a variable such as `OPENAI_API_KEY`
    key: String,
    /// The value; `-` reads it from standard input, so that a secret need not be typed here
    value: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Run for Set {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let value = if self.value == "-" {
            crate::input::text("-", shell.cwd())?.trim_end_matches(['\n', '\r']).to_owned()
        } else {
            self.value
        };
        if is_variable(&self.key) {
            return set_variable(shell, &self.key, &value, self.dry_run);
        }
        let key = key_path(&self.key).map_err(Failure::usage)?;
        let value = wanted(&key, &value);
        let change = set_value(shell, &key, &value, self.dry_run)?;
        let shown = if is_secret(&self.key) { json!(super::HIDDEN) } else { value };
        if shell.out.wants_json() {
            return shell.out.json(&json!({
                "key": key.to_string(), "value": shown, "file": change.path, "changed": !change.is_empty(),
                "written": !self.dry_run,
            }));
        }
        let how = match (change.is_empty(), self.dry_run) {
            (true, _) => "was already",
            (false, true) => "would be",
            (false, false) => "is now",
        };
        shell.out.text(&format!("{key} {how} {} in {}", plain(&shown), change.path.display()))
    }
}

fn set_variable(shell: &Shell, name: &str, value: &str, dry_run: bool) -> Result<(), Failure> {
    let home = shell.home()?;
    hermes::store::secrets::check_writable(name)?;
    if !dry_run {
        Secrets::write(&home, name, value)?;
    }
    let file = home.env();
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "key": name, "file": file, "written": !dry_run }));
    }
    let how = if dry_run { "would be set" } else { "is set" };
    shell.out.text(&format!("{name} {how} in {}", file.display()))
}

/// Sets a value, unless the file would then say something that cannot be used.
pub(crate) fn set_value(
    shell: &Shell,
    key: &KeyPath,
    value: &Value,
    dry_run: bool,
) -> Result<hermes::store::Change, Failure> {
    match standing(key) {
        Standing::Unknown { near } => {
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            output::warn(&format!("`{key}` is not a known key{hint}"));
        }
        Standing::LeftAlone => output::warn(&format!("`{key}` is kept, but this version does not use it")),
        Standing::Used(_) | Standing::Above => {}
    }
    let home = shell.home()?;
    let edit = |file: &mut ConfigFile| -> Result<(), StoreError> {
        file.set(key, value)?;
        Config::parse(&home.config(), file.text(), &|_| None).map(drop)
    };
    if dry_run {
        let mut file = ConfigFile::open(&home)?;
        edit(&mut file).map_err(|wrong| refused(wrong, key))?;
        return Ok(file.change());
    }
    ConfigFile::update(&home, edit).map_err(|wrong| refused(wrong, key))
}

/// Why a value was not set: of one that cannot be used nothing was written, and the file is fine.
fn refused(wrong: StoreError, key: &KeyPath) -> Failure {
    let (key, inner) = (key.to_string(), format!("{key}."));
    let is_new = |problem: &Problem| problem.key == key || problem.key.starts_with(&inner);
    match &wrong {
        StoreError::Config { problems, .. } if problems.iter().all(is_new) => {
            let told: Vec<String> =
                problems.iter().map(|problem| format!("`{}` {}", problem.key, problem.what)).collect();
            Failure::usage(format!("{}; nothing was written", told.join("\n       ")))
        }
        _ => wrong.into(),
    }
}

/// The value a person means: of the key's type where it is known, otherwise by its looks.
pub(crate) fn wanted(key: &KeyPath, text: &str) -> Value {
    match standing(key) {
        Standing::Used(def) if !def.path.ends_with('*') => value_of(def.kind, text),
        Standing::Used(def) if def.kind == KeyKind::Text => Value::from(text),
        _ => looks_like(text),
    }
}

/// The text as a value of a type; what does not fit stays a text, and is told when the file is read.
pub(crate) fn value_of(kind: KeyKind, text: &str) -> Value {
    let read = looks_like(text);
    match kind {
        KeyKind::Text | KeyKind::Word(_) => Value::from(text),
        KeyKind::FlagOrTexts if read.is_boolean() => read,
        KeyKind::Texts | KeyKind::FlagOrTexts if !read.is_array() => {
            let items = text.trim_start_matches('[').trim_end_matches(']').split(',').map(str::trim);
            items.filter(|item| !item.is_empty()).map(Value::from).collect()
        }
        _ => read,
    }
}

fn looks_like(text: &str) -> Value {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => return Value::Bool(true),
        "false" | "no" | "off" => return Value::Bool(false),
        _ => {}
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_) | Value::Null)) => value,
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, text: &str) -> Value {
        wanted(&key.parse().unwrap(), text)
    }

    #[test]
    fn a_value_is_of_the_type_its_key_wants() {
        assert_eq!(of("agent.max_turns", "12"), json!(12));
        assert_eq!(of("model.default", "4"), json!("4"));
        assert_eq!(of("approvals.mode", "off"), json!("off"));
        assert_eq!(of("compression.enabled", "no"), json!(false));
        assert_eq!(of("toolsets", "web, file"), json!(["web", "file"]));
        assert_eq!(of("toolsets", "[]"), json!([]));
        assert_eq!(of("browser.allow_private_urls", "true"), json!(true));
        assert_eq!(
            of("browser.allow_private_urls", "nas.lan, 127.0.0.1:80"),
            json!(["nas.lan", "127.0.0.1:80"])
        );
        assert_eq!(of("tts.openai.speed", "1.5"), json!(1.5));
        assert_eq!(of("tts.openai.voice", "7"), json!("7"));
        assert_eq!(of("tts.speed", "1.5"), json!(1.5));
        assert_eq!(of("tts.voice", "amy"), json!("amy"));
        assert_eq!(of("approvals.rules", r#"[{"then":"ask"}]"#), json!([{ "then": "ask" }]));
    }
}
