//! The runtime's view of what lies outside: variables, secrets, configuration.
//!
//! It is taken once and handed round as a value; nothing below reads the process environment. A
//! refresh takes it again and tells which part changed.

use std::collections::{BTreeMap, BTreeSet};

use hermes_core::availability::Change;
use hermes_store::config::{HookSettings, KeyPath, PluginsSettings};
use hermes_store::{Config, EnvView, Home, Secrets, Settings, StoreError};
use serde_json::Value;

use crate::policy::{PolicyError, PolicySettings};
use crate::sites::Sites;

/// Variables, secrets and configuration at one moment.
#[derive(Default)]
pub(crate) struct World {
    home: Option<Home>,
    process: BTreeMap<String, String>,
    secrets: Secrets,
    env: EnvView,
    config: Option<Config>,
    sites: Sites,
    /// Counts the changes, for those who only want to know whether there was one.
    revision: u64,
}

impl World {
    /// Differs from what it was when anything has changed.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Reads the home's `.env` and `config.yaml`; without a home there is only the process.
    pub(crate) fn read(home: Option<Home>, process: BTreeMap<String, String>) -> Result<Self, StoreError> {
        let secrets = home.as_ref().map(Secrets::read).transpose()?.unwrap_or_default();
        let env = EnvView::new(secrets.clone(), process.clone());
        let config = home.as_ref().map(|home| Config::read(home, &env.lookup())).transpose()?;
        Ok(Self { home, process, secrets, env, config, sites: Sites::default(), revision: 0 })
    }

    /// Reads everything again and says what is different.
    pub(crate) fn refresh(&mut self) -> Result<Vec<Change>, StoreError> {
        let fresh = Self::read(self.home.clone(), self.process.clone())?;
        let mut changes = Vec::new();
        if fresh.secrets != self.secrets {
            changes.push(Change::Environment);
        }
        if fresh.config.as_ref().map(Config::values) != self.config.as_ref().map(Config::values) {
            changes.push(Change::Config);
        }
        *self = Self { revision: self.revision + 1, ..fresh };
        Ok(changes)
    }

    /// Sets or clears a variable of the process part.
    pub(crate) fn set_variable(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.process.insert(name.to_owned(), value.to_owned()),
            None => self.process.remove(name),
        };
        self.revision += 1;
        self.env = EnvView::new(self.secrets.clone(), self.process.clone());
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name)
    }

    /// Every variable, the home's own first.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.secrets.names().filter_map(|name| Some((name, self.secrets.get(name)?)));
        own.chain(self.process.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Names in the home's `.env`.
    pub(crate) fn secret_names(&self) -> BTreeSet<String> {
        self.secrets.names().map(str::to_owned).collect()
    }

    /// What the home's `.env` says.
    pub(crate) fn kept(&self) -> BTreeMap<String, String> {
        let pair = |name: &str| Some((name.to_owned(), self.secrets.get(name)?.to_owned()));
        self.secrets.names().filter_map(pair).collect()
    }

    /// The variables of the process part.
    pub(crate) fn process(&self) -> &BTreeMap<String, String> {
        &self.process
    }

    /// The value at a dotted key of the configuration.
    pub(crate) fn config(&self, key: &str) -> Option<Value> {
        let path: KeyPath = key.parse().ok()?;
        self.config.as_ref()?.get(&path)
    }

    /// The same, with every `${NAME}` as it is written.
    pub(crate) fn config_as_written(&self, key: &str) -> Option<Value> {
        let path: KeyPath = key.parse().ok()?;
        self.config.as_ref()?.written(&path)
    }

    /// The line of `config.yaml` on which a key stands.
    pub(crate) fn line(&self, path: &KeyPath) -> Option<u64> {
        self.config.as_ref()?.line(path)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.config.as_ref().map(|config| config.settings.clone()).unwrap_or_default()
    }

    /// The plugins that the configuration switches on, and those that it keeps off.
    pub(crate) fn plugins(&self) -> Option<&PluginsSettings> {
        self.config.as_ref().map(|config| &config.settings.plugins)
    }

    /// The folders with skills that the configuration names, as they are written.
    pub(crate) fn skill_folders(&self) -> &[String] {
        let config = self.config.as_ref();
        config.map(|config| config.settings.skills.external_dirs.as_slice()).unwrap_or_default()
    }

    /// The shell hooks of the configuration. Asked for at every look, and therefore not copied.
    pub(crate) fn hooks(&self) -> &[HookSettings] {
        self.config.as_ref().map(|config| config.settings.hooks.as_slice()).unwrap_or_default()
    }

    /// What the configuration says about policy.
    pub(crate) fn policy(&self) -> Result<PolicySettings, PolicyError> {
        self.config.as_ref().map(PolicySettings::read).transpose().map(Option::unwrap_or_default)
    }

    /// What is odd in the configuration but usable, in words.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.config.iter().flat_map(|config| config.warnings.iter().map(ToString::to_string)).collect()
    }

    /// Sites that are closed to the agent.
    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    pub(crate) fn home(&self) -> Option<&Home> {
        self.home.as_ref()
    }
}
