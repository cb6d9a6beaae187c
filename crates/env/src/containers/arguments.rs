//! The words a container is made with.

use std::collections::BTreeMap;
use std::path::Path;

use crate::containers::Engine;
use crate::containers::settings::ContainerSettings;
use crate::containers::shares::{Kept, Shares, volume};

/// What the words depend on beside the settings.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing an engine may not be able to do")]
pub(super) struct Making<'a> {
    pub(super) engine: Engine,
    pub(super) name: &'a str,
    pub(super) labels: &'a [(&'static str, String)],
    /// What it shares with this machine, and what outlives it.
    pub(super) shares: &'a Shares,
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

impl Making<'_> {
    /// The variables that the client finds among its own, so that nobody sees them in the list of processes.
    pub(super) fn unspoken(&self) -> impl Iterator<Item = (&String, &String)> {
        self.variables.iter().filter(|(name, _)| !is_the_clients(name))
    }
}

/// Whether a variable means something to the client itself, or to what it is started with: it is told with
/// its value, and the client keeps its own.
fn is_the_clients(name: &str) -> bool {
    const NAMES: [&str; 6] = ["PATH", "HOME", "USER", "TERM", "TMPDIR", "NOTIFY_SOCKET"];
    const BEGINNINGS: [&str; 12] = [
        "DOCKER_",
        "CONTAINER",
        "PODMAN_",
        "REGISTRY_",
        "STORAGE_",
        "XDG_",
        "DBUS_",
        "SSH_",
        "SSL_",
        "LD_",
        "LC_",
        "GO",
    ];
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.to_ascii_uppercase().ends_with("_PROXY")
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
    // What is removed is not asked to stop first: podman would wait ten seconds for a `sleep` that never does.
    add(&["-w", "/", "--stop-timeout", "0"]);
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
        let told = if is_the_clients(name) { format!("{name}={value}") } else { name.clone() };
        add(&["-e", &told]);
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
    let Shares { kept, cwd, mirror } = making.shares;
    let mut own = |target: &str, from: &str, size: &str| match kept {
        _ if taken(target) => {}
        Kept::Folder(folder) => add(&["--mount", &bind(&folder.join(from), target, "")]),
        Kept::Volumes(beginning) => add(&["-v", &format!("{}:{target}", volume(beginning, from))]),
        Kept::Nowhere => add(&["--tmpfs", &format!("{target}:rw,exec,size={size}{owner}")]),
    };
    if cwd.is_none() {
        own("/workspace", "workspace", "10g");
    }
    own("/root", "home", "1g");
    if *kept == Kept::Nowhere {
        own("/home", "home", "1g");
    }
    if let Some(cwd) = cwd.as_ref().filter(|_| !taken("/workspace")) {
        add(&["--mount", &bind(cwd, "/workspace", "")]);
    }
    for volume in &settings.volumes {
        add(&["-v", volume]);
    }
    if let Some(mirror) = mirror {
        add(&["--mount", &bind(mirror, "/root/.hermes", ",readonly")]);
    }
}

/// A folder that is mounted. Unlike `-v` this takes any letter, and a folder that the engine does not see
/// is an error instead of a new folder.
fn bind(from: &Path, target: &str, options: &str) -> String {
    let source = format!("source={}", from.display());
    let source = if source.contains([',', '"', '\n']) {
        format!("\"{}\"", source.replace('"', "\"\""))
    } else {
        source
    };
    format!("type=bind,{source},target={target}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn making(shares: &Shares) -> Making<'_> {
        Making {
            engine: Engine::Docker,
            name: "n",
            labels: &[],
            shares,
            variables: BTreeMap::new(),
            user: None,
            own_init: false,
            init: true,
            limits: true,
            disk: false,
        }
    }

    fn words(settings: &str, shares: &Shares) -> String {
        let settings: ContainerSettings = serde_json::from_str(settings).unwrap();
        let labels = [("hermes-agent", "1".to_owned())];
        run(&settings, &Making { labels: &labels, ..making(shares) }).join(" ")
    }

    #[test]
    fn a_container_can_do_little_to_others() {
        let words = words(r#"{"image": "i", "network": false}"#, &Shares::default());

        for part in [
            "run -d --name n --init --label hermes-agent=1",
            "--cap-drop ALL",
            "--security-opt no-new-privileges",
            "--network none",
            "--cpus 1 --memory 5120m --pids-limit 256",
            "--tmpfs /workspace:rw,exec,size=10g --tmpfs /root:rw,exec,size=1g --tmpfs /home:rw,exec,size=1g",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
        assert!(words.ends_with("--entrypoint sleep i infinity"));
        assert!(!words.contains("--storage-opt"));
    }

    #[test]
    fn what_variables_hold_is_not_among_the_words_unless_they_are_the_clients_own() {
        let variables = [("TOKEN", "s3cret"), ("PATH", "/opt/bin"), ("https_proxy", "http://p:1")];
        let shares = Shares::default();
        let mut making = making(&shares);
        making.variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();

        let words = run(&ContainerSettings::default(), &making).join(" ");

        assert!(words.contains("-e PATH=/opt/bin -e TOKEN -e https_proxy=http://p:1"), "{words}");
        assert_eq!(making.unspoken().collect::<Vec<_>>(), [(&"TOKEN".to_owned(), &"s3cret".to_owned())]);
    }

    #[test]
    fn what_it_is_given_can_only_be_read() {
        let given = words("{}", &Shares { mirror: Some("/m".into()), ..Shares::default() });

        assert!(given.contains("--mount type=bind,source=/m,target=/root/.hermes,readonly"), "{given}");
    }

    #[test]
    fn what_is_kept_or_shared_is_mounted_once() {
        let kept = Kept::Folder("/k".into());
        let shares = Shares { kept, cwd: Some("/w".into()), mirror: None };
        let both = words(r#"{"mount_cwd": true}"#, &shares);
        assert!(both.contains("source=/w,target=/workspace") && both.contains("source=/k/home,target=/root"));
        assert!(!both.contains("/k/workspace"));

        let own = words(r#"{"mount_cwd": true, "volumes": ["/d:/workspace:ro"]}"#, &shares);
        assert!(own.contains("-v /d:/workspace:ro") && !own.contains("source=/w"), "{own}");
    }

    #[test]
    fn where_the_engine_does_not_see_our_files_it_keeps_them_in_volumes() {
        let shares = Shares { kept: Kept::Volumes("hermes-o-n".to_owned()), ..Shares::default() };

        let words = words("{}", &shares);

        assert!(words.contains("-v hermes-o-n-workspace:/workspace -v hermes-o-n-home:/root"), "{words}");
        assert!(!words.contains("type=bind") && !words.contains("--tmpfs /root"), "{words}");
    }

    #[test]
    fn any_letter_can_be_in_the_name_of_a_folder() {
        assert_eq!(bind(Path::new("/a,b:\"c\""), "/t", ""), "type=bind,\"source=/a,b:\"\"c\"\"\",target=/t");
    }
}
