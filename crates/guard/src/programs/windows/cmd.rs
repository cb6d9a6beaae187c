//! Text of `cmd`: variables, escapes, loops, conditions and what they run.

use std::collections::BTreeMap;

use super::cmd_lines::{cut, first_word, is_name, parts, redirected, split_name, with_thing, words};
use super::values::held;
use super::{cmdlets, posix};
use crate::effect::{Kind, Span};
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

/// Most things a loop is followed for.
const ROUNDS: usize = 16;

/// Judges a text.
pub(in crate::programs) fn text(walk: &mut Walk<'_>, source: &str, span: Span) {
    let mut shell = Shell { walk, span, variables: BTreeMap::new() };
    // Lines share their variables; a label is passed over.
    for line in source.lines() {
        shell.line(line);
    }
}

struct Shell<'w, 'c> {
    walk: &'w mut Walk<'c>,
    span: Span,
    variables: BTreeMap<String, String>,
}

impl Shell<'_, '_> {
    fn line(&mut self, line: &str) {
        if !self.walk.spend(3 * line.len() + 16) || !self.walk.down(self.span) {
            return;
        }
        let mut stdin = Flow::none();
        for (part, piped) in parts(line) {
            let out = self.part(&part, &stdin);
            stdin = if piped { out } else { Flow::none() };
        }
        self.walk.up();
    }

    /// One command; the answer is what it prints.
    fn part(&mut self, part: &str, stdin: &Flow) -> Flow {
        let part = part.trim().trim_start_matches(['@', '(', ' ']).trim();
        if part.is_empty() || part.starts_with(':') || !self.walk.spend(16 + part.len()) {
            return Flow::none();
        }
        let word = first_word(part);
        match word.to_ascii_lowercase().as_str() {
            "set" => {
                self.set(part.get(3..).unwrap_or_default().trim());
                return Flow::none();
            }
            "if" => return self.condition(part.get(2..).unwrap_or_default().trim(), stdin),
            "else" | "do" | "call" if part.len() > word.len() => {
                let rest = part.get(word.len()..).unwrap_or_default();
                // `call` reads variables once more.
                let rest = if word.eq_ignore_ascii_case("call") {
                    self.filled(rest).replace("%%", "%")
                } else {
                    rest.to_owned()
                };
                self.line(&rest);
                return Flow::none();
            }
            "for" => return self.each(part),
            "start" => {
                let words = words(part.get(5..).unwrap_or_default());
                let from = words
                    .iter()
                    .position(|(word, quoted)| !(*quoted || word.starts_with('/')))
                    .unwrap_or(words.len());
                let line: Vec<&str> = words.iter().skip(from).map(|(word, _)| word.as_str()).collect();
                self.line(&line.join(" "));
                return Flow::none();
            }
            "rem" => return Flow::none(),
            _ => {}
        }
        let filled = self.filled(part);
        self.run(&filled, stdin)
    }

    /// A command whose variables were replaced.
    fn run(&mut self, line: &str, stdin: &Flow) -> Flow {
        let line = line.trim_start_matches(['@', '(', ' ', '"']);
        let (line, files) = redirected(line);
        let line = line.trim();
        let all = words(line);
        let Some(((first, _), _)) = all.split_first() else {
            for (file, append) in files {
                super::written(self.walk, &file, Flow::known(String::new()), append, self.span);
            }
            return Flow::none();
        };
        // A variable that holds nothing vanishes.
        let whole = first.replace(HOLE, "");
        let first_known = if whole.is_empty() { first } else { &whole };
        let (name, glued) = split_name(first_known);
        let mut rest: Vec<&str> = Vec::with_capacity(all.len());
        rest.extend(Some(glued).filter(|glued| !glued.is_empty()));
        rest.extend(all.iter().skip(1).map(|(word, _)| word.as_str()));
        let lower = crate::programs::base_name(name).to_ascii_lowercase();
        let out = match lower.as_str() {
            "echo" | "echo." => {
                Flow::known(format!("{}\n", line.get(first.len()..).unwrap_or_default().trim()))
            }
            "title" | "ver" | "dir" | "cls" | "pause" | "exit" | "goto" | "setlocal" | "endlocal"
            | "ping" | "where" | "find" | "sort" | "timeout" | "time" | "date" | "path" => {
                Flow::unknown(Origin { local: true, ..Origin::default() })
            }
            "cd" | "chdir" | "pushd" => {
                if let Some(folder) = rest.iter().find(|word| !word.eq_ignore_ascii_case("/d")) {
                    self.walk.scope.cwd = self.walk.path(&posix(folder));
                }
                Flow::none()
            }
            "type" | "more" | "findstr" => {
                let mut out = Flow::known(String::new());
                for word in &rest {
                    out = if word.eq_ignore_ascii_case("nul") {
                        Flow::known(String::new())
                    } else {
                        self.walk.read_file(&posix(word), self.span)
                    };
                }
                out
            }
            _ => self.program(&lower, name, &rest, stdin),
        };
        for (file, append) in files {
            if !file.eq_ignore_ascii_case("nul") && !file.starts_with('&') {
                super::written(self.walk, &file, out.clone(), append, self.span);
            }
        }
        out
    }

