//! One simple command: assignments, expansion, and who runs.

use std::borrow::Cow;
use std::rc::Rc;

use super::flow::{Flow, HOLE, Origin};
use super::{ARGUMENT, ASSIGNED, Arg, NOTED, Src, WALKED, Walk};
use crate::effect::Span;
use crate::programs;
use crate::shell::{Assign, AssignValue, Part, Simple, Word};

impl Walk<'_> {
    /// Walks a simple command, once for each value its variables may have.
    pub(crate) fn simple(&mut self, src: Src<'_>, simple: &Simple<'_>, stdin: &Flow) -> Flow {
        let mut rounds = 1;
        if self.scope.several {
            for word in &simple.words {
                rounds = rounds.max(self.values_in(word.parts.as_slice()));
            }
        }
        if rounds == 1 {
            return self.simple_once(src, simple, stdin);
        }
        let mut out = Flow::none();
        for pick in 0..rounds {
            if !self.spend(64) {
                break;
            }
            self.scope.pick = pick;
            out = self.simple_once(src, simple, stdin);
        }
        self.scope.pick = 0;
        out
    }

    fn values_in(&self, parts: &[Part<'_>]) -> usize {
        let mut most = 1;
        for part in parts {
            let count = match part {
                Part::Param(param) => {
                    self.scope.variable(param.name).map_or(1, |variable| variable.values.len())
                }
                Part::Double(inner) => self.values_in(inner),
                _ => 1,
            };
            most = most.max(count);
        }
        most
    }

    fn simple_once(&mut self, src: Src<'_>, simple: &Simple<'_>, stdin: &Flow) -> Flow {
        let saved = std::mem::take(&mut self.last_unknown);
        let mut args: Vec<Arg<'_>> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            if self.fuel == 0 {
                break;
            }
            self.fields(src, word, &mut args);
        }
        if args.len() > 4 {
            self.spend(ARGUMENT * args.len());
        }
        if self.given != Origin::default() && args.iter().any(|arg| arg.text.contains(HOLE)) {
            self.last_unknown = self.last_unknown.and(self.given);
        }
        let words_unknown = self.last_unknown;
        for assign in &simple.assigns {
            if self.fuel == 0 {
                break;
            }
            self.assign(src, assign, simple.words.is_empty(), simple.span);
        }
        self.last_unknown = words_unknown;
        let input =
            if simple.redirects.is_empty() { None } else { self.input(src, &simple.redirects, stdin) };
        self.last_unknown = words_unknown;
        let stdin = input.as_ref().unwrap_or(stdin);
        let flow = if args.is_empty() {
            // `> file` alone empties it.
            Flow::known(String::new())
        } else {
            if args.first().is_some_and(|arg| arg.text.is_empty())
                && self.calls.is_empty()
                && head(simple).is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()))
            {
                self.emit(
                    crate::effect::Kind::RunUnseen,
                    "runs a program that cannot be known beforehand",
                    simple.span,
                );
            }
            if self.background && head(simple) == Some("0") {
                self.emit_grave(
                    crate::effect::Kind::ForkBomb,
                    "a script that starts itself again and again",
                    simple.span,
                );
            }
            self.head = args
                .first()
                .filter(|arg| arg.text.contains(HOLE))
                .and_then(|_| head(simple))
                .map(str::to_owned);
            let flow = self.run(&args, stdin, simple.span);
            self.keep_last(&args);
            flow
        };
        let flow = if simple.redirects.is_empty() { flow } else { self.output(src, &simple.redirects, flow) };
        let out = if simple.words.is_empty() { saved.and(self.last_unknown) } else { saved };
        self.last_unknown = out;
        flow
    }

    /// Runs a program with arguments: aliases and functions first, then what programs do.
    pub(crate) fn run(&mut self, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
        let Some((first, rest)) = args.split_first() else { return Flow::none() };
        let name = &*first.text;
        self.keep_up(name);
        if rest.len() > 16 {
            self.spend(4 * ARGUMENT * rest.len());
        }
        if !self.scope.aliases.is_empty()
            && let Some(alias) = self.scope.aliases.get(name).cloned()
            && !self.calls.iter().any(|active| **active == *alias)
        {
            let mut text = alias.to_string();
            for arg in rest {
                text.push(' ');
                text.push_str(&quote(&arg.text));
            }
            self.calls.push(alias.to_string());
            let flow = self.run_text(&text, stdin, span);
            self.calls.pop();
            return flow;
        }
        if !self.scope.functions.is_empty()
            && let Some(body) = self.scope.functions.get(name).cloned()
        {
            return self.call_function(name, &body, rest, stdin, span);
        }
        programs::run(self, args, stdin, span)
    }

    /// Remembers the last word of a command for `$_`, if anything asks for it.
    fn keep_last(&mut self, args: &[Arg<'_>]) {
        if self.wants_last
            && let Some(last) = args.last()
        {
            let text = if last.text.len() > 512 { super::HOLE_STR } else { &*last.text };
            self.scope.set("_", text);
        }
    }

    /// Pays for the lists that every program is looked up in, and keeps them short.
    fn keep_up(&mut self, name: &str) {
        if self.scope.files.len() > 16 {
            self.spend(self.scope.files.len() / 2);
        }
        if !self.scope.cloned.is_empty() && name.contains('/') {
            self.spend(NOTED * self.scope.cloned.len());
        }
        // Nobody asks for them without rules of the user's own.
        if self.programs.len() >= 128 && !self.context.user_rules.is_empty() {
            self.file_programs();
        }
        if self.deferred.len() >= 24 {
            self.run_deferred();
        }
    }

    fn assign(&mut self, src: Src<'_>, assign: &Assign<'_>, alone: bool, span: Span) {
        self.last_unknown = Origin::default();
        self.spend(ASSIGNED);
        match &assign.value {
            AssignValue::Array(words) => self.assign_array(src, assign, words),
            AssignValue::Word(word) => {
                let mut value = self.text(src, word);
                if let Some(index) = assign.index {
                    let key = self.index_key(src, index);
                    self.set_element(assign.name, &key, &value, assign.append);
                    return;
                }
                if assign.append {
                    let before = self
                        .scope
                        .value(assign.name, &self.context.home)
                        .unwrap_or(Cow::Borrowed(super::HOLE_STR));
                    if before.len() + value.len() > super::expand::LONGEST {
                        value = HOLE.to_string();
                    } else {
                        value.insert_str(0, &before);
                    }
                    self.spend(value.len());
                }
                self.spend(value.len());
                programs::environment(self, assign.name, &value, alone, span);
                if assign.name == "IFS" && !alone {
                    // Only the command it stands before sees it; `read` asks for it.
                    self.scope.set(super::scope::IFS_BEFORE, &value);
                    return;
                }
                if value.contains(HOLE) {
                    self.scope.origins.insert(assign.name.to_owned(), self.last_unknown);
                } else if !self.scope.origins.is_empty() {
                    self.scope.origins.remove(assign.name);
                }
                self.scope.set(assign.name, &value);
                if assign.append && self.scope.rounds > 0 {
                    // More and more is put behind it.
                    self.scope.set(assign.name, super::HOLE_STR);
                }
            }
        }
    }

    fn assign_array(&mut self, src: Src<'_>, assign: &Assign<'_>, words: &[Word<'_>]) {
        let mut list: Vec<(String, Rc<str>)> = Vec::new();
        if assign.append {
            list = self.scope.variable(assign.name).map(|variable| variable.list.clone()).unwrap_or_default();
        }
        for word in words {
            if self.fuel == 0 {
                return;
            }
            let mut fields = Vec::new();
            self.fields(src, word, &mut fields);
            for field in fields {
                if list.len() > 4096 || !self.spend(field.text.len() + WALKED) {
                    return;
                }
                match keyed(&field.text) {
                    Some((key, value)) => list.push((key.to_owned(), Rc::from(value))),
                    None => list.push((list.len().to_string(), Rc::from(&*field.text))),
                }
            }
        }
        // By their places where these are numbers, whatever order they were written in.
        if list.iter().all(|(key, _)| key.parse::<u32>().is_ok()) {
            list.sort_by_key(|(key, _)| key.parse::<u32>().unwrap_or_default());
        }
        self.scope.set_list(assign.name, list);
    }
}

/// The variable that the first word is, when it is nothing else.
fn head<'a>(simple: &Simple<'a>) -> Option<&'a str> {
    let part = match simple.words.first()?.parts.as_slice() {
        [Part::Double(inner)] => inner,
        parts => parts,
    };
    match part {
        [Part::Param(param)] => Some(param.name),
        _ => None,
    }
}

/// `[key]=value` inside an array.
fn keyed(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.strip_prefix('[')?.split_once("]=")?;
    Some((key, value))
}

/// A text as one shell word.
pub(crate) fn quote(text: &str) -> String {
    let plain = |b: u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b',' | b'@' | b'%' | b'+')
            || b >= 0x80
    };
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
