//! What search finds is what a plain scan of all text finds.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of a test fails like a test")]

#[path = "support/corpus.rs"]
mod corpus;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use corpus::Chance;
use hermes_store::sessions::{Clock, Durability, Message, Moment, NewSession, Order, Search, Sessions};
use serde_json::json;

struct Still;

impl Clock for Still {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }

    fn pause(&self, _time: Duration) {}
}

fn store() -> (tempfile::TempDir, Sessions) {
    let dir = tempfile::tempdir().unwrap();
    let store = Sessions::open(&dir.path().join("hermes.db"), Arc::new(Still), Durability::Kill).unwrap();
    (dir, store)
}

fn session(store: &Sessions, id: &str, source: &str) {
    store.create(&NewSession { id: Some(id.to_owned()), ..NewSession::from(source) }).unwrap();
}

/// The scan's own idea of what is the same text.
fn plain(text: &str) -> String {
    let strip = |c: char| match c {
        'é' => 'e',
        'ï' => 'i',
        'ö' => 'o',
        'å' => 'a',
        'ά' => 'α',
        c => c,
    };
    text.to_lowercase().chars().map(strip).collect()
}

/// Whether a plain scan finds the term in the text.
fn scan(text: &str, term: &str) -> bool {
    let (text, term) = (plain(text), plain(term));
    let spaceless =
        |c: char| matches!(c, '\u{e00}'..='\u{e7f}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    if term.chars().count() < 3 && term.chars().all(|c| c.is_alphanumeric() && !spaceless(c)) {
        return text.split(|c: char| !c.is_alphanumeric()).any(|word| word == term);
    }
    text.contains(&term)
}

fn found(store: &Sessions, text: &str, order: Order) -> BTreeSet<i64> {
    let search = Search { limit: u32::MAX, order, ..Search::text(text) };
    let hits = store.search(&search).unwrap();
    let ids: BTreeSet<i64> = hits.iter().map(|hit| hit.message_id).collect();
    assert_eq!(ids.len(), hits.len(), "found twice: {text}");
    ids
}

/// A piece of a message that can stand between quotes.
fn piece(chance: &mut Chance, text: &str) -> String {
    loop {
        let chars: Vec<char> = text.chars().collect();
        let from = chance.below(chars.len());
        let length = 1 + chance.below(12);
        let piece: String = chars[from..].iter().take(length).collect();
        let inner = piece.trim();
        if !inner.is_empty() && inner == piece && !piece.contains(['"', '\n', '\t']) && !piece.contains("  ")
        {
            return piece;
        }
    }
}

#[test]
fn two_hundred_random_searches_find_what_a_scan_finds() {
    let (_dir, store) = store();
    session(&store, "s", "cli");
    let mut chance = Chance(42);
    let mut texts = Vec::new();
    for _ in 0..20 {
        let messages: Vec<Message> = (0..50).map(|_| Message::text("user", chance.text(12))).collect();
        let ids = store.append("s", &messages).unwrap();
        texts.extend(ids.into_iter().zip(messages.into_iter().map(|m| m.content.unwrap().text())));
    }

    let (mut with_finds, mut short) = (0, 0);
    for number in 0..200 {
        let (_, text) = &texts[chance.below(texts.len())];
        let terms: Vec<String> = (0..=number % 2).map(|_| piece(&mut chance, text)).collect();
        let query: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
        let expected: BTreeSet<i64> = texts
            .iter()
            .filter(|(_, text)| terms.iter().all(|term| scan(text, term)))
            .map(|(id, _)| *id)
            .collect();
        with_finds += usize::from(!expected.is_empty());
        short += usize::from(terms.iter().any(|term| term.chars().count() < 3));

        for order in [Order::Best, Order::Newest, Order::Oldest] {
            assert_eq!(found(&store, &query.join(" "), order), expected, "{terms:?}");
        }
    }
    assert!(with_finds > 140 && short > 20, "{with_finds} {short}");
}

