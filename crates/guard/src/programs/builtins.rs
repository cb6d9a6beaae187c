//! What the shell itself does: `cd`, `eval`, `source`, `alias`, `export`, `read`, `trap` and so on.

use std::rc::Rc;

use super::code;
use super::{Handler, shells};
use crate::effect::Kind;
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, IFS_BEFORE, Origin, Walk};

/// The builtin with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "cd" | "pushd" => change_directory,
        "popd" => pop_directory,
        "eval" => eval,
        "source" | "." => source,
        "alias" => alias,
        "unalias" | "unset" => unset,
        "export" | "declare" | "typeset" | "local" | "readonly" => declare,
        "read" | "mapfile" | "readarray" => read,
        "trap" => trap,
        "set" => set,
        "shift" => shift,
        "command" => command,
        "builtin" | "exec" | "nocorrect" | "noglob" => through,
        "getopts" | ":" | "true" | "false" | "test" | "[" | "return" | "exit" | "break" | "continue"
        | "wait" | "jobs" | "fg" | "bg" | "umask" | "hash" | "ulimit" | "shopt" | "bind" | "complete"
        | "compgen" | "times" | "suspend" | "disown" => nothing,
        "let" => calculate,
        "printenv" => printenv,
        "enable" => enable,
        "history" => history,
        "fc" => nothing,
        _ => return None,
    })
}

fn nothing(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if matches!(call.name, "test" | "[") {
        call.args.iter().take(16).for_each(|arg| walk.subscript(&arg.text));
    }
    if matches!(call.name, "complete" | "compgen")
        && let Some(command) = option(call.args, "-C").map(str::to_owned)
    {
        return walk.run_text(&command, &Flow::none(), call.span);
    }
    if call.name == "jobs" {
        return Flow::known(crate::walk::OWN_PID.to_string());
    }
    match (call.name, call.args) {
        ("umask", [mask]) if matches!(&*mask.text, "0" | "00" | "000" | "0000" | "a=rwx") => {
            walk.emit(Kind::Permissions, "lets everybody write new files", call.span);
        }
        ("let", sums) => {
            for (name, value) in sums.iter().filter_map(|arg| arg.text.split_once('=')) {
                if value.bytes().all(|b| b.is_ascii_digit()) {
                    walk.scope.set(name, value);
                }
            }
        }
        ("hash", [flag, path, name]) if &*flag.text == "-p" => {
            walk.scope.aliases.insert(name.text.to_string(), Rc::from(&*path.text));
        }
        _ => {}
    }
    if call.name == "bind" {
        for arg in call.args {
            if let Some((_, command)) = arg.text.split_once("\":") {
                walk.run_text(command, &Flow::none(), arg.span);
            }
        }
    }
    Flow::known(String::new())
}

fn change_directory(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let target = call.args.iter().find(|arg| !arg.text.starts_with('-') || &*arg.text == "-");
    let new = match target.map(|arg| &*arg.text) {
        None => walk.context.home.clone(),
        Some("-") => walk.scope.last_cwd.clone().unwrap_or_else(|| HOLE.to_string()),
        Some(path) => walk.path(path),
    };
    walk.scope.last_cwd = Some(std::mem::replace(&mut walk.scope.cwd, new));
    Flow::known(String::new())
}

fn pop_directory(walk: &mut Walk<'_>, _call: Call<'_>) -> Flow {
    if let Some(last) = walk.scope.last_cwd.take() {
        walk.scope.cwd = last;
    }
    Flow::known(String::new())
}

fn eval(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let args = if call.args.first().is_some_and(|arg| &*arg.text == "--") {
        call.args.get(1..).unwrap_or_default()
    } else {
        call.args
    };
    let text: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
    let origin = walk.last_unknown;
    code::shell(walk, &text.join(" "), origin, call.stdin, call.span)
}

fn source(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some((file, rest)) = call.args.split_first() else {
        // fish reads what a pipe brings.
        if call.name == "source" && call.stdin.present() {
            return code::shell(walk, call.stdin.seen(), call.stdin.origin, &Flow::none(), call.span);
        }
        return Flow::none();
    };
    shells::script(walk, &file.text, rest, call.stdin, call.span)
}

fn alias(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    for arg in call.args {
        if let Some((name, value)) = arg.text.split_once('=') {
            walk.scope.aliases.insert(name.to_owned(), Rc::from(value));
        }
    }
    Flow::none()
}

