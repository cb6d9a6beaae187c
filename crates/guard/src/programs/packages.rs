//! Package managers: removing what is installed.

use super::addresses::{fetched, strange_module};
use super::{Handler, managers};
use crate::effect::Kind;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        _ if managers::known(name) => system,
        "npm" | "pnpm" | "yarn" | "pip" | "pip3" | "gem" | "cargo" | "go" | "composer" | "pipx" | "npx"
        | "bunx" | "pnpx" | "uvx" | "dlx" | "rustup" | "easy_install" => language,
        "nix" => nix,
        "twine" => publish,
        _ => return None,
    })
}

/// Packages whose loss stops the machine.
const VITAL: [&str; 14] = [
    "linux-image",
    "linux-generic",
    "systemd",
    "libc6",
    "glibc",
    "bash",
    "coreutils",
    "sudo",
    "openssh-server",
    "grub",
    "kernel",
    "python3",
    "network-manager",
    "apt",
];

fn system(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if words
        .iter()
        .any(|word| matches!(*word, "-s" | "--simulate" | "--dry-run" | "--just-print" | "-n" | "--no-act"))
        && !matches!(call.name, "pacman" | "yay" | "paru")
    {
        return Flow::none();
    }
    let verbs: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let verb = verbs.first().copied().unwrap_or_default();
    fetched(walk, call);
    for arg in call.args {
        let known = walk.scope.files.get(&walk.path(&arg.text)).is_some_and(|flow| flow.origin.network);
        if known || call.stdin.origin.network && matches!(&*arg.text, "/dev/stdin" | "-") {
            walk.emit(Kind::RunDownloaded, "installs a package that was just fetched", arg.span);
        }
    }
    if words.iter().any(|word| {
        matches!(
            *word,
            "--allow-unauthenticated"
                | "--nogpgcheck"
                | "--no-gpg-check"
                | "--force-yes"
                | "--allow-untrusted"
        )
    }) {
        walk.emit(Kind::Security, "installs packages without checking them", call.span);
    }
    if call.name == "brew" && verb == "tap" && words.iter().any(|word| word.contains("://")) {
        walk.emit_names(Kind::Package, "changes where packages come from", call.span, &verbs);
    }
    let removes = managers::removes(call.name, &words, &verbs);
    if removes {
        let what = if verbs.iter().skip(1).any(|name| VITAL.iter().any(|vital| name.starts_with(vital))) {
            "removes packages the machine needs"
        } else {
            "removes packages"
        };
        walk.emit_names(Kind::Package, what, call.span, verbs.get(1..).unwrap_or_default());
    }
    if call.name == "brew"
        && verb == "services"
        && matches!(verbs.get(1), Some(&("stop" | "restart" | "kill")))
    {
        walk.emit_names(Kind::Service, "stops or restarts a service", call.span, &verbs);
    }
    for arg in call.args {
        // apt can be told to run commands.
        if let Some((key, value)) = arg.text.split_once('=')
            && (key.contains("Pre-Invoke") || key.contains("Post-Invoke") || key.contains("Pre-Install-Pkgs"))
        {
            walk.emit_names(Kind::ToolProgram, "makes the package manager run a program", arg.span, &[value]);
            walk.run_text(value, &Flow::none(), arg.span);
        }
    }
    let settings = call.name == "brew" && matches!(verb, "shellenv" | "--prefix");
    Flow::unknown(Origin { settings, local: true, ..Origin::default() })
}

