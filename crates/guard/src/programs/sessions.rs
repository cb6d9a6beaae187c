//! Terminals, debuggers and other machines: places where a command runs out of sight.

use super::batch::joined;
use super::code;
use super::opts::{Spec, parse};
use crate::effect::Kind;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// tmux and screen: commands for new windows, and keys typed into them.
pub(super) fn multiplexer(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call
        .args
        .iter()
        .any(|arg| matches!(&*arg.text, "-ls" | "-list" | "ls" | "list-sessions" | "list-panes"))
    {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    if call.args.iter().any(|arg| &*arg.text == "set-hook")
        && let Some((_, command)) = call.args.last().and_then(|last| last.text.split_once("run-shell "))
    {
        walk.run_text(command.trim_matches(['"', '\'']), &Flow::none(), call.span);
    }
    let keys = call.args.iter().any(|arg| matches!(&*arg.text, "send-keys" | "send" | "stuff"));
    let kill = call.args.iter().any(|arg| matches!(&*arg.text, "kill-server"))
        || call.name == "screen"
            && call.args.iter().any(|arg| &*arg.text == "-X")
            && call.args.iter().any(|arg| matches!(&*arg.text, "quit" | "kill"));
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
        // `stuff` writes the key that ends a line as `\n` or `^M`.
        let typed: Vec<String> = words
            .iter()
            .map(|word| {
                ["\\n", "\\r", "^M", "\\015", "\\012"]
                    .iter()
                    .fold((*word).to_owned(), |word, key| word.replace(key, "\n"))
            })
            .collect();
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        return joined(walk, call, &typed);
    }
    let parsed = parse(
        call.args,
        Spec {
            short: if call.name == "screen" { "SctTeshpL" } else { "tnscxyFLSfTpeXhl" },
            long: &[],
            stops: call.name == "screen",
        },
    );
    let shows = ["display", "rename", "set", "list", "has", "select", "show", "title"]
        .iter()
        .any(|verb| parsed.text(0).starts_with(verb));
    for arg in parsed.rest().filter(|_| !shows) {
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

pub(super) fn debugger(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut next = false;
    for (at, arg) in call.args.iter().enumerate() {
        let glued = ["--eval-command=", "-eval-command=", "--ex=", "-ex="]
            .iter()
            .find_map(|option| arg.text.strip_prefix(option));
        if std::mem::take(&mut next) || glued.is_some() {
            let text = glued.unwrap_or(&arg.text).trim_start();
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
        if matches!(&*arg.text, "-p" | "--pid" | "attach")
            && !call.args.get(at + 1).is_some_and(|pid| pid.text.contains(crate::walk::OWN_PID))
        {
            let says =
                |words: &[&str]| call.args.iter().any(|arg| words.iter().any(|word| arg.text.contains(word)));
            if says(&["call", "kill"]) {
                walk.emit(Kind::Kill, "takes hold of a running process", call.span);
            } else if says(&["dump ", "gcore", "generate-core-file", "process save-core"]) {
                walk.emit(Kind::ReadCredential, "copies the memory of a running process", call.span);
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

pub(super) fn expect(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "cf", long: &[], stops: true });
    let text = parsed.value("c", "").map_or_else(|| call.stdin.seen().to_owned(), str::to_owned);
    // A script is close enough to shell text once its own verbs step aside.
    let mut script = text;
    script = script.replace("send \"", "eval \"").replace("\\r\"", "\"");
    for verb in ["exp_spawn ", "spawn ", "exec ", "system "] {
        script = script.replace(verb, "command ");
    }
    walk.run_text(&script, &Flow::none(), call.span);
    Flow::none()
}

/// `ssh host command`: the command runs in a shell over there, and is judged as if here.
pub(super) fn remote(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: if call.name == "autossh" { "bcDEeFIiJLlMmOopQRSWwBp" } else { "bcDEeFIiJLlmOopQRSWwBp" },
        long: &["ssh"],
        stops: true,
    };
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
    let rest: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    let host = rest.first().map_or("", |arg| arg.text.rsplit('@').next().unwrap_or_default());
    let here = matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0");
    // Options may also stand between the host and the command.
    let after = parse(rest.get(1..).unwrap_or_default(), spec);
    if parsed.value("R", "").is_some() || after.value("R", "").is_some() {
        walk.emit(Kind::ReverseShell, "opens a port on another machine that leads here", call.span);
    }
    let words: Vec<&str> = after.rest().map(|arg| &*arg.text).collect();
    let origin = walk.last_unknown;
    let before = walk.effects.len();
    let cwd = std::mem::replace(&mut walk.scope.cwd, HOLE.to_string());
    if words.is_empty() {
        if call.stdin.present() && call.stdin.exact().is_some() {
            walk.run_text(call.stdin.seen(), &Flow::none(), call.span);
        } else if call.stdin.present() && (!call.stdin.origin.file || call.stdin.origin.network) {
            code::fed(walk, call.stdin, call.span);
        }
    } else {
        code::shell(walk, &words.join(" "), origin, call.stdin, call.span);
        super::batch::as_written(walk, call, &words);
    }
    walk.scope.cwd = cwd;
    for effect in walk.effects.iter_mut().skip(before) {
        // Another machine going down is that machine's matter, and may be asked about.
        if effect.kind == Kind::Power && !here {
            effect.how.grave = false;
        }
    }
    if call.stdin.origin.credential {
        walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
    } else if call.stdin.origin.whole && !here {
        walk.emit(Kind::SendOut, "sends a whole folder or database to another machine", call.span);
    }
    Flow::unknown(Origin { network: true, ..Origin::default() })
}
