//! Clusters: what is deleted, drained, opened or set up in them.

use super::containers::{placed_inside, shows};
use super::opts::{Parsed, Spec, parse};
use super::{Handler, code};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "kubectl" | "oc" | "k" | "k9s" | "k3s" | "microk8s" | "minikube" | "kind" | "k3d" | "eksctl"
        | "kubeadm" | "kops" | "rke" | "talosctl" | "kubectl-ns" | "clusterctl" | "k0s" => kubectl,
        "helm" | "helmfile" | "argocd" | "flux" => helm,
        _ => return None,
    })
}

fn kubectl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "nfclospLkv",
        long: &[
            "namespace",
            "context",
            "kubeconfig",
            "cluster",
            "user",
            "filename",
            "selector",
            "output",
            "container",
            "replicas",
            "server",
            "token",
            "as",
            "name",
        ],
        stops: false,
    };
    let dashes = call.args.iter().position(|arg| &*arg.text == "--");
    let (own, command) = match dashes {
        Some(at) => (call.args.get(..at).unwrap_or_default(), call.args.get(at + 1..).unwrap_or_default()),
        None => (call.args, &[][..]),
    };
    let parsed = parse(own, spec);
    let mut words: Vec<&str> = parsed.rest().map(|arg| &*arg.text).collect();
    if words.first() == Some(&"kubectl") {
        words.remove(0);
    }
    let verb = words.first().copied().unwrap_or_default();
    let dry = shows(call);
    if verb == "debug" && words.iter().any(|word| word.starts_with("node/")) {
        walk.emit_names(Kind::Privilege, "opens a shell on a machine of the cluster", call.span, &words);
    }
    match verb {
        "exec" | "run" | "debug" if !command.is_empty() => {
            let cwd = std::mem::replace(&mut walk.scope.cwd, "/container".to_owned());
            super::run(walk, command, call.stdin, call.span);
            walk.scope.cwd = cwd;
        }
        "exec" => {
            // Old form without `--`: the pod first, then the command.
            let rest: Vec<Arg<'_>> = parsed.rest().skip(2).map(Arg::shared).collect();
            super::run(walk, &rest, call.stdin, call.span);
        }
        _ if dry => {}
        _ if cluster_secrets(call, &words, &parsed) => {
            walk.emit_names(Kind::ReadCredential, "prints credentials of a cluster", call.span, &words);
            return Flow::unknown(Origin { credential: true, ..Origin::default() });
        }
        _ if !matches!(call.name, "kubectl" | "oc" | "k")
            && words.iter().take(3).any(|word| {
                matches!(*word, "delete" | "stop" | "reset" | "drain" | "remove" | "destroy" | "upgrade")
            }) =>
        {
            walk.emit_names(Kind::Cluster, "deletes or stops a cluster", call.span, &words);
        }
        _ => changed(walk, call, verb, &words, &parsed),
    }
    if !dry {
        applied(walk, call, verb, &parsed);
        opened(walk, call, &words);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// What a verb changes, deletes or hands out in a cluster.
fn changed(walk: &mut Walk<'_>, call: Call<'_>, verb: &str, words: &[&str], parsed: &Parsed<'_>) {
    match verb {
        "delete" | "drain" | "replace" | "cordon" | "destroy" | "reset" | "evict" | "taint"
            if (verb != "replace" || parsed.has("", "force")) =>
        {
            walk.emit_names(Kind::Cluster, "deletes or empties parts of a cluster", call.span, words);
        }
        "scale"
            if call.args.iter().any(|arg| &*arg.text == "--replicas=0")
                || parsed.value("", "replicas") == Some("0") =>
        {
            walk.emit_names(Kind::Cluster, "scales something down to nothing", call.span, words);
        }
        "rollout" if matches!(words.get(1), Some(&("restart" | "undo"))) => {
            walk.emit_names(Kind::Cluster, "restarts or rolls back a deployment", call.span, words);
        }
        "apply" if call.args.iter().any(|arg| &*arg.text == "--force") => {
            walk.emit_names(Kind::Cluster, "deletes and makes anew what cannot be changed", call.span, words);
        }
        "apply" if call.args.iter().any(|arg| &*arg.text == "--prune") => {
            walk.emit_names(Kind::Cluster, "deletes what the files no longer name", call.span, words);
        }
        "label" | "annotate" | "set" | "patch" if call.args.iter().any(|arg| &*arg.text == "--all") => {
            walk.emit_names(Kind::Cluster, "changes everything of a kind at once", call.span, words);
        }
        "create" | "adm"
            if call
                .args
                .iter()
                .any(|arg| arg.text.contains("cluster-admin") || arg.text == "--clusterrole=admin") =>
        {
            walk.emit_names(Kind::Privilege, "hands out the rights of the whole cluster", call.span, words);
        }
        "patch"
            if call.args.iter().any(|arg| {
                let text: String = arg.text.chars().filter(|c| !c.is_whitespace()).collect();
                text.contains("finalizers")
                    || text.contains("null")
                    || text.contains("\"Delete\"")
                    || text.contains("\"replicas\":0")
            }) =>
        {
            walk.emit_names(Kind::Cluster, "forces a deletion", call.span, words);
        }
        _ => {}
    }
}

/// Whether a command prints what lets one into a cluster.
fn cluster_secrets(call: Call<'_>, words: &[&str], parsed: &Parsed<'_>) -> bool {
    match words {
        ["config", "view", ..] => parsed.has("", "raw"),
        ["create", "token", ..] => true,
        ["whoami", ..] => parsed.has("t", "show-token"),
        ["get", rest @ ..] => {
            let whole =
                |arg: &Arg<'_>| ["yaml", "json", "template"].iter().any(|form| arg.text.contains(form));
            rest.iter().any(|word| word.starts_with("secret")) && call.args.iter().any(whole)
        }
        _ => false,
    }
}

/// Files copied into a cluster, and a cluster laid open.
fn opened(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    if let ["cp", from, ..] = words
        && !from.contains(':')
        && (walk.read_file(from, call.span).origin.credential || walk.target(from).place == Place::Credential)
    {
        walk.emit_names(Kind::SendOut, "sends credentials to another machine", call.span, words);
    }
    if let ["cp", from, to, ..] = words
        && from.contains(':')
        && !to.contains(':')
    {
        let flow = Flow::unknown(Origin { network: true, ..Origin::default() });
        walk.write_file(to, flow, false, "keeps what it fetched", call.span);
    }
    if let ["cp", from, to, ..] = words
        && !from.contains(':')
    {
        placed_inside(walk, &Arg { text: (*to).into(), span: call.span });
    }
    if words.first() == Some(&"run")
        && call.args.iter().any(|arg| {
            &*arg.text == "--privileged"
                || ["hostPID", "hostNetwork", "hostPath", "\"privileged\""]
                    .iter()
                    .any(|key| arg.text.contains(key))
        })
    {
        walk.emit(Kind::Privilege, "runs a container with the rights of its machine", call.span);
    }
    if words.first() == Some(&"proxy") && call.args.iter().any(|arg| arg.text.contains("0.0.0.0")) {
        walk.emit(Kind::ReverseShell, "opens the cluster to the network", call.span);
    }
}

/// What a file from elsewhere sets up.
fn applied(walk: &mut Walk<'_>, call: Call<'_>, verb: &str, parsed: &Parsed<'_>) {
    if matches!(verb, "apply" | "create" | "replace") {
        for (file, span) in parsed.values("f", "filename") {
            let fetched = file == "-" && call.stdin.origin.network
                || walk.scope.files.get(&walk.path(file)).is_some_and(|flow| flow.origin.network);
            if fetched || file.contains("://") {
                walk.emit_names(Kind::RunDownloaded, "sets up what an address says", span, &[file]);
            }
        }
    }
    if verb == "apply"
        && parsed.value("f", "filename").is_some_and(|file| file == "-")
        && call.stdin.origin.network
    {
        code::fed(walk, &Flow::none(), call.span);
    }
}

fn helm(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if !shows(call)
        && words
            .iter()
            .any(|word| matches!(*word, "uninstall" | "delete" | "rollback" | "destroy" | "del" | "un"))
    {
        walk.emit_names(Kind::Cluster, "removes or rolls back a release", call.span, &words);
    }
    let installs = words.iter().any(|word| matches!(*word, "install" | "upgrade"));
    if installs
        && !shows(call)
        && let Some(chart) = words.iter().skip(1).find(|word| {
            word.starts_with("http://") || word.starts_with("https://") && word.ends_with(".tgz")
        })
    {
        walk.emit_names(Kind::RunDownloaded, "sets up what an address says", call.span, &[chart]);
    }
    for (at, word) in words.iter().enumerate() {
        if *word == "--post-renderer"
            && let Some(program) = words.get(at + 1)
        {
            walk.emit_names(Kind::ToolProgram, "makes helm run a program", call.span, &[program]);
        }
    }
    Flow::none()
}