fn unset(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    for arg in call.args {
        walk.subscript(&arg.text);
        match &*arg.text {
            "HISTFILE" => walk.emit(Kind::Traces, "switches shell history off", call.span),
            "-a" if call.name == "unalias" => walk.scope.aliases.clear(),
            name if call.name == "unalias" => {
                walk.scope.aliases.remove(name);
            }
            name => walk.scope.unset(name),
        }
    }
    Flow::none()
}

fn declare(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let origin = walk.last_unknown;
    let named = call
        .args
        .iter()
        .any(|arg| arg.text.starts_with('-') && arg.text.contains('n') && call.name != "export");
    let number = call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('i'));
    for arg in call.args {
        let Some((name, value)) = arg.text.split_once('=') else { continue };
        if number {
            walk.subscript(value);
        }
        let (name, append) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let mut value = value.to_owned();
        if append && let Some(before) = walk.scope.value(name, &walk.context.home) {
            value.insert_str(0, &before);
        }
        if named {
            walk.scope.references.insert(name.to_owned(), value);
            continue;
        }
        super::environment(walk, name, &value, true, call.span);
        if value.contains(HOLE) {
            walk.scope.origins.insert(name.to_owned(), origin);
        }
        walk.scope.set(name, &value);
    }
    Flow::none()
}

/// `read` takes a line of what is on standard input.
fn read(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let array = call.name != "read"
        || call
            .args
            .iter()
            .any(|arg| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.ends_with('a'));
    let before = walk.scope.value(IFS_BEFORE, "").map(std::borrow::Cow::into_owned);
    walk.scope.unset(IFS_BEFORE);
    let names: Vec<&str> = names_of(call.args, call.name != "read");
    let text = call.stdin.text.as_deref().unwrap_or(HOLE_STR);
    if array {
        let list: Vec<(String, Rc<str>)> = if call.name == "read" {
            text.lines()
                .next()
                .unwrap_or_default()
                .split(|c: char| match &before {
                    Some(marks) => marks.contains(c),
                    None => c.is_whitespace(),
                })
                .filter(|word| !word.is_empty())
                .map(Rc::from)
                .enumerate()
                .map(|(at, word)| (at.to_string(), word))
                .collect()
        } else {
            mapped(text, option(call.args, "-d"))
        };
        if call.name != "read"
            && let Some(callback) = option(call.args, "-C").map(str::to_owned)
        {
            // The place of the element and the element itself come after it.
            let line = list.first().map(|(_, line)| crate::walk::quote(line)).unwrap_or_default();
            walk.run_text(&format!("{callback} 0 {line}"), &Flow::none(), call.span);
        }
        let name = names.first().copied().unwrap_or("MAPFILE");
        if list.iter().any(|(_, piece)| piece.contains(HOLE)) {
            walk.scope.origins.insert(name.to_owned(), call.stdin.origin);
        }
        walk.scope.set_list(name, list);
        return Flow::none();
    }
    let separators = match before {
        Some(marks) => marks,
        None => walk.scope.value("IFS", &walk.context.home).unwrap_or_default().into_owned(),
    };
    let names = if names.is_empty() { vec!["REPLY"] } else { names };
    if walk.scope.rounds > 0 && call.stdin.text.is_some() && text.lines().nth(1).is_some() {
        // A loop reads one line after the other.
        walk.scope.branches += 1;
        for line in text.lines().take(MOST_LINES) {
            assigned(walk, &names, line, &separators, call.stdin.origin);
        }
        if text.lines().nth(MOST_LINES).is_some() {
            assigned(walk, &names, HOLE_STR, &separators, call.stdin.origin);
        }
        walk.scope.branches -= 1;
        return Flow::none();
    }
    let line = text.lines().next().unwrap_or_default();
    let line = if call.stdin.text.is_some() && text.lines().nth(1).is_some() && walk.scope.branches > 0 {
        text.trim_end()
    } else {
        line
    };
    assigned(walk, &names, line, &separators, call.stdin.origin);
    Flow::none()
}

/// How many lines a loop is followed through; what comes after them is unknown.
const MOST_LINES: usize = 5;

/// Gives the pieces of a line to the names that `read` was told; the last gets the rest.
fn assigned(walk: &mut Walk<'_>, names: &[&str], line: &str, separators: &str, origin: Origin) {
    let mut rest = line.trim();
    for (at, name) in names.iter().enumerate() {
        let last = at + 1 == names.len();
        let piece = if last { rest } else { rest.split(|c| separators.contains(c)).next().unwrap_or(rest) };
        walk.scope.set(name, piece);
        if piece.contains(HOLE) {
            walk.scope.origins.insert((*name).to_owned(), origin);
        }
        rest = rest.get(piece.len()..).unwrap_or_default().trim_start_matches(|c| separators.contains(c));
    }
}

