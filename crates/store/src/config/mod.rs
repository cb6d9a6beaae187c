//! `config.yaml`: what it says ([`Config`]) and how to change it ([`ConfigFile`]).
//!
//! - `tree`: the file with positions
//! - `everyday`: the same for a file as most people write it, much faster
//! - `reader`: typed values, problems and warnings
//! - `read`: which value of the file is which setting
//! - `settings`: the values and their defaults
//! - `models`: the settings about models
//! - `schema`: every key that is used, with its default and what it is for
//! - `tool_keys`: the part of it that single tools use
//! - `known`: the keys that mean something
//! - `path`: dotted paths
//! - `edit`: changes that keep comments and every untouched byte
//! - `verify`: proof that an edit did what was asked and nothing else

mod edit;
mod everyday;
mod known;
mod models;
mod path;
mod read;
mod reader;
mod schema;
mod settings;
mod tool_keys;
mod tree;
mod verify;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::disk;
use crate::error::{Problem, StoreError};
use crate::home::Home;
use reader::{Reader, Section};
use tree::{Duplicates, Kind, Node};

pub use edit::{Change, ConfigFile};
pub(crate) use known::nearest;
pub use models::{EndpointSettings, ModelSettings, Secret, TurnSettings};
pub use path::{BadPath, KeyPath};
pub use schema::{KeyDef, KeyKind, Standing, keys, standing};
pub use settings::{
    AgentSettings, ApprovalMode, Approvals, CronMode, CronSettings, Delegation, FenceLevel, Guardrails,
    HookSettings, Limits, MemorySettings, PluginsSettings, Repeats, Settings, SkillsSettings, Switch,
    TerminalSettings, ToolOutput, ToolSearch, ToolsSettings,
};

/// Another small YAML file of ours that is a map, read within the same bounds.
pub(crate) fn yaml_map(path: &Path, text: &str) -> Result<Value, StoreError> {
    tree::parse(path, text, Duplicates::LastWins).map(|(tree, _)| tree.with_letters(text).value())
}

/// What `config.yaml` says: the settings this program uses, and everything else by dotted path.
#[derive(Clone)]
pub struct Config {
    /// The settings, complete with defaults.
    pub settings: Settings,
    /// What is odd but usable: unknown keys, numbers out of range, repeated keys.
    pub warnings: Vec<Problem>,
    path: PathBuf,
    tree: Node,
    /// The same without positions, made when somebody wants all of it.
    values: OnceLock<Value>,
}

impl Config {
    /// Reads the config of a home. Without a file everything is at its default.
    ///
    /// `lookup` answers `${NAME}` in texts; what it does not know stays as written.
    pub fn read(home: &Home, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Config, StoreError> {
        let path = home.config();
        let text = disk::read(&path, tree::MAX_BYTES)?.unwrap_or_default();
        Config::parse(&path, &text, lookup)
    }

    /// Reads a config from text; `path` is for messages.
    pub fn parse(
        path: &Path,
        text: &str,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Config, StoreError> {
        let (mut tree, repeated) = tree::parse(path, text, Duplicates::LastWins)?;
        if text.contains(tree::VARIABLE) {
            tree.expand(lookup);
        }
        let mut reader = Reader::new(text);
        reader.warnings.extend(repeated);
        let settings = read::settings(&mut reader, Section::root(&tree));
        let Reader { mut problems, mut warnings, .. } = reader;
        let by_place = |a: &Problem, b: &Problem| (a.line, a.column).cmp(&(b.line, b.column));
        if !problems.is_empty() {
            problems.sort_by(by_place);
            return Err(StoreError::Config { path: path.to_owned(), problems });
        }
        warnings.sort_by(by_place);
        Ok(Config { settings, warnings, path: path.to_owned(), tree, values: OnceLock::new() })
    }

    /// The file this was read from, whether or not it exists.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything the file says, with `${NAME}` replaced and without defaults.
    pub fn values(&self) -> &Value {
        self.values.get_or_init(|| self.tree.value())
    }

    /// What the file says at a place; `None` if it is silent.
    pub fn get(&self, path: &KeyPath) -> Option<Value> {
        self.at(path).map(|(node, _)| node.value())
    }

    /// The same with every `${NAME}` as it is written: what it stands for may be a secret.
    pub fn written(&self, path: &KeyPath) -> Option<Value> {
        self.at(path).map(|(node, _)| node.written())
    }

    /// The line on which a key stands, counted from 1.
    pub fn line(&self, path: &KeyPath) -> Option<u64> {
        self.at(path).and_then(|(_, line)| line)
    }

    /// What stands at a place, and on which line.
    fn at(&self, path: &KeyPath) -> Option<(&Node, Option<u64>)> {
        let mut node = &self.tree;
        let mut line = None;
        for key in path.keys() {
            if let Kind::List(items) = &node.kind {
                node = items.get(key.parse::<usize>().ok()?)?;
                line = Some(node.at.line());
            } else {
                let entry = node.get(key)?;
                node = &entry.value;
                line = Some(entry.at.line());
            }
        }
        Some((node, line))
    }
}

/// Leaves out the tree: it may hold keys, written there or put in for a `${NAME}`.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("path", &self.path)
            .field("settings", &self.settings)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
