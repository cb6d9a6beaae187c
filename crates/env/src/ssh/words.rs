//! The words a client is started with. What is said first holds, so what must hold comes first.

use std::path::Path;

use crate::ssh::settings::{HostKeys, SshSettings};
use crate::ssh::spoken::line;

/// How a client gets to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way<'a> {
    /// Over the shared connection, which it makes when it is not there.
    Make(&'a Path),
    /// Over the shared connection alone.
    Shared(&'a Path),
    /// By a connection of its own.
    Own,
}

/// A client's words before the host.
pub(super) fn options(settings: &SshSettings, way: Way<'_>, terminal: bool) -> Vec<String> {
    let mut words = vec!["-e".to_owned(), "none".to_owned()];
    words.push(if terminal { "-tt" } else { "-T" }.to_owned());
    set(&mut words, "BatchMode=yes");
    match way {
        Way::Shared(socket) => {
            // Everything about the connection was settled when it was made. Where it is gone the client
            // is not to make another: it would be one that nobody watches.
            words.extend(["-F", "none", "-S", &escaped(socket)].map(str::to_owned));
            set(&mut words, "ControlMaster=no");
            set(&mut words, "ProxyCommand=false");
            settings.options.iter().for_each(|option| set(&mut words, option));
            return words;
        }
        Way::Make(socket) => {
            words.extend(["-S".to_owned(), escaped(socket)]);
            set(&mut words, "ControlMaster=auto");
            // Something of ours runs over it as long as we do; this is for when we are gone.
            set(&mut words, "ControlPersist=60");
        }
        Way::Own => words.extend(["-S", "none"].map(str::to_owned)),
    }
    set(&mut words, "ClearAllForwardings=yes");
    set(&mut words, "PermitLocalCommand=no");
    set(&mut words, "RemoteCommand=none");
    match settings.host_keys {
        HostKeys::Known => set(&mut words, "StrictHostKeyChecking=yes"),
        HostKeys::AcceptNew => set(&mut words, "StrictHostKeyChecking=accept-new"),
        HostKeys::Config => {}
    }
    settings.options.iter().for_each(|option| set(&mut words, option));
    set(&mut words, "ConnectTimeout=10");
    set(&mut words, "ServerAliveInterval=15");
    set(&mut words, "ServerAliveCountMax=3");
    words.extend(target(settings));
    words
}

/// The words that tell which machine, as which user, with which key; without the host.
fn target(settings: &SshSettings) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            words.extend([name.to_owned(), value.to_owned()]);
        }
    };
    add("-F", &settings.config);
    add("-l", &settings.user);
    add("-p", &settings.port.map(|port| port.to_string()).unwrap_or_default());
    add("-J", &settings.jump);
    add("-i", &settings.key);
    if !settings.key.is_empty() {
        set(&mut words, "IdentitiesOnly=yes");
    }
    if !settings.known_hosts.is_empty() {
        set(&mut words, &format!("UserKnownHostsFile=\"{}\"", settings.known_hosts));
    }
    words
}

/// How a person would connect, to be shown.
pub(super) fn by_hand(settings: &SshSettings) -> String {
    let words = target(settings);
    let words = std::iter::once("ssh".to_owned()).chain(words).chain([settings.host.clone()]);
    line(&words.collect::<Vec<_>>())
}

fn set(words: &mut Vec<String>, option: &str) {
    words.extend(["-o".to_owned(), option.to_owned()]);
}

/// A path in which the client sees nothing to be replaced.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SshSettings {
        serde_json::from_str(text).unwrap()
    }

    fn has(words: &[String], option: &str) -> bool {
        words.windows(2).any(|pair| pair[0] == "-o" && pair[1] == option)
    }

    #[test]
    fn keys_of_machines_are_checked_unless_somebody_says_otherwise() {
        let words = |text: &str| options(&read(text), Way::Own, false);

        assert!(has(&words(r#"{"host": "a"}"#), "StrictHostKeyChecking=yes"));
        assert!(has(
            &words(r#"{"host": "a", "host_keys": "accept-new"}"#),
            "StrictHostKeyChecking=accept-new"
        ));
        let by_config = words(r#"{"host": "a", "host_keys": "config"}"#);
        assert!(!by_config.iter().any(|word| word.starts_with("StrictHostKeyChecking")));
    }

    #[test]
    fn options_of_the_person_cannot_undo_what_must_hold() {
        let words = options(&read(r#"{"host": "a", "options": ["BatchMode=no"]}"#), Way::Own, false);

        let batch: Vec<_> = words.iter().filter(|word| word.starts_with("BatchMode")).collect();
        assert_eq!(batch, ["BatchMode=yes", "BatchMode=no"]);
    }

    #[test]
    fn a_client_of_the_shared_connection_makes_none_itself() {
        let words =
            options(&read(r#"{"host": "a", "jump": "b"}"#), Way::Shared(Path::new("/tmp/50%/c")), true);

        assert!(has(&words, "ProxyCommand=false") && has(&words, "ControlMaster=no"));
        assert!(words.contains(&"/tmp/50%%/c".to_owned()) && words.contains(&"-tt".to_owned()));
        assert!(!words.contains(&"-J".to_owned()));
    }

    #[test]
    fn a_person_is_shown_how_to_connect() {
        let settings = read(r#"{"host": "lab", "user": "ann", "port": 2222, "jump": "gate"}"#);
        assert_eq!(by_hand(&settings), "ssh -l ann -p 2222 -J gate lab");
    }
}
