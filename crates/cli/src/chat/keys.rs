//! What a terminal sends, as keys.
//!
//! Pure: bytes in, keys out. Bytes may come in any pieces; what is cut off waits for the rest, and
//! an escape that nothing follows is the key itself once the line falls silent.

/// Longest paste that is taken; more of it is dropped.
const MAX_PASTE: usize = 4 * 1024 * 1024;

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// A key, or what was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Alt(char),
    Enter,
    /// A line break that does not send: Alt-Enter, Shift-Enter, Ctrl-J.
    NewLine,
    Tab,
    BackTab,
    Backspace,
    /// Alt-Backspace.
    WordBackspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    Escape,
    Paste(String),
}

/// Turns bytes into keys.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    /// What was pasted so far, while a paste goes on.
    paste: Option<Vec<u8>>,
}

/// What the first bytes are.
enum Found {
    /// A key, or nothing that matters, and its length.
    Key(Option<Key>, usize),
    /// More bytes are needed.
    Cut,
}

impl Decoder {
    /// Takes bytes as they were read.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.bytes.extend_from_slice(bytes);
        let mut keys = Vec::new();
        loop {
            if self.paste.is_some() {
                match self.take_paste() {
                    Some(key) => keys.push(key),
                    None => return keys,
                }
            }
            if self.bytes.starts_with(PASTE_BEGINS) {
                self.bytes.drain(..PASTE_BEGINS.len());
                self.paste = Some(Vec::new());
                continue;
            }
            match first(&self.bytes) {
                Found::Key(key, length) if length > 0 => {
                    keys.extend(key);
                    self.bytes.drain(..length.min(self.bytes.len()));
                }
                _ => return keys,
            }
        }
    }

    /// Whether something waits for more bytes.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.bytes.is_empty() && self.paste.is_none()
    }

    /// Nothing more came: an escape that stood alone was the key.
    pub(crate) fn silence(&mut self) -> Vec<Key> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let alone = self.bytes == [0x1b];
        self.bytes.clear();
        if alone { vec![Key::Escape] } else { Vec::new() }
    }

    /// Moves bytes into the paste; the paste when it is over.
    fn take_paste(&mut self) -> Option<Key> {
        let paste = self.paste.as_mut()?;
        let end = self.bytes.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        // The mark of the end may be cut in two.
        let upto = end.unwrap_or_else(|| self.bytes.len().saturating_sub(PASTE_ENDS.len() - 1));
        let room = MAX_PASTE.saturating_sub(paste.len());
        paste.extend(self.bytes.drain(..upto).take(room));
        end?;
        self.bytes.drain(..PASTE_ENDS.len());
        let paste = self.paste.take().unwrap_or_default();
        let text = String::from_utf8_lossy(&paste).replace("\r\n", "\n").replace('\r', "\n");
        Some(Key::Paste(text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()))
    }
}

fn first(bytes: &[u8]) -> Found {
    let Some(byte) = bytes.first() else { return Found::Cut };
    let key = match byte {
        b'\r' => Key::Enter,
        b'\n' => Key::NewLine,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x1b => return escape(bytes),
        0x1c..=0x1f => Key::Ctrl(char::from(byte + 0x40).to_ascii_lowercase()),
        0..=0x1a => Key::Ctrl(char::from(byte + 0x60)),
        _ => return letter(bytes, Key::Char),
    };
    Found::Key(Some(key), 1)
}

/// One letter, which may be several bytes.
fn letter(bytes: &[u8], key: fn(char) -> Key) -> Found {
    let length = match bytes.first() {
        Some(0xf0..=0xf7) => 4,
        Some(0xe0..=0xef) => 3,
        Some(0xc2..=0xdf) => 2,
        _ => 1,
    };
    let Some(whole) = bytes.get(..length) else { return Found::Cut };
    match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(letter) => Found::Key(Some(key(letter)), length),
        // Not text: let the next byte have its chance.
        None => Found::Key(None, 1),
    }
}

