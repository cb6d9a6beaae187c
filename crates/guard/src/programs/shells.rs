//! Shells: `sh -c`, scripts, and code on standard input.

use std::rc::Rc;

use super::opts::{Spec, parse};
use super::{Handler, code, inline};
use crate::effect::{Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Walk};

/// The shell with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "yash" | "csh"
        | "tcsh" | "pdksh" | "oksh" | "hush" | "elvish" | "osh" | "xonsh" | "nu" | "ion" => Some(shell),
        _ => None,
    }
}

const SPEC: Spec =
    Spec { short: "cOo", long: &["rcfile", "init-file", "command", "init-command"], stops: true };

fn shell(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, SPEC);
    for (file, span) in parsed.values("", "rcfile").chain(parsed.values("", "init-file")) {
        script(walk, file, &[], &Flow::none(), span);
    }
    for (text, span) in parsed.values("", "init-command").chain(parsed.values("C", "")) {
        walk.run_text(text, &Flow::none(), span);
    }
    if walk.scope.knows("BASH_ENV") && call.stdin.present() {
        // It may be told to read what it is fed first.
        let first = walk.scope.value("BASH_ENV", "").unwrap_or_default();
        if is_stdin(&first) {
            from_stdin(walk, call);
        }
    }
    if let Some(text) = code_option(call.args) {
        return run_code(walk, call, text);
    }
    if parsed.has("n", "") || parsed.has("", "version") || parsed.has("", "help") {
        return Flow::none();
    }
    let operands: Vec<Arg<'_>> =
        parsed.rest().filter(|arg| !arg.text.starts_with('+')).map(Arg::shared).collect();
    match operands.split_first() {
        Some((file, rest)) if !parsed.has("s", "") && &*file.text != "-" => {
            script(walk, &file.text, rest, call.stdin, call.span)
        }
        _ => from_stdin(walk, call),
    }
}

/// Finds the code of `-c`: it is the first operand after all options, wherever `c` stood in them.
fn code_option<'a>(args: &'a [Arg<'a>]) -> Option<usize> {
    let mut asked = false;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = &*arg.text;
        if let Some(letters) = text.strip_prefix('-')
            && !letters.is_empty()
            && !letters.starts_with('-')
        {
            asked |= letters.contains('c');
            at += 1 + usize::from(letters.ends_with(['o', 'O']) && !letters.contains('c'));
        } else if text == "--command" {
            asked = true;
            at += 1;
        } else if text.starts_with("--") || (text.starts_with('+') && text.len() > 1) {
            at += if matches!(text, "--rcfile" | "--init-file") { 2 } else { 1 };
        } else {
            break;
        }
    }
    (asked && at < args.len()).then_some(at)
}

fn run_code(walk: &mut Walk<'_>, call: Call<'_>, at: usize) -> Flow {
    let Some(text) = call.args.get(at) else { return Flow::none() };
    // The word after the code is `$0`, the rest are `$1` and on.
    let arguments: Vec<Rc<str>> = call.args.iter().skip(at + 2).map(|arg| Rc::from(&*arg.text)).collect();
    let saved = std::mem::replace(&mut walk.scope.arguments, arguments);
    let name = call.args.get(at + 1).map(|arg| arg.text.to_string());
    let old_name = walk.scope.value("0", "").map(std::borrow::Cow::into_owned);
    if let Some(name) = name {
        walk.scope.set("0", &name);
    }
    let origin = walk.last_unknown;
    // `xargs sh -c 'kill $0'`: what is unknown among the arguments is so in the code.
    let given = std::mem::replace(&mut walk.given, origin);
    let flow = code::shell(walk, &text.text, origin, call.stdin, text.span);
    walk.given = given;
    walk.scope.arguments = saved;
    if let Some(old) = old_name {
        walk.scope.set("0", &old);
    }
    flow
}

/// A shell that reads its commands from standard input.
fn from_stdin(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if !call.stdin.present() {
        if call.span == Span::default() {
            return Flow::none();
        }
        if walk.elevated {
            walk.emit(Kind::Privilege, "opens a shell with more rights", call.span);
        }
        return Flow::none();
    }
    let text = call.stdin.seen().to_owned();
    if call.stdin.exact().is_none() || call.stdin.origin.network {
        code::fed(walk, call.stdin, call.span);
        if text.chars().all(|c| c == HOLE || c.is_whitespace()) {
            return Flow::unknown(call.stdin.origin);
        }
    }
    if call.stdin.origin.decoded && call.stdin.exact().is_some() {
        code::unseen(walk, call.stdin.origin, call.span);
    }
    walk.run_text(&text, &Flow::none(), call.span)
}

/// Whether a file is what the program is fed.
pub(crate) fn is_stdin(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
        || path.starts_with("/proc/") && path.ends_with("/fd/0")
}

