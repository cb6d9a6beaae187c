//! Cuts names and prose into words that can be compared.
//!
//! One cut for the tool index and for suggestions, so that both mean the same by "a word".

/// The words of a text in lower case: runs of letters and digits, cut again where `CamelCase`
/// has its humps. A word with humps is also given whole, so that `YouTube` is found by `youtube`.
/// Characters of scripts written without spaces are words of their own.
pub(crate) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let mut buffer = String::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            found(run);
            continue;
        }
        let mut parts = 0;
        for part in humps(run) {
            lower_into(part, &mut buffer);
            found(&buffer);
            parts += 1;
        }
        if parts > 1 && !run.chars().any(is_spaceless) {
            lower_into(run, &mut buffer);
            found(&buffer);
        }
    }
}

/// The root of an English word, good enough to bring `files` to `file` and `writing` to `write`.
///
/// Plural, `-ing` and `-ed` go, then a doubled last consonant and a final `e` or `y`. It errs
/// towards joining: what is joined wrongly only ranks a little too high.
pub(crate) fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() <= 3 {
        return word;
    }
    let word = singular(word);
    let root = ["ing", "ied", "ed"].into_iter().find_map(|ending| word.strip_suffix(ending));
    let root = root.filter(|root| root.len() >= 3 && root.contains(['a', 'e', 'i', 'o', 'u', 'y']));
    let root = root.map_or(word, undoubled);
    root.strip_suffix(['e', 'y']).filter(|shorter| shorter.len() >= 3).unwrap_or(root)
}

fn singular(word: &str) -> &str {
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    let hissing = ["sses", "shes", "ches", "xes", "zes"].into_iter().any(|ending| word.ends_with(ending));
    let root = match word.strip_suffix("ies") {
        Some(root) if root.len() >= 3 => Some(root),
        _ if hissing => word.strip_suffix("es"),
        _ => word.strip_suffix('s'),
    };
    root.unwrap_or(word)
}

/// `runn` becomes `run`; letters that are often double at the end of a root stay.
fn undoubled(root: &str) -> &str {
    let shorter =
        root.strip_suffix(|c: char| !matches!(c, 'l' | 's' | 'z' | 'a' | 'e' | 'o')).unwrap_or(root);
    let doubled = shorter.len() < root.len() && shorter.chars().next_back() == root.chars().next_back();
    if doubled { shorter } else { root }
}

/// The parts of a run of letters and digits: cut before a capital that follows a small letter or a
/// digit, before the last capital of a row (`HTTPServer`), and around each spaceless character.
fn humps(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let cut = first_cut(rest).unwrap_or(rest.len());
        let (part, tail) = rest.split_at_checked(cut)?;
        rest = tail;
        Some(part)
    })
}

fn first_cut(run: &str) -> Option<usize> {
    let mut chars = run.char_indices();
    let (_, mut before) = chars.next()?;
    while let Some((at, here)) = chars.next() {
        let next_is_small = chars.clone().next().is_some_and(|(_, next)| next.is_lowercase());
        let hump = here.is_uppercase() && (!before.is_uppercase() || next_is_small);
        if hump || is_spaceless(before) || is_spaceless(here) {
            return Some(at);
        }
        before = here;
    }
    None
}

/// Han, kana and hangul: one character carries about as much as a word elsewhere.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn lower_into(part: &str, buffer: &mut String) {
    buffer.clear();
    buffer.extend(part.chars().flat_map(char::to_lowercase));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_word(text, |word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn names_are_cut_at_separators_and_humps() {
        assert_eq!(words("mcp__git-hub__read_file2"), ["mcp", "git", "hub", "read", "file2"]);
        assert_eq!(words("readFile"), ["read", "file", "readfile"]);
        assert_eq!(words("HTTPServer"), ["http", "server", "httpserver"]);
        assert_eq!(words("READ_FILE"), ["read", "file"]);
    }

    #[test]
    fn text_without_spaces_is_cut_into_characters() {
        assert_eq!(words("読み込む file"), ["読", "み", "込", "む", "file"]);
    }

    #[test]
    fn forms_of_a_word_share_a_root() {
        for forms in [
            &["file", "files"][..],
            &["write", "writes", "writing"],
            &["query", "queries"],
            &["run", "running", "runs"],
            &["create", "created", "creating"],
            &["process", "processes", "processing"],
            &["copy", "copies", "copied", "copying"],
            &["search", "searches", "searching"],
        ] {
            let roots: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(roots.iter().all(|root| *root == roots[0]), "{forms:?} -> {roots:?}");
        }
    }

    #[test]
    fn short_and_odd_words_are_kept() {
        for word in ["ls", "string", "status", "need", "class", "analysis", "größe"] {
            assert_eq!(stem(word), word);
        }
    }

    proptest! {
        #[test]
        fn every_word_is_lower_case_and_not_empty(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(!word.is_empty() && !stem(&word).is_empty());
                prop_assert!(!word.contains(' '));
            }
        }
    }
}
