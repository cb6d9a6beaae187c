//! A byte position in a text, moved forward only.

/// Reads a text byte by byte; shell syntax is ASCII, so bytes are enough between characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of `text`.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte at the position.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte `ahead` places on.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Where it stands.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Moves `by` bytes on, never past the end.
    pub(crate) fn skip(&mut self, by: usize) {
        self.at = (self.at + by).min(self.text.len());
    }

    /// Moves to `at`, never past the end.
    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    /// Moves on if the rest begins with `want`.
    pub(crate) fn eat(&mut self, want: &str) -> bool {
        let found = self.rest_bytes().starts_with(want.as_bytes());
        if found {
            self.at += want.len();
        }
        found
    }

    /// What is left, as bytes.
    pub(crate) fn rest_bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// What is left, as text; empty when the position is inside a character.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text from `from` to the position; empty when either is inside a character.
    pub(crate) fn since(&self, from: usize) -> &'a str {
        self.slice(from, self.at)
    }

    /// The text between two positions; empty when either is inside a character.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// How long the whole text is.
    pub(crate) const fn length(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing is left.
    pub(crate) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Moves to the next `byte` or the end; says whether it was found.
    pub(crate) fn seek(&mut self, byte: u8) -> bool {
        if let Some(step) = self.rest_bytes().iter().position(|b| *b == byte) {
            self.at += step;
            true
        } else {
            self.at = self.text.len();
            false
        }
    }
}