#[test]
fn operators_choose_and_leave_out() {
    let (_dir, store) = store();
    session(&store, "s", "cli");
    let texts = ["milk and bread", "milk and butter", "go for milk", "algorithm"]
        .map(|text| Message::text("user", text));
    let ids = store.append("s", &texts).unwrap();
    let set = |list: &[usize]| list.iter().map(|at| ids[*at]).collect::<BTreeSet<i64>>();

    assert_eq!(found(&store, "milk NOT bread", Order::Best), set(&[1, 2]));
    assert_eq!(found(&store, "bread OR butter", Order::Best), set(&[0, 1]));
    assert_eq!(found(&store, "milk (bread OR go)", Order::Best), set(&[0, 2]));
    assert_eq!(found(&store, "gorit", Order::Best), set(&[3]));
    assert_eq!(found(&store, "go", Order::Best), set(&[2]));
    assert_eq!(found(&store, "", Order::Best), set(&[]));
    assert_eq!(found(&store, "\" ' ) ( * : ^ {} [] -- ; DROP", Order::Best), set(&[]));
}

#[test]
fn whole_words_come_before_parts_of_words() {
    let (_dir, store) = store();
    session(&store, "s", "cli");
    let texts = ["concatenate", "the cat sat", "a category"].map(|text| Message::text("user", text));
    let ids = store.append("s", &texts).unwrap();

    let hits = store.search(&Search::text("cat")).unwrap();

    assert_eq!(hits[0].message_id, ids[1]);
    assert_eq!(hits[0].snippet, "the >>>cat<<< sat");
    assert_eq!(hits.len(), 3);
    let second = store.search(&Search { limit: 1, offset: 1, ..Search::text("cat") }).unwrap();
    assert_eq!(second, hits[1..2]);
}

#[test]
fn calls_and_tool_names_are_searched_too_and_pictures_are_not() {
    let (_dir, store) = store();
    session(&store, "s", "cli");
    let asks = Message {
        tool_calls: Some(
            json!([{ "id": "c", "function": { "name": "terminal", "arguments": "{\"command\":\"cargo build\"}" } }]),
        ),
        ..Message::text("assistant", "")
    };
    let answers = Message { tool_name: Some("web_search".into()), ..Message::text("tool", "{}") };
    let parts = json!([{ "type": "text", "text": "what is this" }, { "type": "image_url", "image_url": { "url": "data:QkFTRTY0" } }]);
    let picture: Message = serde_json::from_value(json!({ "role": "user", "content": parts })).unwrap();
    let ids = store.append("s", &[asks, answers, picture]).unwrap();

    assert_eq!(found(&store, "cargo build", Order::Best), [ids[0]].into());
    assert_eq!(found(&store, "web_search", Order::Best), [ids[1]].into());
    assert_eq!(found(&store, "what is this", Order::Best), [ids[2]].into());
    assert_eq!(found(&store, "QkFTRTY0", Order::Best), [].into());
}

#[test]
fn filters_narrow_the_search() {
    let (_dir, store) = store();
    session(&store, "a", "cli");
    session(&store, "b", "telegram");
    let milk = |role: &str| Message::text(role, "milk");
    let a = store.append("a", &[milk("user"), milk("assistant")]).unwrap();
    let b = store.append("b", &[milk("user")]).unwrap();
    let fork = store.fork("a", None, None).unwrap();
    let count = |search: Search| store.search(&search).unwrap().len();
    let milk = || Search::text("milk");

    assert_eq!(count(milk()), 5);
    assert_eq!(count(Search { roles: vec!["user".into()], ..milk() }), 3);
    assert_eq!(count(Search { sources: vec!["telegram".into()], ..milk() }), 1);
    assert_eq!(count(Search { not_sources: vec!["telegram".into()], ..milk() }), 4);
    assert_eq!(count(Search { family_of: Some(fork.clone()), ..milk() }), 4);
    assert_eq!(count(Search { not_family_of: Some(fork), ..milk() }), 1);
    assert_eq!(count(Search { since: Moment::parse("2030-01-01"), ..milk() }), 0);
    assert_eq!(count(Search { until: Moment::parse("2030-01-01"), ..milk() }), 5);

    store.rewind("a", a[1]).unwrap();
    store.delete("b").unwrap();

    assert_eq!(count(milk()), 3);
    assert_eq!(count(Search { taken_back: true, ..milk() }), 4);
    assert!(!found(&store, "milk", Order::Best).contains(&b[0]));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
