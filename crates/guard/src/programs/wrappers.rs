//! Programs whose business is to run another program: peeled off by table.

use super::opts::{Spec, parse};
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
        "unshare" => (of("SG", &["setuid", "setgid", "root", "wd", "propagation"]), 0),
        "nsenter" => (of("tSG", &["target", "setuid", "setgid"]), 0),
        "strace" | "ltrace" => (of("abeEIoOpPsSuUX", &["trace", "output", "attach", "expr"]), 0),
        "perf" => (of("eo", &["event"]), 1),
        "systemd-run" => (
            of(
                "puMtE",
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
        "systemd-inhibit" => (of("", &["what", "who", "why", "mode"]), 0),
        "taskset" => (of("", &[]), 1),
        "numactl" => (of("NCmiplP", &["membind", "cpunodebind", "interleave", "physcpubind"]), 0),
        "chrt" => (of("TPD", &[]), 1),
        "prlimit" => (of("", &[]), 0),
        "firejail" | "bwrap" => (of("", &["ro-bind", "bind", "dev", "proc", "tmpfs", "chdir", "setenv"]), 0),
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
        "setarch" => (of("", &[]), 1),
        "i386" | "x86_64" => (of("", &[]), 0),
        "cpulimit" => (of("lpe", &["limit", "pid", "exe"]), 0),
        "pv" => return None,
        "wsl" => (of("du", &["distribution", "user", "cd"]), 0),
        "arch" => (of("", &[]), 0),
        "apptainer" | "singularity" => (of("BH", &["bind", "home"]), 2),
        "toolbox" | "distrobox" | "distrobox-enter" => (of("cn", &["container", "name"]), 1),
        "flatpak-spawn" => (of("", &[]), 0),
        "rtkit" | "trickle" => (of("ud", &[]), 0),
        "pexec" | "pssh" | "pdsh" | "clush" | "dsh" | "ansible" => return None,
        _ => return None,
    })
}

