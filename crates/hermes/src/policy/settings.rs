//! What the configuration says about policy.

use std::path::PathBuf;

use hermes_guard::{Grants, Mode, RuleFault, UserRule, UserRules};
use hermes_store::Config;
use hermes_store::config::{ApprovalMode, KeyPath};
use serde_json::Value;

/// The settings of a policy.
#[derive(Debug, Clone)]
pub struct PolicySettings {
    /// How questions are handled.
    pub mode: Mode,
    /// The user's own rules, `approvals.rules`.
    pub rules: UserRules,
    /// Patterns of commands that never run, `approvals.deny`.
    pub deny: Vec<String>,
    /// What was granted for good, `command_allowlist`.
    pub allowed: Vec<String>,
    /// The folder for temporary files.
    pub temp: PathBuf,
}

/// Rules in the configuration are wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: approvals.rules: {}", path.display(), faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct PolicyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, all of it.
    pub faults: Vec<RuleFault>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            mode: Mode::Manual,
            rules: UserRules::default(),
            deny: Vec::new(),
            allowed: Vec::new(),
            temp: PathBuf::from("/tmp"),
        }
    }
}

impl PolicySettings {
    /// Reads them; rules that make no sense are told with their lines, all at once.
    pub fn read(config: &Config) -> Result<Self, PolicyError> {
        let settings = &config.settings;
        Ok(Self {
            mode: match settings.approvals.mode {
                ApprovalMode::Manual => Mode::Manual,
                ApprovalMode::Smart => Mode::Smart,
                ApprovalMode::Off => Mode::Off,
                ApprovalMode::Deny => Mode::Deny,
            },
            rules: rules(config)?,
            deny: settings.approvals.deny.clone(),
            allowed: settings.command_allowlist.clone(),
            ..Self::default()
        })
    }

    /// The grants a session starts with.
    pub(super) fn allowed_for_good(&self) -> Grants {
        Grants::from_allowlist(self.allowed.iter().cloned())
    }
}

fn rules(config: &Config) -> Result<UserRules, PolicyError> {
    let Some(list) = KeyPath::new(["approvals", "rules"]) else { return Ok(UserRules::default()) };
    let (mut read, mut faults) = (Vec::new(), Vec::new());
    match config.get(&list) {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            for (at, item) in items.into_iter().enumerate() {
                let line = line(config, at);
                match serde_json::from_value::<UserRule>(item) {
                    Ok(rule) => read.push((rule, line)),
                    Err(wrong) => faults.push(RuleFault { line, why: wrong.to_string() }),
                }
            }
        }
        Some(_) => faults.push(RuleFault { line: 0, why: "it must be a list of rules".to_owned() }),
    }
    match UserRules::check(read) {
        Ok(rules) if faults.is_empty() => Ok(rules),
        Ok(_) => Err(PolicyError { path: config.path().to_path_buf(), faults }),
        Err(more) => {
            faults.extend(more);
            faults.sort_by_key(|fault| fault.line);
            Err(PolicyError { path: config.path().to_path_buf(), faults })
        }
    }
}

fn line(config: &Config, at: usize) -> usize {
    let path = KeyPath::new(["approvals".to_owned(), "rules".to_owned(), at.to_string()]);
    path.and_then(|path| config.line(&path)).and_then(|line| usize::try_from(line).ok()).unwrap_or_default()
}
