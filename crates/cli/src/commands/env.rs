//! `hermes env`: the places where commands run.

use std::sync::Arc;

use hermes::Runtime;
use hermes::core::environment::{About, Standing};
use serde_json::json;

use crate::command::{CommandDef, Failure, Run};
use crate::output;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<EnvCommand>("env", "List, try, enter and clean the places where commands run");

#[derive(clap::Args)]
struct EnvCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the configured environments
    List,
    /// Open one and say what is there; exits 1 when it cannot be used
    Test(One),
    /// Open a shell in one
    Shell(One),
    /// Remove what environments of this home have left: containers, connections, kept files
    Clean(OneOrAll),
}

#[derive(clap::Args)]
struct One {
    /// Its name, as `hermes env list` shows it
    name: String,
}

#[derive(clap::Args)]
struct OneOrAll {
    /// Which, as `hermes env list` shows it; all of them when none is named
    name: Option<String>,
}

impl Run for EnvCommand {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        match self.action {
            Action::List => list(shell, &runtime),
            Action::Test(One { name }) => test(shell, &runtime, &name),
            Action::Shell(One { name }) => enter(shell, &runtime, &name),
            Action::Clean(OneOrAll { name }) => clean(shell, &runtime, name),
        }
    }
}

fn list(shell: &Shell, runtime: &Runtime) -> Result<(), Failure> {
    let environments = runtime.environments();
    let faults = runtime.environment_faults();
    let wrong = |name: &str| {
        let known = faults.iter().find(|(known, _)| known == name);
        known.map(|(_, wrong)| wrong.join("; ")).filter(|wrong| !wrong.is_empty())
    };
    let is_default = |name: &str| name == environments.default_name();
    if shell.out.wants_json() {
        let all: Vec<_> = environments
            .all()
            .map(|(name, site)| {
                let About { backend, location, standing } = &site.about;
                json!({
                    "name": name, "default": is_default(name), "backend": backend, "location": location,
                    "disposable": *standing == Standing::Disposable, "error": wrong(name),
                })
            })
            .collect();
        return shell.out.json(&all);
    }
    let rows: Vec<Vec<Cell>> = environments
        .all()
        .map(|(name, site)| {
            let last = match wrong(name) {
                Some(wrong) => Cell::new(wrong).tone(Tone::Bad),
                None => Cell::new(asked(site.about.standing)),
            };
            let default = if is_default(name) { "default" } else { "" };
            vec![
                Cell::new(name).tone(Tone::Strong),
                Cell::new(default),
                Cell::new(site.about.backend.clone()),
                Cell::new(site.about.location.clone()),
                last,
            ]
        })
        .collect();
    shell.out.table(&["name", "", "backend", "where", "approvals"], &rows)
}

/// How much is asked about in a place.
fn asked(standing: Standing) -> &'static str {
    match standing {
        Standing::Own => "asked",
        Standing::Shared => "asked as on this machine",
        Standing::Disposable => "only what leaves it",
    }
}

fn test(shell: &Shell, runtime: &Runtime, name: &str) -> Result<(), Failure> {
    known(runtime, name)?;
    let found = runtime.look_at_environment(name, Arc::new(|words: &str| output::say(words)));
    if shell.out.wants_json() {
        let wrong = found.as_ref().err().map(ToString::to_string);
        shell.out.json(
            &json!({ "name": name, "ok": found.is_ok(), "found": found.as_ref().ok(), "error": wrong }),
        )?;
        return if found.is_ok() { Ok(()) } else { Err(Failure::Told(Failure::FAILED)) };
    }
    let found = found.map_err(Failure::failed)?;
    shell.out.line(&format!("{name} works{}{found}", if found.is_empty() { "" } else { ": " }))
}

fn enter(shell: &Shell, runtime: &Runtime, name: &str) -> Result<(), Failure> {
    known(runtime, name)?;
    if shell.out.wants_json() {
        let why = "a shell is for a person at a terminal and has nothing to say in JSON";
        return Err(Failure::usage(format!("{why}; `hermes env test {name} --json` says what is there")));
    }
    match runtime.enter_environment(name).map_err(Failure::failed)? {
        0 => Ok(()),
        code => Err(Failure::Told(u8::try_from(code).unwrap_or(Failure::FAILED))),
    }
}

fn clean(shell: &Shell, runtime: &Runtime, name: Option<String>) -> Result<(), Failure> {
    let environments = runtime.environments();
    let names = match name {
        Some(name) => {
            known(runtime, &name)?;
            vec![name]
        }
        // On this machine there is nothing of ours to remove.
        None => environments
            .all()
            .filter(|(_, site)| site.about.standing != Standing::Own)
            .map(|(name, _)| name.to_owned())
            .collect(),
    };
    let mut done = Vec::new();
    for name in names {
        let wrong = runtime.close_environment(&name, true).err().map(|wrong| wrong.to_string());
        done.push((name, wrong));
    }
    if shell.out.wants_json() {
        let told = |(name, wrong): &(String, Option<String>)| json!({ "name": name, "clean": wrong.is_none(), "error": wrong });
        let all: Vec<_> = done.iter().map(told).collect();
        shell.out.json(&all)?;
    } else {
        for (name, wrong) in &done {
            match wrong {
                Some(wrong) => output::warn(&format!("{name}: {wrong}")),
                None => shell.out.line(&format!("{name}: nothing of it is left"))?,
            }
        }
    }
    if done.iter().any(|(_, wrong)| wrong.is_some()) {
        return Err(Failure::Told(Failure::FAILED));
    }
    Ok(())
}

fn known(runtime: &Runtime, name: &str) -> Result<(), Failure> {
    runtime.environments().site(name).map(drop).map_err(Failure::usage)
}
