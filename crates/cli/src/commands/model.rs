//! `hermes model`: which model answers and why, which there are, and another one from now on.

use hermes::chat::ModelWish;
use hermes::llm::providers::PROVIDERS;
use hermes::store::config::KeyPath;
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::config::set::set_value;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Model>("model", "Show which model answers and why, list models, or choose another");

/// Options that people write without their dashes.
const MEANT: [&str; 2] = ["--list", "--providers"];

/// Show which model answers and why, list models, or choose another.
///
/// Without a name nothing is changed. With one it becomes `model.default` in `config.yaml`.
#[derive(clap::Args)]
struct Model {
    /// The model that is to answer from now on
    name: Option<String>,
    /// Who serves it; with a name it becomes `model.provider`
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Where it is; with a name it becomes `model.base_url`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// List the models that the provider has
    #[arg(long, conflicts_with_all = ["name", "providers"])]
    list: bool,
    /// List the providers there are, and which have a key
    #[arg(long, conflicts_with = "name")]
    providers: bool,
}

impl Run for Model {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        if self.providers {
            return providers(shell);
        }
        let wish = ModelWish {
            provider: self.provider.clone(),
            base_url: self.base_url.clone(),
            ..ModelWish::default()
        };
        if self.list {
            return list(shell, &wish);
        }
        if let Some(name) = &self.name {
            if let Some(meant) = MEANT.iter().find(|option| option.strip_prefix("--") == Some(name)) {
                let why = format!("there is no model `{name}`; `hermes model {meant}` lists those there are");
                return Err(Failure::usage(why));
            }
            self.choose(shell, name)?;
        }
        show(shell, &if self.name.is_some() { ModelWish::default() } else { wish })
    }
}

impl Model {
    fn choose(&self, shell: &Shell, name: &str) -> Result<(), Failure> {
        let values = [
            ("default", Some(name)),
            ("provider", self.provider.as_deref()),
            ("base_url", self.base_url.as_deref()),
        ];
        // What would not work is told before anything is written.
        let wish = ModelWish {
            provider: self.provider.clone(),
            model: Some(name.to_owned()),
            base_url: self.base_url.clone(),
            effort: None,
        };
        shell.runtime()?.model_blocking(&wish).map_err(Failure::failed)?;
        for (key, value) in values {
            if let (Some(path), Some(value)) = (KeyPath::new(["model", key]), value) {
                set_value(shell, &path, &Value::from(value), false)?;
            }
        }
        Ok(())
    }
}

fn show(shell: &Shell, wish: &ModelWish) -> Result<(), Failure> {
    let choice = shell.runtime()?.model_blocking(wish).map_err(Failure::failed)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!({
            "model": choice.name, "provider": choice.provider, "base_url": choice.base_url,
            "context_tokens": choice.context_tokens, "offline": choice.is_offline(), "why": choice.why,
            "warnings": choice.warnings,
        }));
    }
    shell.out.text(&choice.name)?;
    for line in choice.why.iter().chain(&choice.warnings) {
        shell.out.text(&format!("  {line}"))?;
    }
    Ok(())
}

fn list(shell: &Shell, wish: &ModelWish) -> Result<(), Failure> {
    let models = shell.runtime()?.models_blocking(wish).map_err(Failure::failed)?;
    if shell.out.wants_json() {
        let list: Vec<Value> =
            models.iter().map(|(name, tokens)| json!({ "model": name, "context_tokens": tokens })).collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = models
        .iter()
        .map(|(name, tokens)| {
            vec![Cell::new(name), Cell::new(tokens.map(|tokens| tokens.to_string()).unwrap_or_default())]
        })
        .collect();
    shell.out.table(&["MODEL", "CONTEXT"], &rows)
}

fn providers(shell: &Shell) -> Result<(), Failure> {
    let runtime = shell.runtime()?;
    let key_of = |names: &[&'static str]| names.iter().copied().find(|name| runtime.has_variable(name));
    if shell.out.wants_json() {
        let list: Vec<Value> = PROVIDERS
            .iter()
            .map(|provider| {
                json!({
                    "provider": provider.name(), "label": provider.label, "base_url": provider.base_url,
                    "key_env": provider.key_env, "key": key_of(provider.key_env),
                    "default_model": provider.default_model, "local": !provider.ports.is_empty(),
                })
            })
            .collect();
        return shell.out.json(&list);
    }
    let rows: Vec<Vec<Cell>> = PROVIDERS
        .iter()
        .map(|provider| {
            let key = match key_of(provider.key_env) {
                Some(name) => Cell::new(format!("{name} is set")),
                None if provider.key_env.is_empty() => Cell::new("needs none").tone(Tone::Faint),
                None => Cell::new(format!("needs {}", provider.key_env.join(" or "))).tone(Tone::Faint),
            };
            vec![
                Cell::new(provider.name()).tone(Tone::Strong),
                Cell::new(provider.label),
                key,
                Cell::new(provider.base_url),
            ]
        })
        .collect();
    shell.out.table(&["PROVIDER", "", "KEY", "WHERE"], &rows)
}
