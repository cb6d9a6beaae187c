//! Typography: characters that people and models write for one another.
//!
//! Folding is only for finding. What is found keeps the file's own characters wherever the edit
//! does not change them.

use std::ops::Range;

/// Which characters count as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Every character is only itself.
    Nothing,
    /// Curly quotes, dashes, ellipses and odd spaces are their plain forms.
    Plain,
    /// The same, with a long dash as two hyphens.
    DoubleDash,
    /// Every character beyond ASCII counts as the sign for "cannot be shown".
    Unknown,
}

impl Fold {
    /// The plain form of a character.
    pub fn plain(self, c: char, take: &mut impl FnMut(char)) {
        if c.is_ascii() || self == Self::Nothing {
            return take(c);
        }
        if self == Self::Unknown {
            return take('\u{FFFD}');
        }
        match c {
            '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' => take('\''),
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' => take('"'),
            '\u{2014}' | '\u{2015}' if self == Self::DoubleDash => {
                take('-');
                take('-');
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' => take('-'),
            '\u{2026}' => (0..3).for_each(|_| take('.')),
            // Nobody sees these.
            '\u{200B}' | '\u{2060}' | '\u{FEFF}' => {}
            '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => take(' '),
            other => take(other),
        }
    }

    /// A text in its plain form.
    pub fn text(self, text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        text.chars().for_each(|c| self.plain(c, &mut |c| plain.push(c)));
        plain
    }
}

/// A folded text, and the way back.
pub struct Folded {
    /// The text.
    pub text: String,
    /// For each place where the lengths part: the folded place, and how far the original is from it.
    shifts: Vec<(usize, usize, usize)>,
}

impl Folded {
    /// Folds a text.
    pub fn of(text: &str, fold: Fold) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), shifts: Vec::new() };
        for (at, c) in text.char_indices() {
            let before = folded.text.len();
            fold.plain(c, &mut |c| folded.text.push(c));
            if !c.is_ascii() {
                folded.shifts.push((before, folded.text.len(), at));
            }
        }
        folded
    }

    /// The original range, if the folded one begins and ends between characters of the original.
    pub fn original(&self, folded: Range<usize>, text: &str) -> Option<Range<usize>> {
        let start = self.place(folded.start, text)?;
        let end = self.place(folded.end, text)?;
        Some(start..end)
    }

    fn place(&self, place: usize, text: &str) -> Option<usize> {
        // The last character beyond ASCII that begins before the place tells how far it is.
        let known = self.shifts.partition_point(|(start, ..)| *start < place);
        let Some((_, end, at)) = known.checked_sub(1).and_then(|last| self.shifts.get(last)) else {
            return Some(place);
        };
        let size = text.get(*at..)?.chars().next()?.len_utf8();
        Some(at + size + place.checked_sub(*end)?)
    }
}

impl Folded {
    /// Makes every run of blanks within a line one blank.
    pub fn runs(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), shifts: Vec::new() };
        let blank = |c: char| matches!(c, ' ' | '\t');
        let mut rest = text;
        while let Some(at) = rest.find(blank) {
            let (words, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
            folded.text.push_str(words);
            let next = behind.trim_start_matches(blank);
            let before = folded.text.len();
            folded.text.push(' ');
            // The last blank of the run stands for all of them.
            folded.shifts.push((before, before + 1, text.len() - next.len() - 1));
            rest = next;
        }
        folded.text.push_str(rest);
        folded
    }
}

/// A piece of a text that is kept or changed as a whole: a word, a run of blanks, or one sign.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    /// As it is written.
    pub text: &'a str,
}

impl Token<'_> {
    /// Whether it is nothing but plain spaces.
    pub fn is_spaces(&self) -> bool {
        self.text.bytes().all(|byte| byte == b' ')
    }
}

/// Cuts a text into tokens; texts that are the same when folded have as many of them.
pub fn tokens(text: &str, fold: Fold, runs: bool) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let class = Class::of(c, fold);
        let joins = match class {
            Class::Word | Class::Dots | Class::Dashes => last == Some(class),
            Class::Blank => runs && last == Some(class),
            Class::Sign => false,
        };
        if !joins && at > start {
            tokens.extend(text.get(start..at).map(|text| Token { text }));
            start = at;
        }
        last = Some(class);
    }
    tokens.extend(text.get(start..).filter(|text| !text.is_empty()).map(|text| Token { text }));
    tokens
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    /// Three dots and one ellipsis are the same.
    Dots,
    /// Two hyphens and one dash may be the same.
    Dashes,
    Sign,
}

impl Class {
    fn of(c: char, fold: Fold) -> Self {
        let mut plain = c;
        fold.plain(c, &mut |c| plain = c);
        match plain {
            '.' => Self::Dots,
            '-' => Self::Dashes,
            '\u{FFFD}' => Self::Word,
            ' ' | '\t' => Self::Blank,
            c if c.is_alphanumeric() || c == '_' => Self::Word,
            _ => Self::Sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn typography_is_folded_to_what_people_type() {
        assert_eq!(Fold::Plain.text("“a”\u{A0}– b…"), "\"a\" - b...");
        assert_eq!(Fold::DoubleDash.text("a—b"), "a--b");
        assert_eq!(Fold::Unknown.text("café"), "caf\u{FFFD}");
        assert_eq!(Fold::Plain.text("naïve Ω"), "naïve Ω");
    }

    #[test]
    fn a_run_of_blanks_is_one_and_leads_back_to_where_it_ends() {
        let text = "f(a,  \t b) c";
        let folded = Folded::runs(text);

        assert_eq!(folded.text, "f(a, b) c");
        assert_eq!(folded.original(0..7, text), Some(0..10));
        assert_eq!(folded.original(5..7, text), Some(8..10));
        assert_eq!(folded.original(0..4, text), Some(0..4));
    }

    #[test]
    fn a_folded_place_leads_back_between_whole_characters() {
        let text = "a…“b”";
        let folded = Folded::of(text, Fold::Plain);

        assert_eq!(folded.text, "a...\"b\"");
        assert_eq!(folded.original(0..1, text), Some(0..1));
        assert_eq!(folded.original(1..4, text), Some(1..4));
        assert_eq!(folded.original(1..3, text), None);
        assert_eq!(folded.original(4..7, text), Some(4..11));
    }

    proptest! {
        #[test]
        fn tokens_put_together_are_the_text(text in "[a-z“”… —\n.\\-é]{0,40}", runs: bool) {
            let parts: String = tokens(&text, Fold::Plain, runs).iter().map(|token| token.text).collect();
            prop_assert_eq!(parts, text);
        }

        #[test]
        fn every_character_can_be_found_again(text in "[a-z“”… —\n.é𝄞]{0,30}") {
            let folded = Folded::of(&text, Fold::Plain);
            prop_assert_eq!(folded.original(0..folded.text.len(), &text), Some(0..text.len()));
        }
    }
}
