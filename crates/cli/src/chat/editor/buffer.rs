//! The text being typed and the place in it.

use unicode_width::UnicodeWidthChar;

/// Most states that can be gone back to.
const MAX_UNDO: usize = 200;

/// Text and cursor, with what was cut and what was there before.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer {
    text: String,
    at: usize,
    cut: String,
    undo: Vec<(String, usize)>,
    /// Letters are being typed, which are taken back together.
    typing: bool,
}

impl Buffer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The cursor, in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What stands before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// What stands behind it.
    pub(super) fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Replaces everything; the cursor is at the end.
    pub(super) fn set(&mut self, text: String) {
        self.remember();
        self.at = text.len();
        self.text = text;
    }

    /// The text, leaving nothing behind.
    pub(super) fn take(&mut self) -> String {
        self.at = 0;
        self.undo.clear();
        self.typing = false;
        std::mem::take(&mut self.text)
    }

    pub(super) fn type_letter(&mut self, letter: char) {
        // Words are taken back one by one.
        if !self.typing || letter == ' ' {
            self.remember();
        }
        self.typing = true;
        self.text.insert(self.at, letter);
        self.at += letter.len_utf8();
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.remember();
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    /// Replaces what stands between `start` and the cursor.
    pub(super) fn replace_from(&mut self, start: usize, text: &str) {
        if self.text.is_char_boundary(start) && start <= self.at {
            self.remember();
            self.text.replace_range(start..self.at, text);
            self.at = start + text.len();
        }
    }

    pub(super) fn left(&mut self) {
        self.go(self.previous());
    }

    pub(super) fn right(&mut self) {
        self.go(self.next());
    }

    pub(super) fn word_left(&mut self) {
        self.go(self.word_start());
    }

    pub(super) fn word_right(&mut self) {
        self.go(self.word_end());
    }

    pub(super) fn line_start(&mut self) {
        self.go(self.before().rfind('\n').map_or(0, |at| at + 1));
    }

    pub(super) fn line_end(&mut self) {
        self.go(self.after().find('\n').map_or(self.text.len(), |at| self.at + at));
    }

    /// One line up at about the same column; false on the first line.
    pub(super) fn up(&mut self) -> bool {
        let start = self.before().rfind('\n').map_or(0, |at| at + 1);
        if start == 0 {
            return false;
        }
        let column = self.text.get(start..self.at).unwrap_or_default().chars().count();
        let above = self.text.get(..start - 1).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
        self.go_to_column(above, start - 1, column);
        true
    }

    /// One line down; false on the last line.
    pub(super) fn down(&mut self) -> bool {
        let Some(end) = self.after().find('\n').map(|at| self.at + at) else { return false };
        let start = self.before().rfind('\n').map_or(0, |at| at + 1);
        let column = self.text.get(start..self.at).unwrap_or_default().chars().count();
        let below = end + 1;
        let stop =
            self.text.get(below..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |at| below + at);
        self.go_to_column(below, stop, column);
        true
    }

    pub(super) fn backspace(&mut self) {
        self.remove(self.previous(), self.at);
    }

    pub(super) fn delete(&mut self) {
        self.remove(self.at, self.next());
    }

    pub(super) fn cut_word_left(&mut self) {
        self.cut(self.word_start(), self.at);
    }

    /// The word as a shell sees it: up to the blank.
    pub(super) fn cut_to_blank(&mut self) {
        let before = self.before().trim_end();
        let start = before.rfind(char::is_whitespace);
        let start = start
            .map_or(0, |at| at + before.get(at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8));
        self.cut(start, self.at);
    }

    pub(super) fn cut_word_right(&mut self) {
        self.cut(self.at, self.word_end());
    }

    pub(super) fn cut_to_line_end(&mut self) {
        let end = self.after().find('\n').map_or(self.text.len(), |at| self.at + at);
        // On an empty rest the line break itself goes.
        self.cut(self.at, if end == self.at { self.next() } else { end });
    }

    pub(super) fn cut_to_line_start(&mut self) {
        let start = self.before().rfind('\n').map_or(0, |at| at + 1);
        self.cut(start, self.at);
    }

    pub(super) fn put_back(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    pub(super) fn undo(&mut self) {
        self.typing = false;
        if let Some((text, at)) = self.undo.pop() {
            self.text = text;
            self.at = at;
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if let Some(cut) = self.text.get(from..to).filter(|cut| !cut.is_empty()) {
            self.cut = cut.to_owned();
            self.remove(from, to);
        }
    }

    fn remove(&mut self, from: usize, to: usize) {
        if from < to && self.text.get(from..to).is_some() {
            self.remember();
            self.text.replace_range(from..to, "");
            self.at = from;
        }
    }

    fn remember(&mut self) {
        self.typing = false;
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.at));
    }

    fn go(&mut self, at: usize) {
        self.typing = false;
        self.at = at;
    }

    fn go_to_column(&mut self, start: usize, end: usize, column: usize) {
        let line = self.text.get(start..end).unwrap_or_default();
        let offset = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        self.go(start + offset);
    }

    /// Where the letter before the cursor begins, with the marks that stand on it.
    fn previous(&self) -> usize {
        let mut letters = self.before().char_indices().rev();
        letters.find(|(_, letter)| is_base(*letter)).map_or(0, |(at, _)| at)
    }

    /// Where the letter behind the cursor ends.
    fn next(&self) -> usize {
        let mut letters = self.after().char_indices().skip(1);
        letters.find(|(_, letter)| is_base(*letter)).map_or(self.text.len(), |(at, _)| self.at + at)
    }

    fn word_start(&self) -> usize {
        let mut in_word = false;
        for (at, letter) in self.before().char_indices().rev() {
            match (letter.is_alphanumeric(), in_word) {
                (true, _) => in_word = true,
                (false, true) => return at + letter.len_utf8(),
                (false, false) => {}
            }
        }
        0
    }

    fn word_end(&self) -> usize {
        let mut in_word = false;
        for (at, letter) in self.after().char_indices() {
            match (letter.is_alphanumeric(), in_word) {
                (true, _) => in_word = true,
                (false, true) => return self.at + at,
                (false, false) => {}
            }
        }
        self.text.len()
    }
}

