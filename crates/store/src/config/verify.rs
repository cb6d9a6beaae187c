//! Proof that an edit did what was asked and nothing else.
//!
//! Three things must hold: read by a parser that had no part in the edit, the new text means
//! exactly what is wanted; every line that does not belong to the edited value is still there,
//! byte for byte and in order; and no comment was lost that was not inside what was removed.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;
use yaml_edit::YamlFile;

use super::path::KeyPath;
use super::tree::{self, Duplicates, Entry, Kind, Node};

/// What happens to comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// All stay.
    Stay,
    /// Those at the removed value may go with it.
    MayGo,
}

/// An edit that is to be proved harmless.
pub(super) struct Edit<'a> {
    pub(super) file: &'a Path,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) key: &'a KeyPath,
    pub(super) wanted: Value,
    pub(super) comments: Comments,
}

/// Accepts the edit, or says what is wrong with it.
pub(super) fn check(edit: &Edit<'_>) -> Result<(), String> {
    let read = |text| tree::parse(edit.file, text, Duplicates::Refuse).map(|(node, _)| node);
    let after = read(edit.after).map_err(|e| format!("the edited file would be broken: {e}"))?;
    if after.value() != edit.wanted {
        return Err("this edit would change other values too; edit the file by hand".to_owned());
    }
    let before = read(edit.before).map_err(|e| e.to_string())?;
    let touched = touched_lines(&before, edit);
    if !keeps_other_lines(edit.before, edit.after, &touched) {
        return Err("this edit would rewrite other lines; edit the file by hand".to_owned());
    }
    if !keeps_comments(edit) {
        return Err("this edit would lose a comment; edit the file by hand".to_owned());
    }
    Ok(())
}

/// The lines, counted from 0, that belong to the deepest part of `key` that exists.
///
/// A new key in a block map only adds lines: then no existing line is touched, except that of a
/// parent that has no block of its own yet (`agent:`, `agent: {}`). Removing the only key of a map
/// touches the map, which becomes `{}`.
fn touched_lines(root: &Node, edit: &Edit<'_>) -> Range<u64> {
    let mut node = root;
    let mut found: Vec<&Entry> = Vec::new();
    for part in edit.key.keys() {
        let Some(entry) = node.get(part) else { break };
        found.push(entry);
        node = &entry.value;
    }
    let whole = found.len() == edit.key.keys().len();
    if whole && edit.key.find(&edit.wanted).is_none() {
        let parent = found.iter().rev().nth(1);
        if parent.is_some_and(|p| matches!(&p.value.kind, Kind::Map(entries) if entries.len() == 1)) {
            found.pop();
        }
    }
    let Some(entry) = found.last() else {
        // A new top-level key. In a block map nothing is touched; in `{…}` all of it is.
        let flow = edit.before.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        return if flow { 0..u64::MAX } else { 0..0 };
    };
    let block = matches!(&entry.value.kind, Kind::Map(entries)
        if !entries.is_empty() && entry.value.at.line() > entry.at.line());
    if !whole && block {
        return 0..0;
    }
    let start = entry.at.line().saturating_sub(1);
    let end = next_line(root, entry).unwrap_or(u64::MAX);
    start..end.max(start.saturating_add(1))
}

/// The line, counted from 0, of the first key after an entry and all that is in it.
fn next_line(root: &Node, entry: &Entry) -> Option<u64> {
    let mut next = None;
    let place = |e: &Entry| (e.at.line(), e.at.column());
    let mut inside = Vec::new();
    collect(&entry.value, &mut inside);
    let last = inside.iter().map(|e| place(e)).fold(place(entry), Ord::max);
    let mut all = Vec::new();
    collect(root, &mut all);
    for other in all {
        if place(other) > last && next.is_none_or(|found| place(other) < found) {
            next = Some(place(other));
        }
    }
    next.map(|(line, _)| line.saturating_sub(1))
}

fn collect<'a>(node: &'a Node, into: &mut Vec<&'a Entry>) {
    match &node.kind {
        Kind::Map(entries) => {
            for entry in entries {
                into.push(entry);
                collect(&entry.value, into);
            }
        }
        Kind::List(items) => items.iter().for_each(|item| collect(item, into)),
        _ => {}
    }
}

/// Whether the untouched lines of `before` are all in `after`, unchanged and in order.
fn keeps_other_lines(before: &str, after: &str, touched: &Range<u64>) -> bool {
    let mut rest = after.split_inclusive('\n');
    (0u64..).zip(before.split_inclusive('\n')).filter(|(i, _)| !touched.contains(i)).all(|(_, line)| {
        rest.any(|new| {
            // A last line without an end gets one when something follows it.
            new == line || (!line.ends_with('\n') && new.trim_end_matches(['\r', '\n']) == line)
        })
    })
}

fn keeps_comments(edit: &Edit<'_>) -> bool {
    let (Some(mut before), Some(mut after)) = (comments(edit.before), comments(edit.after)) else {
        return false;
    };
    before.sort();
    after.sort();
    match edit.comments {
        Comments::Stay => before == after,
        Comments::MayGo => {
            let mut known = before.into_iter();
            after.iter().all(|comment| known.any(|old| old == *comment))
        }
    }
}

fn comments(text: &str) -> Option<Vec<String>> {
    let file = YamlFile::from_str(text).ok()?;
    Some(file.comments().map(|comment| comment.to_string().trim_end().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const BEFORE: &str = "# head\na: 1 # one\nb: 'x'\nc: [p, q]\n";

    fn verdict(after: &str, wanted: Value, comments: Comments) -> Result<(), String> {
        let key = "a".parse().unwrap();
        check(&Edit { file: Path::new("c"), before: BEFORE, after, key: &key, wanted, comments })
    }

    fn wanted() -> Value {
        json!({"a": 2, "b": "x", "c": ["p", "q"]})
    }

    #[test]
    fn the_exact_edit_is_accepted() {
        assert_eq!(verdict(&BEFORE.replace("a: 1", "a: 2"), wanted(), Comments::Stay), Ok(()));
    }

    #[test]
    fn each_kind_of_damage_is_noticed() {
        let damaged = [
            (BEFORE.replace("a: 1", "a: 2").replace("[p, q]", "[p]"), "other values"),
            (BEFORE.replace("a: 1", "a: 3"), "other values"),
            (BEFORE.replace("a: 1", "a: [2"), "broken"),
            (BEFORE.replace("a: 1", "a: 2\na: 2"), "broken"),
            (BEFORE.replace("a: 1", "a: 2").replace("'x'", "x"), "other lines"),
            (BEFORE.replace("a: 1", "a: 2").replace("[p, q]", "[p,q]"), "other lines"),
            (BEFORE.replace("a: 1", "a: 2").replace("'x'\n", "'x'\r\n"), "other lines"),
            (BEFORE.replace("a: 1", "a: 2").replace("# head\n", ""), "other lines"),
            (BEFORE.replace("a: 1 # one", "a: 2"), "a comment"),
        ];
        for (after, words) in damaged {
            let why = verdict(&after, wanted(), Comments::Stay).unwrap_err();
            assert!(why.contains(words), "{after:?}: {why}");
        }
    }

    #[test]
    fn a_comment_may_go_with_its_value_but_none_may_appear() {
        let gone = json!({"b": "x", "c": ["p", "q"]});
        let without = BEFORE.replace("a: 1 # one\n", "");

        assert_eq!(verdict(&without, gone.clone(), Comments::MayGo), Ok(()));
        assert!(verdict(&format!("{without}# new\n"), gone, Comments::MayGo).is_err());
    }
}
