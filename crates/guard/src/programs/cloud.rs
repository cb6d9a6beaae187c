//! Cloud accounts: deleting what runs elsewhere, opening it, sending files there.

use super::archive::is_whole;
use super::{Handler, signs, verbs};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "aws" | "gcloud" | "az" | "gsutil" | "doctl" | "heroku" | "flyctl" | "fly" | "vercel" | "netlify"
        | "firebase" | "linode-cli" | "hcloud" | "oci" | "ibmcloud" | "aliyun" | "cf" | "eb" | "railway"
        | "render" | "supabase" | "wrangler" | "s3cmd" | "mc" | "b2" | "azcopy" | "scw" | "upctl" | "exo"
        | "civo" | "vultr-cli" | "pscale" | "neonctl" | "turso" | "ngrok" | "cloudflared" | "openstack"
        | "chisel" | "frpc" | "bore" | "gost" | "rathole" | "pagekite.py" | "serverless" | "sls" | "sam"
        | "cdk" | "copilot" | "s5cmd" | "amplify" => Some(run),
        _ => None,
    }
}

/// Whether a word is a verb that deletes or stops.
fn destroys(word: &str) -> bool {
    const VERBS: [&str; 35] = [
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
        "deactivate",
        "disable",
        "reboot",
        "suspend",
        "disassociate",
        "clear",
        "unbind",
        "uninstall",
        "wipe",
        "erase",
        "restart",
        "unregister",
        "unsubscribe",
        "regenerate",
        "rebuild",
    ];
    let lower = word.to_ascii_lowercase();
    let head = lower.split([':', '-', '_']).next().unwrap_or_default();
    let tail = lower.rsplit([':', '-']).next().unwrap_or_default();
    lower.starts_with("batch-delete")
        || lower.contains("-delete-")
        || verbs::capital_verb(word)
        || VERBS.contains(&lower.as_str())
        || VERBS.contains(&head)
        || matches!(tail, "destroy" | "delete" | "remove")
        || lower.contains(':') && matches!(tail, "disable" | "unset")
        || lower == "apps:destroy"
        || lower == "pg:reset"
}

/// Verbs of AWS that change who may do what, or what is kept.
const WEIGHTY: [&str; 33] = [
    "put-bucket-policy",
    "put-bucket-acl",
    "attach-user-policy",
    "create-access-key",
    "put-user-policy",
    "authorize-security-group-ingress",
    "schedule-key-deletion",
    "attach-role-policy",
    "put-role-policy",
    "create-login-profile",
    "update-assume-role-policy",
    "change-resource-record-sets",
    "put-bucket-lifecycle-configuration",
    "put-public-access-block",
    "reboot-instances",
    "disable-key",
    "update-function-code",
    "modify-db-instance",
    "create-user",
    "add-user-to-group",
    "put-group-policy",
    "attach-group-policy",
    "update-login-profile",
    "create-policy-version",
    "set-default-policy-version",
    "stop-logging",
    "close-account",
    "disable-rule",
    "put-bucket-versioning",
    "put-bucket-encryption",
    "update-access-key",
    "assume-role",
    "modify-instance-attribute",
];

/// Whether the words tell an account to delete, stop or open something.
fn destroys_resources(call: Call<'_>, words: &[&str], plain: &[&str]) -> bool {
    let verbs = plain
        .iter()
        .take(if matches!(call.name, "gcloud" | "az" | "oci" | "ibmcloud" | "openstack") { 6 } else { 4 });
    let reads = call.name == "gcloud" && plain.contains(&"read");
    !reads && verbs.clone().any(|word| destroys(word) && !word.contains('/'))
        || plain.windows(2).any(|pair| {
            matches!(
                pair,
                ["secret" | "secrets" | "env" | "variable" | "variables", "unset" | "rm" | "remove"]
            )
        })
        || released(call.name, words, plain)
        || words.contains(&"--delete") && words.contains(&"sync")
        || words.windows(2).any(|pair| {
            matches!(
                pair,
                ["--desired-count" | "--desired-capacity" | "--min-size" | "--num-nodes" | "count", "0"]
            )
        })
        || words.iter().any(|word| {
            matches!(
                *word,
                "--num-nodes=0"
                    | "--desired-count=0"
                    | "--min-size=0"
                    | "access:add"
                    | "maintenance:on"
                    | "auth:export"
            ) || word.starts_with("--add-permissions")
        })
        || plain.contains(&"mv") && words.contains(&"--recursive")
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
        || call.name == "aws" && plain.iter().any(|word| WEIGHTY.contains(word))
}

