//! Python text as words and lines: enough to read classes, assignments and plain values without running
//! anything. Pure.
//!
//! Strings of all kinds, comments, brackets and backslashes that join lines are understood; a text that is
//! broken is read as far as it goes.

use std::iter::Peekable;
use std::str::Chars;

/// One word of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a keyword.
    Word(String),
    /// A number as it is written.
    Number(String),
    /// A string; its text, unless it is a formatted one or bytes.
    Text(Option<String>),
    /// Any other character.
    Sign(char),
}

/// A logical line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    /// How far it is from the margin.
    pub(super) indent: usize,
    pub(super) tokens: Vec<Token>,
}

/// How wide a tab is at most.
const TAB: usize = 8;

/// All lines that are not empty.
pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut reader = Reader { rest: source.trim_start_matches('\u{feff}').chars().peekable(), depth: 0 };
    let mut lines = Vec::new();
    while let Some(line) = reader.line() {
        if !line.tokens.is_empty() {
            lines.push(line);
        }
    }
    lines
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// How many brackets are open.
    depth: usize,
}

impl Reader<'_> {
    /// The next logical line; none at the end of the text.
    fn line(&mut self) -> Option<Line> {
        self.rest.peek()?;
        let mut line = Line { indent: self.indent(), tokens: Vec::new() };
        while let Some(c) = self.rest.next() {
            match c {
                '\n' if self.depth == 0 => break,
                '\\' if self.rest.peek() == Some(&'\n') => {
                    self.rest.next();
                }
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '\'' | '"' => line.tokens.push(Token::Text(Some(self.text(c, false)))),
                c if c.is_whitespace() => {}
                c if c.is_alphabetic() || c == '_' => {
                    let word = self.run(c, |c| c.is_alphanumeric() || c == '_');
                    line.tokens.push(self.word(word));
                }
                c if c.is_ascii_digit() || self.begins_fraction(c) => line.tokens.push(self.number(c)),
                c => {
                    match c {
                        '(' | '[' | '{' => self.depth += 1,
                        ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    line.tokens.push(Token::Sign(c));
                }
            }
        }
        Some(line)
    }

    fn indent(&mut self) -> usize {
        let mut column = 0;
        while let Some(c) = self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\u{c}')) {
            column = if c == '\t' { (column / TAB + 1) * TAB } else { column + 1 };
        }
        column
    }

    fn begins_fraction(&mut self, c: char) -> bool {
        c == '.' && self.rest.peek().is_some_and(char::is_ascii_digit)
    }

    fn run(&mut self, first: char, goes_on: impl Fn(char) -> bool) -> String {
        let mut word = String::from(first);
        while let Some(c) = self.rest.next_if(|c| goes_on(*c)) {
            word.push(c);
        }
        word
    }

    /// A number, with the sign of its exponent.
    fn number(&mut self, first: char) -> Token {
        let mut number = String::from(first);
        loop {
            let after_exponent = number.ends_with(['e', 'E']) && !number.starts_with("0x");
            let more = |c: &char| {
                c.is_ascii_alphanumeric()
                    || matches!(c, '.' | '_')
                    || (after_exponent && matches!(c, '+' | '-'))
            };
            match self.rest.next_if(more) {
                Some(c) => number.push(c),
                None => return Token::Number(number),
            }
        }
    }

    /// A word, or the string that it stands in front of.
    fn word(&mut self, word: String) -> Token {
        let is_prefix = word.len() <= 2 && word.chars().all(|c| "rRbBfFuUtT".contains(c));
        match self.rest.next_if(|c| is_prefix && matches!(c, '\'' | '"')) {
            Some(quote) => {
                let text = self.text(quote, word.contains(['r', 'R']));
                let is_plain = !word.contains(['b', 'B', 'f', 'F', 't', 'T']);
                Token::Text(is_plain.then_some(text))
            }
            None => Token::Word(word),
        }
    }

    /// The text of a string whose first quote has been read.
    fn text(&mut self, quote: char, raw: bool) -> String {
        let mut long = false;
        if self.rest.next_if_eq(&quote).is_some() {
            if self.rest.next_if_eq(&quote).is_none() {
                return String::new();
            }
            long = true;
        }
        let mut text = String::new();
        let mut quotes = 0;
        while let Some(c) = self.rest.next() {
            if c == quote {
                quotes += 1;
                if !long || quotes == 3 {
                    break;
                }
                continue;
            }
            // Fewer quotes than it takes to end it are part of it.
            text.extend(std::iter::repeat_n(quote, quotes));
            quotes = 0;
            match c {
                '\n' if !long => break,
                '\\' => self.escaped(raw, &mut text),
                c => text.push(c),
            }
        }
        text
    }

    /// What stands after a backslash.
    fn escaped(&mut self, raw: bool, text: &mut String) {
        let Some(c) = self.rest.next() else { return };
        match c {
            _ if raw => text.extend(['\\', c]),
            '\n' => {}
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\\' | '\'' | '"' => text.push(c),
            'x' => self.code(2, text),
            'u' => self.code(4, text),
            'U' => self.code(8, text),
            c => text.extend(['\\', c]),
        }
    }

    fn code(&mut self, digits: usize, text: &mut String) {
        let mut hex = String::new();
        while hex.len() < digits
            && let Some(c) = self.rest.next_if(char::is_ascii_hexdigit)
        {
            hex.push(c);
        }
        text.extend(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(source: &str) -> Vec<(usize, Vec<Token>)> {
        lines(source).into_iter().map(|line| (line.indent, line.tokens)).collect()
    }

    fn text(text: &str) -> Token {
        Token::Text(Some(text.to_owned()))
    }

    fn word(word: &str) -> Token {
        Token::Word(word.to_owned())
    }

    #[test]
    fn lines_are_joined_by_brackets_and_backslashes_and_comments_are_left_out() {
        let source = "# a (\nx = [1,  # one\n  2]\n\n\ty = \\\n 3\n";

        let number = |number: &str| Token::Number(number.to_owned());
        let list =
            vec![word("x"), Token::Sign('='), Token::Sign('['), number("1"), Token::Sign(','), number("2")];
        assert_eq!(
            words(source),
            [
                (0, [list, vec![Token::Sign(']')]].concat()),
                (8, vec![word("y"), Token::Sign('='), number("3")])
            ]
        );
    }

    #[test]
    fn strings_are_read_as_python_means_them() {
        let read = |source: &str| words(source).remove(0).1.remove(0);

        assert_eq!(read(r#""a\tb\x41\u00e9\q""#), text("a\tbA\u{e9}\\q"));
        assert_eq!(read(r"r'\n'"), text("\\n"));
        assert_eq!(read("'''a\n\"b'' 'c'''"), text("a\n\"b'' 'c"));
        assert_eq!(read("''"), text(""));
        assert_eq!(read("f'{x}'"), Token::Text(None));
        assert_eq!(read("rb'x'"), Token::Text(None));
        assert_eq!(read("from"), word("from"));
    }

    #[test]
    fn numbers_keep_their_fraction_and_exponent() {
        let read = |source: &str| words(source).remove(0).1;

        assert_eq!(read("4e-5"), [Token::Number("4e-5".to_owned())]);
        assert_eq!(read(".5"), [Token::Number(".5".to_owned())]);
        assert_eq!(read("1-2").len(), 3);
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(source in "([a-z ]{0,4}|[\"'\\\\\n\t#(){}\\[\\]=:0-9.é]){0,40}") {
            let total: usize = lines(&source).iter().map(|line| line.tokens.len()).sum();

            prop_assert!(total <= source.chars().count());
        }
    }
}
