//! Programs that run others many times, later, or from a recipe.

use super::code;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind, Span};
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

pub(super) fn xargs(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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
    if stdin.origin.endless && parsed.has("P", "max-procs") {
        walk.emit(Kind::ForkBomb, "starts processes for data without end", call.span);
    }
    let delimiter = parsed.value("d", "delimiter").and_then(|d| d.chars().next());
    let zero = parsed.has("0", "null");
    let text = if stdin.present() { stdin.seen().to_owned() } else { HOLE.to_string() };
    if !walk.spend(text.len()) {
        return Flow::none();
    }
    let words: Vec<&str> = match delimiter {
        Some(mark) => text.split(mark).map(str::trim).collect(),
        None if zero => text.split('\0').map(|word| word.trim_end_matches('\n')).collect(),
        None => text.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect(),
    };
    let unknown = text.chars().all(|letter| letter == HOLE || letter.is_whitespace());
    let shreds = args.first().is_some_and(|first| super::base_name(&first.text) == "shred");
    if shreds && unknown {
        let listed = walk.target(&HOLE.to_string());
        let how = How { recursive: true, ..How::default() };
        walk.emit_on(Kind::Delete, "deletes whatever a list names", call.span, vec![listed], how);
    }
    // Nobody knows how much a list names, nor where.
    let outer = walk.found;
    let removes = args.first().is_some_and(|first| matches!(super::base_name(&first.text), "rm" | "unlink"));
    walk.found |= unknown || stdin.origin.listed || removes;
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
                .map(|arg| Arg {
                    text: arg.text.replace(mark, &unquoted(line.trim())).into(),
                    span: arg.span,
                })
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
    walk.found = outer;
    walk.last_unknown = origin;
    flow
}

/// A line as `xargs` reads it: quotes and backslashes are taken away.
fn unquoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut open = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, open) {
            ('\'' | '"', None) => open = Some(letter),
            (quote, Some(other)) if quote == other => open = None,
            ('\\', None) => out.extend(letters.next()),
            _ => out.push(letter),
        }
    }
    // An open quote is an error there; the line is looked at as it is.
    if open.is_some() { line.to_owned() } else { out }
}

pub(super) fn watch(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "nq", long: &["interval", "equexit"], stops: true });
    let words: Vec<&str> = parsed.rest().map(|arg| &*arg.text).collect();
    joined(walk, call, &words)
}

/// Words that the program joins and hands to a shell.
pub(super) fn joined(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) -> Flow {
    let origin = walk.last_unknown;
    let flow = code::shell(walk, &words.join(" "), origin, call.stdin, call.span);
    as_written(walk, call, words);
    flow
}

/// The same words as whoever wrote them meant them: `watch sh -c 'a b'` runs `sh -c a b`, which
/// is rarely what was meant, and other versions of the program may keep the words apart.
pub(super) fn as_written(walk: &mut Walk<'_>, call: Call<'_>, words: &[&str]) {
    let split = |word: &&str| {
        word.contains([' ', '$', '`', ';', '|', '&', '<', '>', '{', '(', '\n', '\t', '\\', '\'', '"'])
    };
    if words.len() > 2 && words.len() < 32 && words.iter().any(split) {
        let args: Vec<Arg<'_>> =
            words.iter().map(|word| Arg { text: (*word).into(), span: call.span }).collect();
        super::run(walk, &args, call.stdin, call.span);
    }
}

pub(super) fn script(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed =
        parse(call.args, Spec { short: "cItTBOomE", long: &["command", "log-in", "log-out"], stops: false });
    let origin = walk.last_unknown;
    if let Some(text) = parsed.value("c", "command") {
        if let Some(file) = parsed.operand(0) {
            walk.write_file(&file.text, Flow::unknown(Origin::default()), false, "writes a file", file.span);
        }
        return code::shell(walk, text, origin, call.stdin, call.span);
    }
    // BSD: script file command …
    if let Some(file) = parsed.operand(0) {
        walk.write_file(&file.text, Flow::unknown(Origin::default()), false, "writes a file", file.span);
    }
    let args: Vec<Arg<'_>> = parsed.rest().skip(1).map(Arg::shared).collect();
    if args.is_empty() && call.stdin.present() {
        let shell = [Arg { text: "sh".into(), span: call.span }];
        return super::run(walk, &shell, call.stdin, call.span);
    }
    super::run(walk, &args, call.stdin, call.span)
}

