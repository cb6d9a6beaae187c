//! `hermes setup` at a terminal: a few questions, then everything is written at once.

use hermes::chat::ModelWish;
use hermes::llm::ProviderDef;
use hermes::llm::providers::PROVIDERS;
use hermes::store::secrets::check_writable;

use crate::command::Failure;
use crate::person::Person;
use crate::setup::keys::{self, Keyed};
use crate::setup::values;
use crate::shell::Shell;

/// How risky commands may be decided, as they are asked about.
const MODES: &[(&str, &str)] = &[
    ("smart", "a model may approve what carries little risk; else I am asked"),
    ("manual", "I am always asked"),
    ("deny", "nobody is asked; only what was granted runs"),
    ("off", "nobody is asked; only what is never allowed is stopped"),
];

pub(crate) fn questions(shell: &Shell) -> Result<(), Failure> {
    let Some(mut person) = Person::at_terminal() else {
        return Err(Failure::usage(
            "there is no terminal to ask at; use `hermes setup --non-interactive NAME=VALUE…` \
             (`hermes setup --list` shows the names)",
        ));
    };
    let runtime = shell.runtime()?;
    person.tell(
        "This sets up the model, how careful to be, and keys of tools. Nothing is written before the end.",
    )?;
    let mut wanted: Vec<String> = Vec::new();
    let names: Vec<String> = PROVIDERS
        .iter()
        .map(|provider| {
            let set = provider.key_env.iter().any(|name| runtime.has_variable(name));
            format!("{}{}", provider.label, if set { " (key is set)" } else { "" })
        })
        .collect();
    let usual = PROVIDERS
        .iter()
        .position(|provider| provider.key_env.iter().any(|name| runtime.has_variable(name)))
        .or_else(|| PROVIDERS.iter().position(|provider| provider.name() == "openrouter"))
        .unwrap_or_default();
    let at = person.choice("Who serves the model?", &names, usual)?;
    if let Some(provider) = PROVIDERS.get(at) {
        wanted.push(format!("model.provider={}", provider.name()));
        about(&mut person, &runtime, provider, &mut wanted)?;
    }
    let modes: Vec<String> = MODES.iter().map(|(word, what)| format!("{word}: {what}")).collect();
    let mode = person.choice("What about risky commands?", &modes, 0)?;
    if let Some((word, _)) = MODES.get(mode) {
        wanted.push(format!("approvals.mode={word}"));
    }
    keys_of_tools(&mut person, &runtime, &mut wanted)?;
    values::set(shell, &wanted)?;
    person.tell("Done. `hermes doctor` tries it; `hermes chat` starts.")
}

/// The keys of the toolsets that the person wants to set up.
fn keys_of_tools(
    person: &mut Person,
    runtime: &hermes::Runtime,
    wanted: &mut Vec<String>,
) -> Result<(), Failure> {
    let keyed = keys::by_toolset(&runtime.tools());
    let option = |keyed: &Keyed| {
        let names: Vec<String> = keyed
            .keys
            .iter()
            .map(|key| {
                let set = if runtime.has_variable(&key.name) { " (set)" } else { "" };
                format!("{}{set}", key.name)
            })
            .collect();
        format!("{}: {}", keyed.toolset, names.join(", "))
    };
    let options: Vec<String> = keyed.iter().map(option).collect();
    for place in person.choices("Keys of which tools do you want to set?", &options)? {
        let Some(keyed) = keyed.get(place) else { continue };
        person.tell(&format!("{}: {}", keyed.toolset, keyed.about))?;
        for key in &keyed.keys {
            check_writable(&key.name)?;
            let page = key.url.map(|url| format!(" from {url}")).unwrap_or_default();
            let question = format!("{}{page}, empty to leave it as it is", key.name);
            let value = if key.secret { person.secret(&question)? } else { person.line(&question, "")? };
            if !value.is_empty() {
                wanted.push(format!("{}={value}", key.name));
            }
        }
    }
    Ok(())
}

/// Address, key and model of a provider.
fn about(
    person: &mut Person,
    runtime: &hermes::Runtime,
    provider: &ProviderDef,
    wanted: &mut Vec<String>,
) -> Result<(), Failure> {
    if provider.base_url.is_empty() {
        let url = person.line("Address (http://…/v1)", "http://127.0.0.1:8080/v1")?;
        wanted.push(format!("model.base_url={url}"));
    }
    if let Some(name) = provider.key_env.first() {
        check_writable(name)?;
        if !provider.key_page.is_empty() {
            person.tell(&format!("Keys: {}", provider.key_page))?;
        }
        let key = person.secret(&format!("{name}, empty to leave it as it is"))?;
        if !key.is_empty() {
            wanted.push(format!("{name}={key}"));
        }
    }
    let there = if provider.ports.is_empty() {
        Vec::new()
    } else {
        let wish = ModelWish { provider: Some(provider.name().to_owned()), ..ModelWish::default() };
        runtime.models_blocking(&wish).unwrap_or_default()
    };
    let usual = there.first().map_or(provider.default_model, |(name, _)| name.as_str());
    let model = person.line("Model", usual)?;
    if !model.is_empty() {
        wanted.push(format!("model.default={model}"));
    }
    Ok(())
}