/// Runs a script file: its content is followed when the text wrote it itself.
pub(crate) fn script(walk: &mut Walk<'_>, path: &str, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    if is_stdin(path) {
        let call = Call { name: "sh", args: &[], span, stdin };
        return from_stdin(walk, call);
    }
    if path.chars().all(|c| c == HOLE) && !path.is_empty() {
        let origin = walk.last_unknown;
        code::unseen(walk, origin, span);
        return Flow::none();
    }
    let normal = walk.path(path);
    if let Some(flow) = walk.scope.files.get(&normal).cloned() {
        return own_script(walk, path, &flow, args, stdin, span);
    }
    if normal.starts_with("/etc/init.d/") || normal.starts_with("/etc/rc.d/") {
        return super::named(walk, "service", args, stdin, span);
    }
    let target = walk.target(path);
    if !everyday_script(path) && walk.scope.cloned.iter().any(|folder| crate::place::within(&normal, folder))
    {
        walk.emit(Kind::RunDownloaded, "runs a script that was just fetched", span);
    }
    if target.place == Place::Sink && normal.starts_with("/dev/tcp/") {
        walk.emit(Kind::RunDownloaded, "runs text from the network", span);
    }
    Flow::none()
}

/// Runs a script the text wrote itself, under its own name. One that starts itself again in the
/// background never ends.
fn own_script(
    walk: &mut Walk<'_>,
    path: &str,
    flow: &Flow,
    args: &[Arg<'_>],
    stdin: &Flow,
    span: Span,
) -> Flow {
    let name = format!("script {}\n{}", walk.path(path), flow.seen());
    if walk.running(&name) {
        if walk.background {
            walk.emit_grave(Kind::ForkBomb, "a script that starts itself again and again", span);
        }
        return Flow::none();
    }
    let old = walk.scope.value("0", "").map(std::borrow::Cow::into_owned);
    walk.scope.set("0", path);
    walk.enter(name);
    let out = run_content(walk, flow, args, stdin, span);
    walk.leave();
    if let Some(old) = old {
        walk.scope.set("0", &old);
    }
    out
}

/// Runs the content of a file as its first line asks.
fn run_content(walk: &mut Walk<'_>, flow: &Flow, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    let text = flow.seen().to_owned();
    if flow.exact().is_none() && (flow.origin.network || flow.origin.decoded || !flow.origin.file) {
        code::unseen(walk, flow.origin, span);
        if text.chars().all(|c| c == HOLE || c.is_whitespace()) {
            return Flow::unknown(flow.origin);
        }
    }
    if flow.origin.decoded && flow.exact().is_some() {
        code::unseen(walk, flow.origin, span);
    }
    if flow.origin.file && flow.origin.settings && !flow.origin.network && text.chars().all(|c| c == HOLE) {
        // Made here of files that are here.
        return Flow::unknown(flow.origin);
    }
    if let Some(first) = text.strip_prefix("#!").and_then(|rest| rest.lines().next()) {
        let interpreter = first
            .split_whitespace()
            .map(super::base_name)
            .find(|word| !matches!(*word, "env" | "-S"))
            .unwrap_or_default();
        if handler(interpreter).is_none() {
            inline::judge(walk, interpreter, &text, span);
            return Flow::none();
        }
    }
    let arguments = args.iter().map(|arg| Rc::from(&*arg.text)).collect();
    let saved = std::mem::replace(&mut walk.scope.arguments, arguments);
    let out = walk.run_text(&text, stdin, span);
    walk.scope.arguments = saved;
    out
}

/// A program given by path whose file the text wrote, fetched or made executable itself.
pub(crate) fn known_script(
    walk: &mut Walk<'_>,
    path: &str,
    args: &[Arg<'_>],
    stdin: &Flow,
    span: Span,
) -> Option<Flow> {
    let normal = walk.path(path);
    if let Some(flow) = walk.scope.files.get(&normal).cloned() {
        return Some(own_script(walk, path, &flow, args, stdin, span));
    }
    if walk.scope.runnable.iter().take(64).any(|path| {
        *path == normal
            || path.ends_with('/') && normal.starts_with(&**path)
            || path.contains('*') && crate::walk::glob_matches(path, &normal)
    }) {
        let target = walk.target(path);
        let unpacked =
            walk.programs.iter().any(|(name, _)| matches!(name.as_str(), "tar" | "unzip" | "7z" | "bsdtar"));
        if unpacked || !everyday_script(&target.text) || matches!(target.place, Place::Temp | Place::Home) {
            walk.emit_on(
                Kind::MadeRunnable,
                "makes a file executable and runs it",
                span,
                vec![target],
                crate::effect::How::default(),
            );
        }
        return Some(Flow::none());
    }
    None
}

/// Scripts that projects keep and people run after `chmod +x`.
pub(crate) fn everyday_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let known = matches!(
        name,
        "gradlew"
            | "mvnw"
            | "configure"
            | "bootstrap"
            | "autogen.sh"
            | "build.sh"
            | "test.sh"
            | "lint.sh"
            | "manage.py"
            | "ci.sh"
            | "check.sh"
            | "format.sh"
            | "bench.sh"
            | "run_tests.sh"
            | "run-tests.sh"
            | "rebar3"
            | "sbt"
    );
    known
        || ["/scripts/", "/bin/", "/tools/", "/ci/", "/hack/", "/script/", "/target/", "/node_modules/.bin/"]
            .iter()
            .any(|folder| path.contains(folder))
}
