//! Edits of `config.yaml`: what was asked for happens, and not one other byte moves.

#![expect(clippy::disallowed_methods, reason = "a test sets up files and processes of its own")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::fs;

use hermes_store::config::KeyPath;
use hermes_store::{ConfigFile, Home, StoreError};
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

fn set(text: &str, path: &str, value: impl Into<Value>) -> String {
    let mut file = open(text);
    file.set(&key(path), &value.into()).unwrap();
    file.text().to_owned()
}

fn unset(text: &str, path: &str) -> String {
    let mut file = open(text);
    assert!(file.unset(&key(path)).unwrap());
    file.text().to_owned()
}

fn add(text: &str, path: &str, item: &str) -> String {
    let mut file = open(text);
    file.add_to_list(&key(path), item).unwrap();
    file.text().to_owned()
}

fn remove(text: &str, path: &str, item: &str) -> String {
    let mut file = open(text);
    assert!(file.remove_from_list(&key(path), item).unwrap());
    file.text().to_owned()
}

const TRICKY: &str = "# my config

model:   \"x\"   # the model
agent: # the agent
    max_turns: 5      # few
    # what I do not want
    disabled_toolsets:
    - browser   # too slow

    - 'web'

    note: |
      keep   # this is text
        as is

# lists
toolsets: [ hermes-cli, \"file\" ]  # flow
platform_toolsets:
  cli: [web,
        file]   # two lines
quoted: 'it''s'
last: yes
# the end
";

#[test]
fn a_scalar_is_replaced_where_it_stands() {
    let after = set(TRICKY, "agent.max_turns", json!(50));
    assert_eq!(after, TRICKY.replace("max_turns: 5 ", "max_turns: 50 "));

    let after = set(TRICKY, "model", json!("y: z"));
    assert_eq!(after, TRICKY.replace("\"x\"", "'y: z'"));
}

#[test]
fn a_new_key_in_a_map_leaves_all_lines_as_they_are() {
    let after = set(TRICKY, "agent.disabled_tools", json!(["patch"]));

    assert!(after.contains("\n    disabled_tools:\n"), "{after}");
    let kept: String = after
        .split_inclusive('\n')
        .filter(|line| !line.contains("disabled_tools:") && !line.contains("patch"))
        .collect();
    assert_eq!(kept, TRICKY);
}

#[test]
fn maps_on_the_way_are_made() {
    assert_eq!(set("", "a.b.c", json!(true)), "a:\n  b:\n    c: true\n");
    assert_eq!(set("# c\n", "a.b", json!([1])), "# c\na:\n  b:\n    - 1\n");
    assert_eq!(set("# c", "a", json!("x")), "# c\na: x\n");
    assert_eq!(set("# c\r\n", "a.b", json!("x")), "# c\r\na:\r\n  b: x\r\n");
    assert_eq!(set("a:\nz: 1\n", "a.b", json!(1)), "a:\n  b: 1\nz: 1\n");
    assert_eq!(set("a: {}\n", "a.b", json!(1)), "a: {b: 1}\n");
    assert_eq!(set("a: null # n\nz: 1\n", "a.b", json!(1)), "a: # n\n  b: 1\nz: 1\n");
    assert_eq!(set("---\na: 1\n...\n", "b", json!(2)), "---\na: 1\nb: 2\n...\n");
    assert_eq!(set("a: 1", "b", json!(2)), "a: 1\nb: 2");
}

#[test]
fn texts_that_look_like_something_else_are_quoted() {
    for text in [
        "on",
        "yes",
        "y",
        "N",
        "1",
        "1.5",
        "null",
        "~",
        "",
        " x",
        "a: b",
        "# c",
        "- x",
        "*a",
        "&b",
        "{",
        "[",
        "é",
        "a\nb",
        "'",
        "\"",
        "\\",
        "%",
        "@x",
        "!t",
        "2024-01-01",
        "0x10",
        "${HOME}",
    ] {
        let mut file = open("a: 1\n");
        file.set(&key("a"), &json!(text)).unwrap();
        assert_eq!(file.get(&key("a")).unwrap(), Some(json!(text)), "{text:?}");

        let mut list = open("l: [x]\n");
        list.add_to_list(&key("l"), text).unwrap();
        assert_eq!(list.get(&key("l.1")).unwrap(), Some(json!(text)), "{text:?}");
    }
}

#[test]
fn keys_that_are_not_plain_words_are_found_and_written() {
    assert_eq!(set("d:\n  123: a # c\n", "d.123", "b"), "d:\n  123: b # c\n");
    assert_eq!(set("on: {x: 1}\n", "on.x", 2), "on: {x: 2}\n");
    assert_eq!(add("'1.5':\n- a\n", "\"1.5\"", "b"), "'1.5':\n- a\n- b\n");
    assert_eq!(unset("d: {123: a, e: f}\n", "d.123"), "d: {e: f}\n");
    for odd in ["my.server", "a b", "a: b", "# x", "on", "123", "é", "- a", "*x", "'", "~"] {
        let path = KeyPath::new(["s", odd, "url"]).unwrap();
        let mut file = open("# c\ns:\n  plain: 1\n");
        assert!(file.set(&path, &json!("u")).unwrap(), "{odd}");
        assert_eq!(file.get(&path).unwrap(), Some(json!("u")), "{odd}");
        assert!(file.unset(&path).unwrap(), "{odd}");
    }
}

#[test]
fn a_byte_order_mark_stays() {
    assert_eq!(set("\u{feff}a: 1\n", "a", 2), "\u{feff}a: 2\n");
    assert_eq!(set("\u{feff}# c\n", "a", 2), "\u{feff}# c\na: 2\n");
}

#[test]
fn setting_what_is_already_there_changes_nothing() {
    let mut file = open(TRICKY);

    assert!(!file.set(&key("last"), &json!(true)).unwrap());
    assert!(!file.add_to_list(&key("toolsets"), "file").unwrap());
    assert!(!file.remove_from_list(&key("toolsets"), "zebra").unwrap());
    assert!(!file.unset(&key("agent.nothing")).unwrap());
    assert!(file.change().is_empty());
}

#[test]
fn a_block_list_grows_and_shrinks_by_one_line() {
    let after = add(TRICKY, "agent.disabled_toolsets", "spotify");
    assert_eq!(after.replace("    - spotify\n", ""), TRICKY);
    assert_eq!(open(&after).get(&key("agent.disabled_toolsets.2")).unwrap(), Some(json!("spotify")));

    let after = remove(TRICKY, "agent.disabled_toolsets", "web");
    assert_eq!(open(&after).get(&key("agent.disabled_toolsets")).unwrap(), Some(json!(["browser"])));
    assert!(after.contains("- browser   # too slow\n"), "{after}");
}

#[test]
fn a_flow_list_grows_and_shrinks_in_place() {
    assert_eq!(
        add(TRICKY, "toolsets", "web"),
        TRICKY.replace("[ hermes-cli, \"file\" ]", "[ hermes-cli, \"file\", web ]")
    );
    assert_eq!(
        remove(TRICKY, "toolsets", "hermes-cli"),
        TRICKY.replace("[ hermes-cli, \"file\" ]", "[ \"file\" ]")
    );
    let after = add(TRICKY, "platform_toolsets.cli", "gh");
    assert_eq!(open(&after).get(&key("platform_toolsets.cli")).unwrap(), Some(json!(["web", "file", "gh"])));
    assert!(after.contains("# two lines"), "{after}");
}

#[test]
fn a_list_is_made_emptied_and_filled_again() {
    assert_eq!(add("", "agent.disabled_tools", "patch"), "agent:\n  disabled_tools:\n    - patch\n");
    assert_eq!(add("l:\n", "l", "a"), "l:\n  - a\n");
    assert_eq!(add("l: []\n", "l", "a"), "l: [a]\n");
    let empty = remove("l:\n  - a\nz: 1\n", "l", "a");
    assert_eq!(open(&empty).get(&key("l")).unwrap(), Some(json!([])));
    assert_eq!(open(&add(&empty, "l", "b")).get(&key("l")).unwrap(), Some(json!(["b"])));
    assert_eq!(remove("l: [a, b, a]\n", "l", "a"), "l: [b]\n");
}

#[test]
fn a_key_is_removed_with_its_value_only() {
    assert_eq!(unset("a: 1\nb: # c\n  x: 1\nd: 2\n", "b"), "a: 1\nd: 2\n");
    assert_eq!(unset("a: {x: 1, y: 2}\n", "a.x"), "a: {y: 2}\n");
    assert_eq!(unset("a:\n  x: 1\nb: 2 # c\n", "a.x"), "a: {}\nb: 2 # c\n");
    assert_eq!(unset("a: 1\n", "a"), "{}\n");
    let after = unset(TRICKY, "agent.max_turns");
    assert_eq!(after, TRICKY.replace("    max_turns: 5      # few\n", ""));
    let after = unset(TRICKY, "agent.note");
    assert_eq!(open(&after).get(&key("agent.note")).unwrap(), None);
    assert!(after.contains("# lists\n") && after.contains("# what I do not want\n"), "{after}");
}

#[test]
fn windows_line_ends_stay() {
    let text = "# c\r\na: 1 # one\r\nl:\r\n  - x\r\nb: 2\r\n";

    assert_eq!(set(text, "a", json!(5)), text.replace("a: 1", "a: 5"));
    assert_eq!(add(text, "l", "z"), text.replace("  - x\r\n", "  - x\r\n  - z\r\n"));
    assert_eq!(set(text, "c.d", json!(1)), format!("{text}c:\r\n  d: 1\r\n"));
    assert_eq!(unset(text, "b"), text.replace("b: 2\r\n", ""));
}

#[test]
fn an_edit_that_would_reach_through_an_anchor_is_refused() {
    let text = "base: &b\n  l: [x]\nother: *b\nmerged:\n  <<: *b\n  k: 1\n";
    let mut file = open(text);

    let refused = [
        file.set(&key("base.l"), &json!(["y"])),
        file.add_to_list(&key("base.l"), "y"),
        file.set(&key("other.l"), &json!(["y"])),
        file.add_to_list(&key("other.l"), "y"),
        file.unset(&key("other.l")),
        file.unset(&key("merged.l")),
        file.unset(&key("base")),
    ];
    for result in refused {
        assert!(matches!(result, Err(StoreError::Edit { .. })), "{result:?}");
    }
    assert!(file.change().is_empty());

    assert!(file.set(&key("merged.k"), &json!(2)).unwrap());
    assert!(file.set(&key("other"), &json!(3)).unwrap());
    assert_eq!(file.text(), text.replace("k: 1", "k: 2").replace("other: *b", "other: 3"));
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let mut file = open("a: text\nl: [x]\n");

    for (error, words) in [
        (file.set(&key("a.b"), &json!(1)), "not a map"),
        (file.add_to_list(&key("a"), "x"), "not a list"),
        (file.remove_from_list(&key("a"), "x"), "not a list"),
        (file.unset(&key("l.0")), "key of a map"),
        (file.set(&key("l.0"), &json!(1)), "not a map"),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("config.yaml"), "{error}");
    }
}

#[test]
fn a_file_with_a_repeated_key_or_broken_syntax_is_not_edited() {
    for text in ["a: 1\na: 2\n", "a:\n  b: 1\n  b: 2\n", "a: [1\n", "- a\n"] {
        let (_dir, home) = home(text);
        assert!(matches!(ConfigFile::open(&home), Err(StoreError::Syntax { .. })), "{text}");
        let update = ConfigFile::update(&home, |file| file.set(&key("x"), &json!(1)).map(drop));
        assert!(update.is_err());
        assert_eq!(fs::read_to_string(home.config()).unwrap(), text);
    }
}
