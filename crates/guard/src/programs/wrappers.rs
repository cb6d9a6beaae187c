//! Programs whose business is to run another program: peeled off by table.

use super::batch::{crontab, first_operand, flock, hyperfine, later, make, script, watch, xargs};
use super::each::{parallel, rush};
use super::opts::{Spec, parse};
use super::sessions::{debugger, expect, multiplexer, remote};
use super::{Handler, code};
use crate::effect::Kind;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// The wrapper with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "sudo" | "doas" | "pkexec" | "run0" | "sudoedit" | "gosu" | "su-exec" | "calife" | "please" => {
            elevate
        }
        "su" | "runuser" => switch_user,
        "env" => env,
        "xargs" | "gxargs" => xargs,
        "parallel" => parallel,
        "rush" => rush,
        "watch" => watch,
        "script" => script,
        "busybox" | "toybox" => applet,
        "at" | "batch" => later,
        "crontab" => crontab,
        "flock" => flock,
        "tmux" | "screen" | "zellij" | "byobu" => multiplexer,
        "gdb" | "lldb" => debugger,
        "expect" => expect,
        "ssh" | "mosh" | "autossh" | "sshpass" | "dbclient" => remote,
        "make" | "gmake" | "bmake" => make,
        "entr" => first_operand,
        "hyperfine" => hyperfine,
        "sg" | "nix-shell" | "nodemon" | "watchexec" | "watchman" | "devbox" | "tcpdump" | "cmake"
        | "gcc" | "cc" | "g++" | "clang" | "tcc" | "clang++" | "c++" | "rustc" | "javac" | "zig" | "fpc"
        | "gfortran" | "ldc2" | "dmd" | "v" | "mvn" | "nmap" | "adb" | "pssh" | "parallel-ssh" | "pdsh"
        | "clush" | "dsh" | "pexec" | "ipmitool" | "dbus-send" | "gdbus" | "busctl" | "xhost" | "rename"
        | "envdir" | "proot" => super::odd::run,
        // The loader, called as a program.
        _ if name.starts_with("ld-linux") || name.starts_with("ld-musl") => first_operand,
        _ if spec(name).is_some() => peel,
        _ => return None,
    })
}

