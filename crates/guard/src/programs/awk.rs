//! What a small awk program prints, when everything it is given is known.
//!
//! Only what people use to cut a line apart and put it together again is followed: fields,
//! assignments to them, `print` and `printf`. Anything else is answered with "unknown".

use super::tokens::{Token, tokens};
use crate::walk::{HOLE, HOLE_STR};

/// Most statements of a program that is followed.
const MOST_STATEMENTS: usize = 32;
/// Longest output that is followed.
const LONGEST: usize = 32 * 1024;

/// A piece of an expression; pieces side by side are joined.
enum Piece {
    Text(String),
    /// `$2`; `$0` is the whole line.
    Field(usize),
    /// `$NF`.
    Last,
}

type Joined = Vec<Piece>;

enum Statement {
    Set(usize, Joined),
    Print(Vec<Joined>),
    Printf(Vec<Joined>),
}

/// The output of `program` for `input`, or `None` when it cannot be told.
pub(super) fn output(program: &str, separator: Option<&str>, input: Option<&str>) -> Option<String> {
    let list = tokens(program, "awk");
    if let Some(text) = letters(&list) {
        return Some(text);
    }
    let mut out = String::new();
    let bodies = bodies(&list, &mut out)?;
    if bodies.is_empty() {
        return Some(out);
    }
    for line in input?.lines() {
        Line::new(line, separator).run(&bodies, &mut out)?;
    }
    Some(out)
}

/// A line of the output of `program` for input nobody knows: its constants, with holes between them.
/// `None` when it has none, or cannot be told.
pub(super) fn shape(program: &str) -> Option<String> {
    let list = tokens(program, "awk");
    let mut out = String::new();
    let bodies = bodies(&list, &mut out).filter(|bodies| !bodies.is_empty())?;
    Line { whole: HOLE_STR.to_owned(), fields: Vec::new(), unknown: true }.run(&bodies, &mut out)?;
    (!super::filters::is_unknown(&out)).then_some(out)
}

/// What is done for each line; what is printed before the first is added to `out`.
fn bodies(list: &[Token], out: &mut String) -> Option<Vec<Statement>> {
    let mut reader = Reader { list, at: 0, left: MOST_STATEMENTS };
    let mut bodies = Vec::new();
    while let Some(token) = reader.peek(0) {
        match token {
            Token::Name(name) if name == "BEGIN" => {
                reader.at += 1;
                Line::new("", None).run(&reader.block()?, out)?;
            }
            Token::Sign('{') => bodies.extend(reader.block()?),
            Token::Number(number) if *number > 0 => {
                reader.at += 1;
                bodies.push(Statement::Print(Vec::new()));
            }
            Token::Sign(';') => reader.at += 1,
            _ => return None,
        }
    }
    Some(bodies)
}