fn peel(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some((spec, skip)) = spec(call.name) else { return Flow::none() };
    let parsed = parse(call.args, spec);
    match call.name {
        "pipenv" | "poetry" | "uv" | "rye" | "pdm" | "hatch" | "bundle" | "mise" | "asdf" | "rtx"
        | "volta" | "nvm" | "pixi" | "conda" | "mamba"
            if !matches!(parsed.text(0), "run" | "exec" | "x") =>
        {
            return super::filters::unknown(walk, call);
        }
        "start-stop-daemon" => {
            if let Some(program) = parsed.value("x", "exec").or_else(|| parsed.value("a", "startas")) {
                let mut args = vec![Arg { text: program.into(), span: call.span }];
                args.extend(parsed.rest().map(Arg::shared));
                return super::run(walk, &args, call.stdin, call.span);
            }
        }
        "capsh" | "unshare" | "nsenter" | "chroot" => {}
        _ => {}
    }
    let mut args: Vec<Arg<'_>> = parsed.rest().skip(skip).map(Arg::shared).collect();
    if call.name == "capsh" {
        // `capsh … -- -c code` is a shell.
        args.insert(0, Arg { text: "bash".into(), span: call.span });
    }
    while args.first().is_some_and(|arg| is_assignment(&arg.text) || &*arg.text == "--") {
        args.remove(0);
    }
    if args.is_empty() {
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

/// `NAME=value` as an argument.
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
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
    let shell = call.name == "sudo" && (parsed.has("s", "shell") || parsed.has("i", "login"));
    if args.is_empty() {
        if shell || (call.name == "doas" && parsed.has("s", "")) {
            if call.stdin.present() {
                let shell = [Arg { text: "sh".into(), span: call.span }];
                return super::run(walk, &shell, call.stdin, call.span);
            }
            walk.emit(Kind::Privilege, "opens a shell with more rights", call.span);
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
        args.extend(
            text.split_whitespace()
                .map(|word| Arg { text: word.trim_matches(['\'', '"']).into(), span: call.span }),
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
    while args.first().is_some_and(|arg| is_assignment(&arg.text) || &*arg.text == "-") {
        let arg = args.remove(0);
        if let Some((name, value)) = arg.text.split_once('=') {
            super::environment(walk, name, value, false, arg.span);
            walk.scope.set(name, value);
        }
    }
    if args.is_empty() {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    super::run(walk, &args, call.stdin, call.span)
}

fn xargs(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "aEILnPsdRSJ",
        long: &[
            "arg-file",
            "max-lines",
            "max-args",
            "max-procs",
            "max-chars",
            "delimiter",
            "process-slot-var",
        ],
        stops: true,
    };
    let parsed = parse(call.args, spec);
    let stdin = match parsed.value("a", "arg-file") {
        Some(file) => walk.read_file(file, call.span),
        None => call.stdin.clone(),
    };
    let mut args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    if args.is_empty() {
        return stdin;
    }
    let delimiter = parsed.value("d", "delimiter").and_then(|d| d.chars().next());
    let zero = parsed.has("0", "null");
    let text = if stdin.present() { stdin.seen().to_owned() } else { HOLE.to_string() };
    if !walk.spend(text.len()) {
        return Flow::none();
    }
    let words: Vec<&str> = match delimiter {
        Some(mark) => text.split(mark).map(str::trim).collect(),
        None if zero => text.split('\0').collect(),
        None => text.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect(),
    };
    let origin = walk.last_unknown;
    walk.last_unknown = origin.and(stdin.origin);
    let mark = parsed
        .value("I", "replace")
        .or_else(|| parsed.value("J", ""))
        .or_else(|| parsed.has("i", "replace").then_some("{}"));
    let flow = if let Some(mark) = mark {
        let mut last = Flow::none();
        for line in text.lines().take(32) {
            let filled: Vec<Arg<'_>> = args
                .iter()
                .map(|arg| Arg { text: arg.text.replace(mark, line.trim()).into(), span: arg.span })
                .collect();
            last = super::run(walk, &filled, &Flow::none(), call.span);
        }
        last
    } else {
        args.extend(
            words
                .iter()
                .take(256)
                .filter(|word| !word.is_empty())
                .map(|word| Arg { text: (*word).into(), span: call.span }),
        );
        super::run(walk, &args, &Flow::none(), call.span)
    };
    walk.last_unknown = origin;
    flow
}

/// GNU parallel: the command is shell text, inputs come after `:::` or on standard input.
fn parallel(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "jIaNnSdCPLl",
        long: &[
            "jobs",
            "arg-file",
            "delay",
            "timeout",
            "colsep",
            "sshlogin",
            "joblog",
            "results",
            "max-args",
            "tagstring",
        ],
        stops: true,
    };
    let parsed = parse(call.args, spec);
    let mut command = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut after = false;
    for arg in parsed.rest() {
        if arg.text.starts_with(":::") {
            after = true;
        } else if after {
            inputs.push(arg.text.to_string());
        } else {
            command.push(&*arg.text);
        }
    }
    if inputs.is_empty() {
        let text = if call.stdin.present() { call.stdin.seen() } else { crate::walk::HOLE_STR };
        inputs.extend(text.lines().take(32).map(str::to_owned));
    }
    let command = command.join(" ");
    let origin = walk.last_unknown.and(call.stdin.origin);
    let mut last = Flow::none();
    for input in inputs.iter().take(32) {
        let line = if command.is_empty() {
            input.clone()
        } else if command.contains("{}") {
            command.replace("{}", input)
        } else {
            format!("{command} {input}")
        };
        last = code::shell(walk, &line, origin, &Flow::none(), call.span);
    }
    last
}

fn watch(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "nq", long: &["interval", "equexit"], stops: true });
    joined(walk, call, parsed.rest().map(|arg| &*arg.text).collect())
}

/// Words that the program joins and hands to a shell.
fn joined(walk: &mut Walk<'_>, call: Call<'_>, words: Vec<&str>) -> Flow {
    let origin = walk.last_unknown;
    code::shell(walk, &words.join(" "), origin, call.stdin, call.span)
}

fn script(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed =
        parse(call.args, Spec { short: "cItTBOomE", long: &["command", "log-in", "log-out"], stops: false });
    let origin = walk.last_unknown;
    if let Some(text) = parsed.value("c", "command") {
        return code::shell(walk, text, origin, call.stdin, call.span);
    }
    // BSD: script file command …
    let args: Vec<Arg<'_>> = parsed.rest().skip(1).map(Arg::shared).collect();
    if args.is_empty() && call.stdin.present() {
        let shell = [Arg { text: "sh".into(), span: call.span }];
        return super::run(walk, &shell, call.stdin, call.span);
    }
    super::run(walk, &args, call.stdin, call.span)
}

fn applet(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    super::run(walk, call.args, call.stdin, call.span)
}

fn later(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "fqt", long: &[], stops: false });
    if parsed.has("l", "") || parsed.has("r", "") || parsed.has("d", "") {
        return Flow::none();
    }
    if let Some(file) = parsed.value("f", "") {
        let flow = walk.read_file(file, call.span);
        let shell = [Arg { text: "sh".into(), span: call.span }];
        return super::run(walk, &shell, &flow, call.span);
    }
    if call.stdin.present() {
        let shell = [Arg { text: "sh".into(), span: call.span }];
        super::run(walk, &shell, call.stdin, call.span);
    }
    Flow::none()
}

