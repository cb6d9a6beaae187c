//! PowerShell text, cut into pieces: words, texts, variables, groups and signs.

use crate::walk::HOLE;

/// How deep groups may stand in each other.
const DEEPEST: usize = 24;

/// One piece of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A bare word, its backticks dropped.
    Word(String),
    /// A quoted text in which nothing is replaced.
    Text(String),
    /// The inside of double quotes, in which variables are replaced.
    Live(&'a str),
    /// A variable, without its dollar.
    Variable(&'a str),
    /// What stands between brackets of one kind, told by the opening one.
    Group(char, Vec<Item<'a>>),
    /// `.name` or `::name` after a value.
    Member(String),
    /// Anything that separates or joins; the end of a line is a `;`.
    Sign(char),
}

/// A piece and whether it touches the one before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) piece: Piece<'a>,
    pub(super) glued: bool,
}

impl Item<'_> {
    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.piece == Piece::Sign(sign)
    }

    /// Whether something can be added to it, asked of it or taken out of it.
    fn is_value(&self) -> bool {
        match &self.piece {
            Piece::Text(_) | Piece::Live(_) | Piece::Variable(_) | Piece::Group(..) | Piece::Member(_) => {
                true
            }
            Piece::Word(word) => is_number(word),
            Piece::Sign(_) => false,
        }
    }
}

