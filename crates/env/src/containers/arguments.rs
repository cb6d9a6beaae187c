//! The words a container is made with.

use std::collections::BTreeMap;
use std::path::Path;

use crate::containers::Engine;
use crate::containers::settings::ContainerSettings;

/// What the words depend on beside the settings.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing an engine may not be able to do")]
pub(super) struct Making<'a> {
    pub(super) engine: Engine,
    pub(super) name: &'a str,
    pub(super) labels: &'a [(&'static str, String)],
    /// Folder of this machine for `/root` and `/workspace`, as the engine sees it.
    pub(super) kept: Option<&'a Path>,
    /// The directory the person works in, as the engine sees it.
    pub(super) cwd: Option<&'a Path>,
    /// Folder of this machine with what it is given, as the engine sees it.
    pub(super) mirror: Option<&'a Path>,
    /// Variables with their values.
    pub(super) variables: BTreeMap<String, String>,
    /// User and group of the person.
    pub(super) user: Option<(u32, u32)>,
    /// Whether the image starts a supervisor of its own, which must be the first process.
    pub(super) own_init: bool,
    /// Whether the engine's own first process is known to be accepted.
    pub(super) init: bool,
    /// Whether limits are known to be accepted.
    pub(super) limits: bool,
    /// Whether a limit on its disk is known to be accepted.
    pub(super) disk: bool,
}

/// The words after the client's name.
pub(super) fn run(settings: &ContainerSettings, making: &Making<'_>) -> Vec<String> {
    let mut words: Vec<String> = ["run", "-d", "--name", making.name].map(str::to_owned).to_vec();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    if making.init && !making.own_init {
        add(&["--init"]);
    }
    for (name, value) in making.labels {
        add(&["--label", &format!("{name}={value}")]);
    }
    add(&["-w", "/"]);
    add(&["--cap-drop", "ALL", "--cap-add", "DAC_OVERRIDE", "--cap-add", "CHOWN", "--cap-add", "FOWNER"]);
    // What a command started as another user must end with it too.
    add(&["--cap-add", "KILL"]);
    match making.user {
        Some((user, group)) => add(&["--user", &format!("{user}:{group}"), "-e", "HOME=/root"]),
        None => add(&["--cap-add", "SETUID", "--cap-add", "SETGID"]),
    }
    add(&["--security-opt", "no-new-privileges"]);
    add(&["--tmpfs", "/tmp:rw,nosuid,exec,mode=1777,size=512m"]);
    add(&["--tmpfs", "/var/tmp:rw,noexec,nosuid,mode=1777,size=256m"]);
    let run = if making.own_init { "exec" } else { "noexec" };
    add(&["--tmpfs", &format!("/run:rw,{run},nosuid,size=64m")]);
    if !settings.network {
        add(&["--network", "none"]);
    }
    if making.limits {
        if settings.cpu > 0.0 {
            add(&["--cpus", &settings.cpu.to_string()]);
        }
        if settings.memory > 0 {
            add(&["--memory", &format!("{}m", settings.memory)]);
        }
        if settings.pids > 0 {
            add(&["--pids-limit", &settings.pids.to_string()]);
        }
    }
    if making.disk && settings.disk > 0 {
        add(&["--storage-opt", &format!("size={}m", settings.disk)]);
    }
    folders(settings, making, &mut add);
    for (name, value) in &making.variables {
        add(&["-e", &format!("{name}={value}")]);
    }
    for word in &settings.extra_args {
        add(&[word]);
    }
    if making.own_init {
        add(&[&settings.image, "sleep", "infinity"]);
    } else {
        add(&["--entrypoint", "sleep", &settings.image, "infinity"]);
    }
    words
}

fn folders(settings: &ContainerSettings, making: &Making<'_>, add: &mut impl FnMut(&[&str])) {
    let owner = making.user.map(|(user, group)| format!(",uid={user},gid={group}")).unwrap_or_default();
    // Podman's engine takes no owner for these, and needs none: there the person is root inside.
    let owner = if making.engine == Engine::Podman { String::new() } else { owner };
    let taken = |target: &str| settings.volumes.iter().any(|volume| volume.split(':').nth(1) == Some(target));
    match making.cwd.filter(|_| settings.mount_cwd && !taken("/workspace")) {
        Some(cwd) => add(&["-v", &format!("{}:/workspace", cwd.display())]),
        None if taken("/workspace") => {}
        None => match making.kept {
            Some(kept) => add(&["-v", &format!("{}:/workspace", kept.join("workspace").display())]),
            None => add(&["--tmpfs", &format!("/workspace:rw,exec,size=10g{owner}")]),
        },
    }
    if !taken("/root") {
        match making.kept {
            Some(kept) => add(&["-v", &format!("{}:/root", kept.join("home").display())]),
            None => add(&["--tmpfs", &format!("/root:rw,exec,size=1g{owner}")]),
        }
    }
    if making.kept.is_none() && !taken("/home") {
        add(&["--tmpfs", &format!("/home:rw,exec,size=1g{owner}")]);
    }
    for volume in &settings.volumes {
        add(&["-v", volume]);
    }
    if let Some(mirror) = making.mirror {
        add(&["-v", &format!("{}:/root/.hermes:ro", mirror.display())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(settings: &str, change: impl FnOnce(&mut Making<'_>)) -> String {
        let settings: ContainerSettings = serde_json::from_str(settings).unwrap();
        let mut making = Making {
            engine: Engine::Docker,
            name: "n",
            labels: &[("hermes-agent", "1".to_owned())],
            kept: None,
            cwd: Some(Path::new("/w")),
            mirror: None,
            variables: BTreeMap::new(),
            user: None,
            own_init: false,
            init: true,
            limits: true,
            disk: false,
        };
        change(&mut making);
        run(&settings, &making).join(" ")
    }

    #[test]
    fn a_container_can_do_little_to_others() {
        let words = words(r#"{"image": "i", "network": false}"#, |_| ());

        for part in [
            "run -d --name n --init --label hermes-agent=1",
            "--cap-drop ALL",
            "--security-opt no-new-privileges",
            "--network none",
            "--cpus 1 --memory 5120m --pids-limit 256",
            "--tmpfs /workspace:rw,exec,size=10g",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
        assert!(words.ends_with("--entrypoint sleep i infinity"));
        assert!(!words.contains("--storage-opt"));
    }

    #[test]
    fn what_it_is_given_can_only_be_read() {
        let given = words("{}", |making| making.mirror = Some(Path::new("/m")));

        assert!(given.contains("-v /m:/root/.hermes:ro"), "{given}");
    }

    #[test]
    fn what_is_kept_or_shared_is_mounted_once() {
        let kept = words(r#"{"mount_cwd": true}"#, |making| making.kept = Some(Path::new("/k")));
        assert!(kept.contains("-v /w:/workspace") && kept.contains("-v /k/home:/root"));
        assert!(!kept.contains("/k/workspace"));

        let own = words(r#"{"mount_cwd": true, "volumes": ["/d:/workspace:ro"]}"#, |_| ());
        assert!(own.contains("-v /d:/workspace:ro") && !own.contains("/w:/workspace"));
    }
}
