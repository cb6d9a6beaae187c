//! Programs of other languages given in the text: `python -c`, `perl -e`, `node -e` and so on.

use super::{Handler, code, scripting, shells};
use crate::effect::{How, Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// The interpreter with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    language(name)?;
    Some(interpreter)
}

/// The language an interpreter speaks.
fn language(name: &str) -> Option<&'static str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "ipython" | "micropython" | "pythonw" | "py" => "python",
        "perl" => "perl",
        "raku" => "raku",
        "ruby" | "jruby" | "irb" => "ruby",
        "node" | "nodejs" | "deno" | "bun" | "qjs" | "tsx" | "ts-node" | "jrunscript" | "jjs" | "rhino" => {
            "node"
        }
        "php" => "php",
        "lua" | "luajit" => "lua",
        "Rscript" | "R" => "r",
        "tclsh" | "wish" => "tcl",
        "osascript" => "applescript",
        "julia" => "julia",
        "groovy" | "scala" | "jshell" | "kotlin" | "kotlinc" | "swift" | "java" | "amm" => "scala",
        "elixir" => "elixir",
        "erl" | "escript" => "erl",
        "ghci" | "runghc" | "ghc" => "haskell",
        "guile" | "sbcl" | "racket" | "clojure" | "clj" | "bb" | "clisp" | "ecl" | "emacsclient" => "lisp",
        "gnuplot" => "lua",
        "octave" | "matlab" => "r",
        "sml" | "ocaml" | "utop" | "dart" | "crystal" | "nim" => "ruby",
        _ => return None,
    })
}

/// Letters and long names of the options whose value is code.
fn code_flags(language: &str) -> (&'static str, &'static [&'static str]) {
    match language {
        "python" => ("c", &["command", "eval"]),
        "perl" | "raku" => ("eE", &[]),
        "ruby" | "lua" | "applescript" | "scala" | "haskell" => ("e", &["eval"]),
        "node" => ("ep", &["eval", "print"]),
        "php" => ("rBRE", &["run", "process-begin", "process-code", "process-end"]),
        "r" | "julia" => ("eE", &["eval", "print"]),
        "elixir" => ("e", &["eval", "rpc-eval"]),
        "lisp" => ("ecx", &["eval"]),
        _ => ("e", &["eval"]),
    }
}

fn interpreter(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(language) = language(call.name) else { return Flow::none() };
    if call.name == "swift" && call.args.first().is_some_and(|arg| &*arg.text == "delete") {
        walk.emit(Kind::Cloud, "deletes resources of an account", call.span);
        return Flow::none();
    }
    if language == "python"
        && let Some(flow) = module(walk, call)
    {
        return flow;
    }
    if call.args.iter().any(|arg| arg.text.starts_with("-S") || &*arg.text == "httpd") {
        super::sockets::served(walk, call);
    }
    let mut texts: Vec<(String, Span)> = Vec::new();
    let found = find_code(call.args, language, &mut texts);
    let args = call.args;
    if call.name == "ipython" {
        // `!command` is a line for the shell.
        for (text, span) in &texts {
            for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('!')) {
                walk.run_text(line, &Flow::none(), *span);
            }
        }
    }
    if call.name == "nim" && args.first().is_some_and(|arg| &*arg.text == "e") && call.stdin.present() {
        from_stdin(walk, language, call);
    }
    if matches!(call.name, "deno" | "bun" | "elixir" | "crystal")
        && args.first().is_some_and(|arg| &*arg.text == "eval")
        && let Some(text) = args.get(1)
    {
        texts.push((text.text.to_string(), text.span));
    }
    own_code(call, &mut texts);
    let edits = matches!(language, "perl" | "ruby") && args.iter().any(|arg| is_in_place(&arg.text));
    if edits {
        edit_files(walk, args, found);
        if !texts.is_empty() && drops_lines(args, &texts) {
            let files: Vec<&str> =
                args.iter().skip(found).map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
            super::files::emptied(walk, &files, call.span);
        }
    }
    let filters = matches!(language, "perl" | "ruby")
        && args.iter().any(|arg| {
            arg.text.starts_with('-')
                && !arg.text.starts_with("--")
                && arg.text.len() < 6
                && arg.text.contains(['n', 'p'])
        });
    if filters && !edits {
        for arg in args.iter().filter(|arg| arg.text.starts_with(['/', '~'])) {
            walk.read_file(&arg.text, arg.span);
        }
    }
    if !texts.is_empty() {
        let mut out = None;
        for (text, span) in &texts {
            if text.chars().all(|c| c == HOLE || c.is_whitespace()) && !text.is_empty() {
                code::unseen(walk, walk.last_unknown, *span);
            }
            judge(walk, language, text, *span);
            out = printed(text).map(Flow::known);
            if call.stdin.present()
                && (text.contains("stdin") || text.contains("STDIN"))
                && (text.contains("exec(") || text.contains("eval"))
            {
                from_stdin(walk, language, call);
            }
            if call.stdin.present()
                && call.stdin.origin.network
                && (text.contains("exec") || text.contains("eval"))
            {
                walk.emit(Kind::RunDownloaded, "runs text from the network", *span);
            }
        }
        let remade = call.stdin.exact().is_some_and(|text| !text.trim().is_empty());
        return out.unwrap_or_else(|| Flow::unknown(Origin { remade, ..call.stdin.origin }));
    }
    let skip = usize::from(
        matches!(call.name, "deno" | "bun") && args.first().is_some_and(|arg| &*arg.text == "run"),
    );
    if let Some(name) = framework(call) {
        return super::named(walk, name, args.get(1..).unwrap_or_default(), call.stdin, call.span);
    }
    match args.iter().skip(skip).find(|arg| !arg.text.starts_with('-') || &*arg.text == "-") {
        Some(file) if !shells::is_stdin(&file.text) => {
            script_file(walk, language, file, call);
        }
        _ if call.stdin.present()
            && !args.iter().any(|arg| matches!(&*arg.text, "--version" | "-V" | "-v" | "--help")) =>
        {
            from_stdin(walk, language, call);
        }
        _ => {}
    }
    Flow::unknown(call.stdin.origin)
}

