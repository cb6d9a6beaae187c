//! Programs that run others in ways of their own: build tools, watchers, remote shells.

use super::opts::{Spec, parse};
use crate::effect::{How, Kind};
use crate::walk::{Arg, Call, Flow, Origin, Walk};

/// Runs one of them.
pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    match call.name {
        "sg" if words.contains(&"-c") => after(walk, call, &words, &["-c"]),
        "sg" => drop(walk.run_text(words.get(1).copied().unwrap_or_default(), &Flow::none(), call.span)),
        "nix-shell" | "devbox" => after(walk, call, &words, &["--run", "--command"]),
        "nodemon" => after(walk, call, &words, &["--exec", "-x"]),
        "watchexec" | "watchman" | "proot" | "envdir" => peeled(walk, call),
        "tcpdump" => {
            named_program(walk, call, &words, &["-z"]);
            if let Some(file) = words.iter().position(|word| *word == "-w").and_then(|at| words.get(at + 1)) {
                let flow = Flow::unknown(Origin { local: true, ..Origin::default() });
                walk.write_file(file, flow, false, "writes what it hears", call.span);
            }
            return Flow::unknown(Origin { local: true, ..Origin::default() });
        }
        "nmap" => scripts(walk, call, &words),
        "cmake" => cmake(walk, call, &words),
        "gcc" | "cc" | "g++" | "clang" | "tcc" | "clang++" | "c++" => compiler(walk, call, &words),
        "rustc" | "javac" | "zig" | "fpc" | "gfortran" | "ldc2" | "dmd" | "v" => sources(walk, call, "go"),
        "mvn" => maven(walk, call, &words),
        "adb" | "pssh" | "parallel-ssh" | "pdsh" | "clush" | "dsh" | "pexec" => remote(walk, call, &words),
        "ipmitool" | "dbus-send" | "gdbus" | "busctl" => power(walk, call, &words),
        "xhost" if words.first().is_some_and(|word| word.starts_with('+')) => {
            walk.emit(Kind::Security, "lets anybody use the screen", call.span);
        }
        "rename" => {
            for arg in call.args.iter().skip(1).filter(|arg| !arg.text.starts_with('-')) {
                let target = walk.target(&arg.text);
                walk.emit_on(Kind::Write, "renames files", arg.span, vec![target], How::default());
            }
        }
        _ => {}
    }
    Flow::unknown(Origin::default())
}

/// The text after a switch is a command line.
fn after(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str], switches: &[&str]) {
    if let Some(text) = words.iter().position(|word| switches.contains(word)).and_then(|at| words.get(at + 1))
    {
        walk.run_text(text, &Flow::none(), call.span);
    }
}

fn named_program(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str], switches: &[&str]) {
    if let Some(program) =
        words.iter().position(|word| switches.contains(word)).and_then(|at| words.get(at + 1))
    {
        walk.emit_names(Kind::ToolProgram, "makes a tool run a program", call.span, &[program]);
        walk.run_text(program, &Flow::none(), call.span);
    }
}

fn peeled(walk: &mut Walk<'_>, call: Call<'_>) {
    let parsed = parse(
        call.args,
        Spec { short: "wferRbiq", long: &["exts", "watch", "ignore", "rootfs", "bind", "cwd"], stops: true },
    );
    let args: Vec<Arg<'_>> =
        parsed.rest().skip(usize::from(call.name == "envdir")).map(Arg::shared).collect();
    super::run(walk, &args, call.stdin, call.span);
}

fn scripts(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    let own = words.iter().any(|word| word.strip_prefix("--script=").is_some_and(|path| path.contains('/')));
    if own {
        walk.emit(Kind::ToolProgram, "makes nmap run a script", call.span);
    }
    sources(walk, call, "lua");
}

fn cmake(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    match words {
        ["-E", "rm" | "remove" | "remove_directory", rest @ ..] => {
            let paths: Vec<Arg<'_>> = rest
                .iter()
                .filter(|word| !word.starts_with('-'))
                .map(|word| Arg { text: (*word).into(), span: call.span })
                .collect();
            let refs: Vec<&Arg<'_>> = paths.iter().collect();
            super::files::delete(walk, &refs, true, call.span);
        }
        ["-E", "env" | "time", rest @ ..] => {
            let args: Vec<Arg<'_>> = rest
                .iter()
                .skip_while(|word| word.contains('='))
                .map(|word| Arg { text: (*word).into(), span: call.span })
                .collect();
            super::run(walk, &args, call.stdin, call.span);
        }
        ["-P", "/dev/stdin" | "-", ..] => {
            if let Some((_, rest)) = call.stdin.seen().to_owned().split_once("COMMAND ") {
                walk.run_text(rest.trim_end_matches([')', '\n']), &Flow::none(), call.span);
            }
        }
        _ => {}
    }
}

