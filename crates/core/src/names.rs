//! Finds the tool a model meant when it spelled the name in another style.
//!
//! Only case, separators and the debris of a wire format are forgiven: `ReadFile`, `read-file`,
//! `functions.read_file`, `read_file"`. The letters and digits must be the same in the same
//! order, and exactly one known name must fit; anything else is for [`crate::suggest`], which
//! proposes and never decides. So a call can never reach another tool than the one it names.

use std::collections::HashMap;

/// What the names of MCP servers' tools begin with, and those of nobody else.
pub const OF_SERVERS: &str = "mcp__";

/// Namespaces that some wires put in front of every function name.
const NAMESPACES: &[&str] = &["functions", "function", "tools", "tool", "default_api"];
/// What may stand around a name without being part of it.
const OPENERS: &[char] = &['"', '\'', '`', '<', '(', '[', '{'];
/// What ends a name: a quote or an angle bracket with anything behind it.
const ENDS: &[char] = &['"', '\'', '`', '<', '>'];
/// What ends a name only if nothing readable follows.
const TRAILERS: &[char] = &['(', ')', '[', ']', '{', '}', ',', ';', ':', '=', '.'];

/// The names of the tools of a session, ready to be found by any spelling.
#[derive(Debug, Default)]
pub struct KnownNames {
    names: Vec<String>,
    by_fold: HashMap<String, Fits>,
}

/// How many known names share a folded form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    One(usize),
    Several,
}

impl KnownNames {
    /// Prepares the names for look-ups.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut known = Self::default();
        for name in names {
            let name = name.into();
            let at = known.names.len();
            let same =
                |fits: &Fits| matches!(fits, Fits::One(other) if known.names.get(*other) == Some(&name));
            let folded = fold(&name);
            match known.by_fold.get(&folded) {
                Some(fits) if same(fits) => continue,
                Some(_) => known.by_fold.insert(folded, Fits::Several),
                None => known.by_fold.insert(folded, Fits::One(at)),
            };
            known.names.push(name);
        }
        known
    }

    /// The one known name whose folded form this is.
    fn fits(&self, folded: &str) -> Option<Fits> {
        if folded.is_empty() { None } else { self.by_fold.get(folded).copied() }
    }
}

/// The known name that `name` spells, if it spells exactly one.
pub fn normalise<'a>(name: &str, known: &'a KnownNames) -> Option<&'a str> {
    if let Some(exact) = known.names.iter().find(|candidate| *candidate == name) {
        return Some(exact);
    }
    let bare = without_debris(name)?;
    let whole = known.fits(&fold(bare));
    let inner = without_namespace(bare).and_then(|inner| known.fits(&fold(inner)));
    let found = match (whole, inner) {
        (Some(fits), None) | (None, Some(fits)) => fits,
        (Some(one), Some(other)) if one == other => one,
        _ => return None,
    };
    match found {
        Fits::One(at) => known.names.get(at).map(String::as_str),
        Fits::Several => None,
    }
}

/// The name without what a wire format left around it. None if it cannot be told what is name and
/// what is not.
fn without_debris(name: &str) -> Option<&str> {
    let name = name.trim();
    let inner = name.trim_start_matches(OPENERS);
    let opened = inner.len() < name.len();
    let end = inner.find(ENDS).unwrap_or(inner.len());
    let (bare, rest) = inner.split_at_checked(end)?;
    // Behind an opening mark this could be a tag or a key in front of the real name.
    if opened && rest.contains(char::is_alphanumeric) {
        return None;
    }
    let bare = bare.trim_end().trim_end_matches(TRAILERS).trim();
    (!bare.is_empty()).then_some(bare)
}