/// Options that take a value, and how many words stand before the wrapped command.
fn spec(name: &str) -> Option<(Spec, usize)> {
    const fn of(short: &'static str, long: &'static [&'static str]) -> Spec {
        Spec { short, long, stops: true }
    }
    Some(match name {
        "nice" => (of("n", &["adjustment"]), 0),
        "ionice" => (of("cnpPu", &["class", "classdata"]), 0),
        "nohup" | "setsid" | "fakeroot" | "dbus-run-session" | "dbus-launch" | "catchsegv" | "linux32"
        | "linux64" | "caffeinate" | "unbuffer" | "rlwrap" | "chronic" | "softlimit" | "eatmydata"
        | "winpty" | "wine" | "errno" | "lwptest" | "ts" | "torsocks" | "torify" | "proxychains"
        | "proxychains4" | "aoss" | "padsp" | "vglrun" | "optirun" | "primusrun" | "mangohud"
        | "gamemoderun" | "scl" | "valgrind" | "qemu-x86_64" | "dumb-init" | "tini" | "exec" => {
            (of("tw", &["tool"]), 0)
        }
        "timeout" | "gtimeout" => (of("ks", &["kill-after", "signal"]), 1),
        "time" | "gtime" => (of("fo", &["format", "output"]), 0),
        "stdbuf" => (of("ioe", &["input", "output", "error"]), 0),
        "chroot" => (of("", &["userspec", "groups"]), 1),
        "choom" => (of("np", &["adjust", "pid"]), 0),
        "cgexec" => (of("g", &[]), 0),
        "dtach" | "abduco" => (of("Er", &[]), 1),
        "nocache" | "tsp" | "envchain" | "setuidgid" | "sem" | "systemd-inhibit" | "systemd-cat"
        | "s6-setuidgid" | "chpst" | "rr" | "heaptrack" | "ifne" | "ccache" | "distcc" | "sccache"
        | "bear" | "scan-build" | "kcov" | "uftrace" | "cage" | "gamescope" | "setlock" | "lckdo"
        | "run-one" | "run-this-one" | "keep-one-running" | "annotate-output" | "timelimit" => {
            (of("ugpUoOeEtTfnd", &["what", "who", "why", "mode", "identifier", "priority"]), 0)
        }
        "unshare" => (of("SG", &["setuid", "setgid", "root", "wd", "propagation"]), 0),
        "nsenter" => (of("tSG", &["target", "setuid", "setgid"]), 0),
        "strace" => (of("abeEIoOpPsSuUX", &["trace", "output", "attach", "expr"]), 0),
        "ltrace" => (of("aADeFlnopsux", &["output", "library"]), 0),
        "perf" => (of("eo", &["event"]), 1),
        "systemd-run" => (
            of(
                "puME",
                &[
                    "property",
                    "unit",
                    "description",
                    "slice",
                    "uid",
                    "gid",
                    "setenv",
                    "on-active",
                    "on-calendar",
                    "machine",
                    "working-directory",
                ],
            ),
            0,
        ),
        "taskset" => (of("", &[]), 1),
        "numactl" => (of("NCmiplP", &["membind", "cpunodebind", "interleave", "physcpubind"]), 0),
        "chrt" => (of("TPD", &[]), 1),
        "prlimit" => (of("", &[]), 0),
        "firejail" | "bwrap" => (of("", &[]), 0),
        "setpriv" => (of("", &["reuid", "regid", "groups", "securebits"]), 0),
        "capsh" => (of("", &[]), 0),
        "run-parts" => (of("a", &["arg"]), 0),
        "direnv" => (of("", &[]), 2),
        "dotenv" | "dotenvx" => (of("f", &["file"]), 0),
        "faketime" => (of("f", &[]), 1),
        "start-stop-daemon" => (of("xpudna", &["exec", "pidfile", "chuid", "chdir", "name", "startas"]), 0),
        "daemonize" | "daemon" => (of("acelopu", &[]), 0),
        "xvfb-run" => (of("aenfs", &["server-args", "server-num"]), 0),
        "aws-vault" => (of("", &[]), 2),
        "op" | "doppler" | "chamber" | "infisical" => (of("", &["env-file"]), 1),
        "pipenv" | "poetry" | "uv" | "rye" | "pdm" | "hatch" | "bundle" | "mise" | "asdf" | "rtx"
        | "volta" | "nvm" | "pixi" | "conda" | "mamba" => {
            (of("npC", &["python", "project", "with", "directory", "name"]), 1)
        }
        "setarch" => (of("p", &["personality"]), 0),
        "i386" | "x86_64" => (of("", &[]), 0),
        "cpulimit" => (of("lpe", &["limit", "pid", "exe"]), 0),
        "pv" => return None,
        "wsl" => (of("du", &["distribution", "user", "cd"]), 0),
        "arch" => (of("", &[]), 0),
        "apptainer" | "singularity" => (of("BH", &["bind", "home"]), 2),
        "toolbox" | "distrobox" | "distrobox-enter" => (of("cn", &["container", "name"]), 1),
        "flatpak-spawn" => (of("", &[]), 0),
        "rtkit" | "trickle" => (of("ud", &[]), 0),
        _ => return None,
    })
}

fn peel(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some((spec, skip)) = spec(call.name) else { return Flow::none() };
    let parsed = parse(call.args, spec);
    noted(walk, call, &parsed);
    match call.name {
        "direnv" | "op" | "doppler" | "chamber" | "infisical"
            if !matches!(parsed.text(0), "exec" | "run") =>
        {
            if call.name == "op"
                && matches!((parsed.text(0), parsed.text(1)), ("item" | "document", "get") | ("read", _))
            {
                walk.emit(Kind::ReadCredential, "prints stored secrets", call.span);
            } else if super::signs::look(walk, call) {
                return Flow::unknown(Origin { credential: true, ..Origin::default() });
            }
            return super::filters::unknown(walk, call);
        }
        "run-parts" => {
            walk.emit_names(Kind::RunUnseen, "runs every program in a folder", call.span, &[parsed.text(0)]);
            return Flow::none();
        }
        "wsl" if parsed.has("", "unregister") => {
            walk.emit(Kind::Container, "removes a Linux system", call.span);
            return Flow::none();
        }
        "start-stop-daemon" if parsed.has("K", "stop") => {
            walk.emit(Kind::Service, "stops a service", call.span);
            return Flow::none();
        }
        "pipenv" | "poetry" | "uv" | "rye" | "pdm" | "hatch" | "bundle" | "mise" | "asdf" | "rtx"
        | "volta" | "nvm" | "pixi" | "conda" | "mamba"
            if !matches!(parsed.text(0), "run" | "exec" | "x") =>
        {
            if parsed.text(0) == "publish" && !super::verbs::only_shows(call.args) {
                walk.emit(Kind::Package, "publishes a package", call.span);
            }
            let environment = matches!(
                (parsed.text(0), parsed.text(1)),
                ("env", "remove" | "rm") | ("remove" | "uninstall" | "rm", _)
            );
            if matches!(call.name, "conda" | "mamba")
                && environment
                && (parsed.text(0) == "env" || call.args.iter().any(|arg| &*arg.text == "--all"))
            {
                walk.emit(Kind::Package, "removes an environment with all its packages", call.span);
            }
            let args =
                if parsed.text(0) == "pip" { call.args.get(1..).unwrap_or_default() } else { call.args };
            if matches!(call.name, "uv" | "poetry" | "pdm" | "rye" | "pipenv" | "pixi") {
                return super::named(walk, "pip", args, call.stdin, call.span);
            }
            return super::filters::unknown(walk, call);
        }
        "start-stop-daemon" => {
            if let Some(program) = parsed.value("x", "exec").or_else(|| parsed.value("a", "startas")) {
                let mut args = vec![Arg { text: program.into(), span: call.span }];
                args.extend(parsed.rest().map(Arg::shared));
                return super::run(walk, &args, call.stdin, call.span);
            }
        }
        _ => {}
    }
    let skip = skip + usize::from(call.name == "setarch" && names_machine(parsed.text(0)));
    let mut args: Vec<Arg<'_>> = parsed.rest().skip(skip).map(Arg::shared).collect();
    if call.name == "bwrap" {
        args =
            call.args.get(after_bindings(call.args)..).unwrap_or_default().iter().map(Arg::shared).collect();
    }
    // `conda run -n base cmd`: options again after the verb.
    if skip > 0
        && args.first().is_some_and(|arg| arg.text.starts_with('-') && arg.text.len() > 1)
        && call.name != "timeout"
    {
        let again = parse(&args, spec);
        let rest: Vec<Arg<'_>> =
            again.rest().map(|arg| Arg { text: arg.text.to_string().into(), span: arg.span }).collect();
        args = rest;
    }
    if call.name == "capsh" {
        args.insert(0, Arg { text: "bash".into(), span: call.span });
    }
    while args.first().is_some_and(|arg| is_assignment(&arg.text) || &*arg.text == "--") {
        args.remove(0);
    }
    if args.is_empty() {
        if call.name == "nsenter" && !super::verbs::only_shows(call.args) {
            walk.emit(Kind::Privilege, "opens a shell inside another process's view", call.span);
        }
        if matches!(call.name, "chroot" | "unshare" | "nsenter") && walk.elevated {
            return Flow::none();
        }
        return Flow::unknown(call.stdin.origin);
    }
    let cwd = walk.scope.cwd.clone();
    if call.name == "chroot" {
        // Inside another root the usual paths mean other files, unless that root is this one.
        if parsed.text(0) != "/" {
            walk.scope.cwd = walk.path(parsed.text(0));
        }
    }
    let flow = super::run(walk, &args, call.stdin, call.span);
    walk.scope.cwd = cwd;
    flow
}

/// Whether a word is a kind of machine, which `setarch` may be told first.
fn names_machine(word: &str) -> bool {
    word.contains(HOLE)
        || [
            "x86", "i386", "i486", "i586", "i686", "linux", "arm", "aarch", "ppc", "mips", "s390", "riscv",
            "uname",
        ]
        .iter()
        .any(|start| word.starts_with(start))
}

/// What some wrappers do besides running a program.
fn noted(walk: &mut Walk<'_>, call: Call<'_>, parsed: &super::opts::Parsed<'_>) {
    written_output(walk, call, parsed);
    match call.name {
        "nsenter" if parsed.value("t", "target") == Some("1") => {
            walk.emit(Kind::Privilege, "runs in the view of the first process", call.span);
        }
        "chroot"
            if matches!(parsed.text(0), "/host" | "/mnt/host" | "/hostfs" | "/rootfs" | "/proc/1/root") =>
        {
            walk.emit(Kind::Privilege, "steps out of a container", call.span);
        }
        "systemd-run" if parsed.flags.iter().any(|flag| flag.long && flag.name.starts_with("on-")) => {
            walk.emit_startup("runs something later", call.span);
        }
        _ => {}
    }
}

/// Where the command of `bwrap` starts: most of its options take one word, bindings take two.
fn after_bindings(args: &[Arg<'_>]) -> usize {
    let mut at = 0;
    while let Some(option) = args.get(at).and_then(|arg| arg.text.strip_prefix("--")) {
        at += match option {
            "" => return at + 1,
            "setenv" | "symlink" | "file" | "bind-data" | "ro-bind-data" | "chmod" | "bind-fd" => 3,
            _ if option.contains("bind") => 3,
            "clearenv" | "new-session" | "die-with-parent" | "as-pid-1" | "disable-userns" => 1,
            _ if option.contains("share") => 1,
            _ => 2,
        };
    }
    at
}

/// `time -o file`, `strace -o file`: a file is written, or a program started.
fn written_output(walk: &mut Walk<'_>, call: Call<'_>, parsed: &super::opts::Parsed<'_>) {
    if !matches!(call.name, "time" | "gtime" | "strace" | "ltrace") {
        return;
    }
    for (file, span) in parsed.values("o", "output") {
        match file.strip_prefix(['|', '!']) {
            Some(command) => drop(walk.run_text(command, &Flow::none(), span)),
            None => walk.write_file(file, Flow::unknown(Origin::default()), false, "writes a file", span),
        }
    }
}

/// `NAME=value` as an argument.
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && (name.starts_with("BASH_FUNC_")
                || name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    })
}

