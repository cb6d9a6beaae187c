//! What somebody probably meant by a name nobody knows.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

/// Most names that are offered: more is a list, not an answer.
const MOST: usize = 3;
/// How alike two names must be, from 0 to 1, to be worth offering.
const ALIKE: f64 = 0.55;

/// A name that nothing answers to, and the ones that come nearest, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as it was written.
    pub name: String,
    /// At most three names that exist; empty when none comes near.
    pub suggestions: Vec<Arc<str>>,
}

impl UnknownName {
    /// Looks for names like `name` among those that exist.
    pub fn among<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> UnknownName {
        let wanted = plain(name);
        let mut ranked: Vec<(Reverse<u32>, &str)> = known
            .into_iter()
            .filter_map(|known| likeness(&wanted, &plain(known)).map(|score| (Reverse(score), known)))
            .collect();
        ranked.sort_unstable();
        ranked.dedup();
        let suggestions = ranked.into_iter().take(MOST).map(|(_, known)| Arc::from(known)).collect();
        UnknownName { name: name.to_owned(), suggestions }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not known", self.name)?;
        let mut lead = "; did you mean";
        for suggestion in &self.suggestions {
            write!(f, "{lead} `{suggestion}`")?;
            lead = " or";
        }
        if self.suggestions.is_empty() { Ok(()) } else { f.write_str("?") }
    }
}

/// Letters and digits only, in lower case: `Web-Search` and `web_search` are the same word.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// In thousandths, so that it can be sorted; nothing when the two are not worth comparing.
fn likeness(wanted: &str, known: &str) -> Option<u32> {
    if wanted.is_empty() || known.is_empty() {
        return None;
    }
    let part = known.contains(wanted) || (known.len() > 2 && wanted.contains(known));
    let edits = strsim::normalized_damerau_levenshtein(wanted, known);
    let score = if part { 0.5_f64.mul_add(edits, 0.5) } else { edits };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    (score >= ALIKE).then_some((score * 1000.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::UnknownName;

    const KNOWN: &[&str] =
        &["web", "web_search", "web_extract", "terminal", "hermes-cli", "hermes-acp", "file"];

    fn say(name: &str) -> String {
        UnknownName::among(name, KNOWN.iter().copied()).to_string()
    }

    #[test]
    fn the_nearest_name_comes_first() {
        assert_eq!(say("wbe"), "`wbe` is not known; did you mean `web`?");
        assert_eq!(say("terminl"), "`terminl` is not known; did you mean `terminal`?");
        assert_eq!(say("hermes"), "`hermes` is not known; did you mean `hermes-acp` or `hermes-cli`?");
    }

    #[test]
    fn case_and_separators_do_not_count() {
        assert_eq!(say("Web-Search"), "`Web-Search` is not known; did you mean `web_search` or `web`?");
    }

    #[test]
    fn nothing_is_offered_when_nothing_is_near() {
        assert_eq!(say("quaternion"), "`quaternion` is not known");
        assert_eq!(say(""), "`` is not known");
        assert_eq!(say("💥"), "`💥` is not known");
    }
}
