//! Whether a text has stopped getting anywhere: a small model left to itself may say the same words
//! again and again until there is no room left, which can take many minutes.

/// How much of the end is looked at, in bytes.
const TAIL: usize = 4_096;
/// The longest thing that counts as said again and again.
const LONGEST: usize = TAIL / 16;

/// Whether the end of a text is one short piece over and over: at least sixteen times, to the letter.
/// Lists, tables and code differ from line to line and are left alone.
pub(crate) fn rambles(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(tail) = bytes.len().checked_sub(TAIL).and_then(|start| bytes.get(start..)) else { return false };
    period(tail) <= LONGEST
}

/// The shortest distance at which a text repeats itself; its whole length when it does not.
fn period(text: &[u8]) -> usize {
    // At each place: how long an end of the text so far is also its beginning.
    let mut borders: Vec<usize> = vec![0];
    for (at, byte) in text.iter().enumerate().skip(1) {
        let mut border = borders.get(at - 1).copied().unwrap_or_default();
        while border > 0 && text.get(border) != Some(byte) {
            border = borders.get(border - 1).copied().unwrap_or_default();
        }
        borders.push(if text.get(border) == Some(byte) { border + 1 } else { 0 });
    }
    text.len() - borders.last().copied().unwrap_or_default().min(text.len())
}

/// Watches words as they come, and looks at them every so often.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    end: String,
    unseen: usize,
}

impl Watch {
    /// More words. Answers whether it rambles by now.
    pub(crate) fn hear(&mut self, more: &str) -> bool {
        self.end.push_str(more);
        self.unseen += more.len();
        if self.unseen < TAIL / 4 {
            return false;
        }
        self.unseen = 0;
        if self.end.len() > 4 * TAIL {
            self.end.drain(..self.end.floor_char_boundary(self.end.len() - TAIL));
        }
        rambles(&self.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_words_again_and_again_are_rambling() {
        assert!(rambles(&format!("Well. {}", "I am sorry, I cannot do that. ".repeat(200))));
        assert!(rambles(&"ha".repeat(4000)));
        assert!(rambles(&"für immer und ewig, ".repeat(300)));
    }

    #[test]
    fn what_differs_from_line_to_line_is_not() {
        let list = (0..2000).fold(String::new(), |all, n| all + &format!("{n}. item\n"));
        let table = (0..2000).fold(String::new(), |all, n| all + &format!("| 2026-01-01 | {} |\n", n % 97));

        assert!(!rambles(&list));
        assert!(!rambles(&table));
        assert!(!rambles(&"short ".repeat(100)));
        assert!(!rambles(""));
    }

    #[test]
    fn it_is_noticed_while_the_words_come() {
        let mut watch = Watch::default();
        let heard = (0..10_000).position(|_| watch.hear("again and again, "));

        assert!(heard.is_some_and(|words| words * 17 < 2 * TAIL), "{heard:?}");
        let mut watch = Watch::default();
        assert!((0..20_000).all(|n| !watch.hear(&format!("line é{n}\n"))));
    }

    proptest! {
        #[test]
        fn a_period_is_one_and_there_is_no_shorter(text in "[ab]{1,60}") {
            let text = text.as_bytes();
            let repeats = |step: usize| text.iter().zip(text.iter().skip(step)).all(|(a, b)| a == b);
            let expected = (1..=text.len()).find(|step| repeats(*step));

            prop_assert_eq!(Some(period(text)), expected);
        }
    }
}