/// What a loop prints that gives every number of one list as a letter: `split("114,109", a, ",")` and
/// `printf "%c", a[i]`.
fn letters(list: &[Token]) -> Option<String> {
    let named = |at: usize, name: &str| matches!(list.get(at), Some(Token::Name(known)) if known == name);
    let text = |at: usize| match list.get(at) {
        Some(Token::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let split = (0..list.len()).find(|at| named(*at, "split") && text(at + 2).is_some())?;
    let letter =
        |at: &usize| named(*at, "printf") && (text(at + 1) == Some("%c") || text(at + 2) == Some("%c"));
    (split..list.len()).find(letter)?;
    let numbers = text(split + 2)?.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    numbers.take(LONGEST).map(|number| char::from_u32(number.parse().ok()?)).collect()
}

struct Reader<'a> {
    list: &'a [Token],
    at: usize,
    left: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a Token> {
        self.list.get(self.at + ahead)
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.peek(0) == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn block(&mut self) -> Option<Vec<Statement>> {
        let mut found = Vec::new();
        if !self.eat('{') {
            return None;
        }
        loop {
            if self.eat('}') {
                return Some(found);
            }
            if self.eat(';') {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            found.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Option<Statement> {
        match self.peek(0)? {
            Token::Name(name) if name == "print" => {
                self.at += 1;
                Some(Statement::Print(self.arguments()?))
            }
            Token::Name(name) if name == "printf" => {
                self.at += 1;
                Some(Statement::Printf(self.arguments()?))
            }
            Token::Sign('$') => {
                self.at += 1;
                let Token::Number(number) = self.peek(0)? else { return None };
                self.at += 1;
                if !self.eat('=') {
                    return None;
                }
                let value = self.joined()?;
                Some(Statement::Set(usize::try_from(*number).ok().filter(|n| *n > 0 && *n < 100)?, value))
            }
            _ => None,
        }
    }

    /// Expressions with commas between them, up to the end of the statement.
    fn arguments(&mut self) -> Option<Vec<Joined>> {
        let bracketed = self.eat('(');
        let mut found = Vec::new();
        loop {
            let piece = self.joined()?;
            if !piece.is_empty() {
                found.push(piece);
            }
            if self.eat(',') {
                continue;
            }
            if bracketed && !self.eat(')') {
                return None;
            }
            return matches!(self.peek(0), None | Some(Token::Sign(';' | '}'))).then_some(found);
        }
    }

    fn joined(&mut self) -> Option<Joined> {
        let mut pieces = Vec::new();
        loop {
            let piece = match self.peek(0) {
                Some(Token::Text(text)) => Piece::Text(text.clone()),
                Some(Token::Number(number)) => Piece::Text(number.to_string()),
                Some(Token::Sign('$')) => {
                    self.at += 1;
                    match self.peek(0)? {
                        Token::Number(number) => Piece::Field(usize::try_from(*number).ok()?),
                        _ => return None,
                    }
                }
                // The sign before a name is not kept.
                Some(Token::Name(name)) if name == "NF" => Piece::Last,
                None | Some(Token::Sign(',' | ';' | '}' | ')')) => return Some(pieces),
                _ => return None,
            };
            self.at += 1;
            pieces.push(piece);
        }
    }
}

/// One line of input and its fields.
struct Line {
    whole: String,
    fields: Vec<String>,
    /// Whether nobody knows what is in it.
    unknown: bool,
}

impl Line {
    fn new(text: &str, separator: Option<&str>) -> Self {
        let fields = match separator {
            Some(separator) if separator.len() == 1 && separator != " " => {
                text.split(separator).map(str::to_owned).collect()
            }
            _ => text.split_whitespace().map(str::to_owned).collect(),
        };
        Self { whole: text.to_owned(), fields, unknown: false }
    }

    fn run(&mut self, statements: &[Statement], out: &mut String) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Set(field, value) => {
                    let value = self.text(value);
                    if self.fields.len() < *field {
                        self.fields.resize(*field, String::new());
                    }
                    if let Some(slot) = self.fields.get_mut(field - 1) {
                        *slot = value;
                    }
                    if !self.unknown {
                        self.whole = self.fields.join(" ");
                    }
                }
                Statement::Print(arguments) => {
                    if arguments.is_empty() {
                        out.push_str(&self.whole);
                    } else {
                        let texts: Vec<String> = arguments.iter().map(|one| self.text(one)).collect();
                        out.push_str(&texts.join(" "));
                    }
                    out.push('\n');
                }
                Statement::Printf(arguments) => {
                    let texts: Vec<String> = arguments.iter().map(|one| self.text(one)).collect();
                    let (format, values) = texts.split_first()?;
                    out.push_str(&formatted(format, values)?);
                }
            }
            if out.len() > LONGEST {
                return None;
            }
        }
        Some(())
    }

    fn text(&self, pieces: &[Piece]) -> String {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(0) => out.push_str(&self.whole),
                Piece::Field(_) | Piece::Last if self.unknown => out.push(HOLE),
                Piece::Field(at) => out.push_str(self.fields.get(at - 1).map_or("", String::as_str)),
                Piece::Last => out.push_str(self.fields.last().map_or("", String::as_str)),
            }
        }
        out
    }
}

/// `printf` with `%s`, `%d` and `%c`.
fn formatted(format: &str, values: &[String]) -> Option<String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        match letters.next()? {
            '%' => out.push('%'),
            's' | 'd' | 'i' => out.push_str(values.next().map_or("", String::as_str)),
            'c' => {
                let value = values.next().map_or("", String::as_str);
                match value.parse::<u32>() {
                    Ok(number) => out.push(char::from_u32(number)?),
                    Err(_) => out.extend(value.chars().next()),
                }
            }
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_apart_and_put_together_again() {
        let line = Some("a rm -rf /");

        assert_eq!(output("{$1=\"\"; print}", None, line).as_deref(), Some(" rm -rf /\n"));
        assert_eq!(output("{print $2, $3 \" \" $NF}", None, line).as_deref(), Some("rm -rf /\n"));
        assert_eq!(output("1", None, line).as_deref(), Some("a rm -rf /\n"));
        assert_eq!(output("{print $2}", Some(":"), Some("x:rm:y")).as_deref(), Some("rm\n"));
    }

    #[test]
    fn letters_can_be_given_as_numbers() {
        let program = "BEGIN{printf \"%c%c -rf %s\", 114, 109, \"/srv\"}";

        assert_eq!(output(program, None, None).as_deref(), Some("rm -rf /srv"));
    }

    #[test]
    fn constants_are_seen_around_what_nobody_knows() {
        let drop = shape("{print \"DROP TABLE \"$1\";\"}").unwrap();

        assert_eq!(drop, format!("DROP TABLE {HOLE};\n"));
        assert_eq!(shape("{print $2}"), None);
        assert_eq!(shape("/x/{print \"a\"}"), None);
    }

    #[test]
    fn anything_else_is_unknown() {
        for program in ["{print toupper($1)}", "/x/ {print}", "{n += $1} END {print n}", "{print > \"x\"}"] {
            assert_eq!(output(program, None, Some("a b")), None, "{program}");
        }
    }
}