const SUDO: Spec = Spec {
    short: "ughpCcrtTDRU",
    long: &[
        "user",
        "group",
        "host",
        "prompt",
        "close-from",
        "chdir",
        "role",
        "type",
        "chroot",
        "other-user",
        "command-timeout",
    ],
    stops: true,
};

fn elevate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, SUDO);
    if call.name == "sudoedit" || parsed.has("e", "edit") {
        let args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
        for arg in &args {
            walk.write_file(
                &arg.text,
                Flow::unknown(Origin::default()),
                false,
                "edits a file with more rights",
                arg.span,
            );
        }
        return Flow::none();
    }
    if call.name == "sudo" && parsed.has("S", "stdin") && call.stdin.present() {
        walk.emit(Kind::SudoPassword, "hands sudo a password on standard input", call.span);
    }
    if call.name == "sudo" && parsed.has("A", "askpass") {
        walk.emit(Kind::SudoPassword, "lets a helper hand sudo a password", call.span);
    }
    let mut args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    while args.first().is_some_and(|arg| is_assignment(&arg.text)) {
        let arg = args.remove(0);
        if let Some((name, value)) = arg.text.split_once('=') {
            super::environment(walk, name, value, false, arg.span);
        }
    }
    // The shortest that sudo takes for `--shell` and `--login`.
    let shortest = |flag: &super::opts::Flag<'_>| flag.long && matches!(flag.name, "sh" | "lo");
    let shell = call.name == "sudo"
        && (parsed.has("s", "shell") || parsed.has("i", "login") || parsed.flags.iter().any(shortest));
    if args.is_empty() {
        if shell || (call.name == "doas" && parsed.has("s", "")) {
            walk.emit(Kind::Privilege, "opens a shell with more rights", call.span);
            if call.stdin.present() {
                let shell = [Arg { text: "sh".into(), span: call.span }];
                return super::run(walk, &shell, call.stdin, call.span);
            }
        }
        return Flow::none();
    }
    if shell {
        walk.emit(Kind::Privilege, "runs in a shell with more rights", call.span);
    }
    // With -S the password is taken off standard input first; what is left is not the program's.
    let saved = std::mem::replace(&mut walk.elevated, true);
    let flow = super::run(walk, &args, call.stdin, call.span);
    walk.elevated = saved;
    flow
}