/// What `mapfile` makes of a text: one element for each line, or for each piece up to its `-d`.
fn mapped(text: &str, delimiter: Option<&str>) -> Vec<(String, Rc<str>)> {
    let end = delimiter.map_or('\n', |mark| mark.chars().next().unwrap_or('\0'));
    text.split_terminator(end)
        .take(512)
        .map(|piece| Rc::from(piece.strip_suffix('\r').unwrap_or(piece)))
        .enumerate()
        .map(|(at, piece)| (at.to_string(), piece))
        .collect()
}

/// The value of a short option that stands as a word of its own, or is written onto it.
fn option<'a>(args: &'a [Arg<'a>], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg.text.starts_with(name))?;
    match args.get(at)?.text.strip_prefix(name)? {
        "" => args.get(at + 1).map(|arg| &*arg.text),
        joined => Some(joined),
    }
}

fn names_of<'a>(args: &'a [Arg<'a>], mapped: bool) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut skip = false;
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        match &*arg.text {
            "-t" if mapped => {}
            "-p" | "-d" | "-n" | "-N" | "-t" | "-u" | "-i" | "-C" | "-c" | "-O" | "-s" => skip = true,
            text if text.starts_with('-') => {}
            text => names.push(text),
        }
    }
    names
}

fn trap(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if let Some(first) = call.args.iter().find(|arg| !matches!(&*arg.text, "--" | "-l" | "-p"))
        && walk.deferred.len() < 32
    {
        walk.deferred.push((first.text.to_string(), first.span));
    }
    Flow::none()
}

fn set(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.is_empty() {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        if &*first.text == "--" {
            walk.scope.arguments = rest.iter().map(|arg| Rc::from(&*arg.text)).collect();
            return Flow::none();
        }
        if !first.text.starts_with(['-', '+']) {
            walk.scope.arguments = args.iter().map(|arg| Rc::from(&*arg.text)).collect();
            return Flow::none();
        }
        args = if &*first.text == "-o" || &*first.text == "+o" {
            if rest.first().is_some_and(|arg| &*arg.text == "history") && &*first.text == "+o" {
                walk.emit(Kind::Traces, "switches shell history off", call.span);
            }
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
    }
    Flow::none()
}

fn shift(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let count: usize = call.args.first().and_then(|arg| arg.text.parse().ok()).unwrap_or(1);
    let count = count.min(walk.scope.arguments.len());
    walk.scope.arguments.drain(..count);
    Flow::none()
}

/// `command name …`; with `-v` it only tells where the name would be found.
/// Where `command -v` finds a program; its name alone, if it belongs to the shell.
pub(super) fn found_at(name: &str) -> String {
    if name.contains('/') || handler(name).is_some() || super::lookup(name).is_none() {
        return format!("{name}\n");
    }
    format!("/usr/bin/{name}\n")
}

/// `let n=1+2 m=n*2`.
fn calculate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    for arg in call.args.iter().take(64) {
        walk.run_text(&format!("(({}))", arg.text), &Flow::none(), arg.span);
    }
    Flow::none()
}

fn command(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut args = call.args;
    let mut asks = false;
    while let Some((first, rest)) = args.split_first() {
        match &*first.text {
            "-v" | "-V" | "-pv" | "-pV" => asks = true,
            "-p" | "--" => {}
            _ => break,
        }
        args = rest;
    }
    if asks {
        return Flow::known(args.first().map_or_else(String::new, |arg| found_at(&arg.text)));
    }
    super::run(walk, args, call.stdin, call.span)
}

fn through(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        match &*first.text {
            "-c" | "-l" | "-cl" | "--" => args = rest,
            "-a" => args = rest.get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    super::run(walk, args, call.stdin, call.span)
}

fn printenv(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if let Some(name) = call.args.iter().find(|arg| crate::walk::secret_name(&arg.text)) {
        walk.emit_names(
            Kind::ReadCredential,
            "prints a secret from the environment",
            name.span,
            &[&name.text],
        );
        return Flow::unknown(Origin { credential: true, local: true, ..Origin::default() });
    }
    if let [name] = call.args
        && let Some(value) = walk.scope.value(&name.text, &walk.context.home)
    {
        return Flow::known(format!("{value}\n"));
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

fn enable(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.first().is_some_and(|arg| &*arg.text == "-f") {
        walk.emit(Kind::RunUnseen, "loads a builtin from a file", call.span);
    }
    Flow::none()
}

fn history(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains(['c', 'd'])) {
        walk.emit(Kind::Traces, "clears shell history", call.span);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}
