//! `ssh`: commands run on another machine, over one connection of the system's own client.

use std::sync::Arc;

use hermes_core::environment::{EnvError, Standing};
use serde::Deserialize;

use super::{BackendDef, FarAbout, FarBackend, FlatKey, Opening};
use crate::far::Reach;
use crate::ssh::{Connection, SshSettings};

pub(crate) const BACKEND: BackendDef = BackendDef::far::<Ssh>("ssh", KEYS);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("host", "ssh_host", "TERMINAL_SSH_HOST"),
    flat("user", "ssh_user", "TERMINAL_SSH_USER"),
    flat("port", "ssh_port", "TERMINAL_SSH_PORT"),
    flat("key", "ssh_key", "TERMINAL_SSH_KEY"),
    flat("jump", "ssh_jump", "TERMINAL_SSH_JUMP"),
    flat("host_keys", "ssh_host_keys", "TERMINAL_SSH_HOST_KEYS"),
    flat("known_hosts", "ssh_known_hosts", "TERMINAL_SSH_KNOWN_HOSTS"),
    flat("config", "ssh_config", "TERMINAL_SSH_CONFIG"),
    flat("options", "ssh_options", "TERMINAL_SSH_OPTIONS"),
    flat("sessions", "ssh_sessions", "TERMINAL_SSH_SESSIONS"),
    flat("binary", "ssh_binary", "HERMES_SSH_BINARY"),
    flat("cwd", "cwd", "TERMINAL_CWD"),
];

const fn flat(field: &'static str, key: &'static str, variable: &'static str) -> FlatKey {
    FlatKey { field, key, variable }
}

/// An environment with `backend: ssh`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Ssh(SshSettings);

impl FarBackend for Ssh {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        Ok(Arc::new(Connection::new(self.0, with)?))
    }

    fn about(&self) -> FarAbout {
        FarAbout { location: self.0.target(), standing: Standing::Shared, cwd: self.0.cwd() }
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
