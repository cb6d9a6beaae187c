//! What a person or a model typed, understood as a search. Any text is a valid one.
//!
//! Words are looked for together; `"a phrase"` is one word; `OR` between two words means either;
//! `NOT` leaves out what follows. Everything else is taken as it is written, so paths, identifiers,
//! dotted and hyphenated words need no quotes, and stray operators do no harm.

use super::fold::{folded, is_spaceless};

/// Most characters of a search that are looked at: the index takes much longer for a longer phrase.
const MAX_CHARS: usize = 1000;

/// A search: of every list at least one term, of the last none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Query {
    pub(super) all: Vec<Vec<Term>>,
    pub(super) none: Vec<Term>,
}

/// Something to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Term {
    /// Anywhere in the text: three characters or more.
    Anywhere(String),
    /// One or two characters of a script without spaces, or signs: anywhere too.
    Short(String),
    /// A word of one or two letters or digits: as a whole word, for inside others it is everywhere.
    Word(String),
}

impl Term {
    fn new(text: &str) -> Option<Self> {
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let compared = folded(&text);
        match compared.chars().count() {
            0 => None,
            1 | 2 if compared.chars().all(|c| c.is_alphanumeric() && !is_spaceless(c)) => {
                Some(Self::Word(text))
            }
            1 | 2 => Some(Self::Short(compared)),
            _ => Some(Self::Anywhere(text)),
        }
    }

    /// The text to look for.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Anywhere(text) | Self::Short(text) | Self::Word(text) => text,
        }
    }

    /// Whether the index of words knows it as one word.
    pub(super) fn is_one_word(&self) -> bool {
        self.text().chars().all(char::is_alphanumeric)
    }
}

enum Lexeme {
    Term(String),
    Or,
    Not,
    And,
}

/// Reads a search.
pub(super) fn parse(text: &str) -> Query {
    let mut query = Query::default();
    let (mut or, mut not) = (false, false);
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    for lexeme in lexemes(text.get(..end).unwrap_or(text)) {
        match lexeme {
            Lexeme::Or => or = !query.all.is_empty(),
            Lexeme::Not => not = true,
            Lexeme::And => (or, not) = (false, false),
            Lexeme::Term(text) => {
                if let Some(term) = Term::new(&text) {
                    match query.all.last_mut() {
                        _ if not => query.none.push(term),
                        Some(last) if or => last.push(term),
                        _ => query.all.push(vec![term]),
                    }
                    (or, not) = (false, false);
                }
            }
        }
    }
    query
}

fn lexemes(text: &str) -> Vec<Lexeme> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            // A quote that is never closed is only a sign.
            let (inside, after) = quoted.split_once('"').unwrap_or(("", quoted));
            found.push(Lexeme::Term(inside.to_owned()));
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        found.push(match bare(word) {
            "AND" | "NEAR" => Lexeme::And,
            "OR" => Lexeme::Or,
            "NOT" => Lexeme::Not,
            word => Lexeme::Term(word.to_owned()),
        });
        rest = after;
    }
}

/// A word without what search languages put around it: brackets without a partner, a final `*`.
fn bare(mut word: &str) -> &str {
    let count = |word: &str, sign: char| word.chars().filter(|c| *c == sign).count();
    while let Some(inner) = word.strip_prefix('(').filter(|_| count(word, '(') > count(word, ')')) {
        word = inner;
    }
    while let Some(inner) = word.strip_suffix(')').filter(|_| count(word, ')') > count(word, '(')) {
        word = inner;
    }
    word.strip_suffix('*').filter(|inner| !inner.is_empty()).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<Vec<String>> {
        let query = parse(text);
        query.all.iter().map(|any| any.iter().map(|term| term.text().to_owned()).collect()).collect()
    }

    #[test]
    fn only_so_much_of_a_search_is_looked_at() {
        let long = "é".repeat(60_000);

        assert_eq!(all(&long), [[long.chars().take(MAX_CHARS).collect::<String>()]]);
    }

    #[test]
    fn words_and_phrases_are_looked_for_together() {
        assert_eq!(all("docker  deploy"), [["docker"], ["deploy"]]);
        assert_eq!(all(r#""two  words" v1.2.3 my-app"#), [["two words"], ["v1.2.3"], ["my-app"]]);
        assert_eq!(all("src/main.rs::fn main()"), [["src/main.rs::fn"], ["main()"]]);
    }

    #[test]
    fn operators_mean_what_they_say_and_stray_ones_nothing() {
        assert_eq!(all("(python OR rust) AND deploy*"), vec![vec!["python", "rust"], vec!["deploy"]]);
        assert_eq!(all("OR AND milk OR"), [["milk"]]);
        let query = parse("milk NOT bread");
        assert_eq!(query.none, [Term::Anywhere("bread".into())]);
        assert_eq!(all("AND OR NOT"), Vec::<Vec<String>>::new());
    }

    #[test]
    fn short_terms_are_words_or_signs() {
        assert_eq!(
            parse("go 中文 -> 日 é").all.concat(),
            [
                Term::Word("go".into()),
                Term::Short("中文".into()),
                Term::Short("->".into()),
                Term::Short("日".into()),
                Term::Word("é".into()),
            ]
        );
    }

    #[test]
    fn a_quote_without_a_partner_is_left_out() {
        assert_eq!(all("say \"hello world"), [["say"], ["hello"], ["world"]]);
        assert_eq!(all("\"\" \" \" a\"b c\"d"), [["a"], ["b c"], ["d"]]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_search(text in "\\PC{0,60}") {
            let query = parse(&text);
            prop_assert!(query.all.iter().all(|any| !any.is_empty()));
        }
    }
}
