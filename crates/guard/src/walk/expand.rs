//! Words into fields: tilde, braces, parameters, substitutions, splitting.

use std::borrow::Cow;
use std::rc::Rc;

use super::flow::{BRACE_CLOSE, BRACE_COMMA, BRACE_OPEN, Flow, HOLE};
use super::{Arg, MOST_FILES, Src, WALKED, Walk, arith, braces};
use crate::effect::{Kind, Span};
use crate::shell::{Param, Part, Parts, Word};

/// Longest value that is followed; anything longer is unknown.
pub(crate) const LONGEST: usize = 96 * 1024;

/// What each word out of braces costs.
const BRACED: usize = 24;

/// Fields being put together.
#[derive(Default)]
pub(crate) struct Fields {
    done: Vec<String>,
    current: String,
    /// Whether the current field exists even if empty (it held quotes).
    started: bool,
    braces: bool,
}

impl Fields {
    fn push(&mut self, text: &str) {
        if self.current.len() + text.len() > LONGEST {
            self.current.push(HOLE);
        } else {
            self.current.push_str(text);
        }
    }

    fn split(&mut self) {
        if self.started || !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
        self.started = false;
    }

    /// Adds an unquoted value: separators in it end fields.
    fn push_split(&mut self, text: &str, separators: &str) {
        let mut first = true;
        for piece in text.split(|c| separators.contains(c)) {
            if !first {
                self.split();
            }
            first = false;
            self.push(piece);
        }
    }
}

