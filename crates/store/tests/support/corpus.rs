//! Made-up conversations: words of several scripts, identifiers, paths, emoji.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers are part of the tests")]

/// A generator that gives the same numbers everywhere.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub(crate) fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// A word; low numbers are common, as in any language.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "ta", "ro", "ne", "mi", "lu", "ka", "ver", "sto", "pen", "gra", "del", "fi", "con", "tion",
            "ing", "er", "al", "qua", "zu", "by", "ho", "ex", "um", "ös",
        ];
        let rank = self.below(8_000).min(self.below(8_000)).min(self.below(8_000));
        let (a, b, c) = (rank % 24, rank / 24 % 24, rank / 576 % 24);
        format!("{}{}{}", SYLLABLES[a], SYLLABLES[b], SYLLABLES[c])
    }

    fn identifier(&mut self) -> String {
        match self.below(5) {
            0 => format!("{}_{}", self.word(), self.word()),
            1 => format!("{}::{}()", self.word(), self.word()),
            2 => format!("src/{}/{}.rs", self.word(), self.word()),
            3 => format!("v{}.{}.{}", self.below(9), self.below(20), self.below(99)),
            _ => format!("--{}={}", self.word(), self.below(100)),
        }
    }

    fn chinese(&mut self) -> String {
        const SIGNS: &str = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从今天东京大学";
        let signs: Vec<char> = SIGNS.chars().collect();
        (0..2 + self.below(10)).map(|_| signs[self.below(signs.len())]).collect()
    }

    /// A message of about so many words.
    pub(crate) fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(words * 2) {
            let next = match self.below(40) {
                0..=3 => self.identifier(),
                4..=6 => self.chinese(),
                7 => self
                    .one_of(&["🎉", "👩‍💻", "→", "->", "C++", "C#", "é", "Привет", "Ελλάδα", "ไทย", "한국어"])
                    .to_owned(),
                8 => self
                    .one_of(&["go", "id", "C", "ok", "Café", "naïve", "Straße", "DEPLOY", "Ångström"])
                    .to_owned(),
                _ => self.word(),
            };
            text.push_str(&next);
            text.push_str(self.one_of(&[" ", " ", " ", " ", ", ", ". ", "\n", "\t", "-", "/"]));
        }
        text
    }
}