fn escape(bytes: &[u8]) -> Found {
    match bytes.get(1) {
        None => Found::Cut,
        Some(b'[') => sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Found::Cut,
            Some(last) => Found::Key(named(*last, 1), 3),
        },
        Some(b'\r' | b'\n') => Found::Key(Some(Key::NewLine), 2),
        Some(0x7f | 0x08) => Found::Key(Some(Key::WordBackspace), 2),
        Some(0..=0x1f) => Found::Key(Some(Key::Escape), 1),
        Some(_) => match letter(bytes.get(1..).unwrap_or_default(), Key::Alt) {
            Found::Key(key, length) => Found::Key(key, length + 1),
            Found::Cut => Found::Cut,
        },
    }
}

/// `ESC [ numbers letter`.
fn sequence(bytes: &[u8]) -> Found {
    let body = bytes.get(2..).unwrap_or_default();
    let Some(end) = body.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        // Nobody sends such long ones.
        return if body.len() > 32 { Found::Key(None, bytes.len()) } else { Found::Cut };
    };
    let numbers: Vec<u32> = body
        .get(..end)
        .unwrap_or_default()
        .split(|byte| *byte == b';')
        .map(|part| std::str::from_utf8(part).ok().and_then(|part| part.parse().ok()).unwrap_or(1))
        .collect();
    let (code, with) = (numbers.first().copied().unwrap_or(1), numbers.get(1).copied().unwrap_or(1));
    let key = match body.get(end) {
        Some(b'~') => match code {
            1 | 7 => Some(Key::Home),
            3 => Some(Key::Delete),
            4 | 8 => Some(Key::End),
            27 if numbers.get(2) == Some(&13) => Some(Key::NewLine),
            _ => None,
        },
        Some(b'u') if code == 13 => Some(if with > 1 { Key::NewLine } else { Key::Enter }),
        Some(b'u') if code == 27 => Some(Key::Escape),
        Some(b'Z') => Some(Key::BackTab),
        Some(last) => named(*last, with),
        None => None,
    };
    Found::Key(key, end + 3)
}

/// The keys that are named by a letter; `with` says which others were held.
fn named(letter: u8, with: u32) -> Option<Key> {
    let word = with > 2;
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if word => Key::WordRight,
        b'C' => Key::Right,
        b'D' if word => Key::WordLeft,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        b'M' => Key::Enter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        Decoder::default().feed(bytes)
    }

    #[test]
    fn letters_and_control_keys_are_understood() {
        let all = keys("aé日\r\n\t\u{7f}\u{3}\u{4}\u{1f}".as_bytes());

        let expected = [
            Key::Char('a'),
            Key::Char('é'),
            Key::Char('日'),
            Key::Enter,
            Key::NewLine,
            Key::Tab,
            Key::Backspace,
            Key::Ctrl('c'),
            Key::Ctrl('d'),
            Key::Ctrl('_'),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn sequences_are_understood() {
        let all =
            keys(b"\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[H\x1b[4~\x1b[Z\x1b\r\x1b[13;2u\x1bb\x1b\x7f\x1b[99x");

        let expected = [
            Key::Up,
            Key::Down,
            Key::WordRight,
            Key::Delete,
            Key::Home,
            Key::End,
            Key::BackTab,
            Key::NewLine,
            Key::NewLine,
            Key::Alt('b'),
            Key::WordBackspace,
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_paste_is_one_key_without_anything_a_terminal_obeys() {
        let all = keys(b"\x1b[200~one\r\ntwo\x1b[31m\x03\x1b[201~x");

        assert_eq!(all, [Key::Paste("one\ntwo[31m".to_owned()), Key::Char('x')]);
    }

    #[test]
    fn an_escape_alone_is_a_key_once_it_is_silent() {
        let mut decoder = Decoder::default();

        assert!(decoder.feed(b"\x1b").is_empty());
        assert!(decoder.is_waiting());
        assert_eq!(decoder.silence(), [Key::Escape]);
        assert!(decoder.silence().is_empty());
        assert_eq!(keys(b"\x1b\x03"), [Key::Escape, Key::Ctrl('c')]);
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_keys(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\x1b[~0;2AZ1".to_vec())], 0..60), at in 0_usize..60) {
            let at = at.min(bytes.len());
            let mut decoder = Decoder::default();
            let mut pieces = decoder.feed(&bytes[..at]);
            pieces.extend(decoder.feed(&bytes[at..]));

            prop_assert_eq!(pieces, keys(&bytes));
        }
    }
}