/// Whether a letter stands for itself rather than on the one before.
fn is_base(letter: char) -> bool {
    letter == '\n' || letter.width().unwrap_or(1) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.insert(text);
        buffer
    }

    #[test]
    fn words_are_cut_and_put_back() {
        let mut it = buffer("git commit --amend");

        it.cut_word_left();
        assert_eq!(it.text(), "git commit --");
        it.line_start();
        it.put_back();
        assert_eq!(it.text(), "amendgit commit --");
    }

    #[test]
    fn the_cursor_steps_over_letters_with_marks() {
        let mut it = buffer("ne\u{301}e");

        it.left();
        it.left();
        assert_eq!(it.before(), "n");
        it.delete();
        assert_eq!(it.text(), "ne");
    }

    #[test]
    fn up_and_down_keep_the_column() {
        let mut it = buffer("first line\nab\nthird line");

        assert!(it.up());
        assert_eq!(it.before(), "first line\nab");
        assert!(it.up());
        assert_eq!(it.before(), "fi");
        assert!(!it.up());
        assert!(it.down());
        assert_eq!(it.before(), "first line\nab");
    }

    #[test]
    fn typing_is_taken_back_word_by_word() {
        let mut it = Buffer::default();
        "one two".chars().for_each(|letter| it.type_letter(letter));

        it.undo();
        assert_eq!(it.text(), "one");
        it.undo();
        assert_eq!(it.text(), "");
    }

    #[test]
    fn a_shell_word_is_cut_to_the_blank() {
        let mut it = buffer("cat a/b.txt  ");

        it.cut_to_blank();
        assert_eq!(it.text(), "cat ");
    }
}
