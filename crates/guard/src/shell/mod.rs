//! The shell as a tree: what `sh` and `bash` would see, with the byte span of every word.
//!
//! Written by hand on purpose. `brush-parser` was measured first: 3 to 7 µs for everyday
//! commands with words still left as flat strings that need a second parse, 52 ms for a 100 KB
//! line, and an error instead of a tree for an open quote. This parser makes one pass, borrows from the
//! text, never fails (a fault is noted in [`Faults`] and reading goes on) and never
//! nests deeper than [`MAX_DEPTH`].

mod ansi;
mod command;
mod compound;
mod cursor;
mod heredoc;
mod param;
mod parse;
mod word;

use std::borrow::Cow;

use crate::effect::Span;

pub(crate) use ansi::decode as decode_escapes;
pub(crate) use parse::Reader;
pub(crate) use word::double_quoted;

/// How deep groups, substitutions and loops may nest before the rest is given up as unreadable.
pub(crate) const MAX_DEPTH: u16 = 56;
/// Most commands inside one word or here-document.
const MAX_COMMANDS: usize = 20_000;
/// Most words of one command. Judging more is beyond what any text may cost, so that reading
/// them would be for nothing.
const MAX_WORDS: usize = 22_000;

/// What a shell would complain about, or what we refused to follow.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Faults {
    /// A quote, group or keyword without its partner.
    pub(crate) broken: bool,
    /// Nested deeper than we follow.
    pub(crate) too_deep: bool,
    /// More commands than we read.
    pub(crate) too_long: bool,
}

/// Commands one after another.
#[derive(Debug, Default)]
pub(crate) struct List<'a> {
    /// The commands, each with what ends it.
    pub(crate) items: Vec<Item<'a>>,
}

/// One command of a list.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    /// The command.
    pub(crate) node: Node<'a>,
    /// Whether it ends in `&`.
    pub(crate) background: bool,
    /// Whether it stands after `&&` or `||`, so that it may not run.
    pub(crate) conditional: bool,
}

