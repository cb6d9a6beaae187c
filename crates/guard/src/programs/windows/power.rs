//! PowerShell text, followed statement by statement.

use std::collections::BTreeMap;

use super::pieces::{Item, Piece, pieces};
use super::values::{self, Value};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Flow, HOLE, HOLE_STR, Origin, Walk};

/// Most rounds of a loop over known things.
const ROUNDS: usize = 8;

/// Judges a text.
pub(in crate::programs) fn text(walk: &mut Walk<'_>, source: &str, span: Span) {
    let mut shell = Shell { walk, span, variables: BTreeMap::new(), aliases: BTreeMap::new() };
    shell.run(source);
}

/// What is known while a text is followed.
pub(super) struct Shell<'w, 'c> {
    pub(super) walk: &'w mut Walk<'c>,
    pub(super) span: Span,
    pub(super) variables: BTreeMap<String, Value>,
    pub(super) aliases: BTreeMap<String, String>,
}

/// One argument of a command: a value, or a block of statements.
pub(super) enum Given<'p, 'a> {
    Value(Value),
    Block(&'p [Item<'a>]),
}

impl Shell<'_, '_> {
    /// Follows a text.
    pub(super) fn run(&mut self, source: &str) -> Value {
        if !self.walk.spend(3 * source.len() + 16) {
            return Value::unknown(Origin::default());
        }
        let Some(items) = pieces(source) else {
            self.walk.emit(Kind::Unreadable, "nested too deeply", self.span);
            return Value::unknown(Origin::default());
        };
        self.statements(&items)
    }

