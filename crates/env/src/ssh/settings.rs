//! What can be set about a machine that is reached by ssh.

use std::sync::Arc;

use hermes_core::environment::{EnvError, Standing};
use serde::Deserialize;

use crate::backends::{FarAbout, FarBackend, Opening};
use crate::far::Reach;
use crate::ssh::connection::Connection;

/// An environment on another machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SshSettings {
    /// The machine: a name, an address, or an alias of `~/.ssh/config`.
    pub(super) host: String,
    /// Who one is there; empty is as the client decides.
    pub(super) user: String,
    /// Its port; nothing is as the client decides.
    pub(super) port: Option<u16>,
    /// File of the key; empty is as the client decides.
    pub(super) key: String,
    /// Machines to go through, as for `ssh -J`.
    pub(super) jump: String,
    /// Which keys of the machine itself are believed.
    pub(super) host_keys: HostKeys,
    /// File of known keys of machines, where it is not the usual one.
    pub(super) known_hosts: String,
    /// File to read instead of `~/.ssh/config`.
    pub(super) config: String,
    /// More options, each as for `ssh -o`.
    pub(super) options: Vec<String>,
    /// Programs at once over the one connection; what is more gets a connection of its own.
    pub(super) sessions: usize,
    /// The client, where it is not on the search path.
    pub(super) binary: String,
    /// Where sessions begin.
    pub(super) cwd: String,
}

/// Which keys of a machine are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HostKeys {
    /// Only those that are known already.
    #[default]
    Known,
    /// Also one of a machine that was never seen before, which is then known.
    AcceptNew,
    /// As `~/.ssh/config` says.
    Config,
}

impl Default for SshSettings {
    fn default() -> Self {
        Self {
            host: String::new(),
            user: String::new(),
            port: None,
            key: String::new(),
            jump: String::new(),
            host_keys: HostKeys::default(),
            known_hosts: String::new(),
            config: String::new(),
            options: Vec::new(),
            // Servers allow ten unless somebody changed it; a few are left for looking and stopping.
            sessions: 7,
            binary: String::new(),
            cwd: String::new(),
        }
    }
}

impl FarBackend for SshSettings {
    fn open(self, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
        Ok(Arc::new(Connection::new(self, with)?))
    }

    fn about(&self) -> FarAbout {
        FarAbout { location: self.target(), standing: Standing::Shared, cwd: self.cwd() }
    }

    fn check(&self) -> Result<(), String> {
        let odd =
            |text: &str| text.starts_with('-') || text.chars().any(|c| c.is_whitespace() || c.is_control());
        if self.host.is_empty() {
            return Err("host: it must name the machine (TERMINAL_SSH_HOST)".to_owned());
        }
        for (name, text) in [("host", &self.host), ("user", &self.user), ("jump", &self.jump)] {
            if odd(text) {
                return Err(format!("{name}: `{text}` is not a name"));
            }
        }
        if self.port == Some(0) {
            return Err("port: 0 is not a port".to_owned());
        }
        for (name, text) in [("key", &self.key), ("known_hosts", &self.known_hosts), ("config", &self.config)]
        {
            if text.contains(['"', '\n', '\0']) {
                return Err(format!("{name}: `{text}` is not a path that ssh can read"));
            }
        }
        let sound = |option: &&String| {
            option.contains('=') && !option.starts_with('-') && !option.contains(['\n', '\0'])
        };
        match self.options.iter().find(|option| !sound(option)) {
            Some(option) => Err(format!("options: `{option}` is not `Name=value`")),
            None => Ok(()),
        }
    }
}

impl SshSettings {
    /// Where that is, in words.
    pub(crate) fn target(&self) -> String {
        let user = if self.user.is_empty() { String::new() } else { format!("{}@", self.user) };
        let port = self.port.filter(|port| *port != 22).map(|port| format!(":{port}")).unwrap_or_default();
        format!("{user}{}{port}", self.host)
    }

    /// Where sessions begin there.
    pub(crate) fn cwd(&self) -> String {
        let usable = self.cwd.starts_with('/') || self.cwd == "~" || self.cwd.starts_with("~/");
        if usable { self.cwd.clone() } else { "~".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SshSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let wrong = |text: &str| read(text).check().unwrap_err();

        assert!(wrong("{}").starts_with("host:"));
        assert!(wrong(r#"{"host": "-oProxyCommand=x"}"#).starts_with("host:"));
        assert!(wrong(r#"{"host": "a", "user": "x y"}"#).starts_with("user:"));
        assert!(wrong(r#"{"host": "a", "port": 0}"#).starts_with("port:"));
        assert!(wrong(r#"{"host": "a", "options": ["Compression"]}"#).starts_with("options:"));
        assert_eq!(read(r#"{"host": "a", "host_keys": "accept-new"}"#).check(), Ok(()));
        assert!(serde_json::from_str::<SshSettings>(r#"{"host": "a", "host_keys": "no"}"#).is_err());
        assert!(serde_json::from_str::<SshSettings>(r#"{"hots": "a"}"#).is_err());
    }

    #[test]
    fn a_machine_is_told_as_people_write_it() {
        assert_eq!(read(r#"{"host": "lab"}"#).target(), "lab");
        assert_eq!(read(r#"{"host": "lab", "user": "ann", "port": 2222}"#).target(), "ann@lab:2222");
        assert_eq!(read(r#"{"host": "lab", "port": 22}"#).target(), "lab");
    }

    #[test]
    fn sessions_begin_at_home_unless_a_directory_of_the_machine_is_named() {
        assert_eq!(read(r#"{"host": "a"}"#).cwd(), "~");
        assert_eq!(read(r#"{"host": "a", "cwd": "."}"#).cwd(), "~");
        assert_eq!(read(r#"{"host": "a", "cwd": "/srv"}"#).cwd(), "/srv");
    }
}
