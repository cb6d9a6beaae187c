//! Edits of documents nobody thought of: done exactly, or refused.

#![expect(clippy::disallowed_methods, reason = "a test sets up files and processes of its own")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::fs;
use std::path::Path;

use hermes_store::config::KeyPath;
use hermes_store::{Config, ConfigFile, Home};
use proptest::prelude::*;
use serde_json::{Value, json};

fn key(text: &str) -> KeyPath {
    text.parse().unwrap()
}

/// A home whose config holds `text`.
fn home(text: &str) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(&dir.path().join("home"));
    fs::create_dir(home.path()).unwrap();
    fs::write(home.config(), text).unwrap();
    (dir, home)
}

fn open(text: &str) -> ConfigFile {
    let (_dir, home) = home(text);
    ConfigFile::open(&home).unwrap()
}

/// Documents with comments, blank lines, nesting, flow and block style, and either line end.
fn document() -> impl Strategy<Value = String> {
    let word = "[a-z]{1,6}";
    let scalar = prop_oneof![
        word.prop_map(String::from),
        "[0-9]{1,4}".prop_map(String::from),
        "'[a-z #:]{0,8}'".prop_map(String::from),
        "\"[a-z #:]{0,8}\"".prop_map(String::from),
        Just("[x, y]".to_owned()),
        Just("{p: 1, q: [z]}".to_owned()),
        Just("\n    - x\n    # in list\n    - 'y' # item".to_owned()),
        Just("\n    deep: 1 # d\n    deeper:\n      deepest: [1, 2]".to_owned()),
        Just("|\n      text # no comment\n\n      more".to_owned()),
        Just(String::new()),
    ];
    let comment = prop_oneof![Just(String::new()), " {1,3}# [a-z ]{0,6}".prop_map(String::from)];
    let line = prop_oneof![
        4 => (scalar, comment).prop_map(|(value, comment)| {
            let comment = if value.contains('\n') { String::new() } else { comment };
            (true, format!("{value}{comment}"))
        }),
        1 => "  # [a-z]{0,5}".prop_map(|c| (false, c)),
        1 => Just((false, String::new())),
    ];
    (prop::collection::vec(prop::collection::vec(line, 1..5), 1..5), any::<bool>()).prop_map(
        |(tops, crlf)| {
            let mut text = String::from("# head\n");
            for (i, lines) in tops.iter().enumerate() {
                text = text + "t" + &i.to_string() + ":\n";
                for (j, (entry, line)) in lines.iter().enumerate() {
                    let gap = if line.starts_with('\n') || line.is_empty() { "" } else { " " };
                    let key = if *entry { format!("  k{j}:{gap}") } else { String::new() };
                    text = text + &key + line + "\n";
                }
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// An edit is done exactly or refused; plain documents are never refused.
    #[test]
    fn an_edit_of_a_plain_document_does_what_was_asked(
        text in document(), top in 0usize..5, sub in 0usize..5, value in "[a-z #:'\"]{0,8}", list in any::<bool>(),
    ) {
        let Ok(config) = Config::parse(Path::new("c"), &text, &|_| None) else { return Ok(()) };
        let mut file = open(&text);
        let path = key(&format!("t{top}.k{sub}"));
        let old = config.get(&path);
        let result = match (&old, list) {
            (None | Some(Value::Null | Value::Array(_)), true) => file.add_to_list(&path, &value),
            _ => file.set(&path, &json!(value)),
        };
        prop_assert!(result.is_ok(), "{text}\n{path} = {value:?}: {result:?}");

        let after = file.get(&path).unwrap();
        match (old, list) {
            (None | Some(Value::Null), true) => prop_assert_eq!(after, Some(json!([value]))),
            (Some(Value::Array(_)), true) => prop_assert!(after.unwrap().as_array().unwrap().contains(&json!(value))),
            _ => prop_assert_eq!(after, Some(json!(value))),
        }
        let ends = |text: &str| (text.matches("\r\n").count(), text.matches('\n').count());
        let (crlf, all) = ends(file.text());
        prop_assert!(crlf == 0 || crlf == all, "mixed line ends in {:?}", file.text());
    }

    #[test]
    fn a_removed_key_is_gone_and_nothing_else(text in document(), top in 0usize..5, sub in 0usize..5) {
        if Config::parse(Path::new("c"), &text, &|_| None).is_err() { return Ok(()) }
        let mut file = open(&text);
        let path = key(&format!("t{top}.k{sub}"));
        let there = file.get(&path).unwrap().is_some();

        let result = file.unset(&path);

        prop_assert!(result.is_ok(), "{text}\n{path}: {result:?}");
        prop_assert_eq!(result.unwrap(), there);
        prop_assert_eq!(file.get(&path).unwrap(), None);
    }

    /// Whatever the file looks like: done exactly, or refused, never a crash and never damage.
    #[test]
    fn an_edit_of_any_text_is_harmless(text in "([ab]|: |\n|\n  |- |\\[|\\]|\\{|\\}|, |#| #|'|\"|&x |\\*x|<<: |\\| |\r\n|~|---\n|\\? ){0,24}") {
        let (_dir, home) = home(&text);
        let Ok(mut file) = ConfigFile::open(&home) else { return Ok(()) };
        for path in ["a", "b.a", "a.b"] {
            let before = file.text().to_owned();
            let outcomes = [
                file.set(&key(path), &json!({"c": ["d"]})).is_ok(),
                file.add_to_list(&key(path), "e").is_ok(),
                file.set(&key(path), &json!("f")).is_ok(),
                file.unset(&key(path)).is_ok(),
            ];
            prop_assert!(outcomes.iter().any(|done| *done) || file.text() == before);
            prop_assert!(file.get(&key(path)).is_ok(), "{before:?} became {:?}", file.text());
        }
    }
}
