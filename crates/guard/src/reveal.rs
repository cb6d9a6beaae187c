//! Characters that make a text look like something else.
//!
//! A shell takes bytes as they are, so look-alike letters do not name the program they look
//! like. A person reading the question, or a tool that normalises text before running it, may be
//! fooled all the same: such text is judged a second time as what it looks like.

use std::borrow::Cow;

/// The text as the shell would get it: NUL gone, our own marker characters replaced.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c == '\0' || ('\u{10FF00}'..='\u{10FF0F}').contains(&c);
    // Most texts have neither; the check must stay cheap.
    if memchr::memchr2(0, 0xF4, text.as_bytes()).is_none() || !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .filter(|c| *c != '\0')
            .map(|c| if odd(c) { char::REPLACEMENT_CHARACTER } else { c })
            .collect(),
    )
}

/// A sign that the text hides something from whoever reads it on a screen.
pub(crate) fn hiding(text: &str) -> Option<&'static str> {
    let odd = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 7) || byte == 0x7f;
    // One quick pass; most texts have none.
    let some = text.bytes().fold(0, |some, byte| some | u8::from(odd(byte)));
    for byte in text.bytes().filter(|_| some != 0) {
        match byte {
            0 => return Some("a NUL character"),
            0x1b => return Some("a terminal control sequence"),
            0x08 | 0x7f => return Some("characters that erase others on the screen"),
            1..=6 | 0x0b | 0x0c | 0x0e..=0x1a => return Some("a control character"),
            _ => {}
        }
    }
    if text.is_ascii() {
        return None;
    }
    text.chars().find_map(|c| match c {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            Some("characters that change the direction of writing")
        }
        '\u{E0000}'..='\u{E007F}' => Some("invisible tag characters"),
        _ => None,
    })
}

/// The text with look-alikes and invisible characters turned into what they look like; `None`
/// when there are none.
pub(crate) fn shown(text: &str) -> Option<String> {
    let backspaces = text.bytes().any(|b| matches!(b, 0x08 | b'\r' | 0x1b));
    if text.is_ascii() && !backspaces {
        return None;
    }
    let mut changed = false;
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\r' && letters.peek().is_some_and(|next| *next != '\n') {
            // On a screen the line starts over; a reader sees only what comes last.
            changed = true;
            out.push('\n');
            continue;
        }
        if letter == '\r' && letters.peek().is_none() {
            changed = true;
            continue;
        }
        if letter == '\u{1b}' {
            // A terminal takes the whole sequence; nothing of it is seen.
            changed = true;
            let bracketed = matches!(letters.next(), Some('[' | ']'));
            while bracketed && letters.next().is_some_and(|c| !matches!(c, '@'..='~' | '\u{7}')) {}
            continue;
        }
        if letter == '\u{8}' {
            changed = true;
            out.pop();
            continue;
        }
        match fold(letter) {
            Folded::Same => out.push(letter),
            Folded::Gone => changed = true,
            Folded::To(plain) => {
                changed = true;
                out.push(plain);
            }
        }
    }
    changed.then_some(out)
}

enum Folded {
    Same,
    Gone,
    To(char),
}

