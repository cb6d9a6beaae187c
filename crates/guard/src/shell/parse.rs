//! Lists, pipelines, compound commands, assignments and redirections.

use super::cursor::Cursor;
use super::heredoc::{self, Pending};
use super::{Doc, Faults, Item, List, MAX_DEPTH, Node, Parts, Script, Word};
use crate::effect::Span;

/// Reads a whole text. Never fails; what a shell would reject is noted and read past.
pub(crate) fn parse(text: &str) -> Script<'_> {
    let mut parser = Parser::new(text);
    let mut list = parser.list(&[]);
    while !parser.cursor.done() {
        // A stray `)` or keyword: note it, step over it, go on.
        parser.faults.broken = true;
        parser.cursor.skip(1);
        list.items.append(&mut parser.list(&[]).items);
    }
    parser.bodies();
    Script { list, docs: parser.docs, faults: parser.faults }
}

/// The state of one reading.
pub(crate) struct Parser<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) faults: Faults,
    depth: u16,
    pub(super) pending: Vec<(Pending, usize)>,
    pub(super) docs: Vec<Doc<'a>>,
}

/// What stands between two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `;`, a line end, or nothing.
    End,
    /// `&`.
    Background,
    /// `&&` or `||`.
    Condition,
}

/// Keywords that end the list they stand in.
const CLOSERS: [&str; 7] = ["then", "do", "done", "fi", "else", "elif", "esac"];