    /// Follows statements one after the other; the answer is what the last one gives.
    pub(super) fn statements(&mut self, items: &[Item<'_>]) -> Value {
        if !self.walk.down(self.span) {
            return Value::unknown(Origin::default());
        }
        let mut last = Value::default();
        for statement in items.split(|item| item.is_sign(';')) {
            if !statement.is_empty() && self.walk.spend(8 + statement.len()) {
                last = self.statement(statement);
            }
        }
        self.walk.up();
        last
    }

    fn statement(&mut self, items: &[Item<'_>]) -> Value {
        if let [Item { piece: Piece::Variable(name), .. }, rest @ ..] = items {
            match rest {
                [sign, value @ ..] if sign.is_sign('=') => return self.assigned(name, value, false),
                [plus, sign, value @ ..] if plus.is_sign('+') && sign.is_sign('=') => {
                    return self.assigned(name, value, true);
                }
                _ => {}
            }
        }
        if let [Item { piece: Piece::Group('[', _), .. }, rest @ ..] = items
            && let [Item { piece: Piece::Variable(_), .. }, sign, ..] = rest
            && sign.is_sign('=')
        {
            // `[string]$x = …`
            return self.statement(rest);
        }
        if let [Item { piece: Piece::Word(word), .. }, rest @ ..] = items {
            match word.to_ascii_lowercase().as_str() {
                "foreach" if matches!(rest.first().map(|item| &item.piece), Some(Piece::Group('(', _))) => {
                    return self.each(rest);
                }
                "if" | "elseif" | "else" | "while" | "do" | "until" | "try" | "catch" | "finally"
                | "switch" | "for" | "begin" | "process" | "end" | "trap" | "filter" | "function" => {
                    return self.groups(rest);
                }
                "return" | "throw" => return self.statement(rest),
                _ => {}
            }
        }
        self.pipeline(items)
    }

    /// Everything in brackets of a statement, in its order.
    fn groups(&mut self, items: &[Item<'_>]) -> Value {
        let mut last = Value::default();
        for item in items {
            if let Piece::Group('(' | '{', inner) = &item.piece {
                last = self.statements(inner);
            }
        }
        last
    }

    fn assigned(&mut self, name: &str, items: &[Item<'_>], append: bool) -> Value {
        let mut value = self.pipeline(items);
        let name = name.to_ascii_lowercase();
        if append {
            let before = self.variable(&name);
            value = values::combined(before, "+", &value);
        }
        self.variables.insert(name, value);
        Value::default()
    }

    /// `foreach ($x in things) { … }`, once for each thing that is known.
    fn each(&mut self, items: &[Item<'_>]) -> Value {
        let mut things = Value::unknown(Origin::default());
        let mut name = String::new();
        if let Some(Piece::Group(_, head)) = items.first().map(|item| &item.piece)
            && let [
                Item { piece: Piece::Variable(variable), .. },
                Item { piece: Piece::Word(_), .. },
                list @ ..,
            ] = head.as_slice()
        {
            name = variable.to_ascii_lowercase();
            things = self.pipeline(list);
        }
        for thing in things.list.iter().take(ROUNDS) {
            self.variables.insert(name.clone(), Value { list: vec![thing.clone()], origin: things.origin });
            self.groups(items.get(1..).unwrap_or_default());
        }
        Value::unknown(Origin::default())
    }

    pub(super) fn pipeline(&mut self, items: &[Item<'_>]) -> Value {
        let mut input: Option<Value> = None;
        for stage in items.split(|item| item.is_sign('|')) {
            if stage.is_empty() {
                continue;
            }
            let value = self.stage(stage, input.as_ref());
            input = Some(value);
        }
        input.unwrap_or_default()
    }

    /// One part of a pipe: a command, a call, or an expression.
    fn stage(&mut self, items: &[Item<'_>], input: Option<&Value>) -> Value {
        let Some((first, rest)) = items.split_first() else { return Value::default() };
        match &first.piece {
            Piece::Sign('&' | '.') => {
                if rest.first().is_some_and(|item| item.is_sign('&')) {
                    return self.stage(rest, input);
                }
                self.called(rest, input)
            }
            Piece::Word(word) if is_name(word) => {
                // A name and what touches it: `Remove-$x`, but not the brackets of `iex(…)`.
                let end = items
                    .iter()
                    .skip(1)
                    .position(|item| !item.glued || matches!(item.piece, Piece::Group(..)))
                    .map_or(items.len(), |at| at + 1);
                let (name, next) = self.argument(items.get(..end).unwrap_or_default(), 0);
                let args = self.arguments(items.get(next..).unwrap_or_default());
                self.command(&name.joined(), args, input)
            }
            _ => {
                let (value, next) = self.expression(items, 0, 0);
                let rest = items.get(next..).unwrap_or_default();
                self.written(rest);
                if let Some(after) = rest.iter().position(|item| item.is_sign('&')) {
                    // `a & b`: the next command.
                    self.stage(rest.get(after + 1..).unwrap_or_default(), None);
                }
                value
            }
        }
    }

    /// `& thing arguments`
    fn called(&mut self, items: &[Item<'_>], input: Option<&Value>) -> Value {
        if let Some(Piece::Group('{', block)) = items.first().map(|item| &item.piece) {
            let args = self.arguments(items.get(1..).unwrap_or_default());
            let given = args.iter().filter_map(|arg| match arg {
                Given::Value(value) => Some(value.joined()),
                Given::Block(_) => None,
            });
            let value = Value { list: given.collect(), origin: Origin::default() };
            self.variables.insert("args".to_owned(), value);
            return self.statements(block);
        }
        let (name, next) = self.argument(items, 0);
        let args = self.arguments(items.get(next..).unwrap_or_default());
        if name.list.len() == 1 && !name.joined().contains(HOLE) {
            return self.command(&name.joined(), args, input);
        }
        if items.is_empty() {
            return Value::default();
        }
        if name.origin.network {
            self.walk.emit(Kind::RunDownloaded, "runs text from the network", self.span);
        } else if name.list.len() > 1 && !name.joined().contains(HOLE) {
            // The names a wildcard stands for.
            let first = name.list.first().cloned().unwrap_or_default();
            return self.command(&first, args, input);
        } else {
            self.walk.emit(Kind::RunUnseen, "runs a program that cannot be known beforehand", self.span);
        }
        let _ = self.blocks(&args);
        Value::unknown(name.origin)
    }

    /// Words after a command, as values and blocks.
    pub(super) fn arguments<'p, 'a>(&mut self, items: &'p [Item<'a>]) -> Vec<Given<'p, 'a>> {
        let mut args = Vec::new();
        let mut at = 0;
        while let Some(item) = items.get(at) {
            match &item.piece {
                Piece::Group('{', block) => {
                    args.push(Given::Block(block));
                    at += 1;
                }
                Piece::Sign('&') => {
                    // The end of this command in another shell's words.
                    self.stage(items.get(at + 1..).unwrap_or_default(), None);
                    break;
                }
                Piece::Sign('>') => {
                    self.written(items.get(at..).unwrap_or_default());
                    at += 2;
                }
                Piece::Sign(_) => at += 1,
                _ => {
                    let (value, next) = self.argument(items, at);
                    args.extend(
                        value.list.iter().map(|text| {
                            Given::Value(Value { list: vec![text.clone()], origin: value.origin })
                        }),
                    );
                    at = next.max(at + 1);
                }
            }
            if !self.walk.spend(4) {
                break;
            }
        }
        args
    }

    /// A redirection into a file.
    fn written(&mut self, items: &[Item<'_>]) {
        if let Some(at) = items.iter().position(|item| item.is_sign('>')) {
            let from = items.get(at + 1..).unwrap_or_default();
            let from = if from.first().is_some_and(|item| item.is_sign('>')) {
                from.get(1..).unwrap_or_default()
            } else {
                from
            };
            if from.is_empty() {
                return;
            }
            let (file, _) = self.argument(from, 0);
            super::written(self.walk, &file.joined(), Flow::unknown(Origin::default()), false, self.span);
        }
    }

    /// Runs every block among the arguments.
    pub(super) fn blocks(&mut self, args: &[Given<'_, '_>]) -> Option<Value> {
        let mut last = None;
        for arg in args {
            if let Given::Block(block) = arg {
                last = Some(self.statements(block));
            }
        }
        last
    }

    pub(super) fn deleted(&mut self, paths: &[String]) {
        let mut targets: Vec<Target> =
            paths.iter().take(64).map(|path| super::cmdlets::target(self.walk, path)).collect();
        if targets.is_empty() {
            targets.push(Target { text: "…".to_owned(), place: Place::Elsewhere });
        }
        let how = How { recursive: true, ..How::default() };
        self.walk.emit_on(Kind::Delete, "deletes files or folders", self.span, targets, how);
    }
}

/// Whether a bare word names a command, and is no number or operator.
fn is_name(word: &str) -> bool {
    let number = word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b'x' | b'+' | b'-'));
    !word.starts_with('-') && !number
}

/// What is unknown, as a text.
pub(super) fn hole() -> String {
    HOLE_STR.to_owned()
}