/// Options of build tools that start programs.
fn tool_options(walk: &mut Walk<'_>, call: Call<'_>) {
    for (at, arg) in call.args.iter().enumerate() {
        let next = call.args.get(at + 1).map_or("", |arg| &*arg.text);
        let program = match (call.name, &*arg.text) {
            ("go", "-exec" | "-toolexec") => Some(next),
            ("cargo", "--config")
                if ["runner", "rustc-wrapper", "linker", "rustc=\""].iter().any(|key| next.contains(key)) =>
            {
                next.split_once('=').map(|(_, value)| value.trim_matches(['"', '\'']))
            }
            ("npm" | "pnpm" | "yarn", text) => text.strip_prefix("--script-shell="),
            _ => None,
        };
        if let Some(program) = program {
            walk.emit_names(Kind::ToolProgram, "makes a build tool run a program", arg.span, &[program]);
            walk.run_text(program, &Flow::none(), arg.span);
        }
    }
}

/// What is published, shown or removed for good; nothing when the verb is none of these.
fn lasting(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) -> Option<Flow> {
    let verb = words.first().copied().unwrap_or_default();
    match (call.name, verb) {
        ("yarn", "npm") if words.get(1) == Some(&"publish") => {
            walk.emit_names(Kind::Package, "publishes a package", call.span, words);
        }
        ("npm" | "pnpm" | "yarn", "config" | "get") if super::signs::look(walk, call) => {
            return Some(Flow::unknown(Origin { credential: true, ..Origin::default() }));
        }
        ("gem", "install")
            if call.args.iter().any(|arg| arg.text.starts_with("http://"))
                && call.args.iter().any(|arg| matches!(&*arg.text, "-s" | "--source")) =>
        {
            walk.emit_names(
                Kind::RunDownloaded,
                "installs packages from an unsafe address",
                call.span,
                words,
            );
        }
        ("rustup", "toolchain") if words.contains(&"uninstall") || words.contains(&"remove") => {
            walk.emit_names(Kind::Package, "removes a toolchain", call.span, words);
        }
        ("npm" | "pnpm" | "yarn", "uninstall" | "remove" | "rm")
            if call.args.iter().any(|arg| matches!(&*arg.text, "-g" | "--global")) =>
        {
            walk.emit_names(Kind::Package, "removes programs installed for everybody", call.span, words);
        }
        ("gem", "uninstall")
            if call.args.iter().any(|arg| {
                &*arg.text == "--all"
                    || arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('a')
            }) =>
        {
            walk.emit_names(Kind::Package, "removes packages", call.span, words);
        }
        _ => {}
    }
    None
}

fn publish(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.first().is_some_and(|arg| &*arg.text == "upload") {
        walk.emit(Kind::Package, "publishes a package", call.span);
    }
    Flow::none()
}

/// `nix run github:x/y`, `nix shell …`, `nix develop -c command`.
fn nix(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    fetched(walk, call);
    let command = call
        .args
        .iter()
        .position(|arg| matches!(&*arg.text, "-c" | "--command" | "--"))
        .and_then(|at| call.args.get(at + 1..));
    match command {
        Some(command) if !command.is_empty() => super::run(walk, command, call.stdin, call.span),
        _ => Flow::unknown(Origin::default()),
    }
}