impl<'a> Parser<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            cursor: Cursor::new(text),
            faults: Faults { broken: false, too_deep: false },
            depth: 0,
            pending: Vec::new(),
            docs: Vec::new(),
        }
    }

    /// Runs `read` one level deeper; past the limit the rest of the text is given up.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.faults.too_deep = true;
            self.cursor.jump(usize::MAX);
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        Some(result)
    }

    /// Commands up to a closing keyword of `stops`, `)`, `;;` or the end.
    pub(crate) fn list(&mut self, stops: &[&str]) -> List<'a> {
        let mut items = Vec::new();
        let mut conditional = false;
        loop {
            self.gap();
            if self.cursor.done() || self.at_stop(stops) {
                break;
            }
            let before = self.cursor.at();
            let node = self.pipeline();
            let joint = self.separator();
            if let Some(node) = node {
                items.push(Item { node, background: joint == Joint::Background, conditional });
            }
            conditional = joint == Joint::Condition;
            if self.cursor.at() == before {
                self.faults.broken = true;
                self.cursor.skip(1);
            }
        }
        List { items }
    }

    fn at_stop(&mut self, stops: &[&str]) -> bool {
        match self.cursor.peek() {
            Some(b')') => true,
            Some(b';') => self.cursor.peek_at(1) == Some(b';'),
            Some(b'}') => stops.contains(&"}"),
            Some(b't' | b'd' | b'f' | b'e') => {
                let word = self.keyword();
                if stops.contains(&word) {
                    return true;
                }
                if CLOSERS.contains(&word) {
                    // A closer nobody opened: not a command.
                    self.faults.broken = true;
                    self.cursor.skip(word.len());
                    self.gap();
                    return self.cursor.done() || self.at_stop(stops);
                }
                false
            }
            _ => false,
        }
    }

    /// Blanks, newlines, comments and lone semicolons; here-document bodies at line ends.
    pub(super) fn gap(&mut self) {
        loop {
            self.blanks();
            match self.cursor.peek() {
                Some(b'\n') => self.newline(),
                Some(b';') if self.cursor.peek_at(1) != Some(b';') => self.cursor.skip(1),
                _ => break,
            }
        }
    }

    pub(super) fn newline(&mut self) {
        self.cursor.skip(1);
        self.bodies();
    }

    fn bodies(&mut self) {
        for (pending, slot) in std::mem::take(&mut self.pending) {
            let (text, closed) = heredoc::body(&mut self.cursor, &pending);
            self.faults.broken |= !closed;
            if let Some(doc) = self.docs.get_mut(slot) {
                *doc = Doc { text, live: pending.live };
            }
        }
    }

    /// Spaces, tabs, line continuations and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.cursor.peek() {
                Some(b' ' | b'\t') => self.cursor.skip(1),
                Some(b'\r') if matches!(self.cursor.peek_at(1), Some(b'\n') | None) => self.cursor.skip(1),
                Some(b'\\') if self.cursor.peek_at(1) == Some(b'\n') => self.cursor.skip(2),
                Some(b'\\')
                    if self.cursor.peek_at(1) == Some(b'\r') && self.cursor.peek_at(2) == Some(b'\n') =>
                {
                    self.cursor.skip(3);
                }
                Some(b'#') => {
                    self.cursor.seek(b'\n');
                }
                _ => break,
            }
        }
    }

    /// What follows a command.
    fn separator(&mut self) -> Joint {
        self.blanks();
        if self.cursor.eat("&&") || self.cursor.eat("||") {
            return Joint::Condition;
        }
        match self.cursor.peek() {
            Some(b'&') => {
                self.cursor.skip(1);
                Joint::Background
            }
            Some(b';') if self.cursor.peek_at(1) != Some(b';') => {
                self.cursor.skip(1);
                Joint::End
            }
            _ => Joint::End,
        }
    }

    fn pipeline(&mut self) -> Option<Node<'a>> {
        self.prefixes();
        let first = self.command()?;
        self.blanks();
        if !self.at_pipe() {
            return Some(first);
        }
        let mut stages = vec![first];
        while self.at_pipe() {
            self.cursor.skip(1);
            self.cursor.eat("&");
            self.blanks();
            while self.cursor.peek() == Some(b'\n') {
                self.newline();
                self.blanks();
            }
            self.prefixes();
            if let Some(stage) = self.command() {
                stages.push(stage);
            } else {
                self.faults.broken = true;
            }
            self.blanks();
        }
        Some(Node::Pipeline(stages))
    }

    fn at_pipe(&self) -> bool {
        self.cursor.peek() == Some(b'|') && self.cursor.peek_at(1) != Some(b'|')
    }

    /// `!`, `time`, `coproc` in front of a command.
    fn prefixes(&mut self) {
        loop {
            if !matches!(self.cursor.peek(), Some(b'!' | b't' | b'c')) {
                return;
            }
            match self.keyword() {
                "!" => self.cursor.skip(1),
                "time" => {
                    let before = self.cursor;
                    self.cursor.skip(4);
                    self.blanks();
                    if self.keyword() == "-p" {
                        self.cursor.skip(2);
                    } else if self.cursor.peek() == Some(b'-') {
                        // Other options belong to the program of that name.
                        self.cursor = before;
                        return;
                    }
                }
                "coproc" => {
                    self.cursor.skip(6);
                    self.blanks();
                    let name = self.keyword();
                    let mut probe = self.cursor;
                    probe.skip(name.len());
                    while probe.peek() == Some(b' ') {
                        probe.skip(1);
                    }
                    if name != "{" && matches!(probe.peek(), Some(b'{' | b'(')) {
                        self.cursor = probe;
                    }
                }
                _ => return,
            }
            self.blanks();
        }
    }

    /// The bare word at the position, without moving: empty when quotes or `$` take part in it.
    pub(super) fn keyword(&self) -> &'a str {
        let bytes = self.cursor.rest_bytes();
        let end = bytes
            .iter()
            .take(24)
            .position(|b| {
                matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            })
            .unwrap_or(bytes.len().min(24));
        let text = self.cursor.slice(self.cursor.at(), self.cursor.at() + end);
        if text.contains(['\'', '"', '\\', '$', '`']) { "" } else { text }
    }

    pub(super) fn command(&mut self) -> Option<Node<'a>> {
        let start = self.cursor.at();
        let node = match self.cursor.peek()? {
            b'(' => self.nested(Self::parenthesis)?,
            b'{' | b'[' | b'i' | b'f' | b's' | b'w' | b'u' | b'c' => match self.keyword() {
                "{" => self.nested(Self::braces)?,
                "if" => self.nested(Self::if_clause)?,
                "for" | "select" => self.nested(Self::for_clause)?,
                "while" | "until" => self.nested(Self::while_clause)?,
                "case" => self.nested(Self::case_clause)?,
                "function" => return self.nested(Self::function_clause)?,
                "[[" => Node::Test(self.test_words()),
                _ => return self.simple_or_function(start),
            },
            _ => return self.simple_or_function(start),
        };
        let redirects = self.redirects();
        if redirects.is_empty() {
            return Some(node);
        }
        let list = List { items: vec![Item { node, background: false, conditional: false }] };
        Some(Node::Group(Box::new(list), redirects))
    }

    /// Steps over an expected closer or notes that it is missing.
    pub(super) fn close(&mut self, want: &str) {
        if !self.cursor.eat(want) {
            self.faults.broken = true;
        }
    }
}

pub(super) fn empty_word<'a>(at: usize) -> Word<'a> {
    Word { parts: Parts::Many(Vec::new()), span: Span::new(at, at) }
}