/// `python -m …`: a few modules run text or serve files.
fn module(walk: &mut Walk<'_>, call: Call<'_>) -> Option<Flow> {
    let at = call.args.iter().position(|arg| {
        arg.text.starts_with("-m")
            || (arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.ends_with('m'))
    })?;
    if call.args.iter().take(at).any(|arg| &*arg.text == "-c" || !arg.text.starts_with('-')) {
        return None;
    }
    let name = call.args.get(at).and_then(|arg| arg.text.strip_prefix("-m")).filter(|name| !name.is_empty());
    let (name, rest) = match name {
        Some(name) => (name, call.args.get(at + 1..).unwrap_or_default()),
        None => {
            (call.args.get(at + 1).map_or("", |arg| &*arg.text), call.args.get(at + 2..).unwrap_or_default())
        }
    };
    match name {
        _ if name == "hermes" || name.starts_with("hermes_") => {
            Some(super::named(walk, "hermes", rest, call.stdin, call.span))
        }
        "pip" => Some(super::named(walk, "pip", rest, call.stdin, call.span)),
        "base64" if rest.iter().any(|arg| &*arg.text == "-d") => {
            Some(super::named(walk, "base64", rest, call.stdin, call.span))
        }
        "timeit" => {
            if let Some(text) = rest.iter().find(|arg| !arg.text.starts_with('-')) {
                judge(walk, "python", &text.text, text.span);
            }
            Some(Flow::none())
        }
        "http.server" => {
            let folder = rest
                .iter()
                .position(|arg| matches!(&*arg.text, "-d" | "--directory"))
                .and_then(|at| rest.get(at + 1))
                .map_or(".", |arg| &*arg.text);
            let target = walk.target(folder);
            if target.place >= Place::Startup {
                walk.emit_on(
                    Kind::SendOut,
                    "lets everybody read these files",
                    call.span,
                    vec![target],
                    How::default(),
                );
            }
            Some(Flow::none())
        }
        "zipfile" | "tarfile" if matches!(rest, [action, ..] if matches!(&*action.text, "-e" | "--extract")) =>
        {
            super::archive::unpacks(walk, rest.get(2).map(|folder| &*folder.text), call.span);
            Some(Flow::none())
        }
        "venv" | "virtualenv" => {
            if let Some(folder) = rest.iter().rev().find(|arg| !arg.text.starts_with('-')) {
                walk.made(&folder.text);
            }
            Some(Flow::none())
        }
        _ => Some(Flow::unknown(Origin::default())),
    }
}

