//! Expressions of PowerShell: words, operators, members and texts with variables in them.

use super::pieces::{Item, Piece, name_of};
use super::power::Shell;
use super::values::{self, Value};
use crate::walk::Origin;

impl Shell<'_, '_> {
    /// One word and everything that touches it.
    pub(super) fn argument(&mut self, items: &[Item<'_>], at: usize) -> (Value, usize) {
        let (mut value, mut next) = self.primary(items, at);
        while let Some(item) = items.get(next)
            && item.glued
            && matches!(
                item.piece,
                Piece::Word(_)
                    | Piece::Text(_)
                    | Piece::Live(_)
                    | Piece::Variable(_)
                    | Piece::Group('(' | '[', _)
            )
        {
            let (more, after) = self.primary(items, next);
            let text = value.joined() + &more.joined();
            value = Value { list: vec![text], origin: value.origin.and(more.origin) };
            next = after;
        }
        (value, next)
    }

    /// A value with operators, which bind the tighter the higher their rank.
    pub(super) fn expression(&mut self, items: &[Item<'_>], at: usize, rank: u8) -> (Value, usize) {
        if !self.walk.spend(4) || !self.walk.down(self.span) {
            return (Value::unknown(Origin::default()), items.len());
        }
        let (mut left, mut at) = self.primary(items, at);
        while let Some((operator, strength, width)) = operator(items, at) {
            if strength <= rank {
                break;
            }
            if at + width >= items.len() {
                at += width;
                break;
            }
            let (right, next) = self.expression(items, at + width, strength);
            left = values::combined(left, &operator, &right);
            at = next.max(at + width);
        }
        self.walk.up();
        (left, at)
    }

    fn primary(&mut self, items: &[Item<'_>], at: usize) -> (Value, usize) {
        let Some(item) = items.get(at) else { return (Value::default(), at) };
        if !self.walk.spend(4) {
            return (Value::unknown(Origin::default()), items.len());
        }
        let mut next = at + 1;
        let mut value = match &item.piece {
            Piece::Text(text) => Value::text(text.clone()),
            Piece::Live(text) => self.expanded(text),
            Piece::Variable(name) => self.variable(&name.to_ascii_lowercase()),
            Piece::Word(word)
                if matches!(word.to_ascii_lowercase().as_str(), "-join" | "-split" | "-not" | "!") =>
            {
                let (value, after) = self.expression(items, next, 4);
                let value = match word.to_ascii_lowercase().as_str() {
                    "-join" => Value { list: vec![value.list.concat()], origin: value.origin },
                    "-split" => Value {
                        list: value
                            .list
                            .iter()
                            .flat_map(|text| text.split_whitespace().map(str::to_owned))
                            .collect(),
                        origin: value.origin,
                    },
                    _ => value,
                };
                return (value, after);
            }
            Piece::Word(word) => match word.split_once("..") {
                Some((from, to)) if from.parse::<i32>().is_ok() && to.parse::<i32>().is_ok() => {
                    values::combined(Value::text(from), "..", &Value::text(to))
                }
                _ => Value::text(word.clone()),
            },
            Piece::Group('[', inner) => return self.typed(inner, items, next),
            Piece::Group(_, inner) => self.statements(inner),
            Piece::Member(name) => Value::text(format!(".{name}")),
            Piece::Sign(',') => return self.primary(items, next),
            Piece::Sign(_) => Value::default(),
        };
        while let Some(item) = items.get(next)
            && item.glued
        {
            match &item.piece {
                Piece::Member(name) => {
                    let (args, after) = self.call_arguments(items, next + 1);
                    value = self.member(&value, name, args.as_deref());
                    next = after;
                }
                Piece::Group('[', places)
                    if !matches!(items.get(at).map(|item| &item.piece), Some(Piece::Word(_))) =>
                {
                    let (places, _) = self.expression(places, 0, 0);
                    value = values::picked(&value, &places);
                    next += 1;
                }
                _ => break,
            }
        }
        (value, next)
    }

    /// `[type]::member(…)` or `[type] value`.
    fn typed(&mut self, inner: &[Item<'_>], items: &[Item<'_>], at: usize) -> (Value, usize) {
        let kind = spelled(inner);
        let Some(Item { piece: Piece::Member(name), glued: true }) = items.get(at) else {
            if items.get(at).is_none() {
                return (Value::unknown(Origin::default()), at);
            }
            let (value, next) = self.primary(items, at);
            return (values::cast(&kind, value), next);
        };
        let mut name = name.clone();
        let mut at = at;
        if name.is_empty()
            && let Some(Piece::Group('(', inner)) = items.get(at + 1).map(|item| &item.piece)
        {
            // `[type]::('De' + 'lete')(…)`
            name = self.statements(inner).joined();
            at += 1;
        }
        let (args, mut next) = self.call_arguments(items, at + 1);
        let mut value = self.static_member(&kind, &name.to_ascii_lowercase(), args.as_deref());
        while let Some(Item { piece: Piece::Member(name), glued: true }) = items.get(next) {
            let (args, after) = self.call_arguments(items, next + 1);
            value = self.member(&value, name, args.as_deref());
            next = after;
        }
        (value, next)
    }

    /// What stands in the brackets after a member, if it is called.
    fn call_arguments(&mut self, items: &[Item<'_>], at: usize) -> (Option<Vec<Value>>, usize) {
        match items.get(at) {
            Some(Item { piece: Piece::Group('(', inner), glued: true }) => {
                let parts = inner.split(|item| item.is_sign(','));
                let args = parts.filter(|part| !part.is_empty()).map(|part| self.pipeline(part)).collect();
                (Some(args), at + 1)
            }
            Some(Item { piece: Piece::Group('{', block), glued: true }) => {
                self.statements(block);
                (Some(Vec::new()), at + 1)
            }
            _ => (None, at),
        }
    }

    pub(super) fn variable(&self, name: &str) -> Value {
        if let Some(value) = self.variables.get(name.strip_prefix("script:").unwrap_or(name)) {
            return value.clone();
        }
        values::held(name).map_or_else(|| Value::unknown(Origin::default()), Value::text)
    }

    /// A text in double quotes with its variables replaced.
    fn expanded(&mut self, text: &str) -> Value {
        let mut out = String::new();
        let mut origin = Origin::default();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '`']) {
            out.push_str(rest.get(..at).unwrap_or_default());
            let after = rest.get(at + 1..).unwrap_or_default();
            if rest.get(at..).is_some_and(|rest| rest.starts_with('`')) {
                let letter = after.chars().next();
                out.push(letter.map_or('`', |letter| match letter {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                }));
                rest = after.get(letter.map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
            if let Some(inner) = after.strip_prefix('(') {
                let end = closing(inner);
                let value = self.run(inner.get(..end).unwrap_or_default());
                out.push_str(&value.joined());
                origin = origin.and(value.origin);
                rest = inner.get(end + 1..).unwrap_or_default();
                continue;
            }
            let bare = name_of(after);
            let (name, tail) = after
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'))
                .unwrap_or((bare, after.get(bare.len()..).unwrap_or_default()));
            if name.is_empty() {
                out.push('$');
            } else {
                let value = self.variable(&name.to_ascii_lowercase());
                out.push_str(&value.joined());
                origin = origin.and(value.origin);
            }
            rest = tail;
        }
        out.push_str(rest);
        Value { list: vec![out.replace("\\\"", "\"")], origin }
    }
}

/// A type as written, in lower case.
fn spelled(items: &[Item<'_>]) -> String {
    let mut out = String::new();
    for item in items {
        match &item.piece {
            Piece::Word(word) => out.push_str(word),
            Piece::Text(text) => out.push_str(text),
            Piece::Member(name) => {
                out.push('.');
                out.push_str(name);
            }
            Piece::Group('[', _) => out.push_str("[]"),
            _ => {}
        }
    }
    out.to_ascii_lowercase()
}

/// The operator at a place, how tightly it binds, and how many pieces it is.
fn operator(items: &[Item<'_>], at: usize) -> Option<(String, u8, usize)> {
    match &items.get(at)?.piece {
        Piece::Sign('+') => Some(("+".to_owned(), 2, 1)),
        Piece::Sign('*') => Some(("*".to_owned(), 3, 1)),
        Piece::Sign(',') => Some((",".to_owned(), 6, 1)),
        Piece::Word(word) => {
            let lower = word.to_ascii_lowercase();
            match lower.as_str() {
                "-f" => Some((lower, 4, 1)),
                "-" => Some((lower, 2, 1)),
                ".." => Some((lower, 5, 1)),
                _ if lower.starts_with('-')
                    && lower.len() > 2
                    && lower.bytes().skip(1).all(|b| b.is_ascii_lowercase()) =>
                {
                    Some((lower, 1, 1))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where the bracket that was opened before a text closes in it.
fn closing(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return at,
            b')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
