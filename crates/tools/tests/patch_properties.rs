//! What holds for any text and any edit.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "the places are between characters")]

use std::path::PathBuf;

use hermes_tools::diff::unified;
use hermes_tools::matching::lines::lines;
use hermes_tools::matching::{Miss, Places, replace};
use hermes_tools::v4a::{Doc, Docs, apply, parse};
use proptest::prelude::*;

/// A text of short lines, some of them alike, with ends of either kind.
fn texts(end: &'static str) -> impl Strategy<Value = String> {
    let line = prop_oneof!["[a-c ]{0,4}", "[ \t]{0,3}[a-z“”…é]{1,5}", Just(String::new())];
    (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(move |(lines, ended)| {
        let mut text = lines.join(end);
        if ended && !text.is_empty() {
            text.push_str(end);
        }
        text
    })
}

/// A part of a text, by where it begins and how long it is.
fn part(text: &str, from: usize, len: usize) -> Option<(usize, &str)> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let from = from % places.len();
    let to = (from + 1 + len).min(places.len() - 1);
    let (start, end) = (places[from], places[to]);
    (start < end).then(|| (start, &text[start..end]))
}

fn patched(text: &str, patch: &str) -> Option<String> {
    let place = PathBuf::from("f");
    let doc = Doc { text: text.to_owned(), from: Some(place.clone()) };
    let mut docs = Docs::from([(place.clone(), Some(doc))]);
    apply(&parse(patch).ok()?, &mut docs, &|path| PathBuf::from(path)).ok()?;
    Some(docs.remove(&place)??.text)
}

/// What a unified diff says, as a patch.
fn as_patch(diff: &str) -> String {
    let hunks = diff.lines().skip(2).collect::<Vec<_>>().join("\n");
    format!("*** Update File: f\n{hunks}\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn outside_of_an_exact_edit_no_byte_changes(
        text in texts("\n"), from in 0_usize..99, len in 0_usize..9, new in "[a-z\n ]{0,6}",
    ) {
        let Some((start, old)) = part(&text, from, len) else { return Ok(()) };
        if let Ok(edit) = replace(&text, old, &new, Places::One) {
            prop_assert_eq!(edit.text, format!("{}{new}{}", &text[..start], &text[start + old.len()..]));
        }
    }

    #[test]
    fn an_exact_edit_can_be_taken_back(
        text in texts("\n"), from in 0_usize..99, len in 0_usize..9, new in "[A-Z]{1,6}(\n[A-Z]{1,3})?",
    ) {
        let Some((_, old)) = part(&text, from, len) else { return Ok(()) };
        if let Ok(edit) = replace(&text, old, &new, Places::One) {
            prop_assert_eq!(replace(&edit.text, &new, old, Places::One).map(|edit| edit.text), Ok(text));
        }
    }

    #[test]
    fn a_windows_file_stays_one(text in texts("\r\n"), from in 0_usize..20, new in "[a-z]{1,3}(\n[a-z]{0,3}){0,2}") {
        let file = lines(&text);
        let Some(old) = file.get(from % file.len().max(1)).map(|line| line.text) else { return Ok(()) };
        if let Ok(edit) = replace(&text, old, &new, Places::One) {
            prop_assert!(lines(&edit.text).iter().all(|line| line.end != "\n" || !text.contains('\n')));
            let unix = replace(&text.replace("\r\n", "\n"), old, &new, Places::One).unwrap();
            if text.contains('\n') {
                prop_assert_eq!(edit.text.replace("\r\n", "\n"), unix.text);
            }
        }
    }

    #[test]
    fn lines_that_an_edit_keeps_lose_at_most_blanks_at_their_end(
        text in texts("\n"), from in 0_usize..12, len in 1_usize..5, shift in 0_usize..4,
    ) {
        let file = lines(&text);
        let there: Vec<_> = file.iter().skip(from).take(len).map(|line| line.text).collect();
        if there.last().is_none_or(|line| line.trim().is_empty()) {
            return Ok(());
        }
        let blanks = " ".repeat(shift);
        let written: Vec<String> = there.iter().map(|line| format!("{blanks}{}", line.trim_end())).collect();
        let old = written.join("\n");
        let new = format!("{old}\n{blanks}NEW");
        // Found exactly, the old text may begin or end within a line.
        let edit = replace(&text, &old, &new, Places::One).ok().filter(|edit| edit.ignoring.is_some());
        if let Some(edit) = edit {
            let after = lines(&edit.text);
            prop_assert_eq!(after.len(), file.len() + 1);
            let kept = after.iter().filter(|line| line.text.trim() != "NEW").map(|line| line.text);
            for ((number, kept), line) in kept.enumerate().zip(&file) {
                let within = (from..from + len).contains(&number);
                prop_assert_eq!(kept, if within && kept != line.text { line.text.trim_end() } else { line.text });
            }
        }
    }

    #[test]
    fn any_edit_ends_in_an_answer(text in ".{0,40}", old in ".{0,12}", new in ".{0,12}", all: bool) {
        let places = if all { Places::All } else { Places::One };
        match replace(&text, &old, &new, places) {
            Ok(edit) => prop_assert!(edit.text != text && edit.places > 0),
            Err(Miss::Several { lines }) => prop_assert!(lines.len() > 1 && !all),
            Err(_) => {}
        }
    }

    #[test]
    fn any_patch_text_ends_in_an_answer(text in texts("\n"), patch in "(\\*\\*\\* (Update|Add|Delete) File: f\n([-+ @]{0,2}[a-c]{0,2}\n){0,6}){0,3}") {
        patched(&text, &patch);
    }

    #[test]
    fn a_diff_put_in_again_gives_the_new_text_and_back(one in texts("\n"), two in texts("\n")) {
        prop_assume!(one != two && !one.is_empty() && !two.is_empty());
        let there = as_patch(&unified("f", "f", &one, &two));
        let back = as_patch(&unified("f", "f", &two, &one));
        // Equal blocks can be ambiguous; what is put in is never wrong.
        if let Some(new) = patched(&one, &there) {
            prop_assert_eq!(&new, &two);
            if let Some(old) = patched(&new, &back) {
                prop_assert_eq!(old, one);
            }
        }
    }
}
