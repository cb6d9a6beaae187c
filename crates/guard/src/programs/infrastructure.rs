//! Tools that build machines and services from a description, and can take them down again.

use super::{Handler, verbs};
use crate::effect::Kind;
use crate::walk::{Call, Flow, Walk, secret_name};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdktf" | "ansible" | "ansible-playbook"
        | "packer" | "nomad" | "salt" | "puppet" => Some(infrastructure),
        _ => None,
    }
}

/// Options that variables add: `TF_CLI_ARGS`, `TF_CLI_ARGS_apply`.
fn options_set(walk: &Walk<'_>, call: Call<'_>) -> String {
    let verb = call.args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| &*arg.text);
    let names = ["TF_CLI_ARGS".to_owned(), format!("TF_CLI_ARGS_{verb}")];
    let value =
        |name: &String| walk.scope.value(name, "").filter(|_| matches!(call.name, "terraform" | "tofu"));
    names.iter().filter_map(value).collect::<Vec<_>>().join(" ")
}

fn infrastructure(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let more = options_set(walk, call);
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).chain(more.split_whitespace()).collect();
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    match call.name {
        "ansible" => return ansible(walk, call, &words),
        "ansible-playbook" => return play(walk, call, &words),
        "salt" => {
            if let Some(at) = words.iter().position(|word| word.starts_with("cmd.")) {
                walk.run_text(words.get(at + 1).copied().unwrap_or_default(), &Flow::none(), call.span);
            }
            let ends = [
                ".reboot",
                ".shutdown",
                ".poweroff",
                ".halt",
                ".stop",
                ".restart",
                ".remove",
                ".delete",
                ".purge",
            ];
            if words.iter().any(|word| ends.iter().any(|end| word.ends_with(end))) {
                walk.emit_names(Kind::Service, "stops or removes things on many machines", call.span, &words);
            }
            return Flow::none();
        }
        "puppet" => {
            if words.iter().any(|word| word.contains("absent") || word.contains("stopped")) {
                walk.emit(Kind::Cloud, "removes or stops what is managed", call.span);
            }
            if let Some(at) = words.iter().position(|word| *word == "-e")
                && let Some((_, rest)) = words.get(at + 1).copied().unwrap_or_default().split_once("exec")
            {
                let command = rest.split(['\'', '"']).nth(1).unwrap_or_default();
                walk.run_text(command, &Flow::none(), call.span);
            }
            return Flow::none();
        }
        _ => {}
    }
    let bad = plain.iter().take(3).any(|word| {
        matches!(
            *word,
            "destroy" | "taint" | "force-unlock" | "down" | "cancel" | "refresh-destroy" | "purge"
        )
    }) || words.iter().any(|word| *word == "-destroy" || *word == "--destroy")
        && plain.first() == Some(&"apply")
        || plain.windows(2).any(|pair| {
            matches!(
                pair,
                ["state" | "stack", "rm"]
                    | ["state", "push" | "delete"]
                    | ["workspace", "delete"]
                    | ["job", "stop"]
                    | ["run-all", "destroy"]
            )
        })
        || (plain.first() == Some(&"stop") && call.name == "nomad")
        || plain.first() == Some(&"apply") && call.stdin.origin.endless
        || (plain.first() == Some(&"apply") || plain.first() == Some(&"up"))
            && words.iter().any(|word| matches!(*word, "-auto-approve" | "--auto-approve" | "--yes" | "-y"));
    if matches!(plain.as_slice(), ["state", "pull", ..]) {
        walk.emit_names(
            Kind::ReadCredential,
            "prints all that is known of the infrastructure",
            call.span,
            &plain,
        );
    }
    super::signs::look(walk, call);
    if plain.first() == Some(&"output") && plain.iter().skip(1).any(|word| secret_name(word)) {
        walk.emit_names(Kind::ReadCredential, "prints secrets", call.span, &plain);
    }
    if bad && !verbs::only_shows(call.args) {
        walk.emit_names(Kind::Cloud, "destroys or changes infrastructure without asking", call.span, &plain);
    }
    Flow::none()
}

/// `ansible-playbook play.yml`: what the play is called, where it runs, and what it is given.
fn play(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) -> Flow {
    let named = |word: &&&str| {
        let stem = super::base_name(word).trim_end_matches(".yml").trim_end_matches(".yaml");
        super::loss_names::named_for_loss(stem)
    };
    let rehearsed = words.iter().any(|word| {
        matches!(*word, "--check" | "-C" | "--syntax-check" | "--list-tasks" | "--list-hosts" | "--list-tags")
    });
    if let Some(play) = words.iter().find(named).filter(|_| !rehearsed) {
        walk.emit_names(Kind::Cloud, "runs a play made to remove things", call.span, &[play]);
    } else if let Some(host) =
        words.iter().find(|word| super::database::production(word)).filter(|_| !rehearsed)
    {
        walk.emit_names(Kind::Cloud, "runs a play on machines that matter", call.span, &[host]);
    }
    for verb in ["shell: ", "command: ", "raw: "] {
        if let Some((_, rest)) = call.stdin.seen().to_owned().split_once(verb) {
            walk.run_text(rest.split(['}', '\n', ',']).next().unwrap_or_default(), &Flow::none(), call.span);
        }
    }
    Flow::none()
}

/// `ansible hosts -m shell -a 'command'`.
fn ansible(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) -> Flow {
    let value =
        |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1)).copied();
    let module = value("-m").or_else(|| value("--module-name")).unwrap_or("command");
    let text = value("-a").or_else(|| value("--args")).unwrap_or_default();
    match module {
        "shell" | "command" | "raw" | "ansible.builtin.shell" | "ansible.builtin.command" | "script" => {
            walk.run_text(text, &Flow::none(), call.span);
        }
        "file" if text.contains("state=absent") => {
            if let Some(path) = text
                .split_whitespace()
                .find_map(|word| word.strip_prefix("path=").or_else(|| word.strip_prefix("dest=")))
            {
                let command = format!("rm -rf {path}");
                walk.run_text(&command, &Flow::none(), call.span);
            }
        }
        "reboot" => walk.emit_grave(Kind::Power, "restarts machines", call.span),
        "service" | "systemd" if text.contains("stopped") || text.contains("restarted") => {
            walk.emit(Kind::Service, "stops or restarts services", call.span);
        }
        "user" if text.contains("absent") => walk.emit(Kind::Users, "removes an account", call.span),
        _ => {}
    }
    Flow::none()
}
