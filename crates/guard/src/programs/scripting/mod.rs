//! What a program in a scripting language would do, from its calls and constant strings.

mod calls;
mod constants;
mod decoded;
mod file_calls;
mod learn;
mod lists;
mod overall;
mod perl;
mod receivers;
mod rights;
mod steps;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;

use super::sql;
use super::tokens::{Token, tokens};
use crate::effect::{Kind, Span};
use crate::walk::{Flow, HOLE, Origin, Walk};
use calls::RUNS;
use file_calls::deletes;

/// What reading a program costs besides its length.
const PROGRAM: usize = 120;

/// Judges a program.
pub(crate) fn judge(walk: &mut Walk<'_>, language: &str, text: &str, span: Span) {
    if text.len() < 4 || !walk.spend(PROGRAM + 3 * text.len()) {
        return;
    }
    if language == "tcl" {
        tcl(walk, text, span);
    }
    let list = tokens(text, language);
    let mut program = Program::new(list);
    program.joins = language == "awk";
    program.paths =
        matches!(language, "python" | "node") && (program.mentions(&["path"]) || program.holds_text("path"));
    program.pathname = language == "ruby" && program.mentions(&["Pathname"]);
    program.learn();
    if let Some(filled) = program.filled(text) {
        program.list = tokens(&filled, language);
    }
    let saved = walk.effects.len();
    if matches!(language, "lisp")
        && ["delete-directory", "delete-file", "remove-directory"].iter().any(|verb| text.contains(verb))
    {
        walk.emit_names(Kind::Delete, "deletes files", span, &["…"]);
    }
    program.calls(walk, language, span);
    program.overall(walk, language, text, span, saved);
    walk.spend(program.taken() / 8);
    if program.lost.get() {
        walk.emit(Kind::Unreadable, "too much to follow", span);
    }
}

/// Tcl: what `exec` is given is a command line whose braces quote.
fn tcl(walk: &mut Walk<'_>, text: &str, span: Span) {
    for line in text.split(['\n', ';']) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("exec ") {
            if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                rest = after;
                continue;
            }
            let command = after.split(']').next().unwrap_or(after);
            walk.run_text(&command.replace(['{', '}'], "'"), &Flow::none(), span);
            rest = after;
        }
    }
}

/// Functions that print.
const PRINTS: [&str; 8] = ["print", "puts", "log", "write", "echo", "say", "cat", "printf"];

/// What a program prints when it only prints constants.
pub(crate) fn printed(text: &str) -> Option<String> {
    // Reading a program twice is only worth it when it can print at all.
    if !text.trim_start().starts_with(['"', '\'', '`']) && !PRINTS.iter().any(|verb| text.contains(verb)) {
        return None;
    }
    let list = tokens(text, "python");
    let mut program = Program::new(list);
    program.learn();
    if let [Token::Text(text)] = program.list.as_slice() {
        // `node -p '"text"'`
        return Some(format!("{text}\n"));
    }
    for (at, token) in program.list.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        if PRINTS.contains(&name.as_str()) {
            let from = if program.sign(at + 1, '(') { at + 2 } else { at + 1 };
            return program.constant(from).map(|text| text + "\n");
        }
    }
    None
}

/// Whether the text so far ends inside double quotes.
fn in_quotes(text: &str) -> bool {
    text.matches('"').count() % 2 == 1
}

/// Words that mean the program talks to the network.
pub(super) const NETWORK: [&str; 24] = [
    "urlopen",
    "urlretrieve",
    "requests",
    "urllib",
    "http",
    "https",
    "fetch",
    "axios",
    "curl_exec",
    "file_get_contents",
    "LWP",
    "HTTP",
    "open_uri",
    "Net",
    "httpx",
    "aiohttp",
    "WebClient",
    "curl_init",
    "got",
    "request",
    "URI",
    "socket",
    "Socket",
    "TCPSocket",
];

