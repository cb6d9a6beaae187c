//! Containers and virtual machines.

use super::opts::{Spec, parse};
use super::{Handler, verbs};
use crate::effect::{How, Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, OWN_PID, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "buildah" | "crictl"
        | "lxc" | "incus" | "machinectl" | "ctr" => docker,
        "lxc-destroy" | "lxc-stop" | "istioctl" | "cilium" | "linkerd" => machine,
        "vagrant" | "virsh" | "VBoxManage" | "qm" | "pct" | "multipass" | "limactl" | "colima" | "tart"
        | "orb" => machine,
        _ => return None,
    })
}

const DOCKER: Spec = Spec {
    short: "HclfpvewuhtmaDkgn",
    long: &[
        "host",
        "context",
        "config",
        "log-level",
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "tlscacert",
        "url",
        "connection",
        "ansi",
        "progress",
        "parallel",
    ],
    stops: true,
};
const RUN: Spec = Spec {
    short: "eavpuwlhmcn",
    long: &[
        "env",
        "volume",
        "publish",
        "user",
        "workdir",
        "name",
        "network",
        "net",
        "entrypoint",
        "mount",
        "memory",
        "cpus",
        "label",
        "hostname",
        "env-file",
        "add-host",
        "platform",
        "pull",
        "restart",
        "device",
        "cap-add",
        "security-opt",
        "pid",
        "ipc",
        "shm-size",
        "tmpfs",
        "gpus",
        "log-driver",
        "ulimit",
        "dns",
        "index",
        "detach-keys",
        "container",
        "namespace",
    ],
    stops: true,
};

