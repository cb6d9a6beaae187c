//! A line that is typed and not shown.

use hermes::core::sudo::{Password, wipe};

use crate::chat::keys::Key;

/// Longest line; what is typed beyond it is dropped, and the place for it is never moved.
const LONGEST: usize = 1024;

/// What was typed so far; nothing of it is left when it is dropped.
pub(crate) struct Hidden(Vec<u8>);

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// The line goes on.
    On,
    /// It is done.
    Sent(Option<Password>),
}

impl Default for Hidden {
    fn default() -> Self {
        Self(Vec::with_capacity(LONGEST))
    }
}

impl Hidden {
    /// Takes a key.
    pub(crate) fn key(&mut self, key: Key) -> Typing {
        match key {
            Key::Char(letter) => self.add(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Key::Paste(text) => {
                let mut text = text.into_bytes();
                self.add(text.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default());
                wipe(&mut text);
            }
            Key::Backspace => {
                let kept = std::str::from_utf8(&self.0).ok().and_then(|text| text.char_indices().last());
                self.0.truncate(kept.map_or(0, |(at, _)| at));
            }
            Key::Ctrl('u') | Key::WordBackspace => self.clear(),
            Key::Enter | Key::NewLine => {
                let typed = Password::new(self.0.clone());
                self.clear();
                return Typing::Sent(typed);
            }
            _ => {}
        }
        Typing::On
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.0.len() + bytes.len() <= LONGEST {
            self.0.extend_from_slice(bytes);
        }
    }

    fn clear(&mut self) {
        wipe(&mut self.0);
        self.0.clear();
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_typed_taken_back_and_sent() {
        let mut hidden = Hidden::default();
        for key in ["x", "y", "é", "z"].into_iter().flat_map(str::chars).map(Key::Char) {
            assert_eq!(hidden.key(key), Typing::On);
        }
        hidden.key(Key::Backspace);
        hidden.key(Key::Backspace);
        hidden.key(Key::Paste("12\nrm".to_owned()));

        assert_eq!(hidden.key(Key::Enter), Typing::Sent(Password::new("xy12")));
        assert_eq!(hidden.key(Key::Enter), Typing::Sent(None));
    }

    #[test]
    fn a_line_can_be_begun_anew() {
        let mut hidden = Hidden::default();
        hidden.key(Key::Char('a'));
        hidden.key(Key::Ctrl('u'));
        hidden.key(Key::Char('b'));

        assert_eq!(hidden.key(Key::Enter), Typing::Sent(Password::new("b")));
    }
}