pub(super) struct Program {
    list: Vec<Token>,
    constants: BTreeMap<String, String>,
    lists: BTreeMap<String, Vec<String>>,
    renamed: BTreeMap<String, String>,
    /// Whether it talks to a database, once somebody asked.
    database: OnceCell<bool>,
    /// Whether values that stand beside each other are one text.
    joins: bool,
    /// Whether `join` on its own puts a path together.
    paths: bool,
    /// Whether it has paths that know how to join others: Ruby's `Pathname`.
    pathname: bool,
    /// How deep in brackets the expression at hand is.
    depth: Cell<usize>,
    /// Steps left to find out what expressions stand for.
    left: Cell<usize>,
    /// Whether an expression was given up.
    lost: Cell<bool>,
    /// Where an expression ends whose end is known.
    end: Cell<usize>,
    /// Whether something is printed into a shell, once somebody asked.
    pipes: OnceCell<bool>,
}

impl Program {
    fn new(list: Vec<Token>) -> Self {
        Self {
            depth: Cell::new(0),
            left: Cell::new(steps::allowed(list.len())),
            lost: Cell::new(false),
            end: Cell::new(usize::MAX),
            pipes: OnceCell::new(),
            paths: false,
            pathname: false,
            list,
            constants: BTreeMap::new(),
            lists: BTreeMap::new(),
            renamed: BTreeMap::new(),
            database: OnceCell::new(),
            joins: false,
        }
    }

