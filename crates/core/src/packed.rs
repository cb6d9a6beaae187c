//! Texts packed one behind the other, each with its length before it: what a program keeps for its own next
//! start. Whoever reads them searches for nothing and unescapes nothing, and nothing is copied.
//!
//! It does not say what is packed, and not in which version: reader and writer stand side by side, and whoever
//! keeps it sees to it that it is whole.

use std::fmt::Write as _;

/// Ends a number.
const END: char = ' ';

/// Packs texts and numbers.
#[derive(Debug, Default)]
pub struct Packer(String);

impl Packer {
    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u64);
        self.0.push_str(text);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        // A text takes whatever is written to it.
        let _ = write!(self.0, "{number}{END}");
        self
    }

    /// Adds yes or no.
    pub fn flag(&mut self, flag: bool) -> &mut Self {
        self.number(flag.into())
    }

    /// Adds as many as there are, each in its own way.
    pub fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut one: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.number(items.len() as u64);
        items.for_each(|item| one(self, item));
        self
    }

    /// All of it.
    pub fn packed(self) -> String {
        self.0
    }
}

/// Takes out what was packed, in the same order; nothing as soon as there is something else.
#[derive(Debug)]
pub struct Unpacker<'a>(&'a str);

impl<'a> Unpacker<'a> {
    /// Begins at the beginning.
    pub fn new(packed: &'a str) -> Self {
        Self(packed)
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number: u64 = 0;
        for (at, byte) in self.0.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => number = number.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?,
                b' ' if at > 0 => {
                    self.0 = self.0.get(at + 1..)?;
                    return Some(number);
                }
                _ => return None,
            }
        }
        None
    }

    /// Yes or no.
    pub fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A list.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok()?;
        // Everything takes at least a letter: a count that nobody wrote asks for no more room than that.
        let mut items = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            items.push(one(self)?);
        }
        Some(items)
    }

    /// What is left.
    pub fn rest(&self) -> &'a str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_packed_comes_out_again(
            texts in prop::collection::vec(".{0,12}", 0..6), number in any::<u64>(), flag in any::<bool>(), last in any::<String>(),
        ) {
            let mut packer = Packer::default();
            packer.list(texts.iter(), |packer, text| { packer.text(text); }).number(number).flag(flag).text(&last);
            let packed = packer.packed() + "more";

            let mut all = Unpacker::new(&packed);

            prop_assert_eq!(all.list(|one| one.text().map(str::to_owned)), Some(texts));
            prop_assert_eq!((all.number(), all.flag(), all.text()), (Some(number), Some(flag), Some(last.as_str())));
            prop_assert_eq!(all.rest(), "more");
        }

        #[test]
        fn what_nobody_packed_is_nothing_and_never_breaks(text in any::<String>()) {
            let all = || Unpacker::new(&text);
            let _ = (all().list(Unpacker::text), all().number(), all().flag());
        }
    }

    #[test]
    fn a_text_that_is_cut_off_is_nothing() {
        for cut in ["", "3", "3 ", "3 ab", " ab", "99999999999999999999 a", "-1 a", "1 ä"] {
            assert_eq!(Unpacker::new(cut).text(), None, "{cut:?}");
        }
        assert_eq!(Unpacker::new("2 ").flag(), None);
        assert_eq!(Unpacker::new("9999999 1 a").list(Unpacker::text), None);
    }
}
