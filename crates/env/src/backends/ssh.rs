//! `ssh`: commands run on another machine, over one connection of the system's own client.

use super::{BackendDef, FlatKey, flat};
use crate::ssh::SshSettings;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<SshSettings>("ssh", &[KEYS]);

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
