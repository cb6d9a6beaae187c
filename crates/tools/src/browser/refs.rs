//! The names that elements have in snapshots: `@e1`, `@e2`, …
//!
//! An element keeps its name for as long as its document lives, and a name is never given again, so
//! that one from an older page cannot mean something else.

use std::collections::HashMap;
use std::sync::Arc;

/// Names that are remembered; the oldest are forgotten first.
const MAX_NAMES: u32 = 50_000;

/// An element of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    /// How its frame is talked to.
    pub(crate) session: Arc<str>,
    /// Its frame, and the document in it.
    pub(crate) frame: Arc<str>,
    pub(crate) document: Arc<str>,
    /// Its number in the browser.
    pub(crate) node: i64,
}

/// Names and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Refs {
    last: u32,
    names: HashMap<Element, u32>,
    elements: HashMap<u32, (Element, String)>,
}

impl Refs {
    /// The name of an element: the one that it has, or a new one. `words` tell what it is.
    pub(crate) fn name(&mut self, element: &Element, words: impl FnOnce() -> String) -> u32 {
        if let Some(name) = self.names.get(element) {
            return *name;
        }
        self.last += 1;
        self.names.insert(element.clone(), self.last);
        self.elements.insert(self.last, (element.clone(), words()));
        if let Some(oldest) = self.last.checked_sub(MAX_NAMES)
            && let Some((element, _)) = self.elements.remove(&oldest)
        {
            self.names.remove(&element);
        }
        self.last
    }

    /// What a name as the model wrote it stands for, with the words for it.
    pub(crate) fn find(&self, text: &str) -> Result<(Element, String), String> {
        let number = number(text).ok_or_else(|| {
            format!("{text:?} is no ref: refs look like @e5 and are told by the last snapshot")
        })?;
        let known = self.elements.get(&number).cloned();
        known.ok_or_else(|| format!("there is no element @e{number}; a new snapshot tells which there are"))
    }
}

/// The number in `@e5`, `e5`, `ref=e5` or `[ref=e5]`.
fn number(text: &str) -> Option<u32> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let text = text.strip_prefix("ref=").unwrap_or(text);
    text.strip_prefix('@').unwrap_or(text).strip_prefix('e')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(document: &str, node: i64) -> Element {
        Element { session: "s".into(), frame: "f".into(), document: document.into(), node }
    }

    #[test]
    fn an_element_keeps_its_name_and_another_document_gets_new_ones() {
        let mut refs = Refs::default();

        let first = refs.name(&element("a", 7), || "button".to_owned());
        let again = refs.name(&element("a", 7), || "other".to_owned());
        let elsewhere = refs.name(&element("b", 7), || "link".to_owned());

        assert_eq!((first, again, elsewhere), (1, 1, 2));
        for text in ["@e1", "e1", " [ref=e1] ", "ref=e1"] {
            assert_eq!(refs.find(text), Ok((element("a", 7), "button".to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_name_is_an_error_in_words() {
        let refs = Refs::default();

        assert!(refs.find("@e3").unwrap_err().contains("no element @e3"));
        for text in ["", "@", "button", "#id", "@e", "@e-1", "@e99999999999"] {
            assert!(refs.find(text).unwrap_err().contains("is no ref"), "{text}");
        }
    }

    #[test]
    fn the_oldest_names_are_forgotten() {
        let mut refs = Refs::default();
        for node in 0..=i64::from(MAX_NAMES) {
            refs.name(&element("a", node), String::new);
        }

        assert!(refs.find("@e1").is_err());
        assert!(refs.find("@e2").is_ok());
        assert_eq!(refs.names.len(), refs.elements.len());
    }
}