fn docker(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let global = parse(call.args, DOCKER);
    if shows(call) {
        return Flow::none();
    }
    let rest: Vec<Arg<'_>> = global.rest().map(Arg::shared).collect();
    let Some((first, mut args)) = rest.split_first() else { return Flow::none() };
    let mut verb = first.text.to_string();
    let compose = call.name.ends_with("compose") || verb == "compose";
    if verb == "compose" {
        let inner = parse(args, DOCKER);
        let inner_rest: Vec<Arg<'_>> =
            inner.rest().map(|arg| Arg { text: arg.text.to_string().into(), span: arg.span }).collect();
        let inner_call =
            Call { name: "docker-compose", args: &inner_rest, span: call.span, stdin: call.stdin };
        return docker(walk, inner_call);
    }
    let object = is_object(&verb);
    let mut group = String::new();
    if object && let Some((next, tail)) = args.split_first() {
        group = std::mem::replace(&mut verb, next.text.to_string());
        args = tail;
    }
    match verb.as_str() {
        "poweroff" | "reboot" | "disable" if call.name == "machinectl" => {
            walk.emit(Kind::Container, "stops or restarts containers", call.span);
        }
        "update" if args.iter().any(|arg| &*arg.text == "--restart=no") => {
            walk.emit(Kind::Container, "keeps containers from starting again", call.span);
        }
        "stop" | "kill" | "rm" | "restart" if group.is_empty() && started_here(args) => {}
        "stop" | "restart" | "kill" | "down" | "pause" => walk.emit_on(
            Kind::Container,
            "stops or restarts containers",
            call.span,
            Vec::new(),
            How::default(),
        ),
        "rm" | "remove" | "rmi" | "rmp" | "delete" | "prune" | "leave" | "destroy" | "reset" | "drop"
        | "terminate" => {
            let forced = args.iter().any(|arg| {
                arg.text.starts_with('-') && arg.text.contains(['f', 'a', 'v']) || arg.text.contains(HOLE)
            }) || verb != "rm"
                || !group.is_empty()
                || compose;
            let what = if forced { "removes containers, images or volumes" } else { "removes a container" };
            walk.emit_on(
                Kind::Container,
                what,
                call.span,
                Vec::new(),
                How { all: verb == "prune", ..How::default() },
            );
        }
        _ if matches!(call.name, "lxc" | "incus" | "ctr" | "buildah")
            && args.iter().take(2).any(|arg| matches!(&*arg.text, "delete" | "rm" | "remove")) =>
        {
            walk.emit(Kind::Container, "removes containers, images or volumes", call.span);
        }
        "scale" | "update"
            if args.iter().any(|arg| arg.text.ends_with("=0"))
                || args.windows(2).any(|pair| matches!(pair, [name, count] if &*name.text == "--replicas" && &*count.text == "0")) =>
        {
            walk.emit(Kind::Container, "stops or restarts containers", call.span);
        }
        "inspect" if args.iter().any(|arg| arg.text.contains("Env")) => {
            walk.emit(Kind::ReadCredential, "prints the environment of a container", call.span);
        }
        "build"
            if args.iter().any(|arg| {
                arg.text.starts_with("http://")
                    || arg.text.starts_with("https://")
                    || arg.text.starts_with("git@")
            }) =>
        {
            walk.emit(Kind::RunDownloaded, "builds what an address says", call.span);
        }
        "unshare" => return super::run(walk, args, call.stdin, call.span),
        "save" | "export" => {
            return Flow::unknown(Origin { local: true, whole: true, ..Origin::default() });
        }
        "run" | "create" if detached(&verb, args) => {
            inside(walk, call, &verb, args);
            // What it prints is the number of what it started.
            return Flow::known(OWN_PID.to_string());
        }
        "exec" | "run" | "create" | "shell" => return inside(walk, call, &verb, args),
        "cp" => copied(walk, args, call.span),
        _ => {}
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Whether a word is what the verb after it acts on: `docker volume rm`.
/// Whether a container is left running, or only made, so that its number is printed.
fn detached(verb: &str, args: &[Arg<'_>]) -> bool {
    verb == "create"
        || args.iter().take_while(|arg| arg.text.starts_with('-') || arg.text.contains(['=', ':'])).any(
            |arg| {
                &*arg.text == "--detach"
                    || !arg.text.starts_with("--") && arg.text.starts_with('-') && arg.text.contains('d')
            },
        )
}

/// Whether only containers are named that the text started itself.
fn started_here(args: &[Arg<'_>]) -> bool {
    let mut named = args.iter().filter(|arg| !arg.text.starts_with('-')).peekable();
    named.peek().is_some() && named.all(|arg| arg.text.contains(OWN_PID) && !arg.text.contains(HOLE))
}

fn is_object(word: &str) -> bool {
    matches!(
        word,
        "c" | "containers"
            | "images"
            | "container"
            | "image"
            | "volume"
            | "network"
            | "system"
            | "builder"
            | "buildx"
            | "swarm"
            | "stack"
            | "service"
            | "node"
            | "secret"
            | "config"
            | "plugin"
            | "context"
            | "pod"
            | "machine"
            | "checkpoint"
            | "task"
            | "tasks"
    )
}

/// A file copied into a container or out of one.
fn copied(walk: &mut Walk<'_>, args: &[Arg<'_>], span: Span) {
    let [from, to] = args else { return };
    if from.text.contains(':') {
        walk.write_file(&to.text, Flow::unknown(Origin::default()), false, "copies out of a container", span);
    } else {
        walk.read_file(&from.text, from.span);
        placed_inside(walk, to);
    }
}

/// What is put where a container runs things by itself.
pub(super) fn placed_inside(walk: &mut Walk<'_>, to: &Arg<'_>) {
    if let Some((_, path)) = to.text.split_once(':') {
        let target = walk.target(path);
        let folders = ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/lib/", "/bin/", "/sbin/"];
        if folders.iter().any(|folder| path.starts_with(folder)) {
            walk.emit_names(Kind::Container, "replaces a program in a container", to.span, &[&to.text]);
        } else if matches!(
            target.place,
            Place::Startup | Place::Credential | Place::System | Place::SystemConfig
        ) {
            let how = How::default();
            walk.emit_on(Kind::Write, "copies into a container", to.span, vec![target], how);
        }
    }
}

/// Whether a command line only asks for help or a rehearsal, and does not hand those words on to
/// a program inside.
pub(super) fn shows(call: Call<'_>) -> bool {
    verbs::only_shows(call.args)
        && !call
            .args
            .iter()
            .any(|arg| matches!(&*arg.text, "exec" | "run" | "create" | "shell" | "ssh" | "debug"))
}

/// A command inside a container: harmless to this machine unless its disks are handed in.
fn inside(walk: &mut Walk<'_>, call: Call<'_>, verb: &str, args: &[Arg<'_>]) -> Flow {
    let parsed = parse(args, RUN);
    let mut host = verb == "exec" || verb == "shell";
    let links = walk.scope.links.len();
    for (mount, span) in parsed.values("v", "volume").chain(parsed.values("", "mount")) {
        let source = mount
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")))
            .unwrap_or_else(|| mount.split(':').next().unwrap_or(mount));
        if source.starts_with(['/', '~', '.']) || source.contains(HOLE) {
            host = true;
            let target = walk.target(source);
            if let Some(inner) = mounted_at(mount) {
                let source = walk.path(source);
                walk.scope.links.push((inner.trim_end_matches('/').to_owned(), source));
            }
            if source == "/"
                || target.place >= Place::SystemTop
                || matches!(target.place, Place::Credential)
                || target.text.ends_with("/.ssh")
                || target.text.ends_with("/.aws")
                || target.text.ends_with("docker.sock")
            {
                walk.emit_on(
                    Kind::Privilege,
                    "hands this machine's disk to a container",
                    span,
                    vec![target],
                    How::default(),
                );
            }
        }
    }
    let caps = parsed.values("", "cap-add").any(|(cap, _)| {
        let cap = cap.to_ascii_uppercase();
        matches!(
            cap.trim_start_matches("CAP_"),
            "ALL" | "SYS_ADMIN" | "SYS_MODULE" | "SYS_RAWIO" | "DAC_READ_SEARCH" | "SYS_BOOT"
        )
    });
    let opened = parsed.values("", "security-opt").any(|(option, _)| {
        option.ends_with("unconfined") || option == "label=disable" || option == "label:disable"
    }) || parsed
        .values("", "device")
        .any(|(device, _)| walk.target(device.split(':').next().unwrap_or(device)).place == Place::Device);
    if caps
        || opened
        || parsed.has("", "privileged")
        || parsed.value("", "pid").is_some_and(|pid| pid == "host")
    {
        walk.emit(Kind::Privilege, "runs a container with the rights of this machine", call.span);
        host = true;
    }
    let mut command: Vec<Arg<'_>> = Vec::new();
    if let Some(program) = parsed.value("", "entrypoint") {
        command.push(Arg { text: program.into(), span: call.span });
    }
    command.extend(parsed.rest().skip(1).skip_while(|arg| &*arg.text == "--").map(Arg::shared));
    if command.is_empty() {
        walk.scope.links.truncate(links);
        return Flow::none();
    }
    let cwd = std::mem::replace(&mut walk.scope.cwd, "/container".to_owned());
    let before = walk.effects.len();
    let stdin = if parsed.has("i", "interactive") { call.stdin.clone() } else { Flow::none() };
    let flow = super::run(walk, &command, &stdin, call.span);
    walk.scope.cwd = cwd;
    walk.scope.links.truncate(links);
    if !host {
        // Nothing of this machine is in there: only what leaves it or hides its text still counts.
        let kept: Vec<_> = walk.effects.drain(before.min(walk.effects.len())..).collect();
        walk.effects.extend(kept.into_iter().filter(|effect| {
            matches!(
                effect.kind,
                Kind::SendOut
                    | Kind::ReverseShell
                    | Kind::ForkBomb
                    | Kind::RunUnseen
                    | Kind::RunDecoded
                    | Kind::Cloud
                    | Kind::Cluster
                    | Kind::Database
            ) || effect.targets.iter().any(|target| target.place >= Place::SystemTop)
        }));
    }
    flow
}

/// Where a mount appears inside: `/src:/dst:ro`, or `type=bind,source=/src,target=/dst`.
fn mounted_at(mount: &str) -> Option<&str> {
    let keyed = mount
        .split(',')
        .find_map(|part| ["target=", "dst=", "destination="].iter().find_map(|key| part.strip_prefix(key)));
    keyed.or_else(|| mount.split(':').nth(1)).filter(|inner| inner.starts_with('/') && inner.len() > 1)
}

fn machine(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let bad = words.iter().take(3).any(|word| {
        matches!(
            *word,
            "destroy"
                | "undefine"
                | "delete"
                | "unregistervm"
                | "halt"
                | "shutdown"
                | "poweroff"
                | "stop"
                | "reset"
                | "purge"
                | "vol-delete"
                | "pool-delete"
                | "--delete"
                | "rollback"
                | "remove"
        ) || word.ends_with("-delete")
            || word.ends_with("-destroy")
    });
    let bad = bad || matches!(call.name, "lxc-destroy" | "lxc-stop") || words.contains(&"uninstall");
    if bad && !shows(call) {
        walk.emit_names(Kind::Container, "stops or deletes virtual machines", call.span, &words);
    }
    if matches!(words.first(), Some(&("exec" | "shell" | "ssh" | "run")))
        && let Some(at) = words.iter().position(|word| *word == "--")
    {
        let rest = call.args.get(at + 1..).unwrap_or_default();
        return super::run(walk, rest, call.stdin, call.span);
    }
    if matches!(words.first(), Some(&("exec" | "shell"))) && call.name != "vagrant" {
        let rest = call.args.get(2..).unwrap_or_default();
        return super::run(walk, rest, call.stdin, call.span);
    }
    if call.name == "vagrant"
        && words.first() == Some(&"ssh")
        && let Some(at) = words.iter().position(|word| *word == "-c")
    {
        walk.run_text(words.get(at + 1).copied().unwrap_or_default(), &Flow::none(), call.span);
    }
    Flow::none()
}
