//! `find` and `fd`: deleting what they find, or running something on it.

use crate::effect::{How, Kind, Span};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

/// Runs a `find` expression.
pub(crate) fn find(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let starts: Vec<&Arg<'_>> = call
        .args
        .iter()
        .skip_while(|arg| matches!(&*arg.text, "-H" | "-L" | "-P") || arg.text.starts_with("-O"))
        .take_while(|arg| !arg.text.starts_with(['-', '(', '!']) && &*arg.text != "\\(")
        .collect();
    let expression = call.args.get(
        call.args
            .iter()
            .position(|arg| arg.text.starts_with('-') && !matches!(&*arg.text, "-H" | "-L" | "-P"))
            .unwrap_or(call.args.len())..,
    );
    let expression = expression.unwrap_or_default();
    let start_texts: Vec<&str> =
        if starts.is_empty() { vec!["."] } else { starts.iter().map(|arg| &*arg.text).collect() };
    let below = |names: &Found| -> Vec<String> {
        start_texts.iter().take(64).flat_map(|start| names.paths(start)).collect()
    };
    let mut at = 0;
    while let Some(arg) = expression.get(at) {
        at += 1;
        match &*arg.text {
            "-delete" => {
                let names = found(reached(expression, at - 1));
                let paths = below(&names);
                let kept: Vec<String> = paths
                    .iter()
                    .filter(|path| {
                        !names.empty
                            || !matches!(
                                walk.target(path).place,
                                Place::Workspace | Place::WorkspaceTop | Place::Temp | Place::Made
                            )
                    })
                    .cloned()
                    .collect();
                if !kept.is_empty() {
                    delete(walk, &kept, arg.span);
                }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = expression
                    .iter()
                    .skip(at)
                    .position(|arg| matches!(&*arg.text, ";" | "+" | "\\;"))
                    .map_or(expression.len(), |step| at + step);
                let paths = below(&found(reached(expression, at - 1)));
                run_on(walk, expression.get(at..end).unwrap_or_default(), &paths, call.span);
                at = end + 1;
            }
            "-fprintf" | "-fprint" | "-fls" | "-fprint0" => {
                if let Some(file) = expression.get(at) {
                    walk.write_file(
                        &file.text,
                        Flow::unknown(Origin::default()),
                        false,
                        "writes a list of files",
                        file.span,
                    );
                }
            }
            _ => {}
        }
    }
    let whole = |path: &String| if path.contains(HOLE) { path.clone() } else { everything_in(path) };
    let names = found(expression);
    let paths: Vec<String> =
        below(&names).iter().map(|path| if names.shallow { path.clone() } else { whole(path) }).collect();
    let text = paths.join("\n") + "\n";
    Flow { text: Some(text.into()), origin: Origin { local: true, listed: true, ..Origin::default() } }
}

/// Everything in a folder, as a path.
pub(crate) fn everything_in(folder: &str) -> String {
    format!("{}/{HOLE}", folder.trim_end_matches('/'))
}

/// The tests a file has passed when it comes to the action at `at`: those after it, and those
/// before an `-o` outside of brackets, do not count.
fn reached<'a, 'b>(expression: &'a [Arg<'b>], at: usize) -> &'a [Arg<'b>] {
    let before = expression.get(..at).unwrap_or_default();
    let mut depth = 0_i32;
    let mut from = 0;
    for (place, arg) in before.iter().enumerate() {
        match &*arg.text {
            "(" | "\\(" => depth += 1,
            ")" | "\\)" => depth -= 1,
            "-o" | "-or" | "," if depth <= 0 => from = place + 1,
            _ => {}
        }
    }
    before.get(from..).unwrap_or_default()
}

/// Names that matter even when they are only written in part.
const WEIGHTY: [&str; 10] = [
    "config.yaml",
    ".env",
    ".bashrc",
    ".zshrc",
    ".profile",
    "authorized_keys",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
];

/// The weighty name that a pattern is written for.
fn weighty(pattern: &str) -> Option<&'static str> {
    let letters = pattern.chars().filter(|c| !matches!(c, '*' | '?')).count();
    WEIGHTY.into_iter().find(|name| letters + 2 >= name.len() && crate::walk::glob_matches(pattern, name))
}

/// What the tests of an expression say about the names found.
struct Found {
    patterns: Vec<String>,
    empty: bool,
    shallow: bool,
    /// Whether only what lies right in a folder is found.
    flat: bool,
}