impl Walk<'_> {
    /// Expands a word into arguments.
    pub(crate) fn fields<'w>(&mut self, src: Src<'_>, word: &'w Word<'_>, out: &mut Vec<Arg<'w>>) {
        match &word.parts {
            Parts::One(Part::Bare(text)) if !text.starts_with('~') && !text.bytes().any(|b| b == b'{') => {
                out.push(Arg { text: Cow::Borrowed(*text), span: word.span });
                return;
            }
            Parts::One(Part::Quoted(text)) => {
                out.push(Arg { text: Cow::Borrowed(text), span: word.span });
                return;
            }
            _ => {}
        }
        let mut fields = Fields::default();
        self.parts(src, word.parts.as_slice(), &mut fields, true);
        fields.split();
        let braced = fields.braces;
        for text in fields.done {
            if !self.spend(text.len() + WALKED) {
                return;
            }
            if braced && text.len() > 4096 {
                self.emit(Kind::Unreadable, "braces in a word too long to expand", word.span);
                out.push(Arg { text: Cow::Owned(braces::plain(&text)), span: word.span });
            } else if braced {
                for text in braces::expand(&text) {
                    self.spend(text.len() + BRACED);
                    out.push(Arg { text: Cow::Owned(text), span: word.span });
                }
            } else {
                out.push(Arg { text: Cow::Owned(text), span: word.span });
            }
        }
    }

    /// Expands a word into one text, without splitting.
    pub(crate) fn text(&mut self, src: Src<'_>, word: &Word<'_>) -> String {
        self.text_of(src, word.parts.as_slice())
    }

    /// Expands parts into one text, without splitting.
    pub(crate) fn text_of(&mut self, src: Src<'_>, parts: &[Part<'_>]) -> String {
        if let [Part::Quoted(text)] = parts {
            self.spend(text.len());
            return text.to_string();
        }
        let mut fields = Fields::default();
        self.parts(src, parts, &mut fields, false);
        fields.split();
        if let [only] = fields.done.as_mut_slice()
            && !fields.braces
        {
            self.spend(only.len());
            return std::mem::take(only);
        }
        let joined = fields.done.join(" ");
        self.spend(joined.len());
        if fields.braces { braces::plain(&joined) } else { joined }
    }

    fn parts(&mut self, src: Src<'_>, parts: &[Part<'_>], fields: &mut Fields, splitting: bool) {
        for (at, part) in parts.iter().enumerate() {
            if self.fuel == 0 {
                break;
            }
            match part {
                Part::Bare(text) => self.bare(text, at == 0, fields),
                Part::Quoted(text) => {
                    fields.started = true;
                    fields.push(text);
                }
                Part::Double(inner) => {
                    fields.started = !is_all_arguments(inner);
                    self.parts_quoted(src, inner, fields, splitting);
                }
                Part::Param(param) if splitting && is_list(param) => {
                    self.list_param(src, param, fields, false);
                }
                other => {
                    let value = self.value_of(src, other);
                    if splitting {
                        let separators = self.separators();
                        fields.push_split(&value, &separators);
                    } else {
                        fields.push(&value);
                    }
                }
            }
        }
    }

    fn parts_quoted(&mut self, src: Src<'_>, parts: &[Part<'_>], fields: &mut Fields, splitting: bool) {
        for part in parts {
            if self.fuel == 0 {
                break;
            }
            match part {
                Part::Bare(text) => fields.push(text),
                Part::Quoted(text) => fields.push(text),
                Part::Double(inner) => self.parts_quoted(src, inner, fields, splitting),
                Part::Param(param) if splitting && is_list(param) && !is_joined(param) => {
                    self.list_param(src, param, fields, true);
                }
                other => {
                    let value = self.value_of(src, other);
                    fields.push(&value);
                }
            }
        }
    }

    fn bare(&mut self, text: &str, first: bool, fields: &mut Fields) {
        let mut text = text;
        if first
            && fields.current.is_empty()
            && let Some(rest) = text.strip_prefix('~')
        {
            let end = rest.find('/').unwrap_or(rest.len());
            let user = rest.get(..end).unwrap_or_default();
            match user {
                "" => fields.push(&self.context.home.clone()),
                "+" => fields.push(&self.scope.cwd.clone()),
                "-" => {
                    let last = self.scope.last_cwd.clone().unwrap_or_else(|| HOLE.to_string());
                    fields.push(&last);
                }
                "root" => fields.push("/root"),
                _ if user.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) => {
                    fields.push("/home/");
                    fields.push(user);
                }
                _ => {
                    fields.push("~");
                    fields.push(user);
                }
            }
            text = rest.get(end..).unwrap_or_default();
        }
        let live = text.contains(['{', '}']) || (fields.braces && text.contains(','));
        if !live {
            fields.push(text);
            return;
        }
        fields.braces = true;
        for letter in text.chars() {
            fields.current.push(match letter {
                '{' => BRACE_OPEN,
                '}' => BRACE_CLOSE,
                ',' => BRACE_COMMA,
                other => other,
            });
        }
    }

    /// The separators in force.
    fn separators(&self) -> Cow<'static, str> {
        if self.scope.knows("IFS") {
            self.scope.value("IFS", &self.context.home).unwrap_or(Cow::Borrowed(" \t\n"))
        } else {
            Cow::Borrowed(" \t\n")
        }
    }

    /// The value of a live part, not split.
    fn value_of(&mut self, src: Src<'_>, part: &Part<'_>) -> String {
        match part {
            Part::Bare(text) => (*text).to_owned(),
            Part::Quoted(text) => text.to_string(),
            Part::Double(inner) => self.text_of(src, inner),
            Part::Param(param) => self.param(src, param).unwrap_or_else(|| HOLE.to_string()),
            Part::Command(list) => {
                if let [item] = list.items.as_slice()
                    && let Some(text) = self.read_file_form(src, &item.node)
                {
                    return text;
                }
                let flow = self.list(src, list, &Flow::none());
                self.substituted(flow)
            }
            Part::Backquote(inner) => {
                let (text, span) = &**inner;
                let flow = self.run_text(text, &Flow::none(), *span);
                self.substituted(flow)
            }
            Part::Arithmetic(text) => self.arithmetic(src, text),
            Part::Process(inner) => self.process(src, &inner.0, inner.1, inner.2),
        }
    }

    /// What `$(…)` leaves of an output. Where it came from is kept beside the scope, because a
    /// string cannot carry it.
    fn substituted(&mut self, flow: Flow) -> String {
        self.spend(WALKED);
        let Flow { text, origin } = flow;
        let text = text.unwrap_or_default();
        let trimmed = text.trim_end_matches('\n');
        if trimmed.contains(HOLE) || origin.decoded {
            self.last_unknown = self.last_unknown.and(origin);
        }
        trimmed.to_owned()
    }

    /// `$(( … ))`: known, or a hole.
    pub(crate) fn arithmetic(&mut self, src: Src<'_>, text: &str) -> String {
        let expanded;
        let mut source = text;
        if text.contains(['$', '`']) && self.spend(text.len()) {
            let parts = self.live_parts(text);
            expanded = self.text_of(src, &parts);
            source = &expanded;
        }
        self.values_run(src, source);
        let Some((name, assigned)) = assignment(source) else { return self.evaluated(source) };
        let name = name.to_owned();
        let value = self.evaluated(assigned);
        self.scope.set(&name, &value);
        value
    }

    /// The value of an expression whose variables are known, or a hole.
    fn evaluated(&self, source: &str) -> String {
        let lookup = |name: &str| {
            let value = self.scope.value(name, &self.context.home)?;
            value.trim().parse().ok().or(value.is_empty().then_some(0))
        };
        arith::evaluate(source, &lookup).map_or_else(|| HOLE.to_string(), |value| value.to_string())
    }

    /// The value of a name in arithmetic is arithmetic again: `x='a[$(command)]'; ((x))`.
    fn values_run(&mut self, src: Src<'_>, source: &str) {
        if source.len() > 512 || source.bytes().all(|b| !b.is_ascii_alphabetic()) {
            return;
        }
        for name in source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').take(16) {
            let live = self
                .scope
                .variable(name)
                .and_then(|variable| variable.values.first())
                .filter(|value| value.contains("$(") || value.contains('`'))
                .cloned();
            if let Some(value) = live
                && self.spend(value.len() + WALKED)
                && self.down(Span::default())
            {
                let parts = self.live_parts(&value);
                self.text_of(src, &parts);
                self.up();
            }
        }
    }

    fn process(&mut self, src: Src<'_>, list: &crate::shell::List<'_>, reads: bool, span: Span) -> String {
        let name = format!("/dev/fd/{}", 1000 + self.next_serial());
        self.spend(2 * WALKED);
        if self.scope.files.len() >= MOST_FILES {
            self.emit(Kind::Unreadable, "more files than anybody can keep in mind", span);
        } else if reads {
            let flow = self.list(src, list, &Flow::none());
            self.scope.files.insert(name.clone(), flow);
        } else {
            let text = src.text.get(span.start..span.end).unwrap_or_default();
            self.scope.sinks.insert(name.clone(), Rc::from(text));
        }
        name
    }

    /// `$@`, `${a[@]}` and their kin: one field for each element.
    fn list_param(&mut self, src: Src<'_>, param: &Param<'_>, fields: &mut Fields, quoted: bool) {
        let items = self.list_values(src, param);
        let separators = self.separators();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                fields.split();
            }
            if quoted {
                fields.started = true;
                fields.push(item);
            } else {
                fields.push_split(item, &separators);
            }
        }
    }
}

/// `n=1+2` in arithmetic: the variable, and what it becomes.
fn assignment(source: &str) -> Option<(&str, &str)> {
    let (name, value) = source.split_once('=')?;
    let name = name.trim();
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && !value.starts_with('=')).then_some((name, value))
}

fn is_list(param: &Param<'_>) -> bool {
    (param.name == "@" || param.name == "*" || matches!(param.index, Some("@" | "*")))
        && !matches!(param.op, crate::shell::ParamOp::Length)
}

/// `"$*"` and `"${a[*]}"` are one word, with the first separator in between.
fn is_joined(param: &Param<'_>) -> bool {
    (param.name == "*" || param.index == Some("*")) && matches!(param.op, crate::shell::ParamOp::Plain)
}

/// `"$@"` alone vanishes when there are no arguments.
fn is_all_arguments(parts: &[Part<'_>]) -> bool {
    matches!(parts, [Part::Param(param)] if is_list(param))
}