/// Cuts a text into pieces; `None` when it is nested too deeply.
pub(super) fn pieces(text: &str) -> Option<Vec<Item<'_>>> {
    let mut cutter = Cutter { text, at: 0 };
    let mut all = Vec::new();
    while cutter.at < text.len() {
        // A bracket that closes nothing is passed over.
        all.append(&mut cutter.list(None, 0)?);
    }
    Some(all)
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cutter<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    /// Takes what comes before `end`, and the end itself.
    fn until(&mut self, end: &str) -> &'a str {
        let rest = self.rest();
        let (inside, taken) = match rest.find(end) {
            Some(at) => (rest.get(..at).unwrap_or_default(), at + end.len()),
            None => (rest, rest.len()),
        };
        self.at += taken;
        inside
    }

    fn list(&mut self, close: Option<char>, depth: usize) -> Option<Vec<Item<'a>>> {
        if depth > DEEPEST {
            return None;
        }
        let mut items: Vec<Item<'a>> = Vec::new();
        let mut glued = false;
        while let Some(letter) = self.rest().chars().next() {
            if letter.is_whitespace() && letter != '\n' {
                self.at += letter.len_utf8();
                glued = false;
                continue;
            }
            if matches!(letter, ')' | '}' | ']') {
                self.at += 1;
                if close.is_none() || close == Some(letter) {
                    break;
                }
                continue;
            }
            if let Some(piece) = self.piece(letter, glued, items.last(), depth)? {
                glued &= !items.is_empty();
                items.push(Item { piece, glued });
                glued = true;
            } else {
                glued = false;
            }
        }
        Some(items)
    }

    /// The next piece; `Some(None)` for a comment or a line that goes on.
    #[expect(clippy::option_option, reason = "too deep, nothing, or something")]
    fn piece(
        &mut self,
        letter: char,
        glued: bool,
        before: Option<&Item<'a>>,
        depth: usize,
    ) -> Option<Option<Piece<'a>>> {
        let after_value = glued && before.is_some_and(Item::is_value);
        Some(Some(match letter {
            '\n' | ';' => self.sign(';'),
            '|' | ',' | '&' | '>' => self.sign(letter),
            '=' if matches!(before.map(|item| &item.piece), Some(Piece::Variable(_) | Piece::Sign('+'))) => {
                self.sign('=')
            }
            '+' | '*' if !glued || after_value => self.sign(letter),
            '(' | '{' => self.group(letter, depth)?,
            '[' if !glued || !matches!(before.map(|item| &item.piece), Some(Piece::Word(_))) => {
                self.group('[', depth)?
            }
            '@' if matches!(self.second(), Some('(' | '{')) => {
                self.at += 1;
                let open = self.rest().chars().next().unwrap_or('(');
                self.group(open, depth)?
            }
            '@' if matches!(self.second(), Some('\'' | '"')) => self.here_text(),
            '\'' | '\u{2018}' | '\u{2019}' => self.single(letter),
            '"' | '\u{201c}' | '\u{201d}' => self.double(letter),
            '$' if self.second() == Some('(') => {
                self.at += 1;
                self.group('(', depth)?
            }
            '$' => self.variable(),
            HOLE if self.rest().get(HOLE.len_utf8()..).is_some_and(|rest| rest.starts_with(':')) => {
                // `$env:NAME` from which another shell took the beginning.
                self.at += HOLE.len_utf8() + 1;
                Piece::Variable(self.name())
            }
            HOLE if self.rest().get(HOLE.len_utf8()..).is_some_and(member_follows) => {
                self.at += HOLE.len_utf8();
                Piece::Text(HOLE.to_string())
            }
            '.' | ':' if after_value && (member_follows(self.rest()) || self.rest().starts_with("::")) => {
                self.member()
            }
            '.' if !glued && matches!(self.second(), Some(' ' | '(' | '\'' | '"' | '$' | '{')) => {
                self.sign('.')
            }
            '#' if !glued => {
                self.until("\n");
                return Some(Some(Piece::Sign(';')));
            }
            '<' if self.second() == Some('#') => {
                self.until("#>");
                return Some(None);
            }
            '`' if self.second() == Some('\n') => {
                self.at += 2;
                return Some(None);
            }
            _ => Piece::Word(self.word()),
        }))
    }

    fn sign(&mut self, sign: char) -> Piece<'a> {
        self.at += 1;
        Piece::Sign(sign)
    }

    fn group(&mut self, open: char, depth: usize) -> Option<Piece<'a>> {
        self.at += 1;
        let close = match open {
            '(' => ')',
            '{' => '}',
            _ => ']',
        };
        Some(Piece::Group(open, self.list(Some(close), depth + 1)?))
    }

    fn here_text(&mut self) -> Piece<'a> {
        let single = self.second() == Some('\'');
        self.at += 2;
        let inside = self.until(if single { "\n'@" } else { "\n\"@" });
        let inside = inside.strip_prefix('\n').unwrap_or(inside);
        if single { Piece::Text(inside.to_owned()) } else { Piece::Live(inside) }
    }

    fn single(&mut self, quote: char) -> Piece<'a> {
        self.at += quote.len_utf8();
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(['\'', '\u{2018}', '\u{2019}']).unwrap_or(rest.len());
            out.push_str(rest.get(..end).unwrap_or_default());
            let closing = rest.get(end..).and_then(|rest| rest.chars().next());
            self.at += end + closing.map_or(0, char::len_utf8);
            if !self.rest().starts_with('\'') || closing.is_none() {
                return Piece::Text(out);
            }
            // Two of them are one.
            self.at += 1;
            out.push('\'');
        }
    }

    fn double(&mut self, quote: char) -> Piece<'a> {
        self.at += quote.len_utf8();
        let from = self.at;
        let mut letters = self.rest().char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '`' | '\\' if self.text.get(from + at + 1..).is_some_and(|rest| rest.starts_with('"')) => {
                    letters.next();
                }
                '"' | '\u{201c}' | '\u{201d}' => {
                    self.at = from + at + letter.len_utf8();
                    return Piece::Live(self.text.get(from..from + at).unwrap_or_default());
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        Piece::Live(self.text.get(from..).unwrap_or_default())
    }

    fn variable(&mut self) -> Piece<'a> {
        self.at += 1;
        if self.rest().starts_with('{') {
            self.at += 1;
            return Piece::Variable(self.until("}"));
        }
        Piece::Variable(self.name())
    }

    /// The name of a variable, with what says where it is kept.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let name = name_of(rest);
        self.at += name.len().max(usize::from(rest.starts_with(['?', '^', '$'])));
        name
    }

    fn member(&mut self) -> Piece<'a> {
        let static_one = self.rest().starts_with("::");
        self.at += if static_one { 2 } else { 1 };
        let rest = self.rest();
        if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
            self.at += 1;
            return Piece::Member(self.until(if quote == '"' { "\"" } else { "'" }).to_owned());
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '`')).unwrap_or(rest.len());
        self.at += end;
        Piece::Member(rest.get(..end).unwrap_or_default().replace('`', ""))
    }

    fn word(&mut self) -> String {
        let mut out = String::new();
        let mut letters = self.rest().char_indices();
        let mut end = self.rest().len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '`' | '^' => {
                    // The next letter is meant as it is.
                    if letter == '`' {
                        out.extend(letters.next().map(|(_, letter)| letter));
                    }
                }
                _ if letter.is_whitespace() => {
                    end = at;
                    break;
                }
                '+' | '*' if is_number(&out) => {
                    end = at;
                    break;
                }
                ';' | '|' | '&' | ',' | '(' | ')' | '{' | '}' | '"' | '\'' | '$' | ']' | '>' if at > 0 => {
                    end = at;
                    break;
                }
                _ => out.push(letter),
            }
        }
        self.at += end.max(1);
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        out
    }
}

/// Whether a word is a number.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.starts_with(|c: char| c.is_ascii_digit())
}

/// The name of a variable at the beginning of a text.
pub(super) fn name_of(text: &str) -> &str {
    let mut end = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(end) {
        let part = byte.is_ascii_alphanumeric() || *byte == b'_';
        let kept = *byte == b':'
            && bytes.get(end + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_');
        if !part && !kept {
            break;
        }
        end += 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Whether `.Name`, `::Name` or a quoted name follows.
fn member_follows(rest: &str) -> bool {
    let name = rest.trim_start_matches(':').trim_start_matches('.');
    rest.len() > name.len()
        && rest.starts_with(['.', ':'])
        && name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '\'' | '"' | '_'))
}