/// Letters that only look like ASCII, in the order of the pairs: Cyrillic, Greek, Armenian and
/// other shapes used to imitate.
const LOOK_ALIKES: [(char, char); 62] = [
    ('а', 'a'),
    ('е', 'e'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('у', 'y'),
    ('х', 'x'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ѕ', 's'),
    ('ԁ', 'd'),
    ('ԛ', 'q'),
    ('ԝ', 'w'),
    ('һ', 'h'),
    ('ո', 'n'),
    ('ս', 'u'),
    ('ց', 'g'),
    ('օ', 'o'),
    ('к', 'k'),
    ('т', 't'),
    ('м', 'm'),
    ('г', 'r'),
    ('ɡ', 'g'),
    ('ı', 'i'),
    ('ɩ', 'i'),
    ('ℓ', 'l'),
    ('ո', 'n'),
    ('А', 'A'),
    ('В', 'B'),
    ('Е', 'E'),
    ('К', 'K'),
    ('М', 'M'),
    ('Н', 'H'),
    ('О', 'O'),
    ('Р', 'P'),
    ('С', 'C'),
    ('Т', 'T'),
    ('Х', 'X'),
    ('ο', 'o'),
    ('α', 'a'),
    ('ρ', 'p'),
    ('ν', 'v'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('η', 'n'),
    ('‐', '-'),
    ('‑', '-'),
    ('‒', '-'),
    ('–', '-'),
    ('—', '-'),
    ('−', '-'),
    ('﹣', '-'),
    ('∕', '/'),
    ('⁄', '/'),
    ('⧸', '/'),
    ('∗', '*'),
    ('∼', '~'),
    ('ᴦ', 'r'),
    ('ꮁ', 'r'),
];

fn fold(letter: char) -> Folded {
    if letter.is_ascii() {
        return Folded::Same;
    }
    let code = u32::from(letter);
    match code {
        0x200B..=0x200F
        | 0x2060..=0x2064
        | 0xFEFF
        | 0x00AD
        | 0x180E
        | 0x034F
        | 0x115F
        | 0x1160
        | 0x3164
        | 0x202A..=0x202E
        | 0x2066..=0x2069
        | 0xE0000..=0xE007F => return Folded::Gone,
        0xFE00..=0xFE0E => return Folded::Gone,
        0x00A0 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 | 0x1680 => return Folded::To(' '),
        0x2028 | 0x2029 | 0x0085 => return Folded::To('\n'),
        _ => {}
    }
    if let 0xFF01..=0xFF5E = code {
        let plain = char::from_u32(code - 0xFEE0).unwrap_or(letter);
        // Full-width brackets and quotes stand in ordinary East Asian prose.
        return if plain.is_ascii_alphanumeric()
            || matches!(plain, '-' | '/' | '.' | '*' | '~' | '_' | '|' | ';' | '&' | '$' | '>' | '=')
        {
            Folded::To(plain)
        } else {
            Folded::Same
        };
    }
    if let 0x2160..=0x217F = code {
        let plain =
            *b"ivx_v___xx__lcdm".get(usize::try_from((code - 0x2160) % 16).unwrap_or(0)).unwrap_or(&b'_');
        return if plain == b'_' { Folded::Same } else { Folded::To(char::from(plain)) };
    }
    if let Some(plain) = mathematical(code) {
        return Folded::To(plain);
    }
    LOOK_ALIKES.iter().find(|(look, _)| *look == letter).map_or(Folded::Same, |(_, plain)| Folded::To(*plain))
}

/// Mathematical and enclosed alphabets.
fn mathematical(code: u32) -> Option<char> {
    let letter = |offset: u32| char::from_u32(if offset < 26 { 0x41 + offset } else { 0x61 + offset - 26 });
    match code {
        0x1D400..=0x1D6A3 => letter((code - 0x1D400) % 52),
        0x1D7CE..=0x1D7FF => char::from_u32(0x30 + (code - 0x1D7CE) % 10),
        0x24B6..=0x24E9 => letter(code - 0x24B6),
        0x1F130..=0x1F149 => char::from_u32(0x41 + code - 0x1F130),
        0x249C..=0x24B5 => char::from_u32(0x61 + code - 0x249C),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_become_what_they_look_like() {
        assert_eq!(shown("ｒｍ －ｒｆ ／").as_deref(), Some("rm -rf /"));
        assert_eq!(shown("r\u{200b}m").as_deref(), Some("rm"));
        assert_eq!(shown("𝐫𝐦").as_deref(), Some("rm"));
        assert_eq!(shown("echo hi"), None);
        assert_eq!(shown("echo 你好"), None);
    }

    #[test]
    fn control_characters_are_noticed() {
        assert!(hiding("a\u{1b}[2Kb").is_some());
        assert!(hiding("a\u{202e}b").is_some());
        assert!(hiding("a\tb\n").is_none());
    }
}