fn found(expression: &[Arg<'_>]) -> Found {
    let mut out = Found { patterns: Vec::new(), empty: false, shallow: false, flat: false };
    let mut negated = false;
    for (at, arg) in expression.iter().enumerate() {
        let value = expression.get(at + 1).map_or("", |arg| &*arg.text);
        match &*arg.text {
            "!" | "-not" => {
                negated = true;
                continue;
            }
            // Private keys keep their name in front: `id_rsa*` is `id_rsa`.
            "-name" | "-iname" if !negated && value.starts_with("id_") => {
                out.patterns.push(value.trim_end_matches('*').to_owned());
            }
            "-name" | "-iname" if !negated => out.patterns.push(value.to_owned()),
            "-path" | "-wholename" | "-ipath" | "-regex" if !negated => {
                let last = value.trim_end_matches("/*").rsplit('/').next().unwrap_or(value);
                out.patterns.push(last.to_owned());
            }
            // `-name x -prune -o …`: what was named so far is what is left out.
            "-prune" if matches!(value, "-o" | "-or" | ",") => out.patterns.clear(),
            "-empty" if !negated => out.empty = true,
            "-maxdepth" => {
                out.shallow = value == "0";
                out.flat = value == "1";
            }
            _ => {}
        }
        negated = false;
    }
    out
}

impl Found {
    /// The paths found below `start`, unknown parts as holes.
    fn paths(&self, start: &str) -> Vec<String> {
        let base = start.trim_end_matches('/');
        if self.patterns.is_empty() || self.shallow {
            // Everything, the start itself included.
            return vec![start.to_owned()];
        }
        self.patterns
            .iter()
            .map(|pattern| {
                if pattern.bytes().all(|b| matches!(b, b'*' | b'?' | b'.')) {
                    start.to_owned()
                } else if pattern.contains('[') && spelled(pattern) != *pattern {
                    format!("{base}/{HOLE}/{}", spelled(pattern).replace(['*', '?'], HOLE_STR))
                } else if self.flat {
                    format!("{base}/{pattern}")
                } else if let Some(name) = weighty(pattern) {
                    format!("{base}/{HOLE}/{name}")
                } else {
                    format!("{base}/{HOLE}/{}", pattern.replace(['*', '?'], &HOLE.to_string()))
                }
            })
            .collect()
    }
}

/// A pattern without its classes of one letter: `cront[a]b` is `crontab`.
fn spelled(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        let mut ahead = letters.clone();
        match (letter, ahead.next(), ahead.next()) {
            ('[', Some(one), Some(']')) if one != '!' => {
                out.push(one);
                letters = ahead;
            }
            _ => out.push(letter),
        }
    }
    out
}

fn delete(walk: &mut Walk<'_>, paths: &[String], span: Span) {
    let targets = paths.iter().map(|path| walk.target(path)).collect();
    walk.emit_on(
        Kind::Delete,
        "deletes everything that is found",
        span,
        targets,
        How { recursive: true, ..How::default() },
    );
}

fn run_on(walk: &mut Walk<'_>, command: &[Arg<'_>], paths: &[String], span: Span) {
    let Some(first) = command.first() else { return };
    let owned = matches!(super::base_name(&first.text), "chmod" | "chown" | "chgrp");
    for path in paths.iter().take(16) {
        let mut args: Vec<Arg<'_>> = command
            .iter()
            .map(|arg| Arg { text: arg.text.replace("{}", path).into(), span: arg.span })
            .collect();
        if owned && !args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('R')) {
            args.insert(1, Arg { text: "-R".into(), span });
        }
        let saved = walk.last_unknown;
        walk.last_unknown = Origin { local: true, file: true, ..Origin::default() };
        let outer = std::mem::replace(&mut walk.found, true);
        super::run(walk, &args, &Flow::none(), span);
        walk.found = outer;
        walk.last_unknown = saved;
    }
}

/// `fd pattern -x command`, `fd -X command`.
pub(crate) fn fd(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let start =
        call.args.iter().position(|arg| matches!(&*arg.text, "-x" | "-X" | "--exec" | "--exec-batch"));
    let pattern = call
        .args
        .iter()
        .find(|arg| !arg.text.starts_with('-'))
        .map_or(String::new(), |arg| arg.text.to_string());
    let extension = call
        .args
        .iter()
        .position(|arg| matches!(&*arg.text, "-e" | "--extension"))
        .and_then(|at| call.args.get(at + 1));
    let name = match extension {
        Some(extension) => format!("{HOLE}.{}", extension.text),
        None => pattern.trim_matches(['^', '$']).replace('\\', ""),
    };
    let start_at = start.unwrap_or(call.args.len());
    let folder = call
        .args
        .iter()
        .take(start_at)
        .filter(|arg| !arg.text.starts_with('-'))
        .rfind(|arg| {
            arg.text.starts_with(['/', '~'])
                || walk.target(&arg.text).place >= Place::Elsewhere && arg.text.contains('/')
        })
        .map_or(".", |arg| &*arg.text);
    let path =
        if matches!(name.as_str(), "" | ".") { folder.to_owned() } else { format!("{folder}/{HOLE}/{name}") };
    if let Some(at) = start {
        let mut command: Vec<Arg<'_>> =
            call.args.iter().skip(at + 1).take_while(|arg| &*arg.text != ";").cloned().collect();
        if !command.iter().any(|arg| arg.text.contains("{}")) {
            command.push(Arg { text: "{}".into(), span: call.span });
        }
        run_on(walk, &command, std::slice::from_ref(&path), call.span);
    }
    Flow {
        text: Some(format!("{path}\n").into()),
        origin: Origin { local: true, listed: true, ..Origin::default() },
    }
}
