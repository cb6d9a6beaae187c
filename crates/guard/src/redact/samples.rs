//! Whether any of many words stands in a text: a look at every third place instead of at each.
//!
//! A word of six bytes or more holds, wherever it begins, four bytes that begin at such a place: its first four, or
//! the four after one or two bytes. All of these are in a small table; only where it says yes is anything compared.

/// Bytes that are looked up together.
const GRAM: usize = 4;

/// How far the places are apart.
const STEP: usize = 3;

/// Shortest word that is certain to be seen.
pub(super) const LEAST: usize = GRAM + STEP - 1;

/// What to look up.
#[derive(Debug)]
pub(super) struct Samples {
    /// One bit for each hash of four bytes.
    table: Box<[u64; 1024]>,
    /// The four bytes, sorted, with how many bytes of the word stand before them, and the word.
    grams: Vec<(u32, usize, Box<[u8]>)>,
}

impl Samples {
    /// Ready to look for these words; shorter ones than [`LEAST`] are left out.
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w [u8]>) -> Self {
        let mut grams: Vec<(u32, usize, Box<[u8]>)> = words
            .filter(|word| word.len() >= LEAST)
            .flat_map(|word| {
                let at = word.windows(GRAM).take(STEP).enumerate();
                at.filter_map(move |(before, bytes)| Some((gram(bytes)?, before, Box::from(word))))
            })
            .collect();
        grams.sort_unstable();
        grams.dedup();
        let mut table = Box::new([0_u64; 1024]);
        for (gram, ..) in &grams {
            let (word, bit) = slot(*gram);
            if let Some(word) = table.get_mut(word) {
                *word |= 1 << bit;
            }
        }
        Self { table, grams }
    }

    /// Whether one of the words stands in the text.
    pub(super) fn stand_in(&self, text: &[u8]) -> bool {
        let mut places = text.windows(GRAM).step_by(STEP).enumerate();
        places.any(|(number, bytes)| {
            gram(bytes).is_some_and(|gram| self.knows(gram) && self.stands_around(text, number * STEP, gram))
        })
    }

    /// Whether these four bytes may be of a word.
    pub(super) fn knows(&self, gram: u32) -> bool {
        let (word, bit) = slot(gram);
        self.table.get(word).is_some_and(|word| (word >> bit) & 1 == 1)
    }

    /// Whether a word with these four bytes at `at` stands there.
    fn stands_around(&self, text: &[u8], at: usize, gram: u32) -> bool {
        let from = self.grams.partition_point(|(known, ..)| *known < gram);
        let mut same = self.grams.iter().skip(from).take_while(|(known, ..)| *known == gram);
        same.any(|(_, before, word)| {
            let start = at.checked_sub(*before);
            start.and_then(|start| text.get(start..)).is_some_and(|rest| rest.starts_with(word))
        })
    }
}

fn gram(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Where the table keeps the bit of four bytes.
fn slot(gram: u32) -> (usize, u32) {
    let hash = gram.wrapping_mul(0x9e37_79b1) >> 16;
    ((hash >> 6) as usize, hash & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_word_is_seen_exactly_where_it_stands(
            words in proptest::collection::vec("[ab]{6,9}", 1..4),
            text in "[ab]{0,80}",
        ) {
            let samples = Samples::new(words.iter().map(String::as_bytes));

            proptest::prop_assert_eq!(
                samples.stand_in(text.as_bytes()),
                words.iter().any(|word| text.contains(word.as_str()))
            );
        }
    }
}
