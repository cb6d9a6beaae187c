//! What keys do.

use proptest::prelude::*;

use super::complete::tests::Scripted;
use super::*;
use crate::chat::text::Line;

fn typed(editor: &mut Editor, text: &str) {
    for letter in text.chars() {
        editor.key(Key::Char(letter), &Scripted);
    }
}

fn editor() -> Editor {
    Editor::new(History::new(vec!["first line".to_owned(), "second".to_owned()]), 5)
}

fn rows(editor: &Editor, width: usize) -> Vec<String> {
    editor.view(&Line::plain("> "), width, &Scripted).rows.iter().map(Line::text).collect()
}

#[test]
fn enter_sends_and_leaves_nothing_behind() {
    let mut it = editor();
    typed(&mut it, "hello");

    let sent = it.key(Key::Enter, &Scripted);

    assert_eq!(sent, Edited::Sent { text: "hello".to_owned(), kept: true });
    assert_eq!(it.text(), "");
    assert_eq!(it.key(Key::Enter, &Scripted), Edited::Changed);
}

#[test]
fn a_backslash_at_the_end_asks_for_another_line() {
    let mut it = editor();
    typed(&mut it, "a\\");
    it.key(Key::Enter, &Scripted);
    typed(&mut it, "b");
    it.key(Key::NewLine, &Scripted);
    typed(&mut it, "c");

    assert_eq!(rows(&it, 40), ["> a", "  b", "  c"]);
    assert_eq!(it.key(Key::Enter, &Scripted), Edited::Sent { text: "a\nb\nc".to_owned(), kept: true });
}

#[test]
fn what_begins_with_a_blank_is_not_written_down() {
    let mut it = editor();
    typed(&mut it, " secret");

    assert_eq!(it.key(Key::Enter, &Scripted), Edited::Sent { text: "secret".to_owned(), kept: false });
}

#[test]
fn a_long_paste_is_folded_and_sent_whole() {
    let mut it = editor();
    let long = "line\n".repeat(9);
    typed(&mut it, "see ");
    it.key(Key::Paste(long.clone()), &Scripted);

    assert_eq!(rows(&it, 40), ["> see [pasted #1: 9 lines]"]);
    let sent = it.key(Key::Enter, &Scripted);
    assert_eq!(sent, Edited::Sent { text: format!("see {}", long.trim_end()), kept: true });
}

#[test]
fn control_c_empties_the_line_first() {
    let mut it = editor();
    typed(&mut it, "x");

    assert_eq!(it.key(Key::Ctrl('c'), &Scripted), Edited::Interrupt { had_text: true });
    assert_eq!(it.key(Key::Ctrl('c'), &Scripted), Edited::Interrupt { had_text: false });
    assert_eq!(it.key(Key::Ctrl('d'), &Scripted), Edited::Quit);
}

#[test]
fn tab_completes_and_then_goes_through_the_offers() {
    let mut it = editor();
    typed(&mut it, "/q");
    it.key(Key::Tab, &Scripted);
    assert_eq!(it.text(), "/quit ");

    it.set("/m");
    it.key(Key::Tab, &Scripted);
    assert_eq!(it.text(), "/m");
    it.key(Key::Tab, &Scripted);
    assert_eq!(it.text(), "/model");
    assert_eq!(it.menu.as_ref().and_then(Menu::chosen), Some(0));
    it.key(Key::BackTab, &Scripted);
    assert_eq!(it.text(), "/memory");
    assert_eq!(it.key(Key::Escape, &Scripted), Edited::Changed);
    assert!(it.menu.is_none());
}

#[test]
fn commands_are_offered_while_they_are_typed() {
    let mut it = editor();
    typed(&mut it, "/m");

    assert_eq!(rows(&it, 40), ["> /m", "  /model   does it", "  /memory  does it"]);
}

#[test]
fn lines_of_before_are_found_by_their_words() {
    let mut it = editor();
    it.key(Key::Ctrl('r'), &Scripted);
    typed(&mut it, "rst");
    assert_eq!(it.text(), "first line");
    it.key(Key::End, &Scripted);
    typed(&mut it, "!");
    assert_eq!(it.text(), "first line!");

    it.key(Key::Ctrl('r'), &Scripted);
    typed(&mut it, "second");
    it.key(Key::Escape, &Scripted);
    assert_eq!(it.text(), "first line!");
}

#[test]
fn up_goes_to_lines_of_before_and_down_comes_back() {
    let mut it = editor();
    typed(&mut it, "new");
    it.key(Key::Up, &Scripted);
    assert_eq!(it.text(), "second");
    it.key(Key::Down, &Scripted);
    assert_eq!(it.text(), "new");
}

#[test]
fn the_cursor_stands_where_the_next_letter_goes() {
    let mut it = editor();
    typed(&mut it, "日本 abcdefgh");

    let view = it.view(&Line::plain("> "), 13, &Scripted);

    assert_eq!(view.rows.iter().map(Line::text).collect::<Vec<_>>(), ["> 日本 abcde", "  fgh"]);
    assert_eq!(view.cursor, (1, 5));
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        3 => prop::sample::select(vec!['a', ' ', '/', '日', '\u{301}', '\\', '@', '.']).prop_map(Key::Char),
        1 => prop::sample::select("abcdefklnopruwy_".chars().collect::<Vec<_>>()).prop_map(Key::Ctrl),
        1 => prop::sample::select(vec!['b', 'd', 'f']).prop_map(Key::Alt),
        2 => prop::sample::select(vec![
            Key::Enter, Key::NewLine, Key::Tab, Key::BackTab, Key::Backspace, Key::WordBackspace, Key::Delete,
            Key::Left, Key::Right, Key::WordLeft, Key::WordRight, Key::Up, Key::Down, Key::Home, Key::End,
            Key::Escape,
        ]),
        1 => "[a-z\n日]{0,30}".prop_map(Key::Paste),
    ]
}

proptest! {
    #[test]
    fn any_keys_leave_a_text_with_a_cursor_in_it(keys in prop::collection::vec(any_key(), 0..60), width in 6_usize..40) {
        let mut it = editor();
        for key in keys {
            it.key(key, &Scripted);
            let view = it.view(&Line::plain("> "), width, &Scripted);
            prop_assert!(view.cursor.0 < view.rows.len());
            prop_assert!(view.cursor.1 < width.max(8), "{:?}", view);
        }
    }
}
