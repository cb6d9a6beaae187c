//! The mistakes an edit of a Python file makes most: a bracket or a string that is not closed, a
//! line that stands at no level of indentation that was opened.
//!
//! This is no Python parser. It says nothing about what it does not understand.

/// Looks for such a mistake.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut scan = Scan { levels: vec![0], ..Scan::default() };
    for (line, number) in text.lines().zip(1..) {
        scan.line(line, number)?;
    }
    scan.finish()
}

#[derive(Default)]
struct Scan {
    /// Open brackets and the lines they are on.
    open: Vec<(char, usize)>,
    /// The quotes of an open string of several lines, and the line it began on.
    string: Option<(char, usize)>,
    /// The line before ended with a backslash.
    continued: bool,
    /// Columns of the open blocks; lines with tabs are not judged.
    levels: Vec<usize>,
    tabs: bool,
    /// A string within a string makes brackets and quotes uncertain from there on.
    unsure: bool,
}

impl Scan {
    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        if self.unsure {
            return Ok(());
        }
        let starts_statement = self.open.is_empty() && self.string.is_none() && !self.continued;
        let code = line.trim_start();
        if starts_statement && !code.is_empty() && !code.starts_with('#') {
            self.indentation(line, code, number)?;
        }
        self.continued = self.characters(line, number)?;
        Ok(())
    }

    fn indentation(&mut self, line: &str, code: &str, number: usize) -> Result<(), String> {
        let blanks = line.len() - code.len();
        self.tabs |= line.get(..blanks).is_some_and(|blanks| blanks.contains(['\t', '\x0C']));
        if self.tabs {
            return Ok(());
        }
        let level = self.levels.last().copied().unwrap_or_default();
        if blanks > level {
            self.levels.push(blanks);
            return Ok(());
        }
        self.levels.retain(|level| *level <= blanks);
        if self.levels.last() == Some(&blanks) {
            return Ok(());
        }
        Err(format!("line {number}: unindent does not match any outer indentation level"))
    }

    /// Goes through one line; answers whether the next one continues it.
    fn characters(&mut self, line: &str, number: usize) -> Result<bool, String> {
        let mut rest = line;
        if let Some((quote, _)) = self.string {
            rest = self.in_long_string(rest, quote);
        }
        while let Some(at) = rest.bytes().position(matters) {
            rest = rest.get(at..).unwrap_or_default();
            let Some(c) = rest.chars().next() else { break };
            match c {
                '#' => return Ok(false),
                '\\' if rest.len() == 1 => return Ok(true),
                '(' | '[' | '{' => self.open.push((c, number)),
                ')' | ']' | '}' => self.close(c, number)?,
                '\'' | '"' => {
                    rest = self.quoted(rest, c, number)?;
                    if let Some((quote, _)) = self.string {
                        rest = self.in_long_string(rest, quote);
                    }
                    continue;
                }
                _ => {}
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        Ok(false)
    }

    fn close(&mut self, bracket: char, number: usize) -> Result<(), String> {
        let opens = match bracket {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match self.open.pop() {
            Some((open, _)) if open == opens => Ok(()),
            Some((open, at)) => {
                Err(format!("line {number}: `{bracket}` does not close `{open}` of line {at}"))
            }
            None => Err(format!("line {number}: unmatched `{bracket}`")),
        }
    }

    /// What follows a string that begins here, or nothing when it goes on.
    fn quoted<'a>(&mut self, text: &'a str, quote: char, number: usize) -> Result<&'a str, String> {
        if let Some(rest) = text.strip_prefix(if quote == '"' { "\"\"\"" } else { "'''" }) {
            self.string = Some((quote, number));
            return Ok(rest);
        }
        let rest = text.get(1..).unwrap_or_default();
        match end_of_string(rest, quote, 1) {
            Some(end) => {
                let inner = rest.get(..end).unwrap_or_default();
                // A formatted string may hold code with strings of its own.
                let count = |brace: u8| inner.bytes().filter(|byte| *byte == brace).count();
                self.unsure |= count(b'{') != count(b'}');
                Ok(rest.get(end + 1..).unwrap_or_default())
            }
            None if rest.ends_with('\\') || self.unsure => {
                self.unsure = true;
                Ok("")
            }
            None => Err(format!("line {number}: a string is not closed")),
        }
    }

    fn in_long_string<'a>(&mut self, text: &'a str, quote: char) -> &'a str {
        match end_of_string(text, quote, 3) {
            Some(end) => {
                self.string = None;
                text.get(end + 3..).unwrap_or_default()
            }
            None => "",
        }
    }

    fn finish(&self) -> Result<(), String> {
        if self.unsure {
            return Ok(());
        }
        match (self.string, self.open.last()) {
            (Some((_, at)), _) => Err(format!("line {at}: a string is not closed")),
            (None, Some((bracket, at))) => Err(format!("line {at}: `{bracket}` is not closed")),
            (None, None) => Ok(()),
        }
    }
}

/// Whether a byte can open or close anything; all such characters have one byte.
fn matters(byte: u8) -> bool {
    matches!(byte, b'#' | b'\\' | b'(' | b'[' | b'{' | b')' | b']' | b'}' | b'\'' | b'"')
}

/// Where a string ends: the first of so many quotes that no backslash stands before.
fn end_of_string(text: &str, quote: char, quotes: usize) -> Option<usize> {
    let (mut at, mark) = (0, u8::try_from(quote).ok()?);
    loop {
        let rest = text.get(at..)?;
        let next = memchr::memchr2(mark, b'\\', rest.as_bytes())?;
        let found = rest.get(next..)?;
        if found.starts_with('\\') {
            // The character behind it is no end, whatever it is.
            let escaped = found.chars().nth(1)?;
            at += next + 1 + escaped.len_utf8();
        } else if found.chars().take(quotes).filter(|c| *c == quote).count() == quotes {
            return Some(at + next);
        } else {
            at += next + 1;
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
