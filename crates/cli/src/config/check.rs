//! `hermes config check`: everything that is wrong, unknown, or there and not used.

use std::collections::BTreeMap;

use hermes::extend::mcp::client::{Ignored, Misread, ignored};
use hermes::store::config::{KeyPath, Standing, standing};
use hermes::store::{Config, StoreError};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::config::{odd_hooks, read};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Check {}

struct Found {
    line: Option<u64>,
    key: String,
    level: Level,
    what: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Run for Check {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let home = shell.home()?;
        let found = match read(shell) {
            Ok(config) => odd(&config, &Servers::of(shell)),
            Err(_) => wrong(&home)?,
        };
        report(shell, &home.config(), &found)?;
        if found.iter().any(|found| found.level == Level::Error) {
            return Err(Failure::Told(Failure::FAILED));
        }
        Ok(())
    }
}

fn report(shell: &Shell, file: &std::path::Path, found: &[Found]) -> Result<(), Failure> {
    if shell.out.wants_json() {
        let list: Vec<Value> = found
            .iter()
            .map(|found| {
                json!({
                    "line": found.line, "key": found.key, "level": found.level.word(), "what": found.what,
                    "hint": found.hint,
                })
            })
            .collect();
        let ok = !found.iter().any(|found| found.level == Level::Error);
        return shell.out.json(&json!({ "file": file, "ok": ok, "found": list }));
    }
    if found.is_empty() {
        return shell.out.text(&format!("{} is fine", file.display()));
    }
    let rows: Vec<Vec<Cell>> = found
        .iter()
        .map(|found| {
            let tone = if found.level == Level::Error { Tone::Strong } else { Tone::Plain };
            let hint = found.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
            vec![
                Cell::new(found.line.map(|line| line.to_string()).unwrap_or_default()),
                Cell::new(found.level.word()).tone(tone),
                Cell::new(&found.key),
                Cell::new(format!("{}{hint}", found.what)),
            ]
        })
        .collect();
    shell.out.table(&["LINE", "", "KEY", "WHAT"], &rows)
}

/// What is odd in a file that can be used.
fn odd(config: &Config, servers: &Servers) -> Vec<Found> {
    let mut found: Vec<Found> = config
        .warnings
        .iter()
        .map(|problem| Found {
            line: Some(problem.line),
            key: problem.key.clone(),
            level: Level::Warning,
            what: problem.what.clone(),
            hint: problem.hint.clone(),
        })
        .collect();
    found.extend(odd_hooks(config).into_iter().map(|(key, line, what)| {
        let level = Level::Warning;
        Found { line, key, level, what, hint: None }
    }));
    found.extend(of_mcp_servers(config, servers));
    let mut unused = Vec::new();
    walk(&mut Vec::new(), config.values(), &mut unused);
    for path in unused {
        let key = path.to_string();
        if found.iter().any(|known| key == known.key || key.starts_with(&format!("{}.", known.key))) {
            continue;
        }
        let what = "is known, and not used by this version".to_owned();
        found.push(Found { line: config.line(&path), key, level: Level::Note, what, hint: None });
    }
    found.sort_by_key(|found| found.line);
    found
}

/// What is known of MCP servers; none is started for it.
#[derive(Default)]
struct Servers {
    /// Names of tools that they do not have, as far as it is known which they have.
    strange: BTreeMap<String, Vec<Ignored>>,
    /// Those that cannot be used as they are written.
    misread: Vec<Misread>,
}

impl Servers {
    fn of(shell: &Shell) -> Self {
        // What keeps a runtime from being made is told by whoever needs one.
        let Ok(runtime) = shell.runtime() else { return Self::default() };
        let servers = runtime.mcp().servers();
        let strange =
            servers.iter().map(|server| (server.config().name.clone(), server.strange_names())).collect();
        Self { strange, misread: runtime.mcp().misread() }
    }
}

/// What is written about MCP servers and cannot be used, or has no effect.
fn of_mcp_servers(config: &Config, known: &Servers) -> Vec<Found> {
    let found = |at: Vec<String>, level: Level, what: String, hint: Option<String>| {
        let path = KeyPath::new(["mcp_servers".to_owned()].into_iter().chain(at).collect::<Vec<_>>())?;
        let (line, key) = (config.line(&path), path.to_string());
        Some(Found { line, key, level, what, hint })
    };
    let servers = match config.values().get("mcp_servers") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(servers)) => servers,
        Some(_) => {
            let what = "is not a map of names to servers, so there are none".to_owned();
            return found(Vec::new(), Level::Warning, what, None).into_iter().collect();
        }
    };
    let wrong = known.misread.iter().filter_map(|Misread { name, why }| {
        found(vec![name.clone()], Level::Warning, format!("is not used: {why}"), None)
    });
    let of_one = |(name, written): (&String, &Value)| {
        let strange = known.strange.get(name).into_iter().flatten().cloned();
        let without_effect = ignored(written).into_iter().chain(strange).filter_map(|ignored: Ignored| {
            let at = [name.clone()].into_iter().chain(ignored.at).collect();
            found(at, Level::Note, ignored.what, ignored.hint)
        });
        without_effect.collect::<Vec<_>>()
    };
    wrong.chain(servers.iter().flat_map(of_one)).collect()
}

/// The highest places that nothing here uses.
fn walk(path: &mut Vec<String>, value: &Value, unused: &mut Vec<KeyPath>) {
    if let Some(place) = KeyPath::new(path.iter()) {
        match standing(&place) {
            Standing::Used(_) => return,
            Standing::LeftAlone | Standing::Unknown { .. } => {
                unused.push(place);
                return;
            }
            Standing::Above => {}
        }
    }
    if let Value::Object(map) = value {
        for (key, value) in map {
            path.push(key.clone());
            walk(path, value, unused);
            path.pop();
        }
    }
}

/// What is wrong with a file that cannot be used.
fn wrong(home: &hermes::store::Home) -> Result<Vec<Found>, Failure> {
    let error = |line, key, what, hint| Found { line, key, level: Level::Error, what, hint };
    match Config::read(home, &|_| None) {
        Err(StoreError::Config { problems, .. }) => Ok(problems
            .into_iter()
            .map(|problem| error(Some(problem.line), problem.key, problem.what, problem.hint))
            .collect()),
        Err(StoreError::Syntax { line, why, .. }) => Ok(vec![error(Some(line), String::new(), why, None)]),
        Err(other) => Err(other.into()),
        Ok(_) => Ok(Vec::new()),
    }
}
