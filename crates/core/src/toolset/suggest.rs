//! A name nobody knows, with what was probably meant, as an error people read.

use std::fmt;
use std::sync::Arc;

use crate::suggest::suggest;

/// Most names that are offered: more is a list, not an answer.
const MOST: usize = 3;

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
        let suggestions = suggest(name, known, MOST).into_iter().map(Arc::from).collect();
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
        assert_eq!(say("hermes"), "`hermes` is not known; did you mean `hermes-cli` or `hermes-acp`?");
    }

    #[test]
    fn case_and_separators_do_not_count() {
        assert_eq!(
            say("Web-Search"),
            "`Web-Search` is not known; did you mean `web_search` or `web_extract` or `web`?"
        );
    }

    #[test]
    fn nothing_is_offered_when_nothing_is_near() {
        assert_eq!(say("quaternion"), "`quaternion` is not known");
        assert_eq!(say(""), "`` is not known");
        assert_eq!(say("💥"), "`💥` is not known");
    }
}
