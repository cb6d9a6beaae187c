//! Compound commands: groups, branches, loops, functions, tests.

use super::parse::{Parser, empty_word};
use super::{List, Node, Word};

impl<'a> Parser<'a> {
    pub(super) fn parenthesis(&mut self) -> Node<'a> {
        let start = self.cursor.at();
        if self.cursor.peek_at(1) == Some(b'(')
            && let Some(end) = self.arithmetic_end(start + 2)
        {
            let text = self.cursor.slice(start + 2, end);
            self.cursor.jump(end + 2);
            return Node::Arithmetic(text);
        }
        self.cursor.skip(1);
        let list = self.list(&[]);
        self.close(")");
        Node::Subshell(Box::new(list))
    }

    pub(super) fn braces(&mut self) -> Node<'a> {
        self.cursor.skip(1);
        let list = self.list(&["}"]);
        self.close("}");
        Node::Group(Box::new(list), Vec::new())
    }

    pub(super) fn if_clause(&mut self) -> Node<'a> {
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

    pub(super) fn for_clause(&mut self) -> Node<'a> {
        self.cursor.skip(self.keyword().len());
        self.blanks();
        if self.cursor.eat("((") {
            let start = self.cursor.at();
            if let Some(end) = self.arithmetic_end(self.cursor.at()) {
                self.cursor.jump(end + 2);
            } else {
                self.cursor.seek(b')');
                self.cursor.eat("))");
            }
            let header = self.cursor.since(start);
            return Node::CountedFor(header, Box::new(self.loop_body()));
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
            words = Some(self.words_to_line_end().into());
        }
        Node::For(name, words, Box::new(self.loop_body()))
    }

    pub(super) fn words_to_line_end(&mut self) -> Vec<Word<'a>> {
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
    pub(super) fn loop_body(&mut self) -> List<'a> {
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

    pub(super) fn while_clause(&mut self) -> Node<'a> {
        self.cursor.skip(5);
        let condition = self.list(&["do"]);
        Node::While(Box::new(condition), Box::new(self.loop_body()))
    }

    pub(super) fn case_clause(&mut self) -> Node<'a> {
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
        Node::Case(Box::new(subject), arms)
    }

    pub(super) fn patterns(&mut self) -> Vec<Word<'a>> {
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

    pub(super) fn function_clause(&mut self) -> Option<Node<'a>> {
        self.cursor.skip(8);
        self.blanks();
        let start = self.cursor.at();
        self.word()?;
        let name = self.cursor.since(start);
        self.blanks();
        if self.cursor.eat("(") {
            self.blanks();
            self.close(")");
        }
        Some(self.function_body(name))
    }

    pub(super) fn function_body(&mut self, name: &'a str) -> Node<'a> {
        self.gap();
        let start = self.cursor.at();
        if self.cursor.peek() == Some(b'{') && self.keyword() != "{" {
            // zsh takes `{:|:&}` without blanks.
            let body = self.nested(Self::braces).unwrap_or_else(|| Node::Simple(Box::default()));
            return Node::Function(name, self.cursor.since(start), Box::new(body));
        }
        let body = self.nested(Self::command).flatten().unwrap_or_else(|| Node::Simple(Box::default()));
        Node::Function(name, self.cursor.since(start), Box::new(body))
    }

    pub(super) fn test_words(&mut self) -> Vec<Word<'a>> {
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
}
