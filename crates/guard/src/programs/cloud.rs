//! Cloud accounts and infrastructure tools: deleting what runs elsewhere.

use super::{Handler, signs, verbs};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, Origin, Walk, secret_name};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "aws" | "gcloud" | "az" | "gsutil" | "doctl" | "heroku" | "flyctl" | "fly" | "vercel" | "netlify"
        | "firebase" | "linode-cli" | "hcloud" | "oci" | "ibmcloud" | "aliyun" | "cf" | "eb" | "railway"
        | "render" | "supabase" | "wrangler" | "s3cmd" | "mc" | "b2" | "azcopy" | "scw" | "upctl" | "exo"
        | "civo" | "vultr-cli" | "pscale" | "neonctl" | "turso" | "ngrok" | "cloudflared" | "openstack"
        | "chisel" | "frpc" | "bore" | "gost" | "rathole" | "pagekite.py" | "serverless" | "sls" | "sam"
        | "cdk" | "copilot" | "s5cmd" | "amplify" => Some(run),
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdktf" | "ansible" | "ansible-playbook"
        | "packer" | "nomad" | "salt" | "puppet" => Some(infrastructure),
        _ => None,
    }
}

/// Whether a word is a verb that deletes or stops.
fn destroys(word: &str) -> bool {
    const VERBS: [&str; 20] = [
        "delete",
        "remove",
        "rm",
        "rb",
        "destroy",
        "terminate",
        "purge",
        "stop",
        "down",
        "deprovision",
        "undeploy",
        "del",
        "deregister",
        "drop",
        "reset",
        "rollback",
        "teardown",
        "detach",
        "revoke",
        "deallocate",
    ];
    let lower = word.to_ascii_lowercase();
    let head = lower.split([':', '-', '_']).next().unwrap_or_default();
    let tail = lower.rsplit([':', '-']).next().unwrap_or_default();
    lower.starts_with("batch-delete")
        || verbs::capital_verb(word)
        || VERBS.contains(&lower.as_str())
        || VERBS.contains(&head)
        || matches!(tail, "destroy" | "delete" | "remove")
        || lower.contains(':') && tail == "disable"
        || lower == "apps:destroy"
        || lower == "pg:reset"
}

/// Whether the words tell an account to delete, stop or open something.
fn destroys_resources(call: Call<'_>, words: &[&str], plain: &[&str]) -> bool {
    let verbs = plain
        .iter()
        .take(if matches!(call.name, "gcloud" | "az" | "oci" | "ibmcloud" | "openstack") { 6 } else { 4 });
    verbs.clone().any(|word| destroys(word) && !word.contains('/'))
        || words.contains(&"--delete") && words.contains(&"sync")
        || words.windows(2).any(|pair| {
            matches!(pair, ["--desired-count" | "--desired-capacity" | "--min-size" | "--num-nodes", "0"])
        })
        || plain.windows(2).any(|pair| {
            matches!(
                pair,
                ["services", "disable"]
                    | ["keys", "create"]
                    | ["add-iam-policy-binding", _]
                    | ["role", "assignment"]
            )
        }) && !plain.contains(&"list")
        || words.iter().any(|word| {
            word.contains("public-read")
                || word.contains("allUsers")
                || word.contains("allAuthenticatedUsers")
                || matches!(
                    *word,
                    "--no-disable-api-termination"
                        | "--no-deletion-protection"
                        | "leave-organization"
                        | "create-for-rbac"
                )
        })
        || plain.iter().any(|word| matches!(*word, "set-password" | "reset-password" | "close-account"))
        || plain.contains(&"create")
            && words.iter().any(|word| {
                matches!(*word, "0.0.0.0/0" | "::/0" | "--allow=all" | "--source-ranges=0.0.0.0/0" | "*")
            })
        || plain.first().is_some_and(|word| word.contains("scale"))
            && plain.iter().skip(1).any(|word| word.ends_with("=0"))
        || call.name == "gsutil" && plain.iter().any(|word| *word == "rm" || *word == "rb")
        || call.name == "gsutil"
            && plain.contains(&"rsync")
            && words.iter().any(|word| word.starts_with('-') && word.contains('d'))
        || matches!(call.name, "aws")
            && plain.iter().any(|word| {
                matches!(
                    *word,
                    "put-bucket-policy"
                        | "put-bucket-acl"
                        | "attach-user-policy"
                        | "create-access-key"
                        | "put-user-policy"
                        | "authorize-security-group-ingress"
                        | "schedule-key-deletion"
                        | "attach-role-policy"
                        | "put-role-policy"
                        | "create-login-profile"
                        | "update-assume-role-policy"
                        | "change-resource-record-sets"
                        | "put-bucket-lifecycle-configuration"
                        | "put-public-access-block"
                        | "reboot-instances"
                        | "disable-key"
                        | "update-function-code"
                        | "modify-db-instance"
                        | "create-user"
                        | "add-user-to-group"
                        | "put-group-policy"
                        | "attach-group-policy"
                        | "update-login-profile"
                        | "create-policy-version"
                        | "set-default-policy-version"
                        | "stop-logging"
                        | "close-account"
                        | "disable-rule"
                )
            })
}

pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let dry = verbs::only_shows(call.args) || words.last() == Some(&"help");
    let bad = destroys_resources(call, &words, &plain);
    if bad && !dry {
        walk.emit_names(Kind::Cloud, "deletes or stops resources of an account", call.span, &plain);
    }
    if let Some(command) = words
        .iter()
        .position(|word| *word == "--command")
        .and_then(|at| words.get(at + 1))
        .copied()
        .or_else(|| words.iter().find_map(|word| word.strip_prefix("--command=")))
    {
        walk.run_text(command, &Flow::none(), call.span);
    }
    if let Some(command) = words
        .iter()
        .find_map(|word| word.strip_prefix("commands="))
        .filter(|_| plain.contains(&"send-command"))
    {
        walk.run_text(command.trim_matches(['[', ']', '"', '\'']), &Flow::none(), call.span);
    }
    if call.name == "ngrok" && matches!(plain.first(), Some(&("tcp" | "http" | "tls" | "start")))
        || matches!(call.name, "chisel" | "frpc" | "bore" | "gost" | "rathole" | "pagekite.py")
            && !words.is_empty()
            && !dry
        || call.name == "cloudflared"
            && (words.iter().any(|word| word.contains("ssh://"))
                || plain.first() == Some(&"tunnel") && words.iter().any(|word| word.starts_with("--url")))
    {
        walk.emit(Kind::ReverseShell, "opens this machine to the network", call.span);
    }
    if plain.windows(2).any(|pair| matches!(pair, ["configure", "get"]))
        && plain.iter().any(|word| word.contains("secret") || word.contains("token"))
    {
        walk.emit(Kind::ReadCredential, "prints secrets of an account", call.span);
    }
    let secret = plain.first().is_some_and(|word| matches!(*word, "config" | "config:get" | "config:show"))
        && call.name == "heroku"
        || plain.iter().any(|word| {
            matches!(
                *word,
                "get-secret-value"
                    | "print-access-token"
                    | "get-access-token"
                    | "print-identity-token"
                    | "get-session-token"
                    | "get-parameter"
                    | "get-parameters"
                    | "export-credentials"
                    | "batch-get-secret-value"
            )
        })
        || plain
            .windows(2)
            .any(|pair| matches!(pair, ["secret", "show"] | ["versions", "access"] | ["keys", "list"]));
    if secret {
        if !plain.contains(&"get-parameter") && !plain.contains(&"get-parameters")
            || words.contains(&"--with-decryption")
        {
            walk.emit_names(Kind::ReadCredential, "prints secrets of an account", call.span, &plain);
        }
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    if signs::look(walk, call) {
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    upload(walk, call, &plain);
    if matches!(call.name, "aws" | "gsutil" | "s3cmd" | "mc")
        && plain.contains(&"cp")
        && plain.last() == Some(&"-")
        || words.last() == Some(&"-")
    {
        return Flow::unknown(Origin { network: true, ..Origin::default() });
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Files sent to object storage.
fn upload(walk: &mut Walk<'_>, call: Call<'_>, plain: &[&str]) {
    let remote = |word: &str| word.contains("://");
    if plain.iter().any(|word| word.starts_with("upload") || *word == "put-object") {
        for word in plain {
            if walk.target(word).place == Place::Credential {
                walk.emit_names(Kind::SendOut, "sends credentials to object storage", call.span, &[word]);
            }
        }
    }
    if !plain.iter().any(|word| matches!(*word, "cp" | "mv" | "sync" | "put" | "rsync" | "copy")) {
        return;
    }
    let paths: Vec<&str> =
        plain.iter().copied().filter(|word| remote(word) || word.contains(['/', '.', '~'])).collect();
    if let [from, to, ..] = paths.as_slice()
        && remote(to)
        && !remote(from)
    {
        let source = walk.target(from);
        if matches!(source.place, Place::HomeTop | Place::Root | Place::SystemTop | Place::SystemConfig) {
            walk.emit_names(Kind::SendOut, "sends a whole folder to object storage", call.span, &[from, to]);
        }
        let flow = walk.read_file(from, call.span);
        if flow.origin.credential || call.stdin.origin.credential {
            walk.emit_names(Kind::SendOut, "sends credentials to object storage", call.span, &[to]);
        }
    }
}

fn infrastructure(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    match call.name {
        "ansible" => return ansible(walk, call, &words),
        "ansible-playbook" => {
            let named = |word: &&&str| {
                let stem = super::base_name(word).trim_end_matches(".yml").trim_end_matches(".yaml");
                verbs::named_for_loss(stem)
            };
            if let Some(play) = words.iter().find(named).filter(|_| !words.contains(&"--check")) {
                walk.emit_names(Kind::Cloud, "runs a play made to remove things", call.span, &[play]);
            }
            for verb in ["shell: ", "command: ", "raw: "] {
                if let Some((_, rest)) = call.stdin.seen().to_owned().split_once(verb) {
                    walk.run_text(
                        rest.split(['}', '\n', ',']).next().unwrap_or_default(),
                        &Flow::none(),
                        call.span,
                    );
                }
            }
            return Flow::none();
        }
        "salt" => {
            if let Some(at) = words.iter().position(|word| *word == "cmd.run") {
                walk.run_text(words.get(at + 1).copied().unwrap_or_default(), &Flow::none(), call.span);
            }
            return Flow::none();
        }
        "puppet" => {
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
        || (plain.first() == Some(&"apply") || plain.first() == Some(&"up"))
            && words.iter().any(|word| matches!(*word, "-auto-approve" | "--auto-approve" | "--yes" | "-y"));
    if plain.first() == Some(&"output") && plain.iter().skip(1).any(|word| secret_name(word)) {
        walk.emit_names(Kind::ReadCredential, "prints secrets", call.span, &plain);
    }
    if bad && !verbs::only_shows(call.args) {
        walk.emit_names(Kind::Cloud, "destroys or changes infrastructure without asking", call.span, &plain);
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
