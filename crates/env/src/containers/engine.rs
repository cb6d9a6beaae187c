//! The engine's client: which program, and what becomes of its words.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hermes_core::environment::EnvError;

use crate::far::client::Client;
use crate::probe::program_on_path;

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Docker,
    Podman,
}

/// Where clients are that are not on the search path.
const ELSEWHERE: [&str; 3] = [
    "/usr/local/bin/docker",
    "/opt/homebrew/bin/docker",
    "/Applications/Docker.app/Contents/Resources/bin/docker",
];

impl Engine {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// The client: the one that is set, else by the search path. Where there is no docker, podman
    /// answers for it.
    pub(super) fn find(
        self,
        environment: &str,
        set: Option<&str>,
        variables: &[(OsString, OsString)],
    ) -> Result<PathBuf, EnvError> {
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.unwrap_or_default();
        let names: &[&str] = match (set, self) {
            (Some(set), _) if set.contains('/') => return Ok(Path::new(set).to_path_buf()),
            (Some(set), _) => &[set],
            (None, Self::Docker) => &["docker", "podman"],
            (None, Self::Podman) => &["podman"],
        };
        let found = names.iter().find_map(|name| program_on_path(name, &path));
        let elsewhere = || {
            let known = ELSEWHERE.iter().map(PathBuf::from).find(|path| crate::probe::file_exists(path));
            known.filter(|_| self == Self::Docker && set.is_none())
        };
        found.or_else(elsewhere).ok_or_else(|| EnvError::Unreachable {
            environment: environment.to_owned(),
            why: format!("`{}` is not on the search path; install it, or set `binary`", names.join("` or `")),
        })
    }
}

/// The client with these words.
pub(super) fn client<'a>(program: &Path, words: impl IntoIterator<Item = &'a str>) -> Client {
    Client { program: program.to_path_buf(), arguments: words.into_iter().map(str::to_owned).collect() }
}

/// What can be done about what an engine complains of.
pub(super) fn advice(complaint: &str) -> Option<&'static str> {
    let has = |part: &str| complaint.contains(part);
    if has("Cannot connect to the Docker daemon") || has("connection refused") || has("Is the docker daemon")
    {
        return Some("start the engine, or say where it is in DOCKER_HOST");
    }
    if has("permission denied while trying to connect") || has("dial unix") && has("permission denied") {
        return Some("the engine's socket is not yours to use: join its group, or use podman");
    }
    if has("No such image")
        || has("pull access denied")
        || has("manifest unknown")
        || has("not found: manifest")
    {
        return Some("check `image`, or fetch it by hand");
    }
    if has("bind source path does not exist") || has("statfs") && has("no such file") {
        return Some("the engine does not see this folder: make it, or set `engine_paths`");
    }
    if has("no space left on device") {
        return Some("the engine's disk is full; make room and try again");
    }
    None
}

/// Without a first process of the engine's, dead processes lie about until the container goes.
pub(super) fn refuses_init(complaint: &str) -> bool {
    ["init binary", "container-init", "catatonit", "docker-init"].iter().any(|part| complaint.contains(part))
}

/// Whether the engine complains that one of these folders is not there.
pub(super) fn misses_folder<'a>(complaint: &str, mut folders: impl Iterator<Item = &'a Path>) -> bool {
    let missing = ["bind source path does not exist", "no such file or directory"];
    missing.iter().any(|part| complaint.contains(part))
        && folders.any(|folder| complaint.contains(&folder.display().to_string()))
}

/// Whether the engine complains of a limit on the disk, which few engines can set.
pub(super) fn refuses_disk(complaint: &str) -> bool {
    ["storage-opt", "storage opt", "pquota"].iter().any(|part| complaint.contains(part))
}

/// Whether the engine complains of a limit that it cannot set.
pub(super) fn refuses_limits(complaint: &str) -> bool {
    ["cgroup", "NanoCPUs", "--cpus", "pids-limit", "memory limit", "kernel does not support"]
        .iter()
        .any(|part| complaint.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_complaint_comes_with_what_can_be_done() {
        assert!(advice("Cannot connect to the Docker daemon at unix:///x").is_some());
        assert!(advice("write /x: no space left on device").is_some());
        assert!(advice("something else").is_none());
    }

    #[test]
    fn a_refused_limit_is_told_from_other_faults() {
        assert!(refuses_limits("OCI runtime error: cgroup controller not found"));
        assert!(!refuses_limits("No such image: x"));
        assert!(refuses_disk(
            "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"
        ));
    }

    #[test]
    fn a_folder_of_ours_that_is_not_seen_is_told_from_one_that_the_settings_name() {
        let folders = || [Path::new("/h/sandboxes/docker/box")].into_iter();
        let docker = "invalid mount config for type \"bind\": bind source path does not exist: ";
        let podman = "Error: statfs /h/sandboxes/docker/box/home: no such file or directory";

        assert!(misses_folder(&format!("{docker}/h/sandboxes/docker/box/home"), folders()));
        assert!(misses_folder(podman, folders()));
        assert!(!misses_folder(&format!("{docker}/data"), folders()));
        assert!(!misses_folder("/h/sandboxes/docker/box is busy", folders()));
    }
}
