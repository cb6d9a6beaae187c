//! Lists, pipelines, compound commands, assignments and redirections.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::heredoc::{self, Pending};
use super::{
    Assign, AssignValue, Doc, Faults, Item, List, MAX_DEPTH, Node, Part, Parts, Redirect, RedirectOp,
    RedirectTarget, Script, Simple, Word,
};
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
    pending: Vec<(Pending, usize)>,
    docs: Vec<Doc<'a>>,
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
            Some(b'a'..=b'z') => {
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
    fn gap(&mut self) {
        loop {
            self.blanks();
            match self.cursor.peek() {
                Some(b'\n') => self.newline(),
                Some(b';') if self.cursor.peek_at(1) != Some(b';') => self.cursor.skip(1),
                _ => break,
            }
        }
    }

    fn newline(&mut self) {
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
    fn blanks(&mut self) {
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
            match self.keyword() {
                "!" => self.cursor.skip(1),
                "time" => {
                    self.cursor.skip(4);
                    self.blanks();
                    if self.keyword() == "-p" {
                        self.cursor.skip(2);
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
    fn keyword(&self) -> &'a str {
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

    fn command(&mut self) -> Option<Node<'a>> {
        let start = self.cursor.at();
        let node = match self.cursor.peek()? {
            b'(' => self.nested(Self::parenthesis)??,
            b'{' | b'[' | b'a'..=b'z' => match self.keyword() {
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

    fn parenthesis(&mut self) -> Option<Node<'a>> {
        let start = self.cursor.at();
        if self.cursor.peek_at(1) == Some(b'(')
            && let Some(end) = self.arithmetic_end(start + 2)
        {
            let text = self.cursor.slice(start + 2, end);
            self.cursor.jump(end + 2);
            return Some(Node::Arithmetic(text));
        }
        self.cursor.skip(1);
        let list = self.list(&[]);
        self.close(")");
        Some(Node::Subshell(Box::new(list)))
    }

    fn braces(&mut self) -> Node<'a> {
        self.cursor.skip(1);
        let list = self.list(&["}"]);
        self.close("}");
        Node::Group(Box::new(list), Vec::new())
    }

    /// Steps over an expected closer or notes that it is missing.
    fn close(&mut self, want: &str) {
        if !self.cursor.eat(want) {
            self.faults.broken = true;
        }
    }

    fn if_clause(&mut self) -> Node<'a> {
        let mut conditions = Vec::new();
        let mut bodies = Vec::new();
        self.cursor.skip(2);
        loop {
            conditions.push(self.list(&["then", "fi"]));
            self.cursor.eat("then");
            bodies.push(self.list(&["elif", "else", "fi"]));
            if self.cursor.eat("elif") {
                continue;
            }
            if self.cursor.eat("else") {
                bodies.push(self.list(&["fi"]));
            }
            self.close("fi");
            return Node::If(conditions, bodies);
        }
    }

    fn for_clause(&mut self) -> Node<'a> {
        self.cursor.skip(self.keyword().len());
        self.blanks();
        if self.cursor.eat("((") {
            if let Some(end) = self.arithmetic_end(self.cursor.at()) {
                self.cursor.jump(end + 2);
            } else {
                self.cursor.seek(b')');
                self.cursor.eat("))");
            }
            return Node::CountedFor(Box::new(self.loop_body()));
        }
        let name = self.keyword();
        self.cursor.skip(name.len());
        self.blanks();
        while self.cursor.peek() == Some(b'\n') {
            self.newline();
            self.blanks();
        }
        let mut words = None;
        if self.keyword() == "in" {
            self.cursor.skip(2);
            words = Some(self.words_to_line_end());
        }
        Node::For(name, words, Box::new(self.loop_body()))
    }

    fn words_to_line_end(&mut self) -> Vec<Word<'a>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word() {
                Some(word) => words.push(word),
                None => return words,
            }
        }
    }

    /// `do … done`, or the `{ … }` that bash also takes.
    fn loop_body(&mut self) -> List<'a> {
        self.gap();
        if self.cursor.peek() == Some(b'{') {
            self.cursor.skip(1);
            let list = self.list(&["}"]);
            self.close("}");
            return list;
        }
        if self.keyword() == "do" {
            self.cursor.skip(2);
        } else {
            self.faults.broken = true;
        }
        let list = self.list(&["done"]);
        self.close("done");
        list
    }

    fn while_clause(&mut self) -> Node<'a> {
        self.cursor.skip(5);
        let condition = self.list(&["do"]);
        Node::While(Box::new(condition), Box::new(self.loop_body()))
    }

    fn case_clause(&mut self) -> Node<'a> {
        self.cursor.skip(4);
        self.blanks();
        let subject = self.word().unwrap_or_else(|| empty_word(self.cursor.at()));
        self.gap();
        if self.keyword() == "in" {
            self.cursor.skip(2);
        } else {
            self.faults.broken = true;
        }
        let mut arms = Vec::new();
        loop {
            self.gap();
            if self.cursor.done() {
                self.faults.broken = true;
                break;
            }
            if self.keyword() == "esac" {
                self.cursor.skip(4);
                break;
            }
            let before = self.cursor.at();
            self.cursor.eat("(");
            let patterns = self.patterns();
            self.close(")");
            let body = self.list(&["esac"]);
            arms.push((patterns, body));
            self.cursor.eat(";;&");
            if self.cursor.eat(";;") || self.cursor.eat(";&") {
                self.cursor.eat("&");
            }
            if self.cursor.at() == before {
                self.cursor.skip(1);
            }
        }
        Node::Case(subject, arms)
    }

    fn patterns(&mut self) -> Vec<Word<'a>> {
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            match self.word() {
                Some(word) => patterns.push(word),
                None => return patterns,
            }
            self.blanks();
            if !self.cursor.eat("|") {
                return patterns;
            }
        }
    }

    fn function_clause(&mut self) -> Option<Node<'a>> {
        self.cursor.skip(8);
        self.blanks();
        let start = self.cursor.at();
        self.word()?;
        let name = Cow::Borrowed(self.cursor.since(start));
        self.blanks();
        if self.cursor.eat("(") {
            self.blanks();
            self.close(")");
        }
        Some(self.function_body(name))
    }

    fn function_body(&mut self, name: Cow<'a, str>) -> Node<'a> {
        self.gap();
        let start = self.cursor.at();
        let body = self.nested(Self::command).flatten().unwrap_or_else(|| Node::Simple(Simple::default()));
        Node::Function(name, self.cursor.since(start), Box::new(body))
    }

    fn test_words(&mut self) -> Vec<Word<'a>> {
        self.cursor.skip(2);
        let mut words = Vec::new();
        loop {
            self.blanks();
            if self.cursor.done() {
                self.faults.broken = true;
                return words;
            }
            if self.keyword() == "]]" {
                self.cursor.skip(2);
                return words;
            }
            match self.word() {
                Some(word) => words.push(word),
                // Operators such as `&&`, `<` and parentheses mean comparison here.
                None => self.cursor.skip(1),
            }
        }
    }

    fn simple_or_function(&mut self, start: usize) -> Option<Node<'a>> {
        let mut simple = Simple::default();
        let mut end = start;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                end = self.cursor.at();
                simple.redirects.push(redirect);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assign) = self.assignment()
            {
                end = self.cursor.at();
                simple.assigns.push(assign);
                continue;
            }
            // `name ()` begins a function.
            if self.cursor.peek() == Some(b'(') {
                if let [only] = simple.words.as_slice()
                    && simple.assigns.is_empty()
                    && self.empty_parentheses()
                {
                    let name = Cow::Borrowed(self.cursor.slice(only.span.start, only.span.end));
                    return self.nested(|parser| parser.function_body(name));
                }
                if !simple.words.is_empty() {
                    self.stray_parenthesis(&mut simple);
                    continue;
                }
            }
            let Some(word) = self.word() else { break };
            end = self.cursor.at();
            simple.words.push(word);
        }
        if end == start {
            return None;
        }
        simple.span = Span::new(start, end);
        Some(Node::Simple(simple))
    }

    /// `(` in the middle of arguments is a fault for the shell; what is inside may be a command
    /// after all (PowerShell, a lost quote), so it is read as one word of text.
    fn stray_parenthesis(&mut self, simple: &mut Simple<'a>) {
        self.faults.broken = true;
        let start = self.cursor.at();
        self.cursor.skip(1);
        let span = Span::new(start, self.cursor.at());
        simple.words.push(Word { parts: Parts::One(Part::Quoted(Cow::Borrowed("("))), span });
    }

    fn empty_parentheses(&mut self) -> bool {
        let mut probe = self.cursor;
        probe.skip(1);
        while matches!(probe.peek(), Some(b' ' | b'\t')) {
            probe.skip(1);
        }
        let empty = probe.eat(")");
        if empty {
            self.cursor = probe;
        }
        empty
    }

    /// `name=…` at the position.
    fn assignment(&mut self) -> Option<Assign<'a>> {
        let bytes = self.cursor.rest_bytes();
        if !matches!(bytes.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
            return None;
        }
        let length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let mut probe = self.cursor;
        let start = probe.at();
        probe.skip(length);
        let name = probe.since(start);
        let mut index = None;
        if probe.peek() == Some(b'[') {
            let from = probe.at() + 1;
            let close = probe.rest_bytes().iter().take(64).position(|b| *b == b']')?;
            probe.skip(close);
            index = Some(probe.since(from));
            probe.skip(1);
        }
        let append = probe.eat("+");
        if !probe.eat("=") {
            return None;
        }
        self.cursor = probe;
        if self.cursor.peek() == Some(b'(') {
            return Some(Assign { name, index, append, value: AssignValue::Array(self.array()) });
        }
        let word = self.word().unwrap_or_else(|| empty_word(self.cursor.at()));
        Some(Assign { name, index, append, value: AssignValue::Word(word) })
    }

    fn array(&mut self) -> Vec<Word<'a>> {
        self.cursor.skip(1);
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.cursor.peek() {
                Some(b'\n') => self.newline(),
                Some(b')') => {
                    self.cursor.skip(1);
                    return words;
                }
                None => {
                    self.faults.broken = true;
                    return words;
                }
                Some(_) => match self.word() {
                    Some(word) => words.push(word),
                    None => {
                        self.faults.broken = true;
                        self.cursor.skip(1);
                    }
                },
            }
        }
    }

    fn redirects(&mut self) -> Vec<Redirect<'a>> {
        let mut found = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => found.push(redirect),
                None => return found,
            }
        }
    }

    fn redirect(&mut self) -> Option<Redirect<'a>> {
        let start = self.cursor.at();
        let mut probe = self.cursor;
        let mut fd = None;
        if probe.peek() == Some(b'{') {
            let close = probe.rest_bytes().iter().take(32).position(|b| *b == b'}')?;
            probe.skip(close + 1);
            if !matches!(probe.peek(), Some(b'<' | b'>')) {
                return None;
            }
        } else {
            let digits = probe.rest_bytes().iter().take(4).take_while(|b| b.is_ascii_digit()).count();
            probe.skip(digits);
            fd = probe.since(start).parse().ok();
        }
        let both = fd.is_none() && probe.peek() == Some(b'&') && probe.peek_at(1) == Some(b'>');
        if both {
            probe.skip(1);
        }
        if !matches!(probe.peek(), Some(b'<' | b'>')) || (probe.peek_at(1) == Some(b'(') && !both) {
            return None;
        }
        self.cursor = probe;
        let op = self.redirect_op();
        if op == RedirectOp::HereDoc {
            let tabs = self.cursor.eat("-");
            self.blanks();
            return Some(self.here_document(tabs, fd, start));
        }
        self.blanks();
        let word = self.word().unwrap_or_else(|| {
            self.faults.broken = true;
            empty_word(self.cursor.at())
        });
        // `>&file` writes a file; `>&2` and `>&-` only move descriptors.
        let moves = word
            .bare()
            .is_some_and(|t| t == "-" || t.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()));
        let op = if op == RedirectOp::Duplicate && !moves { RedirectOp::Write } else { op };
        Some(Redirect {
            op,
            fd,
            target: RedirectTarget::Word(word),
            span: Span::new(start, self.cursor.at()),
        })
    }

    fn redirect_op(&mut self) -> RedirectOp {
        const OPS: [(&str, RedirectOp); 10] = [
            ("<<<", RedirectOp::HereString),
            ("<<", RedirectOp::HereDoc),
            ("<>", RedirectOp::ReadWrite),
            ("<&", RedirectOp::Read),
            ("<", RedirectOp::Read),
            (">>", RedirectOp::Append),
            (">&", RedirectOp::Duplicate),
            (">|", RedirectOp::Write),
            (">!", RedirectOp::Write),
            (">", RedirectOp::Write),
        ];
        for (sign, op) in OPS {
            if self.cursor.eat(sign) {
                return op;
            }
        }
        RedirectOp::Write
    }

    fn here_document(&mut self, tabs: bool, fd: Option<u32>, start: usize) -> Redirect<'a> {
        let word = self.word().unwrap_or_else(|| empty_word(self.cursor.at()));
        let mut delimiter = String::new();
        let live = word.bare().is_some();
        for part in word.parts.as_slice() {
            literal(part, &mut delimiter);
        }
        let slot = self.docs.len();
        self.docs.push(Doc::default());
        self.pending.push((Pending { delimiter, tabs, live }, slot));
        let span = Span::new(start, self.cursor.at());
        Redirect { op: RedirectOp::HereDoc, fd, target: RedirectTarget::Doc(slot), span }
    }
}

/// The text of a delimiter, quotes gone.
fn literal(part: &Part<'_>, out: &mut String) {
    match part {
        Part::Bare(text) | Part::Quoted(text) => out.push_str(text),
        Part::Double(parts) => parts.iter().for_each(|part| literal(part, out)),
        _ => {}
    }
}

fn empty_word<'a>(at: usize) -> Word<'a> {
    Word { parts: Parts::Many(Vec::new()), span: Span::new(at, at) }
}
