//! A key that never shows itself: not in a log, not in an error, not in a debug print.

use std::fmt;
use std::sync::Arc;

/// Put in the place of a key wherever one would appear.
pub(crate) const HIDDEN: &str = "[key]";

/// An API key.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a key as people paste it: spaces and line ends around it, and characters that no
    /// header may carry, are left out. Nothing left means no key.
    pub fn new(key: &str) -> Option<Self> {
        let key: String = key.chars().filter(char::is_ascii_graphic).collect();
        (!key.is_empty()).then(|| Self(key.into()))
    }

    /// The key itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without the key.
    pub fn hide_in(&self, text: &str) -> String {
        // A key of a few characters is a placeholder; hiding it would only mangle the text.
        if self.0.len() < 8 { text.to_owned() } else { text.replace(&*self.0, HIDDEN) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_key_is_cleaned_and_never_printed() {
        let key = Secret::new(" sk-abc\u{a0}12345\n").unwrap();

        assert_eq!(key.reveal(), "sk-abc12345");
        assert_eq!(format!("{key:?}"), "[key]");
        assert_eq!(key.hide_in("bad key sk-abc12345!"), "bad key [key]!");
        assert_eq!(Secret::new(" \n"), None);
    }
}
