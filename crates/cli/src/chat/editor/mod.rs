//! The line editor: keys in, text out, and how it looks in between.
//!
//! Pure, so that it can be used while the agent works: it never reads the terminal and never
//! writes to it. `buffer.rs` is the text, `history.rs` the lines of before, `complete.rs` what a
//! word could become, `paste.rs` long pastes, `view.rs` the drawing.

mod buffer;
mod complete;
mod history;
mod paste;
mod view;

use crate::chat::editor::buffer::Buffer;
use crate::chat::editor::complete::{Completion, common, complete};
use crate::chat::editor::paste::Pastes;
use crate::chat::keys::Key;

pub(crate) use complete::Offers;
pub(crate) use history::History;

/// What a key led to, beyond the editor itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// It may look different now.
    Changed,
    /// The text is to be sent. `kept` says whether it belongs into the history file.
    Sent {
        text: String,
        kept: bool,
    },
    /// Ctrl-C; the text, if there was any, is gone.
    Interrupt {
        had_text: bool,
    },
    /// Ctrl-D with nothing typed.
    Quit,
    Escape,
    /// Ctrl-L.
    Clear,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-O.
    Unfold,
}

/// A text being typed.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    buffer: Buffer,
    history: History,
    pastes: Pastes,
    menu: Option<Menu>,
    search: Option<Search>,
}

/// What a word could become, while one chooses.
#[derive(Debug)]
struct Menu {
    completion: Completion,
    chosen: Option<usize>,
}

/// Looking for a line of before.
#[derive(Debug, Default)]
struct Search {
    words: String,
    nth: usize,
    /// What was there when it began.
    draft: String,
}

impl Editor {
    /// Pastes of more than `lines` lines are folded.
    pub(crate) fn new(history: History, lines: usize) -> Self {
        Self { history, pastes: Pastes::folding(lines), ..Self::default() }
    }

    /// The text as it would be sent.
    pub(crate) fn text(&self) -> String {
        self.pastes.unfold(self.buffer.text())
    }

    /// Puts text there, to be changed and sent.
    pub(crate) fn set(&mut self, text: &str) {
        self.buffer.set(text.to_owned());
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: Key, sources: &dyn Offers) -> Edited {
        if self.search.is_some() && self.searching(&key) {
            return Edited::Changed;
        }
        match key {
            Key::Tab => self.choose(true, sources),
            Key::BackTab => self.choose(false, sources),
            other => {
                let open = self.menu.take().is_some();
                if open && other == Key::Escape {
                    return Edited::Changed;
                }
                return self.edit(other);
            }
        }
        Edited::Changed
    }

    fn edit(&mut self, key: Key) -> Edited {
        let buffer = &mut self.buffer;
        match key {
            Key::Enter => return self.enter(),
            Key::Ctrl('c') => {
                let had_text = !self.buffer.take().is_empty();
                return Edited::Interrupt { had_text };
            }
            Key::Ctrl('d') if buffer.text().is_empty() => return Edited::Quit,
            Key::Escape => return Edited::Escape,
            Key::Ctrl('l') => return Edited::Clear,
            Key::Ctrl('z') => return Edited::Suspend,
            Key::Ctrl('o') => return Edited::Unfold,
            Key::Ctrl('r') => {
                self.search = Some(Search { draft: self.buffer.text().to_owned(), ..Search::default() });
            }
            Key::Char(letter) => buffer.type_letter(letter),
            Key::Paste(text) => {
                let shown = self.pastes.fold(text);
                buffer.insert(&shown);
            }
            Key::NewLine => buffer.insert("\n"),
            Key::Backspace => buffer.backspace(),
            Key::Delete | Key::Ctrl('d') => buffer.delete(),
            Key::Left | Key::Ctrl('b') => buffer.left(),
            Key::Right | Key::Ctrl('f') => buffer.right(),
            Key::WordLeft | Key::Alt('b') => buffer.word_left(),
            Key::WordRight | Key::Alt('f') => buffer.word_right(),
            Key::Home | Key::Ctrl('a') => buffer.line_start(),
            Key::End | Key::Ctrl('e') => buffer.line_end(),
            Key::Up if buffer.up() => {}
            Key::Down if buffer.down() => {}
            Key::Up | Key::Ctrl('p') => self.go(History::older),
            Key::Down | Key::Ctrl('n') => self.go(|history, _| history.newer()),
            Key::Ctrl('k') => buffer.cut_to_line_end(),
            Key::Ctrl('u') => buffer.cut_to_line_start(),
            Key::Ctrl('w') => buffer.cut_to_blank(),
            Key::WordBackspace => buffer.cut_word_left(),
            Key::Alt('d') => buffer.cut_word_right(),
            Key::Ctrl('y') => buffer.put_back(),
            Key::Ctrl('_') => buffer.undo(),
            Key::Ctrl(_) | Key::Alt(_) | Key::Tab | Key::BackTab => {}
        }
        Edited::Changed
    }