    /// The name at a place, or the one it stands for.
    fn real(&self, at: usize) -> Option<&str> {
        let name = self.name(at)?;
        Some(self.renamed.get(name).map_or(name, String::as_str))
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.list.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn sign(&self, at: usize, sign: char) -> bool {
        self.list.get(at) == Some(&Token::Sign(sign))
    }

    /// Where the arguments begin when a call opens at `at`, also behind the end of a group.
    fn opens(&self, at: usize) -> Option<usize> {
        let at = if self.sign(at, ')') { at + 1 } else { at };
        self.sign(at, '(').then_some(at + 1)
    }

    pub(super) fn mentions(&self, words: &[&str]) -> bool {
        self.list.iter().any(|token| matches!(token, Token::Name(name) if words.contains(&name.as_str())))
    }

    pub(super) fn holds_text(&self, want: &str) -> bool {
        self.list.iter().any(|token| matches!(token, Token::Text(text) if text.contains(want)))
    }

    /// The text with known variables put into its strings: `"$x -rf /"`, `"#{x} -rf /"`.
    fn filled(&self, text: &str) -> Option<String> {
        let prints = text.contains("f\"") || text.contains("f'");
        if self.constants.is_empty() || self.constants.len() > 16 || !(prints || text.contains(['$', '#'])) {
            return None;
        }
        let mut out = text.to_owned();
        for (name, value) in &self.constants {
            if value.contains(['$', '#', '"', '\'']) || value.len() > 256 || out.len() > 20_000 {
                continue;
            }
            for form in [format!("#{{{name}}}"), format!("${{{name}}}")] {
                out = out.replace(&form, value);
            }
            if prints {
                out = out.replace(&format!("{{{name}}}"), value);
            }
            let plain = format!("${name}");
            let mut rest = out.as_str();
            let mut fresh = String::with_capacity(out.len());
            while let Some((before, after)) = rest.split_once(&plain) {
                fresh.push_str(before);
                let whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let set = after.trim_start().starts_with('=');
                fresh.push_str(if whole && !set && in_quotes(&fresh) { value } else { &plain });
                rest = after;
            }
            fresh.push_str(rest);
            out = fresh;
        }
        (out != text).then_some(out)
    }

    fn calls(&self, walk: &mut Walk<'_>, language: &str, span: Span) {
        for at in 0..self.list.len() {
            if walk.account().1 == 0 {
                break;
            }
            match self.list.get(at) {
                Some(Token::Command(text)) => {
                    let text = self.interpolated(language, text);
                    let text = super::tokens::without_interpolation(&text);
                    walk.run_text(&text, &Flow::none(), span);
                }
                Some(Token::Text(text)) => self.literal(walk, language, at, text, span),
                Some(Token::Name(name)) if language == "awk" && self.is_written_to(at) => {
                    // `print > file`; what is only compared is no path.
                    if let Some(path) = self.constants.get(name).filter(|path| path.contains(['.', '/'])) {
                        let content = Flow::unknown(Origin::default());
                        walk.write_file(path, content, false, "writes a file from awk", span);
                    }
                }
                Some(Token::Name(name))
                    if language == "awk" && (self.sign(at + 1, '|') || at > 0 && self.sign(at - 1, '|')) =>
                {
                    // `cmd | getline`, `print | cmd`
                    if let Some(command) = self.constants.get(name) {
                        walk.run_text(command, &Flow::none(), span);
                    }
                }
                Some(Token::Name(name))
                    if self.constants.get(name).is_some_and(|real| RUNS.contains(&real.as_str())) =>
                {
                    // `$f = "system"; $f(…)`
                    let real = self.constants.get(name).map_or("", String::as_str);
                    self.call(walk, language, at, real, span);
                }
                Some(Token::Name(name)) => {
                    let real = self.renamed.get(name).map_or(name.as_str(), String::as_str);
                    self.call(walk, language, at, real, span);
                }
                _ => {}
            }
        }
    }

    /// A command literal with `#{…}` replaced by what it puts together: `#{%w[r m].join}`.
    fn interpolated<'t>(&self, language: &str, text: &'t str) -> Cow<'t, str> {
        let (mut out, mut rest) = (Cow::Borrowed(""), text);
        // More of them than this put nothing together that anybody follows.
        for _ in 0..8 {
            let Some((before, (inner, after))) =
                rest.split_once("#{").and_then(|(before, after)| Some((before, after.split_once('}')?)))
            else {
                break;
            };
            if !self.pay(8 + self.constants.len() + self.lists.len()) {
                break;
            }
            let mut inside = Self::new(tokens(inner, language));
            inside.constants.clone_from(&self.constants);
            inside.lists.clone_from(&self.lists);
            let value = inside.constant(0).unwrap_or_else(|| HOLE.to_string());
            out = format!("{out}{before}{value}").into();
            rest = after;
        }
        if out.is_empty() { rest.into() } else { format!("{out}{rest}").into() }
    }

    /// Whether what stands here is only printed: the call it stands in prints, or its words begin
    /// the statement.
    fn is_printed(&self, at: usize) -> bool {
        for before in (at.saturating_sub(24)..at).rev() {
            match self.list.get(before) {
                Some(Token::Sign(';')) => return false,
                Some(Token::Name(name)) => {
                    if matches!(name.as_str(), "print" | "puts" | "log" | "echo" | "printf" | "say") {
                        return true;
                    }
                    if matches!(
                        name.as_str(),
                        "execute" | "query" | "exec" | "run" | "raw" | "executescript" | "prepare" | "sql"
                    ) && self.sign(before + 1, '(')
                    {
                        return false;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// What `print … | "command"` prints, unknown parts as holes.
    fn printed_before(&self, pipe: usize) -> String {
        let from = (pipe.saturating_sub(64)..pipe)
            .rev()
            .take_while(|at| !self.sign(*at, ';') && !self.sign(*at, '{'))
            .find(|at| matches!(self.name(*at), Some("print" | "printf")));
        let Some(from) = from else { return HOLE.to_string() };
        let mut out = String::new();
        for token in self.list.get(from + 1..pipe).unwrap_or_default() {
            match token {
                Token::Text(text) => out.push_str(text),
                Token::Name(name) => match self.constants.get(name) {
                    Some(value) => out.push_str(value),
                    None => out.push(HOLE),
                },
                Token::Number(_) | Token::Command(_) => out.push(HOLE),
                Token::Sign(_) => {}
            }
        }
        out
    }

    /// Whether anything in it is named as what talks to a database is; without, statements are data.
    fn reaches_database(&self) -> bool {
        const SIGNS: [&str; 25] = [
            "sql",
            "db",
            "query",
            "exec",
            "cursor",
            "conn",
            "pg",
            "postgres",
            "duck",
            "oracle",
            "run",
            "raw",
            "prepare",
            "database",
            "knex",
            "prisma",
            "sequel",
            "transaction",
            "session",
            "engine",
            "client",
            "record",
            "spark",
            "do",
            "mysql",
        ];
        let named = |token: &Token| match token {
            Token::Name(name) => {
                let name = name.to_ascii_lowercase();
                SIGNS.iter().any(|sign| if *sign == "do" { name == "do" } else { name.contains(sign) })
            }
            _ => false,
        };
        *self.database.get_or_init(|| self.list.iter().any(named))
    }

    /// Whether a pipe to a shell is opened: `open S, "|sh"`.
    fn pipes_to_shell(&self) -> bool {
        let shell = |text: &str| {
            text.starts_with('|')
                && matches!(text.trim_start_matches(['|', ' ']), "sh" | "bash" | "/bin/sh" | "/bin/bash")
        };
        *self
            .pipes
            .get_or_init(|| self.list.iter().any(|token| matches!(token, Token::Text(text) if shell(text))))
    }

    /// Whether awk writes to what stands there: behind `>`, `>>` or `> (`.
    fn is_written_to(&self, at: usize) -> bool {
        let open = usize::from(at > 1 && self.sign(at - 1, '('));
        at > open && self.sign(at - 1 - open, '>')
    }

    /// A string literal on its own: SQL, or a command at an awk or Groovy pipe.
    fn literal(&self, walk: &mut Walk<'_>, language: &str, at: usize, text: &str, span: Span) {
        let printed = self.is_printed(at);
        let begins = !(at > 0 && self.sign(at - 1, '+'));
        let folded = (begins && self.sign(at + 1, '+')).then(|| self.constant(at)).flatten();
        let text = folded.as_deref().unwrap_or(text);
        if text.len() > 8 && !printed && sql::looks_destructive(text) && self.reaches_database() {
            sql::judge(walk, text, span);
        }
        if language == "node" && at > 0 && self.sign(at - 1, '$') {
            // A tagged template: `$`command``, `Bun.$`command``.
            walk.run_text(text, &Flow::none(), span);
        }
        if language == "awk" {
            let piped = self.sign(at + 1, '|')
                || (self.sign(at + 1, ')') && self.sign(at + 2, '|'))
                || (at > 0 && self.sign(at - 1, '|'))
                || (at > 1 && self.sign(at - 1, '&') && self.sign(at - 2, '|'));
            if text.starts_with("/inet/") {
                walk.emit_names(Kind::ReverseShell, "opens a connection from awk", span, &[text]);
            } else if piped {
                let printed = Flow { text: Some(self.printed_before(at).into()), origin: Origin::default() };
                walk.run_text(text, &printed, span);
            } else if self.is_written_to(at) {
                walk.write_file(
                    self.constant(at).as_deref().unwrap_or(text),
                    Flow::unknown(Origin::default()),
                    false,
                    "writes a file from awk",
                    span,
                );
            }
        }
        if at > 0
            && self.sign(at - 1, '[')
            && let Some(name) = self.constant(at)
            && let Some(close) =
                (at + 1..at + 6).find(|near| self.sign(*near, ']') && self.opens(near + 1).is_some())
        {
            let first = self.opens(close + 1).unwrap_or(close + 2);
            // `os.__dict__['system'](…)`, `child_process['exec' + 'Sync'](…)`
            if RUNS.contains(&name.as_str()) || name == "exec" {
                self.run_call(walk, first, span);
            } else if let Some(tree) = deletes(&name, Some("os")) {
                self.delete_call(walk, at, first, tree, span);
            }
        }
        if language == "perl" && self.pipes_to_shell() {
            // What is printed into an open pipe to a shell.
            walk.run_text(text, &Flow::none(), span);
        }
        if self.sign(at + 1, '.') && (self.name(at + 2) == Some("execute") || self.sign(at + 2, '!')) {
            walk.run_text(text, &Flow::none(), span);
        }
        if language == "applescript" && at > 0 && self.name(at - 1) == Some("script") {
            walk.run_text(text, &Flow::none(), span);
        }
    }
}
