//! The places of a runtime by name, and what is known about each without opening it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{EnvError, ShellState, Workplace};
use crate::files::Files;
use crate::session::{Place, Slot};

/// The places where commands run, by name; one of them is the default.
#[derive(Clone, Default)]
pub struct Environments {
    default: String,
    known: BTreeMap<String, Site>,
}

/// One of the places where commands run.
#[derive(Clone)]
pub struct Site {
    /// Runs commands there.
    pub place: Arc<dyn Workplace>,
    /// Its files, where they are not those of this machine.
    pub there: Option<There>,
    /// What is known about it without opening it.
    pub about: About,
}

/// The files of a place that has its own.
#[derive(Clone)]
pub struct There {
    /// Reads and changes them.
    pub files: Arc<dyn Files>,
    /// Where sessions begin there; `~` stands for the home there.
    pub first: Place,
}

/// What is known about an environment without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Which backend it is.
    pub backend: String,
    /// Where that is, in words: a host, an image.
    pub location: String,
    /// Whose it is, which decides how much is asked.
    pub standing: Standing,
}

/// What an environment is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// This machine.
    #[default]
    Own,
    /// Another machine, or a container that can reach what is the user's: asked about like this one.
    Shared,
    /// Can be thrown away: nothing in it is the user's, and only what leaves it is asked about.
    Disposable,
}

/// In the extensions of a session: the environment its calls work in when they name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen(pub String);

/// The name by which the default place can always be called.
pub const DEFAULT: &str = "default";

/// The argument by which a call names its environment.
pub const ARGUMENT: &str = "environment";

impl Environments {
    /// One place with the files of this machine, which is the default.
    pub fn new(name: impl Into<String>, place: Arc<dyn Workplace>) -> Self {
        let name = name.into();
        Self::default().default_to(name.clone()).with(name, place)
    }

    /// Names the place that is used when nobody names one.
    pub fn default_to(mut self, name: impl Into<String>) -> Self {
        self.default = name.into();
        self
    }

    /// Adds a place with the files of this machine.
    pub fn with(self, name: impl Into<String>, place: Arc<dyn Workplace>) -> Self {
        self.with_site(name, Site { place, there: None, about: About::default() })
    }

    /// Adds a place.
    pub fn with_site(mut self, name: impl Into<String>, site: Site) -> Self {
        self.known.insert(name.into(), site);
        self
    }

    /// Name of the default place; empty when there is none.
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The default place.
    pub fn default_place(&self) -> Result<Arc<dyn Workplace>, EnvError> {
        self.find(&self.default)
    }

    /// The place of that name.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Workplace>, EnvError> {
        Ok(Arc::clone(&self.site(name)?.place))
    }

    /// Everything about the place of that name.
    pub fn site(&self, name: &str) -> Result<&Site, EnvError> {
        let named = if name == DEFAULT && !self.known.contains_key(DEFAULT) { &self.default } else { name };
        self.known.get(named).ok_or_else(|| EnvError::Unknown(name.to_owned()))
    }

    /// All places, sorted by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Site)> {
        self.known.iter().map(|(name, site)| (name.as_str(), site))
    }

    /// The name under which a wish is known: the one it names, else the default.
    pub(crate) fn named<'a>(&'a self, wish: Option<&'a str>) -> &'a str {
        match wish.filter(|name| !name.is_empty()) {
            Some(DEFAULT) if !self.known.contains_key(DEFAULT) => &self.default,
            Some(name) => name,
            None => &self.default,
        }
    }
}

/// What a session's shells remember, one per environment, and what all of them are to be given.
#[derive(Debug, Default)]
pub struct Shells {
    known: BTreeMap<String, ShellState>,
    passed: BTreeSet<String>,
}

impl Shells {
    /// What the shell in that environment knew last.
    pub fn of(&self, environment: &str) -> ShellState {
        self.known.get(environment).cloned().unwrap_or_default().passing(self.passed.clone())
    }

    /// What a shell begins with that is to know nothing of those before it.
    pub fn fresh(&self) -> ShellState {
        ShellState::default().passing(self.passed.clone())
    }

    /// Has the session's commands given these variables from now on, as far as they may be.
    pub fn pass(&mut self, names: impl IntoIterator<Item = String>) {
        self.passed.extend(names);
    }

    /// What it knows now.
    pub fn set(&mut self, environment: &str, state: ShellState) {
        self.known.insert(environment.to_owned(), state);
    }
}

impl Slot for Shells {
    const NAME: &'static str = "shell";
}
