//! The text of a `.env` file: which assignments it holds and where, so that one can be changed
//! without touching the rest.
//!
//! Hand-written rather than `dotenvy`, whose parser reads the process environment to expand `$NAME`,
//! drops `$` from unquoted passwords, puts the offending value into its errors and cannot say on
//! which line or at which place an assignment stands. Here a value means what it says: nothing is
//! expanded, a line that cannot be read is reported without its text, and the others still count.

use std::ops::Range;

use crate::secrets::is_variable_name;

/// One `NAME=value`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Where the whole assignment stands, with its line end.
    pub(crate) whole: Range<usize>,
    /// Where the value stands, with its quotes.
    pub(crate) place: Range<usize>,
}

/// A line that could not be read. Its text is left out: it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadLine {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Everything in a `.env` text, in order.
pub(crate) struct Parsed {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) bad: Vec<BadLine>,
}

/// Reads a `.env` text.
pub(crate) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed { assignments: Vec::new(), bad: Vec::new() };
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut line = 1;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let here = line_len(rest);
        let used = match assignment(rest) {
            Ok(None) => here,
            Ok(Some(mut found)) => {
                let used = found.whole.end;
                found.whole = at..at + used;
                found.place = at + found.place.start..at + found.place.end;
                parsed.assignments.push(found);
                used
            }
            Err(why) => {
                parsed.bad.push(BadLine { line, why });
                here
            }
        };
        line += text.get(at..at + used).map_or(1, |part| part.matches('\n').count());
        at += used;
    }
    parsed
}

/// The value as it has to be written to be read back as the same.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+:,./=-".contains(c);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\\', '\n', '\r']) {
        return format!("'{value}'");
    }
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '"' | '\\' => text.extend(['\\', c]),
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The assignment at the start of `text`, places counted from there; `None` for a blank line or a comment.
fn assignment(text: &str) -> Result<Option<Assignment>, &'static str> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.blanks();
    if cursor.rest().starts_with('#') || cursor.at_line_end() {
        return Ok(None);
    }
    let mut name = cursor.word();
    if name == "export" && cursor.rest().starts_with([' ', '\t']) {
        let before = cursor.at;
        cursor.blanks();
        // `export = x` assigns a variable of that name.
        if cursor.rest().starts_with('=') { cursor.at = before } else { name = cursor.word() }
    }
    if !is_variable_name(name) {
        return Err("it does not start with a variable name");
    }
    cursor.blanks();
    if !cursor.rest().starts_with('=') {
        return Err("there is no `=` after the name");
    }
    cursor.at += 1;
    let after_sign = cursor.at;
    cursor.blanks();
    let start = cursor.at;
    let quote = cursor.rest().chars().next().filter(|c| matches!(c, '\'' | '"'));
    let (value, place) = if let Some(quote) = quote {
        cursor.at += 1;
        let value = cursor.until(quote).ok_or("a quote is not closed")?;
        let place = start..cursor.at;
        cursor.blanks();
        if !cursor.at_line_end() && !cursor.rest().starts_with('#') {
            return Err("there is text after the closing quote");
        }
        (value, place)
    } else {
        let value = cursor.unquoted();
        let start = if value.is_empty() { after_sign } else { start };
        (value.to_owned(), start..start + value.len())
    };
    if value.contains('\0') {
        return Err("the value holds a NUL character");
    }
    let end = cursor.at + line_len(cursor.rest());
    Ok(Some(Assignment { name: name.to_owned(), value, whole: 0..end, place }))
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn at_line_end(&self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// What stands before the closing quote, over several lines if need be; steps behind it.
    fn until(&mut self, quote: char) -> Option<String> {
        let mut value = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.at += i + 1;
                return Some(value);
            }
            if c != '\\' {
                value.push(c);
                continue;
            }
            let (_, escaped) = chars.next()?;
            match (quote, escaped) {
                ('"', 'n') => value.push('\n'),
                ('"', 'r') => value.push('\r'),
                ('"', 't') => value.push('\t'),
                ('"', '"' | '$') | (_, '\\' | '\'') => value.push(escaped),
                _ => value.extend(['\\', escaped]),
            }
        }
        None
    }

    /// What stands on the rest of the line, without a comment and the blanks before it.
    fn unquoted(&mut self) -> &'a str {
        let rest = self.rest();
        let line = rest.get(..line_len(rest)).unwrap_or(rest).trim_end_matches(['\r', '\n']);
        let comment = line
            .char_indices()
            .scan(' ', |before, (i, c)| Some((std::mem::replace(before, c), i, c)))
            .find(|(before, _, c)| *c == '#' && matches!(before, ' ' | '\t'))
            .map_or(line.len(), |(_, i, _)| i);
        self.at += comment;
        line.get(..comment).unwrap_or_default().trim_end()
    }
}

