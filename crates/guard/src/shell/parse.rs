//! Lists, pipelines and the doors to compound and simple commands.

use super::cursor::Cursor;
use super::heredoc::{self, Pending};
use super::{Doc, Faults, Item, List, MAX_COMMANDS, MAX_DEPTH, Node, Parts, Word};
use crate::effect::Span;

/// Reads a text command by command, so that each can be walked and forgotten before the next is
/// read: a long line then costs no more memory than its longest command. Never fails; what a
/// shell would reject is noted and read past.
pub(crate) struct Reader<'a> {
    parser: Parser<'a>,
    conditional: bool,
}

impl<'a> Reader<'a> {
    /// At the start of `text`, of which at most `commands` commands are read.
    pub(crate) const fn new(text: &'a str, commands: usize) -> Self {
        let mut parser = Parser::new(text);
        parser.commands_left = commands;
        Self { parser, conditional: false }
    }

    /// The next command into `items`, together with all that follow up to the line end when it
    /// announces here-documents. False at the end of the text.
    pub(crate) fn next(&mut self, items: &mut Vec<Item<'a>>) -> bool {
        items.clear();
        let parser = &mut self.parser;
        while !parser.cursor.done() {
            match parser.item(&[], self.conditional) {
                Some((item, conditional)) => {
                    self.conditional = conditional;
                    items.extend(item);
                }
                None if parser.cursor.done() => {}
                None => {
                    // A stray `)` or keyword: note it, step over it, go on.
                    parser.faults.broken = true;
                    parser.cursor.skip(1);
                    self.conditional = false;
                }
            }
            if !items.is_empty() && parser.pending.is_empty() {
                return true;
            }
        }
        parser.bodies();
        !items.is_empty()
    }

    /// The here-documents read so far.
    pub(crate) fn docs(&self) -> &[Doc<'a>] {
        &self.parser.docs
    }

    /// What was wrong with the text so far.
    pub(crate) const fn faults(&self) -> Faults {
        self.parser.faults
    }

    /// How many more commands may be read.
    pub(crate) const fn commands_left(&self) -> usize {
        self.parser.commands_left
    }

    /// How many bytes were looked at ahead of reading them.
    pub(crate) const fn looked_ahead(&self) -> usize {
        self.parser.looked_ahead
    }
}

/// The state of one reading.
pub(crate) struct Parser<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) faults: Faults,
    depth: u16,
    /// How many more commands are read before the rest is given up.
    pub(super) commands_left: usize,
    /// Bytes looked at without reading on, all together.
    pub(super) looked_ahead: usize,
    /// From here on there is no `]`.
    pub(super) no_bracket_from: usize,
    pub(super) pending: Vec<(Pending, usize)>,
    pub(super) docs: Vec<Doc<'a>>,
    /// Words of commands still being read, so that each command gets a list of the right size.
    pub(super) words: Vec<Word<'a>>,
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
            faults: Faults { broken: false, too_deep: false, too_long: false },
            depth: 0,
            commands_left: MAX_COMMANDS,
            looked_ahead: 0,
            no_bracket_from: usize::MAX,
            pending: Vec::new(),
            docs: Vec::new(),
            words: Vec::new(),
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
        self.commands_left = self.commands_left.saturating_sub(1);
        let result = read(self);
        self.depth -= 1;
        Some(result)
    }

    /// Commands up to a closing keyword of `stops`, `)`, `;;` or the end.
    pub(crate) fn list(&mut self, stops: &[&str]) -> List<'a> {
        let mut items = Vec::new();
        let mut conditional = false;
        while let Some((item, next)) = self.item(stops, conditional) {
            conditional = next;
            if items.capacity() == 0 {
                // Nearly every list inside a command has one item.
                items.reserve_exact(1);
            }
            items.extend(item);
        }
        List { items }
    }

    /// The next command of a list and whether the one after it is conditional; `None` when the
    /// list ends here. A stretch that holds no command is read past.
    fn item(&mut self, stops: &[&str], conditional: bool) -> Option<(Option<Item<'a>>, bool)> {
        self.gap();
        if self.cursor.done() || self.at_stop(stops) {
            return None;
        }
        let before = self.cursor.at();
        let node = self.pipeline();
        let joint = self.separator();
        let item = node.map(|node| Item { node, background: joint == Joint::Background, conditional });
        if self.cursor.at() == before {
            self.faults.broken = true;
            self.cursor.skip(1);
        }
        Some((item, joint == Joint::Condition))
    }

    fn at_stop(&mut self, stops: &[&str]) -> bool {
        loop {
            match self.cursor.peek() {
                Some(b')') => return true,
                Some(b';') => return self.cursor.peek_at(1) == Some(b';'),
                Some(b'}') => return stops.contains(&"}"),
                Some(b't' | b'd' | b'f' | b'e') => {}
                _ => return false,
            }
            let word = self.keyword();
            if stops.contains(&word) {
                return true;
            }
            if !CLOSERS.contains(&word) {
                return false;
            }
            // A closer nobody opened: not a command.
            self.faults.broken = true;
            self.cursor.skip(word.len());
            self.gap();
            if self.cursor.done() {
                return true;
            }
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
        match self.cursor.peek() {
            Some(b'&') if self.cursor.peek_at(1) == Some(b'&') => {
                self.cursor.skip(2);
                Joint::Condition
            }
            Some(b'|') if self.cursor.peek_at(1) == Some(b'|') => {
                self.cursor.skip(2);
                Joint::Condition
            }
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
        let mut end = 0;
        for byte in bytes.iter().take(24) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\'' | b'"' | b'\\' | b'$' | b'`' => return "",
                _ => end += 1,
            }
        }
        self.cursor.slice(self.cursor.at(), self.cursor.at() + end)
    }

    pub(super) fn command(&mut self) -> Option<Node<'a>> {
        let start = self.cursor.at();
        let first = self.cursor.peek()?;
        if self.commands_left == 0 {
            self.faults.too_long = true;
            self.cursor.jump(usize::MAX);
            return None;
        }
        self.commands_left -= 1;
        let node = match first {
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
    Word { parts: Parts::Many(Box::default()), span: Span::new(at, at) }
}
