//! The mistakes an edit of a Python file makes most: a bracket or a string that is not closed, a
//! line that stands at no level of indentation that was opened.
//!
//! This is no Python parser. It says nothing about what it does not understand.

/// Looks for such a mistake.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut scan = Scan { levels: vec![0], ..Scan::default() };
    let (mut left, mut number) = (text.as_bytes(), 0);
    while !left.is_empty() && !scan.unsure {
        let end = memchr::memchr(b'\n', left).unwrap_or(left.len());
        let line = left.get(..end).unwrap_or_default();
        number += 1;
        scan.line(line.strip_suffix(b"\r").unwrap_or(line), number)?;
        left = left.get(end + 1..).unwrap_or_default();
    }
    scan.finish()
}

#[derive(Default)]
struct Scan {
    /// Open brackets and the lines they are on.
    open: Vec<(u8, usize)>,
    /// The quotes of an open string of several lines, and the line it began on.
    string: Option<(u8, usize)>,
    /// The line before ended with a backslash.
    continued: bool,
    /// Columns of the open blocks; lines with tabs are not judged.
    levels: Vec<usize>,
    tabs: bool,
    /// A string within a string makes brackets and quotes uncertain from there on.
    unsure: bool,
}

impl Scan {
    fn line(&mut self, line: &[u8], number: usize) -> Result<(), String> {
        let starts_statement = self.open.is_empty() && self.string.is_none() && !self.continued;
        if starts_statement {
            let code = line.trim_ascii_start();
            if code.first().is_some_and(|first| *first != b'#') {
                self.indentation(line, line.len() - code.len(), number)?;
            }
        }
        self.continued = self.characters(line, number)?;
        Ok(())
    }

    fn indentation(&mut self, line: &[u8], blanks: usize, number: usize) -> Result<(), String> {
        self.tabs |= line.iter().take(blanks).any(|byte| *byte != b' ');
        if self.tabs {
            return Ok(());
        }
        while let Some(level) = self.levels.last() {
            if *level == blanks {
                return Ok(());
            }
            if *level < blanks {
                break;
            }
            self.levels.pop();
            if self.levels.last().is_none_or(|level| *level < blanks) {
                return Err(format!("line {number}: unindent does not match any outer indentation level"));
            }
        }
        self.levels.push(blanks);
        Ok(())
    }

    /// Goes through one line; answers whether the next one continues it.
    fn characters(&mut self, line: &[u8], number: usize) -> Result<bool, String> {
        let mut rest = line;
        if let Some((quote, _)) = self.string {
            rest = self.in_long_string(rest, quote);
        }
        while let Some(at) = rest.iter().position(|byte| matters(*byte)) {
            let (Some(byte), Some(after)) = (rest.get(at), rest.get(at + 1..)) else { break };
            rest = match byte {
                b'#' => return Ok(false),
                b'\\' if after.is_empty() => return Ok(true),
                b'(' | b'[' | b'{' => {
                    self.open.push((*byte, number));
                    after
                }
                b')' | b']' | b'}' => {
                    self.close(*byte, number)?;
                    after
                }
                b'\'' | b'"' => self.quoted(after, *byte, number)?,
                _ => after,
            };
        }
        Ok(false)
    }

    fn close(&mut self, bracket: u8, number: usize) -> Result<(), String> {
        let opens = match bracket {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let bracket = char::from(bracket);
        match self.open.pop() {
            Some((open, _)) if open == opens => Ok(()),
            Some((open, at)) => {
                let open = char::from(open);
                Err(format!("line {number}: `{bracket}` does not close `{open}` of line {at}"))
            }
            None => Err(format!("line {number}: unmatched `{bracket}`")),
        }
    }

    /// What follows a string whose first quote stands before this text, or nothing when it goes on.
    fn quoted<'a>(&mut self, text: &'a [u8], quote: u8, number: usize) -> Result<&'a [u8], String> {
        if let Some(rest) = text.strip_prefix(&[quote; 2]) {
            self.string = Some((quote, number));
            return Ok(self.in_long_string(rest, quote));
        }
        match end_of_string(text, quote, 1) {
            Some(end) => {
                let inner = text.get(..end).unwrap_or_default();
                // A formatted string may hold code with strings of its own.
                let brace = |sum: i32, byte: &u8| sum + i32::from(*byte == b'{') - i32::from(*byte == b'}');
                self.unsure |= inner.iter().fold(0, brace) != 0;
                Ok(text.get(end + 1..).unwrap_or_default())
            }
            None if text.ends_with(b"\\") || self.unsure => {
                self.unsure = true;
                Ok(&[])
            }
            None => Err(format!("line {number}: a string is not closed")),
        }
    }

    fn in_long_string<'a>(&mut self, text: &'a [u8], quote: u8) -> &'a [u8] {
        match end_of_string(text, quote, 3) {
            Some(end) => {
                self.string = None;
                text.get(end + 3..).unwrap_or_default()
            }
            None => &[],
        }
    }

    fn finish(&self) -> Result<(), String> {
        if self.unsure {
            return Ok(());
        }
        match (self.string, self.open.last()) {
            (Some((_, at)), _) => Err(format!("line {at}: a string is not closed")),
            (None, Some((bracket, at))) => {
                Err(format!("line {at}: `{}` is not closed", char::from(*bracket)))
            }
            (None, None) => Ok(()),
        }
    }
}

/// Whether a byte can open or close anything; all such characters have one byte.
fn matters(byte: u8) -> bool {
    MATTERS.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Looked up, not compared: most bytes do not matter, and there are many.
static MATTERS: [bool; 256] = table(br#"#\()[]{}'""#);

#[expect(clippy::indexing_slicing, reason = "it runs while this is compiled, and would fail there")]
const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Where a string ends: the first of so many quotes that no backslash stands before.
fn end_of_string(text: &[u8], quote: u8, quotes: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = at + text.get(at..)?.iter().position(|byte| *byte == quote || *byte == b'\\')?;
        let found = text.get(next..)?;
        if found.first() == Some(&b'\\') {
            // What stands behind it is no end, whatever it is.
            at = next + 2;
        } else if quotes == 1 || found.iter().take(quotes).filter(|byte| **byte == quote).count() == quotes {
            return Some(next);
        } else {
            at = next + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn sound_files_pass() {
        for text in [
            "",
            "x = 1\n",
            "def f(\n  a,\n  b,\n):\n    return {'a': [1, (2)]}\n",
            "s = '''it's (\n  not code '''\nt = \"\"\"x\"\"\" # ) comment\n",
            "if a and \\\n      b:\n    pass\nelse:\n    if c:\n        d\ne\n",
            "s = 'a\\'b('\nt = r\"\\d(\"\n",
            "f = f\"{x['a']}\"\ng = f'{d[\"k\"]}'\n",
            "f = f\"{x[\"a\"]}\"\ng = (\n",
            "class A:\n\tdef f(self):\n\t\treturn 1\n",
            "x = '''\n  unindented\n'''\n",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn the_usual_mistakes_are_found() {
        for (text, wrong) in [
            ("f(1\n", "line 1: `(` is not closed"),
            ("x = [1)\n", "line 1: `)` does not close `[` of line 1"),
            ("x = 1)\n", "line 1: unmatched `)`"),
            ("x = 'abc\n", "line 1: a string is not closed"),
            ("a\nx = \"\"\"abc\n", "line 2: a string is not closed"),
            ("if a:\n        b\n    c\n", "line 3: unindent does not match any outer indentation level"),
        ] {
            assert_eq!(check(text), Err(wrong.to_owned()), "{text}");
        }
    }
}
