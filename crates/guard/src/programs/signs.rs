//! Signs that any command line may carry: words that make a program print secrets, publish or
//! hand over files, or leave a network, whatever the program is called.

use super::verbs;
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, Origin, Walk, secret_name};

/// Options that ask for a secret in the clear.
const REVEALING: [&str; 13] = [
    "--recovery-unseal",
    "--show-token",
    "--show-tokens",
    "--show-secret",
    "--show-secrets",
    "--show-password",
    "--show-passwords",
    "--show-credentials",
    "--reveal",
    "--with-decryption",
    "--show-sensitive",
    "--show-key",
    "--unmask",
];

/// Notes what the words say; true when the output holds secrets.
pub(super) fn look(walk: &mut Walk<'_>, call: Call<'_>) -> bool {
    if verbs::only_shows(call.args) {
        return false;
    }
    let plain: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|word| !word.starts_with('-')).take(6).collect();
    if reveals(call, &plain) {
        walk.emit_names(Kind::ReadCredential, "prints secrets", call.span, &plain);
        return true;
    }
    if matches!(
        call.name,
        "tailscale"
            | "wg-quick"
            | "mullvad"
            | "nordvpn"
            | "warp-cli"
            | "zerotier-cli"
            | "protonvpn-cli"
            | "netbird"
    ) && matches!(plain.first(), Some(&("down" | "logout" | "disconnect" | "leave" | "delete")))
        || call.name == "iw" && plain.contains(&"del")
    {
        walk.emit_names(Kind::Kernel, "cuts the machine off a network", call.span, &plain);
    }
    if publishes(call.name, &plain) {
        walk.emit_names(Kind::Package, "publishes what others will use", call.span, &plain);
    }
    false
}

/// Whether the words ask for secrets in the clear.
fn reveals(call: Call<'_>, plain: &[&str]) -> bool {
    let flag = |flags: &[&str]| call.args.iter().any(|arg| flags.contains(&&*arg.text));
    match call.name {
        "sops" => return flag(&["-d", "--decrypt", "decrypt", "exec-env", "exec-file"]),
        "age" | "rage" => return flag(&["-d", "--decrypt"]),
        "ansible-vault" => return matches!(plain.first(), Some(&("view" | "decrypt"))),
        "doppler" => return plain == ["secrets"] || matches!(plain, ["secrets", "get" | "download", ..]),
        "infisical" | "conjur" | "chamber" | "berglas" | "envchain" | "teller" | "dotenvx"
        | "dotenv-vault" => {
            return matches!(
                plain.first(),
                Some(&("export" | "access" | "read" | "get" | "show" | "decrypt" | "variable"))
            ) || plain.first() == Some(&"secrets") && plain.len() < 3;
        }
        _ => {}
    }
    call.args.iter().any(|arg| arg.text.starts_with("--") && REVEALING.contains(&&*arg.text))
        || plain.iter().take(3).any(|word| {
            matches!(*word, "auth:token" | "auth:print" | "print-token" | "show-secret" | "show-secrets")
                || word.starts_with("print-") && word.ends_with("-token")
                || word.contains("get-secret-value")
                || matches!(*word, "get-login-password" | "generate-db-auth-token" | "initial-password")
        })
        || plain.windows(2).take(4).any(|pair| {
            matches!(
                pair,
                ["auth" | "login" | "session" | "sessions", "token" | "print-token" | "get-token"]
                    | [
                        "secret" | "secrets" | "credential" | "credentials" | "password" | "passwords",
                        "download"
                            | "export"
                            | "get"
                            | "show"
                            | "view"
                            | "reveal"
                            | "print"
                            | "dump"
                            | "read"
                            | "access"
                            | "decrypt"
                    ]
                    | [
                        "get" | "show" | "view" | "reveal" | "dump" | "export",
                        "secret" | "password" | "credential"
                    ]
                    | ["token" | "tokens" | "apikey" | "api-key", "show" | "print" | "reveal" | "export"]
            )
        })
        || plain.windows(3).any(|three| {
            matches!(three, ["config" | "configure" | "settings", "get" | "show" | "read", key]
                if secret_name(key) || key.to_ascii_lowercase().contains("authtoken"))
        })
}

/// Whether the words hand a package, an extension or a release to the public.
fn publishes(name: &str, plain: &[&str]) -> bool {
    let uploads = match name {
        "luarocks" | "cabal" | "twine" | "anaconda" | "conda-smithy" | "stack" | "dput" | "cpan-upload" => {
            matches!(plain.first(), Some(&"upload"))
        }
        "mvn" | "mvnw" => {
            plain.iter().any(|goal| matches!(*goal, "deploy" | "release:perform" | "deploy:deploy"))
        }
        "gradle" | "gradlew" => plain.iter().any(|task| {
            let task = task.rsplit(':').next().unwrap_or(task);
            task.starts_with("publish") && !task.ends_with("MavenLocal")
        }),
        "goreleaser" => matches!(plain.first(), Some(&"release")),
        "dotnet" | "nuget" => {
            matches!(plain, ["nuget", "push" | "delete", ..])
                || name == "nuget" && plain.first() == Some(&"push")
        }
        "pod" => matches!(plain, ["trunk", "push" | "delete" | "deprecate", ..]),
        "snapcraft" | "charmcraft" => matches!(plain.first(), Some(&("upload" | "push" | "release"))),
        "fastlane" => matches!(plain, ["deliver" | "supply" | "release", ..] | [_, "release" | "deploy", ..]),
        "jest" | "vitest" | "redis-cli" | "nats" | "mosquitto" | "artisan" | "rails" | "aws" => return false,
        _ => false,
    };
    uploads
        || !matches!(name, "dotnet" | "gradle" | "gradlew" | "rabbitmqadmin" | "just" | "make" | "hugo")
            && plain.iter().take(2).any(|word| matches!(*word, "publish" | "unpublish" | "hex.publish"))
}

/// A program nobody knows that is given a file with credentials: by name, or to send it away.
pub(super) fn given(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let sends = call.args.iter().take(6).any(|arg| {
        matches!(
            &*arg.text,
            "send"
                | "upload"
                | "share"
                | "put"
                | "push"
                | "post"
                | "paste"
                | "publish"
                | "cp"
                | "copy"
                | "add"
        )
    });
    let mut after_option = false;
    for arg in call.args.iter().take(24) {
        let text = &*arg.text;
        let option = text.starts_with('-');
        let operand = !option && !after_option;
        after_option = option && proves(text);
        if option || !(operand || sends) {
            continue;
        }
        let own = text.starts_with(['~', '/']);
        if !(sends || own && operand) || walk.target(text).place != Place::Credential {
            continue;
        }
        if sends {
            walk.emit_names(Kind::SendOut, "hands credentials to a program that sends", arg.span, &[text]);
        } else {
            walk.emit_names(
                Kind::ReadCredential,
                "hands credentials to a program nobody knows",
                arg.span,
                &[text],
            );
        }
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    Flow::none()
}

/// Whether an option names what a program proves itself with, or reads its settings from.
fn proves(option: &str) -> bool {
    let name = option.trim_start_matches('-');
    name.len() <= 1 && !matches!(name, "f" | "d" | "F" | "T")
        || ["key", "conf", "cred", "ident", "env", "cert", "auth", "pass", "secret", "token", "ca", "profile"]
            .iter()
            .any(|part| name.contains(part))
}