    /// Sends, unless the line ends in a backslash, which asks for another line.
    fn enter(&mut self) -> Edited {
        if self.buffer.before().ends_with('\\') && self.buffer.after().is_empty() {
            self.buffer.backspace();
            self.buffer.insert("\n");
            return Edited::Changed;
        }
        if self.buffer.text().trim().is_empty() {
            return Edited::Changed;
        }
        let text = self.pastes.unfold(&self.buffer.take());
        self.pastes.forget();
        // As in a shell: what begins with a blank is not written down.
        let kept = self.history.add(&text) && !text.starts_with(' ');
        Edited::Sent { text: text.trim().to_owned(), kept }
    }

    fn go(&mut self, to: fn(&mut History, &str) -> Option<String>) {
        if let Some(line) = to(&mut self.history, self.buffer.text()) {
            self.buffer.set(line);
        }
    }

    /// Completes the word, or goes on to the next offer.
    fn choose(&mut self, forward: bool, sources: &dyn Offers) {
        if let Some(menu) = &mut self.menu {
            let count = menu.completion.offers.len().max(1);
            let next = match (menu.chosen, forward) {
                (None, true) => 0,
                (None, false) => count - 1,
                (Some(at), true) => (at + 1) % count,
                (Some(at), false) => (at + count - 1) % count,
            };
            menu.chosen = Some(next);
            if let Some(offer) = menu.completion.offers.get(next) {
                self.buffer.replace_from(menu.completion.start, &offer.text);
            }
            return;
        }
        let completion = complete(self.buffer.before(), sources);
        if let [only] = completion.offers.as_slice() {
            let end = if only.text.ends_with(['/', ':']) { "" } else { " " };
            self.buffer.replace_from(completion.start, &format!("{}{end}", only.text));
            return;
        }
        let shared = common(&completion.offers);
        if shared.len() > self.buffer.at().saturating_sub(completion.start) {
            self.buffer.replace_from(completion.start, &shared);
        }
        if !completion.offers.is_empty() {
            self.menu = Some(Menu { completion, chosen: None });
        }
    }

    /// A key while searching; false when it ends the search and is to be taken as ever.
    fn searching(&mut self, key: &Key) -> bool {
        let Some(search) = &mut self.search else { return false };
        match key {
            Key::Char(letter) => {
                search.words.push(*letter);
                search.nth = 0;
            }
            Key::Backspace => {
                search.words.pop();
                search.nth = 0;
            }
            Key::Ctrl('r') => {
                let more = self.history.find(&search.words, search.nth + 1).is_some();
                search.nth += usize::from(more);
            }
            Key::Escape | Key::Ctrl('c' | 'g') => {
                let draft = std::mem::take(&mut search.draft);
                self.search = None;
                self.buffer.set(draft);
                return true;
            }
            _ => {
                self.search = None;
                return false;
            }
        }
        if let Some(found) = self.history.find(&search.words, search.nth) {
            self.buffer.set(found.to_owned());
        }
        true
    }
}

#[cfg(test)]
mod tests;
