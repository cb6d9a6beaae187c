//! Takes the colours, cursor moves and titles out of what programs write for terminals.

/// The bytes as text, without escape sequences; lines end with a newline alone.
///
/// What is not UTF-8 is replaced. Carriage returns before a newline go, others stay: what they
/// would overwrite on a screen is still there to read.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_control(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\u{8}' => {
                // Typed over, as manual pages do for bold.
                if clean.ends_with(|last: char| last != '\n') {
                    clean.pop();
                }
            }
            '\n' | '\t' | '\r' => clean.push(c),
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What follows ESC.
fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Parameters and the letter that ends them. A line end inside means it never was one.
fn skip_control(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Text up to its end mark; a title that never ends is given up at the line's end.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if chars.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn sequences_of_every_kind_go_and_text_stays() {
        for (raw, clean) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}Pq#0;1\u{1b}\\x", "x"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}7z", "xyz"),
            ("\u{9b}31mx", "x"),
            ("a\r\nb\rc", "a\nb\rc"),
            ("b\u{8}bo\u{8}o", "bo"),
            ("bell\u{7} nul\0", "bell nul"),
            ("\u{1b}]0;never ends\nnext", "\nnext"),
            ("\u{1b}[31", ""),
            ("plain [31m text", "plain [31m text"),
            ("   leading", "   leading"),
        ] {
            assert_eq!(plain(raw.as_bytes()), clean, "{raw:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(plain(b"a\xffb"), "a\u{fffd}b");
    }
}