/// The name behind `functions.`, also in the forms `to=functions.x` and `functions.x:0`.
fn without_namespace(name: &str) -> Option<&str> {
    let addressed = strip_ignoring_case(name, "to=").unwrap_or(name);
    let inner = NAMESPACES.iter().find_map(|space| {
        strip_ignoring_case(addressed, space).and_then(|rest| rest.strip_prefix(['.', ':', '/']))
    })?;
    match inner.rsplit_once(':') {
        Some((bare, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(bare)
        }
        _ => Some(inner),
    }
}

fn strip_ignoring_case<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

/// The name in lower case without separators. Between two digits a separator stays, because
/// `v1_2` and `v12` are different things. Only ASCII is folded: look-alikes are other names.
fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut parted = false;
    for c in name.chars() {
        if matches!(c, '_' | '-' | ' ' | '\t' | '.' | ':' | '/') {
            parted = true;
            continue;
        }
        if parted && c.is_ascii_digit() && folded.ends_with(|last: char| last.is_ascii_digit()) {
            folded.push('_');
        }
        parted = false;
        folded.push(c.to_ascii_lowercase());
    }
    folded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tools() -> KnownNames {
        KnownNames::new([
            "read_file",
            "write_file",
            "patch",
            "kanban_link",
            "kanban_unlink",
            "tool_call",
            "tool_search",
            "tools_list",
            "list",
            "mcp__a_b__c",
            "mcp__a__b_c",
            "model_v12",
            "read_file",
        ])
    }

    #[test]
    fn other_spellings_of_a_name_find_it() {
        for spelling in [
            "read_file",
            "ReadFile",
            "readFile",
            "read-file",
            "read file",
            "READ_FILE",
            "readfile",
            "read.file",
            "read_file\"",
            "read_file<|channel|>commentary",
            "read_file()",
            " read_file\n",
            "\"read_file\"",
            "`read_file`",
            "<read_file>",
            "functions.read_file",
            "Functions.ReadFile",
            "functions.read_file:0",
            "to=functions.read_file",
            "default_api:read_file",
            "read_file\", \"arguments\": {",
            "read_file({",
            "read_file:",
        ] {
            assert_eq!(normalise(spelling, &tools()), Some("read_file"), "{spelling}");
        }
    }

    #[test]
    fn another_name_finds_nothing() {
        for name in [
            "",
            " ",
            "\"",
            "list_files",
            "delete_file",
            "read",
            "file",
            "file_read",
            "read_files",
            "kanban_unlinks",
            "<tool_call>read_file",
            "\"name\": \"read_file\"",
            "read_file(path)",
            "read_file_tool",
            "rea\u{212A}_file",
            "model_v1_2",
            "functions.",
            "x.read_file",
            "read_file:0",
        ] {
            assert_eq!(normalise(name, &tools()), None, "{name}");
        }
    }

    #[test]
    fn a_spelling_that_fits_two_names_finds_neither() {
        assert_eq!(normalise("mcp__a__b__c", &tools()), None);
        assert_eq!(normalise("tools.list", &tools()), None);
        assert_eq!(normalise("mcp__a_b__c", &tools()), Some("mcp__a_b__c"));
    }

    /// Letters and digits of the name proper, found without the code under test.
    fn letters(text: &str) -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    }

    proptest! {
        #[test]
        fn what_is_found_has_the_letters_that_were_given(
            before in prop::sample::select(vec!["", "\"", "<", "functions.", "to=functions.", "tool.", "x", "un", "_", "("]),
            name in prop::sample::select(vec!["read_file", "ReadFile", "kanban-link", "LIST", "tools_list", "un link", "patch", "re"]),
            after in prop::sample::select(vec!["", "\"", "<x>", ">", "()", ":0", "s", "_tool", " file", "\": 1", "1"]),
        ) {
            let known = tools();
            let given = format!("{before}{name}{after}");
            if let Some(found) = normalise(&given, &known) {
                prop_assert!(letters(&given).contains(&letters(found)));
                let bare = without_debris(&given).unwrap_or_default();
                let inner = without_namespace(bare).unwrap_or(bare);
                prop_assert!([fold(bare), fold(inner)].contains(&fold(found)), "{given} -> {found}");
            }
        }

        #[test]
        fn arbitrary_text_is_never_taken_for_another_tool(given in "[a-zA-Z_ .<>\"-]{0,16}") {
            let known = tools();
            if let Some(found) = normalise(&given, &known) {
                prop_assert!(letters(&given).contains(&letters(found)));
            }
        }

        #[test]
        fn every_known_name_finds_itself_unless_it_is_shared(names in prop::collection::vec("[a-z]{1,4}(_[a-z]{1,3})?", 1..20)) {
            let known = KnownNames::new(names.clone());
            for name in &names {
                prop_assert_eq!(normalise(name, &known), Some(name.as_str()));
                let alone = known.names.iter().filter(|other| fold(other) == fold(name)).count() == 1;
                prop_assert_eq!(normalise(&name.to_uppercase(), &known), alone.then_some(name.as_str()));
            }
        }
    }
}
