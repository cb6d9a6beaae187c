//! What `hermes doctor` looks at, one file each, in the order in which one needs the other.

mod config;
mod fence;
mod home;
mod model;
mod secrets;
mod store;
mod terminal;
mod tools;

use std::fmt::Display;

use crate::shell::Shell;

/// One thing to look at.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) needs_network: bool,
    pub(crate) look: fn(&Shell) -> Vec<Finding>,
}

impl Check {
    const fn new(name: &'static str, look: fn(&Shell) -> Vec<Finding>) -> Self {
        Self { name, needs_network: false, look }
    }
}

/// Everything, in order.
pub(crate) const CHECKS: &[Check] = &[
    Check::new("home", home::look),
    Check::new("config", config::look),
    Check::new("secrets", secrets::look),
    Check::new("store", store::look),
    Check { needs_network: true, ..Check::new("model", model::look) },
    Check::new("tools", tools::look),
    Check::new("terminal", terminal::look),
    Check::new("fence", fence::look),
];

/// What was found.
pub(crate) struct Finding {
    pub(crate) state: State,
    pub(crate) what: String,
    pub(crate) fix: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Fine,
    /// Worth knowing; nothing is broken.
    Note,
    Wrong,
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

impl Finding {
    fn fine(what: impl Display) -> Self {
        Self { state: State::Fine, what: what.to_string(), fix: None }
    }

    fn note(what: impl Display) -> Self {
        Self { state: State::Note, what: what.to_string(), fix: None }
    }

    fn wrong(what: impl Display) -> Self {
        Self { state: State::Wrong, what: what.to_string(), fix: None }
    }

    fn helps(mut self, fix: impl Display) -> Self {
        self.fix = Some(fix.to_string());
        self
    }
}