/// A command.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    /// Words, assignments and redirections.
    Simple(Box<Simple<'a>>),
    /// Commands joined by `|`.
    Pipeline(Vec<Node<'a>>),
    /// `{ …; }`, or a compound with redirections of its own.
    Group(Box<List<'a>>, Vec<Redirect<'a>>),
    /// `( … )`: a shell of its own.
    Subshell(Box<List<'a>>),
    /// `if`: every list in it, conditions first.
    If(Vec<List<'a>>, Vec<List<'a>>),
    /// `for name in words`, also `select`.
    For(&'a str, Option<Box<[Word<'a>]>>, Box<List<'a>>),
    /// `for ((…))`: its head, and the body.
    CountedFor(&'a str, Box<List<'a>>),
    /// `while` and `until`: condition, body, and whether it never ends.
    While(Box<List<'a>>, Box<List<'a>>),
    /// `case`: the subject and, for each arm, its patterns and its body.
    Case(Box<Word<'a>>, Vec<(Vec<Word<'a>>, List<'a>)>),
    /// A function definition: its name, its body's text, and the body.
    Function(&'a str, &'a str, Box<Node<'a>>),
    /// `[[ … ]]`, whose words may hold substitutions.
    Test(Vec<Word<'a>>),
    /// `(( … ))`.
    Arithmetic(&'a str),
}

/// Words with their assignments and redirections.
#[derive(Debug, Default)]
pub(crate) struct Simple<'a> {
    /// `name=value` in front.
    pub(crate) assigns: Vec<Assign<'a>>,
    /// The program and its arguments.
    pub(crate) words: Vec<Word<'a>>,
    /// Redirections, wherever they stood.
    pub(crate) redirects: Vec<Redirect<'a>>,
    /// From the first byte to the last.
    pub(crate) span: Span,
}

/// `name=value`, `name+=value`, `name[i]=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign<'a> {
    /// The variable.
    pub(crate) name: &'a str,
    /// The index in `name[index]=`.
    pub(crate) index: Option<&'a str>,
    /// Whether it appends.
    pub(crate) append: bool,
    /// What it is set to.
    pub(crate) value: AssignValue<'a>,
}

/// The right side of an assignment.
#[derive(Debug)]
pub(crate) enum AssignValue<'a> {
    /// One word.
    Word(Word<'a>),
    /// `( … )`.
    Array(Vec<Word<'a>>),
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct Redirect<'a> {
    /// Which way.
    pub(crate) op: RedirectOp,
    /// The descriptor in front, if one was written.
    pub(crate) fd: Option<u32>,
    /// Its target, or the text of a here-document.
    pub(crate) target: RedirectTarget<'a>,
    /// Operator and target.
    pub(crate) span: Span,
}

/// The redirection operators we tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectOp {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>&`, `<&`
    Duplicate,
    /// `<<`, `<<-`
    HereDoc,
    /// `<<<`
    HereString,
}

/// What a redirection points at.
#[derive(Debug)]
pub(crate) enum RedirectTarget<'a> {
    /// A word: a file, a descriptor, a here-string.
    Word(Word<'a>),
    /// A here-document, by its place among those of the text.
    Doc(usize),
}

/// The body of a here-document.
#[derive(Debug, Default)]
pub(crate) struct Doc<'a> {
    /// The lines, tabs removed where `<<-` asks for it.
    pub(crate) text: Cow<'a, str>,
    /// Whether the delimiter was bare, so that `$` is live.
    pub(crate) live: bool,
}

/// One word with its place in the text.
#[derive(Debug)]
pub(crate) struct Word<'a> {
    /// The parts, joined without space.
    pub(crate) parts: Parts<'a>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The parts of a word; nearly every word has one.
#[derive(Debug)]
pub(crate) enum Parts<'a> {
    /// Just one.
    One(Part<'a>),
    /// Several.
    Many(Box<[Part<'a>]>),
}

impl<'a> Parts<'a> {
    /// The parts as a slice.
    pub(crate) fn as_slice(&self) -> &[Part<'a>] {
        match self {
            Self::One(part) => std::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }
}

impl Word<'_> {
    /// The text, when the word is one bare literal.
    pub(crate) fn bare(&self) -> Option<&str> {
        match &self.parts {
            Parts::One(Part::Bare(text)) => Some(text),
            _ => None,
        }
    }
}

/// A piece of a word.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// Unquoted text: tilde, braces and globs are live in it.
    Bare(&'a str),
    /// Quoted text, taken as it is.
    Quoted(Cow<'a, str>),
    /// `"…"` with live parts.
    Double(Box<[Part<'a>]>),
    /// `$name`, `${…}`.
    Param(Box<Param<'a>>),
    /// `$( … )`.
    Command(Box<List<'a>>),
    /// A command in backquotes, with its backslashes already removed.
    Backquote(Box<(Cow<'a, str>, Span)>),
    /// `$(( … ))`.
    Arithmetic(&'a str),
    /// `<( … )` or `>( … )`; true when it is read from.
    Process(Box<(List<'a>, bool, Span)>),
}

/// A parameter expansion.
#[derive(Debug)]
pub(crate) struct Param<'a> {
    /// The variable or special parameter.
    pub(crate) name: &'a str,
    /// `[index]`.
    pub(crate) index: Option<&'a str>,
    /// `${!name}`.
    pub(crate) indirect: bool,
    /// What is done to the value.
    pub(crate) op: ParamOp<'a>,
}

/// What `${name…}` does with the value.
#[derive(Debug)]
pub(crate) enum ParamOp<'a> {
    /// Nothing.
    Plain,
    /// `${#name}`.
    Length,
    /// `:-` and `-`.
    Default(Vec<Part<'a>>),
    /// `:=` and `=`.
    Assign(Vec<Part<'a>>),
    /// `:+` and `+`.
    Alternate(Vec<Part<'a>>),
    /// `:?` and `?`.
    Require,
    /// `:offset:length`, as arithmetic texts.
    Slice(&'a str, Option<&'a str>),
    /// `#` (and `##` when greedy).
    TrimStart(Vec<Part<'a>>, bool),
    /// `%` (and `%%` when greedy).
    TrimEnd(Vec<Part<'a>>, bool),
    /// `/a/b`; which occurrences.
    Replace(Vec<Part<'a>>, Vec<Part<'a>>, Where),
    /// `^`, `^^`.
    Upper(bool),
    /// `,`, `,,`.
    Lower(bool),
    /// `~`, `~~`.
    Toggle(bool),
    /// `@Q`, `@E`, `@P` and so on.
    Transform(char),
}

/// Which occurrences `${x/a/b}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// The first.
    First,
    /// Every one.
    All,
    /// At the start only.
    Start,
    /// At the end only.
    End,
}
