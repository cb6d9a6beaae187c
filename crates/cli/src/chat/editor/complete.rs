//! What the word before the cursor could become: a slash command, one of its words, a reference,
//! a path.
//!
//! Pure, but for the folder that is asked for through [`Offers`].

/// Most offers that are made.
const MOST: usize = 200;

/// What stands for things outside the text.
const REFERENCES: [(&str, &str); 6] = [
    ("@file:", "a file, or lines of it: @file:src/main.rs:10-20"),
    ("@folder:", "what a folder holds"),
    ("@diff", "what changed in the working tree"),
    ("@staged", "what is staged"),
    ("@git:", "the last commits: @git:3"),
    ("@url:", "a page of the web"),
];

/// Where offers come from.
pub(crate) trait Offers {
    /// The slash commands and what they do.
    fn commands(&self) -> Vec<(String, String)>;

    /// The words a command may be followed by.
    fn words(&self, command: &str) -> Vec<String>;

    /// The names in a folder, as typed, folders ended by `/`.
    fn folder(&self, path: &str) -> Vec<String>;
}

/// One thing a word could become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// What stands there then.
    pub(super) text: String,
    pub(super) about: String,
}

/// What a word could become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// Where the word begins.
    pub(super) start: usize,
    pub(super) offers: Vec<Offer>,
}

/// What could stand before the cursor; `before` is what does.
pub(super) fn complete(before: &str, sources: &dyn Offers) -> Completion {
    let start = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    let word = before.get(start..).unwrap_or_default();
    let mut offers = offers(before, start, word, sources);
    offers.truncate(MOST);
    Completion { start, offers }
}

fn offers(before: &str, start: usize, word: &str, sources: &dyn Offers) -> Vec<Offer> {
    if start == 0 && word.starts_with('/') && !word.get(1..).is_some_and(|rest| rest.contains('/')) {
        let fits = |(name, about): (String, String)| {
            let text = format!("/{name}");
            text.starts_with(word).then_some(Offer { text, about })
        };
        return sources.commands().into_iter().filter_map(fits).collect();
    }
    if let Some(line) = before.strip_prefix('/') {
        let command = line.split_whitespace().next().unwrap_or_default();
        let words: Vec<String> = sources.words(command);
        let known: Vec<Offer> = words.into_iter().filter(|known| known.starts_with(word)).map(bare).collect();
        if !known.is_empty() {
            return known;
        }
    }
    for sign in ["@file:", "@folder:"] {
        if let Some(path) = word.strip_prefix(sign) {
            return paths(path, sign, sources);
        }
    }
    if word.starts_with('@') {
        let fits = REFERENCES.iter().filter(|(text, _)| text.starts_with(word));
        return fits
            .map(|(text, about)| Offer { text: (*text).to_owned(), about: (*about).to_owned() })
            .collect();
    }
    if word.contains('/') || word.starts_with('~') || word.starts_with('.') {
        return paths(word, "", sources);
    }
    Vec::new()
}

fn paths(typed: &str, sign: &str, sources: &dyn Offers) -> Vec<Offer> {
    let (folder, begun) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    let mut names = sources.folder(folder);
    // Hidden files are meant only when a dot is typed.
    names.retain(|name| name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.')));
    names.sort();
    names.into_iter().map(|name| bare(format!("{sign}{folder}{name}"))).collect()
}

fn bare(text: String) -> Offer {
    Offer { text, about: String::new() }
}

/// What all offers begin with.
pub(super) fn common(offers: &[Offer]) -> String {
    let Some((first, rest)) = offers.split_first() else { return String::new() };
    let mut length = first.text.len();
    for offer in rest {
        let same = first.text.chars().zip(offer.text.chars()).take_while(|(a, b)| a == b);
        length = length.min(same.map(|(letter, _)| letter.len_utf8()).sum());
    }
    first.text.get(..length).unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::chat::editor) struct Scripted;

    impl Offers for Scripted {
        fn commands(&self) -> Vec<(String, String)> {
            ["model", "memory", "quit"].map(|name| (name.to_owned(), "does it".to_owned())).to_vec()
        }

        fn words(&self, command: &str) -> Vec<String> {
            if command == "verbose" { vec!["off".to_owned(), "all".to_owned()] } else { Vec::new() }
        }

        fn folder(&self, path: &str) -> Vec<String> {
            let names: &[&str] = if path == "src/" { &["main.rs", "mod/", ".git/"] } else { &["src/"] };
            names.iter().map(|name| (*name).to_owned()).collect()
        }
    }

    fn texts(before: &str) -> Vec<String> {
        complete(before, &Scripted).offers.into_iter().map(|offer| offer.text).collect()
    }

    #[test]
    fn slash_commands_and_their_words_are_offered() {
        assert_eq!(texts("/m"), ["/model", "/memory"]);
        assert_eq!(texts("/verbose o"), ["off"]);
        assert!(texts("say /m").is_empty());
    }

    #[test]
    fn paths_and_references_are_offered() {
        assert_eq!(texts("look at src/m"), ["src/main.rs", "src/mod/"]);
        assert_eq!(texts("@file:src/."), ["@file:src/.git/"]);
        assert_eq!(texts("@f"), ["@file:", "@folder:"]);
        assert_eq!(texts("/save src/ma"), ["src/main.rs"]);
        assert!(texts("plain").is_empty());
    }

    #[test]
    fn what_offers_share_is_found() {
        let offers = ["src/main.rs", "src/mod/"].map(|text| bare(text.to_owned()));

        assert_eq!(common(&offers), "src/m");
        assert_eq!(common(&[]), "");
    }
}
