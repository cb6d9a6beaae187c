//! Proposes known names that are near a wrong one.
//!
//! For error messages only: "unknown tool X, did you mean Y or Z". Nothing is ever run on the
//! strength of a suggestion. Nearness is spelling (edit distance) or shared words, so that both
//! `raed_file` and `file_read` lead to `read_file`; what is near to nothing yields nothing.

use crate::words::{each_word, stem};

/// How alike the spelling must be if no word is shared.
const LIKE: f64 = 0.6;
/// How near a name must be that shares a word.
const NEAR: f64 = 0.4;
/// From this length on a word also meets longer forms of itself: `read` and `reader`.
const ROOT: usize = 4;
/// Longer input is cut before comparing; no name is that long.
const MAX_CHARS: usize = 96;

/// The names nearest to `wanted`, best first, at most `limit`. Equally near names keep the order in
/// which they were given.
pub fn suggest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let wanted = Shape::of(wanted);
    if limit == 0 || wanted.letters.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<(f64, &str)> =
        known.into_iter().filter_map(|name| Some((wanted.nearness(&Shape::of(name))?, name))).collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut names: Vec<&str> = Vec::with_capacity(limit.min(near.len()));
    for (_, name) in near {
        if names.len() == limit {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What is compared of a name.
struct Shape {
    /// Lower case, words joined.
    letters: String,
    /// Roots of its words, sorted, each once.
    words: Vec<String>,
}

impl Shape {
    fn of(name: &str) -> Self {
        let short: String = name.chars().take(MAX_CHARS).collect();
        let letters: String =
            short.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let mut words = Vec::new();
        each_word(&short, |word| words.push(stem(word).to_owned()));
        words.sort_unstable();
        words.dedup();
        // The whole of a word with humps says nothing that its parts do not.
        let whole = |word: &String| words.len() > 1 && stem(&letters) == word;
        let words = words.iter().filter(|word| !whole(word)).cloned().collect();
        Self { letters, words }
    }

    /// Up to 1, the same. None if it is not worth proposing.
    fn nearness(&self, other: &Self) -> Option<f64> {
        let spelling = strsim::normalized_damerau_levenshtein(&self.letters, &other.letters);
        let words = self.shared_words(other);
        let nearness = spelling.max(f64::midpoint(spelling, words));
        let near = spelling >= LIKE || (words > 0.0 && nearness >= NEAR);
        near.then_some(nearness)
    }

    /// How much of the wanted words is there, and how little else.
    fn shared_words(&self, other: &Self) -> f64 {
        let meet = |one: &str, two: &str| one == two || (one.len() >= ROOT && two.starts_with(one));
        let there = |word: &&String| other.words.iter().any(|known| meet(word, known) || meet(known, word));
        let shared = self.words.iter().filter(there).count();
        let all = self.words.len() + other.words.len().saturating_sub(shared);
        f64::midpoint(ratio(shared, self.words.len()), ratio(shared, all))
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let exact = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { exact(part) / exact(whole) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOOLS: &[&str] = &[
        "browser_back",
        "browser_click",
        "clarify",
        "cronjob",
        "delegate_task",
        "execute_code",
        "image_generate",
        "kanban_complete",
        "kanban_link",
        "kanban_unlink",
        "memory",
        "patch",
        "process",
        "read_file",
        "search_files",
        "session_search",
        "terminal",
        "todo",
        "web_extract",
        "web_search",
        "write_file",
    ];

    fn first(wanted: &str) -> Option<&'static str> {
        suggest(wanted, TOOLS.iter().copied(), 3).first().copied()
    }

    #[test]
    fn a_misspelled_name_is_found() {
        for (wanted, meant) in [
            ("raed_file", "read_file"),
            ("read_fil", "read_file"),
            ("file_read", "read_file"),
            ("FileReader", "read_file"),
            ("searchFiles", "search_files"),
            ("terminla", "terminal"),
            ("websearch", "web_search"),
            ("search_web", "web_search"),
            ("generate_image", "image_generate"),
            ("run_code", "execute_code"),
            ("read_file_tool", "read_file"),
            ("task_delegate", "delegate_task"),
            ("process_list", "process"),
        ] {
            assert_eq!(first(wanted), Some(meant), "{wanted}");
        }
    }

    #[test]
    fn nonsense_finds_nothing() {
        for wanted in ["", "xyzzy", "foo", "___", "qwertyuiop", "42", "blorb_fnord", "\u{1F600}"] {
            assert_eq!(first(wanted), None, "{wanted}");
        }
    }

    #[test]
    fn a_shared_word_brings_the_whole_family_in_the_order_given() {
        assert_eq!(suggest("browser", TOOLS.iter().copied(), 5), ["browser_back", "browser_click"]);
        assert_eq!(suggest("browser", TOOLS.iter().rev().copied(), 1), ["browser_back"]);
    }

    #[test]
    fn words_however_long_are_compared_at_once() {
        let (wanted, known) = ("tae".repeat(200_000), "tea".repeat(200_000));

        // Letter by letter this would take hours, and more memory than there is.
        assert_eq!(suggest(&wanted, [known.as_str(), "tae_tae"], 3).len(), 1);
    }

    #[test]
    fn the_limit_holds_and_names_come_once() {
        assert_eq!(
            suggest("read_file", ["read_file", "read_file", "read_files"], 2),
            ["read_file", "read_files"]
        );
        assert!(suggest("read_file", ["read_file"], 0).is_empty());
    }

    proptest! {
        #[test]
        fn a_known_name_is_its_own_best_suggestion(at in 0..TOOLS.len()) {
            prop_assert_eq!(first(TOOLS[at]), Some(TOOLS[at]));
        }

        #[test]
        fn any_text_gives_known_names_only(wanted in any::<String>(), limit in 0_usize..5) {
            let names = suggest(&wanted, TOOLS.iter().copied(), limit);
            prop_assert!(names.len() <= limit);
            prop_assert!(names.iter().all(|name| TOOLS.contains(name)));
        }
    }
}