/// Source text the command line itself holds is judged as if its program ran.
pub(super) fn sources(walk: &mut Walk<'_>, call: Call<'_>, language: &str) {
    for arg in call.args.iter().filter(|arg| !arg.text.starts_with('-') || &*arg.text == "-") {
        let text = match &*arg.text {
            "-" | "/dev/stdin" => call.stdin.seen().to_owned(),
            file => {
                walk.scope.files.get(&walk.path(file)).map_or_else(String::new, |flow| flow.seen().to_owned())
            }
        };
        if !text.is_empty() {
            super::inline::judge(walk, language, &text, call.span);
        }
    }
}

fn compiler(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    sources(walk, call, "c");
    if let Some(program) = words.iter().position(|word| *word == "-wrapper").and_then(|at| words.get(at + 1))
    {
        walk.emit_names(Kind::ToolProgram, "makes the compiler run a program", call.span, &[program]);
        walk.run_text(&program.replace(',', " "), &Flow::none(), call.span);
    }
    if let Some(file) = words.iter().position(|word| *word == "-o").and_then(|at| words.get(at + 1)) {
        walk.write_file(
            file,
            // Source that was fetched is still foreign after it was compiled.
            if call.stdin.origin.network {
                Flow::unknown(call.stdin.origin)
            } else {
                Flow::unknown(Origin { file: true, settings: true, ..Origin::default() })
            },
            false,
            "compiles into a file",
            call.span,
        );
    }
}

fn maven(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    super::signs::look(walk, call);
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).unwrap_or_default();
    let program = value("-Dexec.executable=");
    if !program.is_empty() {
        walk.run_text(&format!("{program} {}", value("-Dexec.args=")), &Flow::none(), call.span);
    }
}

fn remote(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    let start = match call.name {
        "adb" => words.iter().position(|word| *word == "shell").map(|at| at + 1),
        _ => Some(
            parse(call.args, Spec { short: "hHlpotwgxeOAIg", long: &["hosts", "host", "user"], stops: true })
                .rest()
                .count(),
        )
        .map(|count| words.len().saturating_sub(count)),
    };
    if let Some(line) = start.and_then(|at| words.get(at..)).filter(|line| !line.is_empty()) {
        walk.run_text(&line.join(" "), &Flow::none(), call.span);
    }
    if call.name == "adb"
        && words.iter().any(|word| matches!(*word, "reboot" | "uninstall" | "root" | "sideload"))
    {
        walk.emit(Kind::Power, "restarts or changes a device", call.span);
    }
}

fn power(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    let ends = |verbs: &[&str]| words.iter().any(|word| verbs.iter().any(|verb| word.ends_with(verb)));
    if call.name != "ipmitool" && ends(&["PowerOff", "Reboot", "Halt", "KExec"]) {
        walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
        return;
    }
    if call.name != "ipmitool"
        && ends(&[
            "StopUnit",
            "RestartUnit",
            "KillUnit",
            "DisableUnitFiles",
            "MaskUnitFiles",
            "TerminateSession",
            "KillSession",
        ])
    {
        walk.emit(Kind::Service, "stops a service", call.span);
    }
    if ends(&["GetSecrets", "GetSecret"]) {
        walk.emit(Kind::ReadCredential, "prints stored secrets", call.span);
    }
    let remote = words.iter().any(|word| word.starts_with("-H"));
    if call.name == "ipmitool" && !remote && words.contains(&"power") && ends(&["off", "cycle", "reset"]) {
        walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
        return;
    }
    let down = ends(&["Suspend", "Hibernate"])
        || call.name == "ipmitool"
            && words.contains(&"power")
            && words.iter().any(|word| matches!(*word, "off" | "cycle" | "reset" | "soft"));
    if down {
        walk.emit(Kind::Power, "switches a machine off or restarts it", call.span);
    }
}
