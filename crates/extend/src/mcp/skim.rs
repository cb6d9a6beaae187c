//! Who a message is from and which it is, told from a text that cannot be read. Pure.

use rmcp::model::RequestId;

/// Longest id that is looked for.
const MAX_ID: usize = 256;

/// Looks through a message, piece by piece, for whether it is a request and which. It takes anything:
/// what it finds in something that is no JSON is a guess, and only an error is sent to it.
#[derive(Debug, Default)]
pub(crate) struct Skim {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// What the words at the top stand for now.
    place: Place,
    word: Vec<u8>,
    id: Option<Vec<u8>>,
    kind: Option<Kind>,
}

/// What a message has the looks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It asks for something, or tells something.
    Method,
    Answer,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Key,
    Id,
    Other,
}

impl Skim {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.inside(byte);
            } else {
                self.outside(byte);
            }
        }
    }

    fn inside(&mut self, byte: u8) {
        if self.escaped || byte != b'"' {
            self.escaped = byte == b'\\' && !self.escaped;
        } else {
            self.in_string = false;
        }
        self.note(byte);
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                self.note(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.value_ends();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.place == Place::Key => {
                match self.word.as_slice() {
                    b"\"method\"" => self.kind = Some(Kind::Method),
                    b"\"result\"" | b"\"error\"" => self.kind = self.kind.or(Some(Kind::Answer)),
                    _ => {}
                }
                self.place = if self.word == b"\"id\"" { Place::Id } else { Place::Other };
                self.word.clear();
            }
            b',' => self.value_ends(),
            byte if byte.is_ascii_whitespace() => {}
            _ => self.note(byte),
        }
    }

    /// Remembers a letter of a word at the top, if that may be of use.
    fn note(&mut self, byte: u8) {
        if self.depth == 1 && self.place != Place::Other && self.word.len() <= MAX_ID {
            self.word.push(byte);
        }
    }

    fn value_ends(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.place == Place::Id {
            self.id = Some(std::mem::take(&mut self.word));
        }
        self.word.clear();
        self.place = Place::Key;
    }

    /// The id it has, if that can be one.
    pub(crate) fn id(&self) -> Option<RequestId> {
        self.id.as_ref().and_then(|id| serde_json::from_slice(id).ok())
    }

    /// Whether it has an id, of whatever kind.
    pub(crate) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Whether it asks for something, or tells something.
    pub(crate) fn has_method(&self) -> bool {
        self.kind == Some(Kind::Method)
    }

    /// Whether it has the looks of an answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.kind == Some(Kind::Answer)
    }
}
