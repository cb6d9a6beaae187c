//! Takes out of a text what a terminal would obey or not show.
//!
//! Escape sequences go whole, so that nothing of them is left as odd letters. One pass; a sequence
//! without an end stops at the next control character.

use std::str::Chars;

use super::framing;

/// Drops terminal sequences, control and invisible characters. Every kind of line end becomes `\n`.
pub(super) fn visible_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                if !rest.as_str().starts_with('\n') {
                    out.push('\n');
                }
            }
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\u{1B}' => skip_escape(&mut rest),
            '\u{9B}' => skip_parameters(&mut rest),
            _ if c.is_control() || framing::is_invisible(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// Skips what follows an escape character.
fn skip_escape(rest: &mut Chars<'_>) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_parameters(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            skip_string(rest);
        }
        Some(c @ ' '..='~') => {
            *rest = ahead;
            // Intermediate bytes announce one final byte.
            if (' '..='/').contains(&c) {
                skip_while(rest, |c| (' '..='/').contains(&c));
                skip_one(rest, |c| ('0'..='~').contains(&c));
            }
        }
        _ => {}
    }
}

/// Skips parameters, intermediates and the final byte of a control sequence.
fn skip_parameters(rest: &mut Chars<'_>) {
    skip_while(rest, |c| (' '..='?').contains(&c));
    skip_one(rest, |c| ('@'..='~').contains(&c));
}

/// Skips a control string up to its terminator, or up to whatever shows that there is none.
fn skip_string(rest: &mut Chars<'_>) {
    skip_while(rest, |c| !c.is_control());
    let mut ahead = rest.clone();
    match (ahead.next(), ahead.clone().next()) {
        (Some('\u{7}' | '\u{9C}'), _) => *rest = ahead,
        (Some('\u{1B}'), Some('\\')) => {
            ahead.next();
            *rest = ahead;
        }
        _ => {}
    }
}

fn skip_while(rest: &mut Chars<'_>, wanted: impl Fn(char) -> bool) {
    while skip_one(rest, &wanted) {}
}

fn skip_one(rest: &mut Chars<'_>, wanted: impl Fn(char) -> bool) -> bool {
    let mut ahead = rest.clone();
    let found = ahead.next().is_some_and(wanted);
    if found {
        *rest = ahead;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_go_whole() {
        assert_eq!(visible_text("\u{1b}[1;31merror\u{1b}[0m: x"), "error: x");
        assert_eq!(visible_text("\u{1b}]8;;http://a\u{7}link\u{1b}]8;;\u{1b}\\!"), "link!");
        assert_eq!(visible_text("\u{1b}(Ba\u{9b}2Kb\u{1b}"), "ab");
        assert_eq!(visible_text("10%\r20%\r\ndone\0"), "10%\n20%\ndone");
        assert_eq!(visible_text("a\u{202e}b\u{feff}c\u{e0041}"), "abc");
    }
}