    fn program(&mut self, lower: &str, name: &str, rest: &[&str], stdin: &Flow) -> Flow {
        let given: Vec<Arg<'_>> =
            rest.iter().map(|word| Arg { text: (*word).into(), span: self.span }).collect();
        let call = Call { name: lower, args: &given, span: self.span, stdin };
        match lower {
            "cmd" => super::shell(self.walk, call),
            "powershell" | "pwsh" => super::powershell(self.walk, call),
            "rmdir" | "deltree" => {
                cmdlets::verb(self.walk, "rd", rest, self.span, stdin);
            }
            "copy"
                if rest
                    .iter()
                    .find(|word| !word.starts_with('/'))
                    .is_some_and(|word| word.eq_ignore_ascii_case("nul")) =>
            {
                if let Some(file) = rest.iter().filter(|word| !word.starts_with('/')).nth(1) {
                    super::written(self.walk, file, Flow::known(String::new()), false, self.span);
                }
            }
            _ if name.contains(HOLE) => {
                let mut all = vec![Arg { text: name.into(), span: self.span }];
                all.extend(given.iter().map(Arg::shared));
                return crate::programs::run(self.walk, &all, stdin, self.span);
            }
            _ => {
                if cmdlets::verb(self.walk, lower, rest, self.span, stdin) {
                    return Flow::unknown(Origin { local: true, ..Origin::default() });
                }
                return super::program(self.walk, name, rest, stdin, self.span);
            }
        }
        Flow::unknown(Origin { local: true, ..Origin::default() })
    }

    fn set(&mut self, rest: &str) {
        let asked = rest
            .get(..2)
            .is_some_and(|start| start.eq_ignore_ascii_case("/p") || start.eq_ignore_ascii_case("/a"));
        let rest = if asked { rest.get(2..).unwrap_or_default().trim() } else { rest };
        let rest = rest
            .strip_prefix('"')
            .map_or(rest, |inner| inner.rsplit_once('"').map_or(inner, |(inner, _)| inner));
        if let Some((name, value)) = rest.split_once('=') {
            let value = if asked { HOLE_STR.to_owned() } else { self.filled(value) };
            if value.len() < 4096 && self.variables.len() < 256 {
                self.variables.insert(name.trim().to_ascii_lowercase(), value);
            }
        }
    }

    /// `if [not] [/i] exist x command`, `if a==b command`.
    fn condition(&mut self, rest: &str, stdin: &Flow) -> Flow {
        let mut rest = rest;
        loop {
            let word = first_word(rest);
            let lower = word.to_ascii_lowercase();
            let take = match lower.as_str() {
                "not" | "/i" => 1,
                "exist" | "defined" | "errorlevel" | "cmdextversion" => 2,
                _ if word.contains("==") && !word.ends_with("==") => 1,
                _ if word.contains("==") => 2,
                _ => {
                    let next = first_word(rest.get(word.len()..).unwrap_or_default().trim_start());
                    let compares = ["==", "equ", "neq", "lss", "leq", "gtr", "geq"];
                    if compares.iter().any(|sign| next.eq_ignore_ascii_case(sign)) || next.starts_with("==") {
                        3
                    } else {
                        0
                    }
                }
            };
            if take == 0 || rest.is_empty() {
                break;
            }
            for _ in 0..take {
                rest = rest.get(first_word(rest).len()..).unwrap_or_default().trim_start();
            }
        }
        self.part(rest, stdin)
    }