fn crontab(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "u", long: &[], stops: false });
    if parsed.has("r", "") {
        walk.emit(Kind::Service, "removes every scheduled job", call.span);
    } else if let Some(file) = parsed.operand(0) {
        walk.emit_names(Kind::Write, "installs scheduled jobs", call.span, &[&file.text]);
        walk.emit_startup("installs scheduled jobs", call.span);
    } else if !parsed.has("l", "") && call.stdin.present() {
        walk.emit_startup("installs scheduled jobs", call.span);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

fn flock(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed =
        parse(call.args, Spec { short: "wE", long: &["timeout", "conflict-exit-code", "wait"], stops: true });
    let args: Vec<Arg<'_>> = parsed.rest().skip(1).map(Arg::shared).collect();
    if let [flag, text, ..] = args.as_slice()
        && matches!(&*flag.text, "-c" | "--command")
    {
        let origin = walk.last_unknown;
        return code::shell(walk, &text.text, origin, call.stdin, call.span);
    }
    super::run(walk, &args, call.stdin, call.span)
}

/// tmux and screen: commands for new windows, and keys typed into them.
fn multiplexer(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let keys = call.args.iter().any(|arg| matches!(&*arg.text, "send-keys" | "send" | "stuff"));
    let kill = call.args.iter().any(|arg| matches!(&*arg.text, "kill-server"));
    if kill {
        walk.emit(Kind::Kill, "ends every terminal session", call.span);
        return Flow::none();
    }
    if keys {
        let words: Vec<&str> = call
            .args
            .iter()
            .map(|arg| &*arg.text)
            .skip_while(|text| !matches!(*text, "send-keys" | "send" | "stuff"))
            .skip(1)
            .filter(|text| !matches!(*text, "Enter" | "C-m" | "-l"))
            .collect();
        let words =
            if matches!(words.first(), Some(&"-t")) { words.get(2..).unwrap_or_default() } else { &words };
        return joined(walk, call, words.to_vec());
    }
    let parsed = parse(call.args, Spec { short: "tnscxyFLSfTpeXhl", long: &[], stops: false });
    for arg in parsed.rest() {
        if arg.text.contains(' ') {
            walk.run_text(&arg.text, &Flow::none(), arg.span);
        }
    }
    let skip = usize::from(matches!(
        parsed.text(0),
        "new-session"
            | "new"
            | "new-window"
            | "neww"
            | "split-window"
            | "splitw"
            | "run-shell"
            | "run"
            | "respawn-pane"
    ));
    let args: Vec<Arg<'_>> = parsed.rest().skip(skip).map(Arg::shared).collect();
    if (skip == 1 || call.name == "screen") && !args.is_empty() {
        return super::run(walk, &args, call.stdin, call.span);
    }
    Flow::none()
}

fn debugger(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut next = false;
    for (at, arg) in call.args.iter().enumerate() {
        if std::mem::take(&mut next) {
            let text = arg.text.trim_start();
            let command = text
                .strip_prefix("shell ")
                .or_else(|| text.strip_prefix('!'))
                .or_else(|| text.strip_prefix("platform shell "));
            if let Some(command) = command {
                walk.run_text(command, &Flow::none(), arg.span);
            } else if let Some(python) = text.strip_prefix("python ") {
                super::inline::judge(walk, "python3", python, arg.span);
            } else if let Some(called) = text.strip_prefix("call ").or_else(|| text.strip_prefix("print ")) {
                super::inline::judge(walk, "c", called, arg.span);
            }
        }
        next =
            matches!(&*arg.text, "-ex" | "-iex" | "--eval-command" | "-o" | "-eval-command" | "--one-line");
        if &*arg.text == "--args" {
            return super::run(walk, call.args.get(at + 1..).unwrap_or_default(), call.stdin, call.span);
        }
    }
    Flow::none()
}

fn expect(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "cf", long: &[], stops: true });
    let text = parsed.value("c", "").map_or_else(|| call.stdin.seen().to_owned(), str::to_owned);
    for line in text.split([';', '\n']) {
        let line = line.trim();
        if let Some(command) = ["spawn ", "exec ", "system "].iter().find_map(|verb| line.strip_prefix(verb))
        {
            walk.run_text(command, &Flow::none(), call.span);
        }
    }
    Flow::none()
}