/// How long the first line is, with its end.
fn line_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).assignments.into_iter().map(|a| (a.name, a.value)).collect()
    }

    fn one(text: &str) -> String {
        let found = pairs(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        found[0].1.clone()
    }

    #[test]
    fn the_usual_spellings_are_read() {
        assert_eq!(one("A=1"), "1");
        assert_eq!(one("  export A = two words  # note\n"), "two words");
        assert_eq!(one("A='it # is $HOME \"so\"' # note"), "it # is $HOME \"so\"");
        assert_eq!(one(r#"A="a\nb\t\"c\" \$d \x" "#), "a\nb\t\"c\" $d \\x");
        assert_eq!(one("A=pass#word$1\\n\r\n"), "pass#word$1\\n");
        assert_eq!(one("A="), "");
        assert_eq!(one("A= # nothing yet"), "");
        assert_eq!(one("export=x"), "x");
        assert_eq!(one("export = x"), "x");
        assert_eq!(one("\u{feff}A=1"), "1");
        assert_eq!(one("A=\"-----BEGIN\nkey\n-----END\"\n"), "-----BEGIN\nkey\n-----END");
    }

    #[test]
    fn nothing_is_expanded() {
        assert_eq!(one("A=${HOME}/x$PATH"), "${HOME}/x$PATH");
        assert_eq!(one("A=\"${HOME}\""), "${HOME}");
    }

    #[test]
    fn a_bad_line_is_reported_by_number_and_the_others_still_count() {
        let parsed = parse("A=1\nnonsense\n1B=2\nC=\"open\n\nD='x' y\n# fine\nE=5\n");

        let lines: Vec<usize> = parsed.bad.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [2, 3, 4, 6]);
        let names: Vec<&str> = parsed.assignments.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["A", "E"]);
    }

    #[test]
    fn lines_are_counted_through_a_value_of_several_lines() {
        let parsed = parse("A='1\n2\n3'\nbad\n");

        assert_eq!(parsed.bad[0].line, 4);
    }

    #[test]
    fn an_assignment_knows_its_place() {
        let text = "# c\nexport A = 'old' # note\r\nB=2";
        let parsed = parse(text);

        assert_eq!(text.get(parsed.assignments[0].place.clone()), Some("'old'"));
        assert_eq!(text.get(parsed.assignments[0].whole.clone()), Some("export A = 'old' # note\r\n"));
        assert_eq!(text.get(parsed.assignments[1].whole.clone()), Some("B=2"));
    }

    proptest! {
        #[test]
        fn any_value_is_read_back_as_it_was_written(value in "[^\0]*") {
            prop_assert_eq!(pairs(&format!("A={}\n", quoted(&value))), [("A".to_owned(), value)]);
        }

        #[test]
        fn any_text_is_read_without_harm_and_places_are_inside_it(text in "[A-Z=\\n\\r '\"#\\\\é\u{feff}]*") {
            for found in parse(&text).assignments {
                prop_assert!(text.get(found.whole.clone()).is_some());
                prop_assert!(text.get(found.place.clone()).is_some());
                prop_assert!(found.whole.start <= found.place.start && found.place.end <= found.whole.end);
            }
        }
    }
}