    /// `for %x in (things) do command`, once for each thing.
    fn each(&mut self, part: &str) -> Flow {
        let lower = part.to_ascii_lowercase();
        let Some((head, body)) = lower
            .find(" do ")
            .or_else(|| lower.find(" do("))
            .and_then(|at| Some((part.get(..at)?, part.get(at + 4..)?)))
        else {
            return Flow::none();
        };
        let (before, inside) = match head.split_once('(') {
            Some((before, rest)) => (before, rest.rsplit_once(')').map_or(rest, |(inside, _)| inside)),
            None => (head, ""),
        };
        let inside = self.filled(inside);
        let options = before.to_ascii_lowercase();
        let mut things: Vec<String> = words(&inside).into_iter().map(|(word, _)| word).collect();
        if options.contains("/f") {
            let trimmed = inside.trim();
            if let Some(command) = trimmed.strip_prefix(['\'', '`']) {
                self.line(command.trim_end_matches(['\'', '`']));
                things = vec![HOLE_STR.to_owned()];
            } else if let Some(text) = trimmed.strip_prefix('"') {
                // A text whose words are the things.
                let text = text.trim_end_matches('"');
                things = vec![if options.contains("tokens") {
                    text.split_whitespace().next().unwrap_or_default().to_owned()
                } else {
                    text.to_owned()
                }];
                if options.contains("tokens=*") || options.contains("delims=") {
                    things = vec![text.to_owned()];
                }
            } else {
                things = vec![HOLE_STR.to_owned()];
            }
        } else if options.contains("/r") {
            let folder =
                words(before).into_iter().map(|(word, _)| word).find(|word| word.contains([':', '\\']));
            if let Some(folder) = folder {
                things = things
                    .iter()
                    .map(|thing| format!("{}\\{thing}", folder.trim_end_matches('\\')))
                    .collect();
            }
        }
        let Some(variable) = before.split_whitespace().find(|word| word.starts_with('%')) else {
            return Flow::none();
        };
        let variable = variable.trim_start_matches('%').chars().next().unwrap_or(' ');
        if things.is_empty() {
            things.push(HOLE_STR.to_owned());
        }
        for thing in things.iter().take(ROUNDS) {
            let line = with_thing(body, variable, thing);
            self.line(line.trim().trim_start_matches('('));
        }
        Flow::none()
    }

    /// The line with its variables replaced and its escapes taken away.
    fn filled(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find(['%', '!', '^']) {
            out.push_str(rest.get(..at).unwrap_or_default());
            let mark = rest.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('%');
            let after = rest.get(at + 1..).unwrap_or_default();
            if mark == '^' {
                let letter = after.chars().next();
                out.extend(letter);
                rest = after.get(letter.map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
            match after.split_once(mark) {
                Some((name, tail)) if is_name(name) => {
                    out.push_str(&self.value(name));
                    rest = tail;
                }
                _ => {
                    out.push(mark);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// `name`, `name:~1,3`, `name:old=new`.
    fn value(&self, name: &str) -> String {
        let (bare, change) = name.split_once(':').map_or((name, None), |(bare, change)| (bare, Some(change)));
        let known = self.variables.get(&bare.to_ascii_lowercase()).cloned();
        let value = known.or_else(|| held(&format!("env:{bare}")).map(str::to_owned));
        let Some(value) = value else {
            // Another part of it may still be known to be nothing.
            return HOLE_STR.to_owned();
        };
        match change {
            None => value,
            Some(change) => match change.strip_prefix('~') {
                Some(places) => cut(&value, places),
                None => match change.split_once('=') {
                    Some((old, new)) if !old.is_empty() => value.replace(old.trim_start_matches('*'), new),
                    _ => value,
                },
            },
        }
    }
}

/// Notes what a fetched or decoded input means to a shell that reads it.
pub(super) fn fed(walk: &mut Walk<'_>, stdin: &Flow, span: Span) {
    if stdin.origin.network {
        walk.emit(Kind::RunDownloaded, "runs text from the network", span);
    }
    text(walk, stdin.seen(), span);
}