/// `ssh host command`: the command runs in a shell over there, and is judged as if here.
fn remote(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec { short: "bcDEeFIiJLlmOopQRSWwBp", long: &["ssh"], stops: true };
    if call.name == "sshpass" {
        let parsed = parse(call.args, Spec { short: "pfd", long: &[], stops: true });
        let args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
        return super::run(walk, &args, call.stdin, call.span);
    }
    let parsed = parse(call.args, spec);
    for (option, span) in parsed.values("o", "") {
        let (key, value) = option.split_once(['=', ' ']).unwrap_or((option, ""));
        if matches!(
            &*key.to_ascii_lowercase(),
            "proxycommand" | "localcommand" | "knownhostscommand" | "remotecommand"
        ) {
            walk.emit_names(Kind::ToolProgram, "makes ssh run a program", span, &[value]);
            walk.run_text(value, &Flow::none(), span);
        }
    }
    if parsed.value("R", "").is_some() {
        walk.emit(Kind::ReverseShell, "opens a port on another machine that leads here", call.span);
    }
    let rest: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    // Options may also stand between the host and the command.
    let after = parse(rest.get(1..).unwrap_or_default(), spec);
    let words: Vec<&str> = after.rest().map(|arg| &*arg.text).collect();
    let origin = walk.last_unknown;
    let cwd = std::mem::replace(&mut walk.scope.cwd, HOLE.to_string());
    if words.is_empty() {
        if call.stdin.present() && call.stdin.exact().is_some() {
            walk.run_text(&call.stdin.seen().to_owned(), &Flow::none(), call.span);
        } else if call.stdin.present() {
            code::fed(walk, call.stdin, call.span);
        }
    } else {
        code::shell(walk, &words.join(" "), origin, call.stdin, call.span);
    }
    walk.scope.cwd = cwd;
    if call.stdin.origin.credential {
        walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
    }
    Flow::unknown(Origin { network: true, ..Origin::default() })
}

/// `make -f -` and `--eval`: recipes given in the text.
fn make(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "fCIjloW", long: &["file", "makefile", "eval", "directory", "jobs"], stops: false },
    );
    let mut recipes: Vec<String> = parsed.values("E", "eval").map(|(text, _)| text.to_owned()).collect();
    for (file, span) in parsed.values("f", "file").chain(parsed.values("", "makefile")) {
        if file == "-" || file == "/dev/stdin" {
            recipes.push(call.stdin.seen().to_owned());
            if call.stdin.origin.network {
                code::fed(walk, call.stdin, span);
            }
        } else if let Some(flow) = walk.scope.files.get(&walk.path(file)) {
            recipes.push(flow.seen().to_owned());
        }
    }
    for text in recipes {
        for line in text.lines() {
            let command = line
                .strip_prefix('\t')
                .or_else(|| line.split_once(';').map(|(_, rest)| rest))
                .map(|c| c.trim_start_matches(['@', '-', '+', ' ']));
            if let Some(command) = command {
                walk.run_text(&command.replace("$$", "$"), &Flow::none(), call.span);
            }
            if let Some((_, rest)) = line.split_once("$(shell ") {
                walk.run_text(rest.trim_end_matches(')'), &Flow::none(), call.span);
            }
        }
    }
    for arg in parsed.rest() {
        if let Some((_, value)) = arg.text.split_once('=')
            && let Some((_, inner)) = value.split_once("$(shell ")
        {
            walk.run_text(inner.trim_end_matches(')'), &Flow::none(), arg.span);
        }
        if let Some(shell) = arg.text.strip_prefix("SHELL=") {
            walk.run_text(shell, &Flow::none(), arg.span);
        }
    }
    Flow::none()
}

fn first_operand(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "", long: &[], stops: true });
    let args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    if parsed.has("s", "") {
        return joined(walk, call, args.iter().map(|arg| &*arg.text).collect());
    }
    super::run(walk, &args, &Flow::none(), call.span)
}

fn hyperfine(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec {
            short: "wmMrpsuncPDL",
            long: &["warmup", "min-runs", "max-runs", "runs", "shell", "export-json", "export-markdown"],
            stops: false,
        },
    );
    for (text, span) in
        parsed.values("p", "prepare").chain(parsed.values("c", "cleanup")).chain(parsed.values("s", "setup"))
    {
        walk.run_text(text, &Flow::none(), span);
    }
    for arg in parsed.rest() {
        walk.run_text(&arg.text, &Flow::none(), arg.span);
    }
    Flow::none()
}