fn language(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let verbs: Vec<&Arg<'_>> = call.args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
    let words: Vec<&str> = verbs.iter().map(|arg| &*arg.text).collect();
    tool_options(walk, call);
    fetched(walk, call);
    let verb = words.first().copied().unwrap_or_default();
    if let Some(flow) = lasting(walk, call, &words) {
        return flow;
    }
    match (call.name, verb) {
        ("rustup", "self") if words.contains(&"uninstall") => {
            walk.emit_names(Kind::Package, "removes the toolchain", call.span, &words);
        }
        ("npm" | "pnpm" | "yarn" | "pip" | "pip3", "config" | "set")
            if words.iter().any(|word| {
                let key = word.split('=').next().unwrap_or_default();
                [
                    "registry",
                    "index-url",
                    "ignore-scripts",
                    "strict-ssl",
                    "cafile",
                    "_authToken",
                    "trusted-host",
                ]
                .iter()
                .any(|setting| key.ends_with(setting))
            }) && words.iter().any(|word| word.starts_with("set")) =>
        {
            walk.emit_names(Kind::ToolProgram, "changes where packages come from", call.span, &words);
        }
        ("npm" | "pnpm" | "yarn", "set-script" | "pkg") => {
            for word in words.iter().skip(1) {
                let command = match word.split_once('=') {
                    Some((key, value)) if key.starts_with("scripts.") => value.trim_matches(['"', '\'']),
                    _ => word,
                };
                if command.contains(' ') {
                    walk.run_text(command, &Flow::none(), call.span);
                }
            }
        }
        ("npm" | "pnpm" | "yarn", "config" | "set") if words.contains(&"script-shell") => {
            walk.emit_names(Kind::ToolProgram, "makes npm run a program", call.span, &words);
        }
        ("pip" | "pip3", "install")
            if call.args.iter().any(|arg| arg.text.starts_with("http://"))
                || call.args.iter().any(|arg| arg.text.starts_with("--index-url=http://")) =>
        {
            walk.emit_names(
                Kind::RunDownloaded,
                "installs packages from an unsafe address",
                call.span,
                &words,
            );
        }
        ("npm" | "pnpm" | "yarn" | "cargo" | "gem", "publish" | "push")
            if !super::verbs::only_shows(call.args) && !call.args.iter().any(|arg| &*arg.text == "-n") =>
        {
            walk.emit_names(Kind::Package, "publishes a package", call.span, &words);
        }
        ("npm" | "pnpm" | "yarn" | "cargo" | "gem", "unpublish" | "yank" | "deprecate" | "owner")
            if words.len() > 1 =>
        {
            walk.emit_names(Kind::Package, "takes a published package back", call.span, &words);
        }
        ("npm" | "pnpm" | "yarn", "exec" | "dlx") | ("npx" | "bunx" | "pnpx" | "uvx" | "dlx", _) => {
            return package_program(walk, call, &words);
        }
        ("pip" | "pip3", "uninstall")
            if call.args.iter().any(|arg| matches!(&*arg.text, "-r" | "--requirement"))
                || words.iter().any(|word| word.contains(crate::walk::HOLE)) =>
        {
            walk.emit_names(Kind::Package, "removes packages", call.span, &words);
        }
        ("npm" | "pnpm" | "yarn", "token") if words.len() > 1 => {
            walk.emit_names(Kind::ReadCredential, "shows or changes access tokens", call.span, &words);
        }
        ("cargo", "new" | "init") => {
            if let Some(folder) = verbs.get(1) {
                walk.made(&folder.text);
            }
        }
        ("go", "run") if words.get(1).is_some_and(|package| strange_module(package)) => {
            walk.emit_names(Kind::RunDownloaded, "fetches a program and runs it", call.span, &words);
        }
        ("go", "run" | "build" | "test" | "install") => super::odd::sources(walk, call, "go"),
        ("go", "env") if call.args.iter().any(|arg| &*arg.text == "-w") => {}
        _ => {}
    }
    Flow::unknown(Origin {
        settings: words.iter().any(|word| matches!(*word, "completion" | "completions")),
        ..Origin::default()
    })
}

/// A program that a package brings: `npx tool …`, `npm exec -c '…'`.
fn package_program(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) -> Flow {
    let code = call
        .args
        .iter()
        .position(|arg| matches!(&*arg.text, "-c" | "--call"))
        .and_then(|at| call.args.get(at + 1));
    if let Some(code) = code {
        walk.run_text(&code.text, &Flow::none(), code.span);
        return Flow::none();
    }
    let skip = usize::from(matches!(call.name, "npm" | "pnpm" | "yarn"));
    let at = call.args.iter().position(|arg| words.get(skip) == Some(&&*arg.text)).unwrap_or(call.args.len());
    let rest = call.args.get(at..).unwrap_or_default();
    let rest = if rest.first().is_some_and(|arg| &*arg.text == "--") {
        rest.get(1..).unwrap_or_default()
    } else {
        rest
    };
    super::run(walk, rest, call.stdin, call.span)
}