/// Collects the code options; answers how many words at the start they took.
fn find_code(args: &[Arg<'_>], language: &str, texts: &mut Vec<(String, Span)>) -> usize {
    let (letters, long) = code_flags(language);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = &*arg.text;
        if let Some(name) = text.strip_prefix("--") {
            let (name, value) =
                name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
            if long.contains(&name) {
                if let Some(value) = value {
                    texts.push((value.to_owned(), arg.span));
                } else if let Some(next) = args.get(at + 1) {
                    texts.push((next.text.to_string(), next.span));
                    at += 1;
                }
            }
            at += 1;
            continue;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let loads = matches!(language, "perl" | "ruby")
            && text.len() > 2
            && text.starts_with(['-'])
            && matches!(text.as_bytes().get(1), Some(b'M' | b'm' | b'I' | b'r' | b'F'));
        if loads {
            at += 1;
            continue;
        }
        if let Some(place) = text
            .char_indices()
            .skip(1)
            .find(|(_, c)| letters.contains(*c))
            .map(|(place, c)| place + c.len_utf8())
        {
            let glued = text.get(place..).unwrap_or_default();
            // In `-pe` and `-ne` the code follows; `-pi.bak` has none.
            if glued.is_empty()
                || (glued.bytes().all(|b| b.is_ascii_alphabetic()) && glued.len() < 3 && language == "node")
            {
                if let Some(next) = args.get(at + 1) {
                    texts.push((next.text.to_string(), next.span));
                    at += 1;
                }
            } else if !(language == "perl" && text.starts_with("-i")) {
                texts.push((glued.to_owned(), arg.span));
            }
            if matches!(language, "python" | "php") {
                return at + 1;
            }
        } else if matches!(language, "perl")
            && text.starts_with("-M")
            && text.contains(['(', ';', '='])
            && text.contains("system")
        {
            texts.push((text.to_owned(), arg.span));
        } else if matches!(text, "-W" | "-X" | "-I" | "-r" | "--require" | "-l")
            && language != "perl"
            && text.len() == 2
        {
            at += 1;
        }
        at += 1;
    }
    at
}

/// Code given to interpreters that name it in ways of their own.
fn own_code(call: Call<'_>, texts: &mut Vec<(String, Span)>) {
    let args = call.args;
    if call.name == "nim" {
        let given = args.iter().filter_map(|arg| Some((arg.text.strip_prefix("--eval:")?, arg.span)));
        texts.extend(given.map(|(code, span)| (code.to_owned(), span)));
    }
    if matches!(call.name, "erl" | "matlab") {
        for (at, arg) in args.iter().enumerate() {
            if matches!(&*arg.text, "-eval" | "-batch")
                && let Some(text) = args.get(at + 1)
            {
                texts.push((text.text.to_string(), text.span));
            }
        }
    }
}

/// Whether lines are read one by one and nothing is printed in their place.
fn drops_lines(args: &[Arg<'_>], texts: &[(String, Span)]) -> bool {
    let flag = |letter: char| {
        args.iter().any(|arg| arg.text.starts_with('-') && arg.text.len() < 6 && arg.text.contains(letter))
    };
    let blanks = |text: &str| {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        matches!(
            compact.trim_end_matches(';'),
            "$_=\"\"" | "$_=''" | "undef$_" | "$_=undef" | "s/.*//s" | "s/.*//"
        )
    };
    flag('p') && texts.iter().any(|(text, _)| blanks(text))
        || flag('n')
            && !flag('p')
            && !texts.iter().any(|(text, _)| text.contains("print") || text.contains("puts"))
}

/// The tool of a framework that a script by that name starts.
fn framework(call: Call<'_>) -> Option<&'static str> {
    let script = &*call.args.first()?.text;
    match call.name {
        "php" if script.ends_with("bin/console") => Some("console"),
        "php" if script.ends_with("artisan") => Some("artisan"),
        _ => script.ends_with("manage.py").then_some("artisan"),
    }
}

fn is_in_place(text: &str) -> bool {
    text.starts_with('-')
        && !text.starts_with("--")
        && text.bytes().skip(1).take_while(|b| !matches!(b, b'e' | b'E')).any(|b| b == b'i')
        && !text.starts_with("-I")
        && !text.starts_with("-M")
}

fn edit_files(walk: &mut Walk<'_>, args: &[Arg<'_>], from: usize) {
    for file in args.iter().skip(from).filter(|arg| !arg.text.starts_with('-')) {
        let target = walk.target(&file.text);
        walk.emit_on(Kind::Write, "edits a file in place", file.span, vec![target], How::default());
    }
}

fn script_file(walk: &mut Walk<'_>, language: &str, file: &Arg<'_>, call: Call<'_>) {
    let normal = walk.path(&file.text);
    if let Some(flow) = walk.scope.files.get(&normal).cloned() {
        if flow.exact().is_none() && (flow.origin.network || flow.origin.decoded) {
            code::unseen(walk, flow.origin, call.span);
        }
        judge(walk, language, flow.seen(), call.span);
    } else if file.text.contains("://") {
        walk.emit_names(Kind::RunDownloaded, "runs text from the network", call.span, &[&file.text]);
    } else if !shells::everyday_script(&file.text)
        && !super::base_name(&file.text).starts_with("setup.")
        && walk.scope.cloned.iter().any(|folder| crate::place::within(&normal, folder))
    {
        walk.emit(Kind::RunDownloaded, "runs a script that was just fetched", call.span);
    }
}

fn from_stdin(walk: &mut Walk<'_>, language: &str, call: Call<'_>) {
    let text = call.stdin.seen().to_owned();
    if call.stdin.exact().is_none() || call.stdin.origin.network {
        code::fed(walk, call.stdin, call.span);
    }
    judge(walk, language, &text, call.span);
}

/// Judges a program in another language. Shell scripts come back here when they say so.
pub(crate) fn judge(walk: &mut Walk<'_>, interpreter: &str, text: &str, span: Span) {
    let name = language(interpreter).unwrap_or(interpreter);
    if shells::handler(name).is_some() {
        walk.run_text(text, &Flow::none(), span);
        return;
    }
    scripting::judge(walk, name, text, span);
}

/// What a program prints when it only prints constants.
pub(crate) fn printed(text: &str) -> Option<String> {
    scripting::printed(text)
}