fn switch_user(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec {
            short: "cugGsw",
            long: &["command", "user", "group", "shell", "session-command"],
            stops: false,
        },
    );
    let code_text = parsed.value("c", "command").or_else(|| parsed.value("", "session-command"));
    if let Some(text) = code_text {
        let origin = walk.last_unknown;
        return code::shell(walk, text, origin, call.stdin, call.span);
    }
    if call.name == "runuser" && parsed.value("u", "user").is_some() {
        let args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
        return super::run(walk, &args, call.stdin, call.span);
    }
    if call.stdin.present() {
        let shell = [Arg { text: "sh".into(), span: call.span }];
        return super::run(walk, &shell, call.stdin, call.span);
    }
    if parsed.has("", "help") || parsed.has("", "version") || parsed.has("V", "") {
        return Flow::none();
    }
    let root = parsed.rest().all(|arg| matches!(&*arg.text, "-" | "root"));
    if root {
        walk.emit(Kind::Privilege, "opens a shell with more rights", call.span);
    }
    Flow::none()
}

fn env(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed =
        parse(call.args, Spec { short: "uCS", long: &["unset", "chdir", "split-string"], stops: true });
    let mut args: Vec<Arg<'_>> = Vec::new();
    if let Some(text) = parsed.value("S", "split-string") {
        // `\\_` is a blank there.
        let text = &text.replace("\\_", " ");
        args.extend(
            text.split_whitespace()
                .map(|word| Arg { text: word.trim_matches(['\'', '"']).to_owned().into(), span: call.span }),
        );
        if text.contains(['\'', '"', '\\']) {
            let mut line = text.to_owned();
            for arg in parsed.rest() {
                line.push(' ');
                line.push_str(&arg.text);
            }
            return walk.run_text(&line, call.stdin, call.span);
        }
    }
    args.extend(parsed.rest().map(Arg::shared));
    if !walk.spend(args.len()) {
        return Flow::none();
    }
    if parsed.value("S", "split-string").is_some()
        && args.first().is_some_and(|arg| arg.text.starts_with('-'))
    {
        // The text may begin with options of `env` itself.
        return env(walk, Call { args: &args, ..call });
    }
    while args.first().is_some_and(|arg| is_assignment(&arg.text) || &*arg.text == "-") {
        let arg = args.remove(0);
        if let Some((name, value)) = arg.text.split_once('=') {
            super::environment(walk, name, value, false, arg.span);
            walk.scope.set(name, value);
        }
    }
    if args.is_empty() {
        return Flow::unknown(Origin { local: true, whole: true, ..Origin::default() });
    }
    let moved = parsed.value("C", "chdir").map(|folder| walk.path(folder));
    let before = moved.map(|folder| std::mem::replace(&mut walk.scope.cwd, folder));
    let flow = super::run(walk, &args, call.stdin, call.span);
    if let Some(cwd) = before {
        walk.scope.cwd = cwd;
    }
    flow
}

fn applet(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    super::run(walk, call.args, call.stdin, call.span)
}
