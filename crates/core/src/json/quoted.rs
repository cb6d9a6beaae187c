//! Strings of the forgiving reader: quotes, escapes, raw line breaks.

use super::lenient::{Fault, Reader};
use super::repair::Problem;

/// What the escapes of one string say about its writer.
#[derive(Default)]
struct Escapes {
    /// The first backslash that escapes nothing, and where.
    stray: Option<(char, usize)>,
    /// Escapes such as `\n` that could also be a stray backslash and a letter.
    doubtful: bool,
}

impl Reader<'_> {
    /// Reads a string. When the text ends inside it, what is there is kept.
    pub(super) fn string(&mut self) -> Result<String, Fault> {
        let open = self.peek().unwrap_or('"');
        let closes: &[char] = match open {
            '"' => &['"'],
            '\'' => &['\''],
            '“' | '”' | '„' | '‟' => &['“', '”', '„', '‟'],
            _ => &['‘', '’', '‚', '‛'],
        };
        self.mended |= open != '"';
        self.bump();
        let mut text = String::new();
        let mut escapes = Escapes::default();
        loop {
            let run = self.take_while(|c| c != '\\' && !closes.contains(&c));
            self.mended |= run.bytes().any(|byte| byte < b' ');
            text.push_str(run);
            match self.peek() {
                Some('\\') => self.escape(open, &mut text, &mut escapes)?,
                Some(_) => {
                    self.bump();
                    break;
                }
                None => {
                    self.truncated = true;
                    break;
                }
            }
        }
        match escapes.stray {
            // `C:\new\data` has one invalid escape; then `\n` may not be a line break either.
            Some((letter, at)) if escapes.doubtful => Err(Fault { problem: Problem::Escape(letter), at }),
            _ => Ok(text),
        }
    }

    /// Reads an escape, the backslash included.
    fn escape(&mut self, open: char, text: &mut String, escapes: &mut Escapes) -> Result<(), Fault> {
        let at = self.at();
        self.bump();
        let Some(letter) = self.peek() else { return Ok(()) };
        self.bump();
        let meant = match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(at, text),
            'x' if open == '\'' => {
                self.python_byte(text, escapes, at);
                return Ok(());
            }
            '\'' => {
                self.mended = true;
                letter
            }
            _ => {
                self.mended = true;
                escapes.stray.get_or_insert((letter, at));
                text.push('\\');
                letter
            }
        };
        escapes.doubtful |= matches!(letter, 'b' | 'f' | 'n' | 'r' | 't');
        text.push(meant);
        Ok(())
    }

    /// Reads the digits of `\uXXXX`, and its second half when it is one of a pair.
    fn unicode(&mut self, at: usize, text: &mut String) -> Result<(), Fault> {
        let Some(first) = self.hex(4) else {
            return if self.is_cut() { Ok(()) } else { Err(Fault { problem: Problem::Escape('u'), at }) };
        };
        if let Some(letter) = char::from_u32(first) {
            text.push(letter);
            return Ok(());
        }
        let lone = Fault { problem: Problem::Surrogate, at };
        if !self.rest().starts_with("\\u") {
            let cut = self.rest().is_empty() || self.rest() == "\\";
            self.advance(if cut { self.rest().len() } else { 0 });
            return if cut { Ok(()) } else { Err(lone) };
        }
        self.advance(2);
        let Some(second) = self.hex(4) else { return if self.is_cut() { Ok(()) } else { Err(lone) } };
        let pair = char::decode_utf16([first, second].map(|half| u16::try_from(half).unwrap_or_default()))
            .collect::<Result<String, _>>();
        text.push_str(&pair.map_err(|_| lone)?);
        Ok(())
    }

    /// Python writes `\x1b` in its single-quoted strings; elsewhere it is a stray backslash.
    fn python_byte(&mut self, text: &mut String, escapes: &mut Escapes, at: usize) {
        match self.hex(2).and_then(char::from_u32) {
            Some(letter) => text.push(letter),
            None if self.is_cut() => {}
            None => {
                escapes.stray.get_or_insert(('x', at));
                text.push_str("\\x");
            }
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let digits = self.rest().get(..digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.advance(digits.len());
        u32::from_str_radix(digits, 16).ok()
    }

    /// Whether the text ends among the digits of an escape; if so, they are skipped.
    fn is_cut(&mut self) -> bool {
        let rest = self.rest();
        let cut = rest.len() < 4 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.advance(if cut { rest.len() } else { 0 });
        cut
    }
}