/// Whether a new version goes before everybody without a look at it.
fn released(name: &str, words: &[&str], plain: &[&str]) -> bool {
    let production = words.iter().any(|word| matches!(*word, "--prod" | "--production"));
    match name {
        "vercel" => {
            production
                && !matches!(plain.first(), Some(&("env" | "ls" | "list" | "inspect" | "pull" | "build")))
                || plain.first() == Some(&"promote")
        }
        "sam" => plain.first() == Some(&"deploy") && words.contains(&"--no-confirm-changeset"),
        "serverless" | "sls" => plain.first() == Some(&"deploy") && words.contains(&"--force"),
        "netlify" => production && plain.first() == Some(&"deploy"),
        "cdk" => {
            plain.first() == Some(&"deploy")
                && (words.windows(2).any(|pair| pair == ["--require-approval", "never"])
                    || words.contains(&"--require-approval=never"))
        }
        "firebase" => plain.first() == Some(&"deploy") && words.iter().any(|word| word.contains("rules")),
        _ => false,
    }
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
        super::sql::judge(walk, command, call.span);
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
            .any(|pair| matches!(pair, ["secret", "show"] | ["versions", "access"] | ["keys", "list"]))
        || matches!(
            (call.name, plain.as_slice()),
            ("vercel", ["env", "pull", ..]) | ("railway", ["variables"])
        );
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
            let place = walk.target(word).place;
            if matches!(place, Place::Credential | Place::ProjectEnv) {
                walk.emit_names(Kind::SendOut, "sends credentials to object storage", call.span, &[word]);
            } else if is_whole(place) {
                walk.emit_names(Kind::SendOut, "sends a whole folder to object storage", call.span, &[word]);
            } else if crate::places::is_dump(word) {
                walk.emit_names(
                    Kind::SendOut,
                    "sends a whole database to object storage",
                    call.span,
                    &[word],
                );
            }
        }
    }
    if !plain.iter().any(|word| matches!(*word, "cp" | "mv" | "sync" | "put" | "rsync" | "copy")) {
        return;
    }
    let paths: Vec<&str> =
        plain.iter().copied().filter(|word| remote(word) || word.contains(['/', '.', '~'])).collect();
    if let [from, to, ..] = paths.as_slice()
        && remote(from)
        && !remote(to)
    {
        let flow = Flow::unknown(Origin { network: true, ..Origin::default() });
        walk.write_file(to, flow, false, "keeps what it fetched", call.span);
    }
    if let [from, to, ..] = paths.as_slice()
        && remote(to)
        && !remote(from)
    {
        let source = walk.target(from);
        let tree = plain.iter().any(|word| matches!(*word, "sync" | "rsync"))
            || call.args.iter().any(|arg| matches!(&*arg.text, "-r" | "-R" | "--recursive"));
        if is_whole(source.place) || tree && source.place == Place::Home {
            walk.emit_names(Kind::SendOut, "sends a whole folder to object storage", call.span, &[from, to]);
        }
        let flow = walk.read_file(from, call.span);
        if flow.origin.credential || call.stdin.origin.credential {
            walk.emit_names(Kind::SendOut, "sends credentials to object storage", call.span, &[to]);
        } else if flow.origin.whole {
            walk.emit_names(
                Kind::SendOut,
                "sends a whole database to object storage",
                call.span,
                &[from, to],
            );
        }
    }
}