pub(super) fn later(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "fqt", long: &[], stops: false });
    if parsed.has("l", "") || parsed.has("r", "") || parsed.has("d", "") {
        return Flow::none();
    }
    if let Some(file) = parsed.value("f", "") {
        walk.emit_startup("runs a file later", call.span);
        let flow = walk.read_file(file, call.span);
        let shell = [Arg { text: "sh".into(), span: call.span }];
        return super::run(walk, &shell, &flow, call.span);
    }
    if call.stdin.present() {
        walk.emit_startup("runs something later", call.span);
        let shell = [Arg { text: "sh".into(), span: call.span }];
        super::run(walk, &shell, call.stdin, call.span);
    }
    Flow::none()
}

/// The commands in the lines of a table of scheduled jobs.
fn scheduled(walk: &mut Walk<'_>, table: &str, span: Span) {
    for line in table.lines().take(64) {
        let line = line.trim_start();
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        for _ in 0..fields {
            rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
        }
        if !rest.is_empty() && !line.starts_with('#') {
            walk.run_text(rest, &Flow::none(), span);
        }
    }
}

pub(super) fn crontab(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "u", long: &[], stops: false });
    if parsed.has("r", "") {
        walk.emit(Kind::Service, "removes every scheduled job", call.span);
    } else if let Some(file) = parsed.operand(0) {
        walk.emit_names(Kind::Write, "installs scheduled jobs", call.span, &[&file.text]);
        walk.emit_startup("installs scheduled jobs", call.span);
        let table =
            if &*file.text == "-" { call.stdin.clone() } else { walk.read_file(&file.text, file.span) };
        scheduled(walk, table.seen(), call.span);
    } else if parsed.has("e", "") || !parsed.has("l", "") && call.stdin.present() {
        walk.emit_startup("installs scheduled jobs", call.span);
        scheduled(walk, call.stdin.seen(), call.span);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

pub(super) fn flock(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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

/// `make -f -` and `--eval`: recipes given in the text.
pub(super) fn make(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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
        } else if walk.target(file).place == crate::place::Place::Temp {
            walk.emit_names(Kind::RunUnseen, "runs recipes nobody has seen", span, &[file]);
        }
    }
    if recipes.is_empty() {
        let written = |name: &&str| walk.scope.files.get(&walk.path(name)).map(|flow| flow.seen().to_owned());
        recipes.extend(["Makefile", "makefile", "GNUmakefile"].iter().find_map(written));
    }
    for text in recipes {
        for line in text.replace("\\\n", " ").lines() {
            let command = line
                .strip_prefix('\t')
                .or_else(|| line.split_once(';').map(|(_, rest)| rest))
                .map(|c| c.trim_start_matches(['@', '-', '+', ' ']));
            if let Some(command) = command {
                walk.run_text(&variables(&command.replace("$$", "$")), &Flow::none(), call.span);
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

/// `$(NAME)` of a recipe as a shell writes it.
fn variables(recipe: &str) -> String {
    let mut out = String::with_capacity(recipe.len());
    let mut rest = recipe;
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        match after.split_once(')') {
            Some((name, tail))
                if !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') =>
            {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
                rest = tail;
            }
            _ => {
                out.push_str("$(");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

pub(super) fn first_operand(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "", long: &[], stops: true });
    let args: Vec<Arg<'_>> = parsed.rest().map(Arg::shared).collect();
    if parsed.has("s", "") {
        let words: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
        return joined(walk, call, &words);
    }
    super::run(walk, &args, &Flow::none(), call.span)
}

pub(super) fn hyperfine(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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
