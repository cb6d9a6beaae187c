//! Puts a conversation into an order that every provider accepts.
//!
//! Neighbouring messages of one role become one, every call has exactly one result right behind it,
//! results without a call go, ids are unique. What is already in order passes unchanged, so the
//! bytes of a growing conversation stay the same.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hermes_core::model::{AssistantMessage, Message, ModelCall, Part};
use sha2::{Digest as _, Sha256};

use crate::provider::CallIds;

/// The result of a call that has none.
const NO_RESULT: &str = r#"{"error":"This call has no result: it was interrupted before it ended."}"#;

/// One message in order.
pub(crate) enum Turn<'a> {
    /// From the person.
    User(Vec<&'a Part>),
    /// From the model, with its calls.
    Assistant(Said<'a>),
    /// One result, in the order of the calls.
    Tool(ToolResult<'a>),
}

/// What the model said.
pub(crate) struct Said<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) message: &'a AssistantMessage,
    pub(crate) calls: Vec<Called<'a>>,
    /// Nobody has asked anything since.
    pub(crate) in_turn: bool,
}

/// One call with an id of its own.
pub(crate) struct Called<'a> {
    pub(crate) id: String,
    pub(crate) call: &'a ModelCall,
}

/// One result.
pub(crate) struct ToolResult<'a> {
    pub(crate) id: String,
    pub(crate) name: &'a str,
    pub(crate) content: &'a str,
    pub(crate) images: &'a [String],
}

/// The conversation in order.
pub(crate) fn prepare(messages: &[Message], ids: CallIds) -> Vec<Turn<'_>> {
    let last_question = messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    let mut order = Order { ids, seen: BTreeSet::new(), turns: Vec::with_capacity(messages.len()) };
    let mut rest = messages;
    let mut at = 0;
    while let Some((message, after)) = rest.split_first() {
        match message {
            Message::User { content } => order.user(content),
            Message::Assistant(said) => {
                let until = after.iter().position(|message| matches!(message, Message::Assistant(_)));
                let reach = after.get(..until.unwrap_or(after.len())).unwrap_or_default();
                order.assistant(said, reach, last_question.is_none_or(|last| at > last));
            }
            // Taken by the call it belongs to; without one it is an orphan.
            Message::Tool { .. } => {}
        }
        rest = after;
        at += 1;
    }
    order.turns
}

struct Order<'a> {
    ids: CallIds,
    seen: BTreeSet<String>,
    turns: Vec<Turn<'a>>,
}

impl<'a> Order<'a> {
    fn user(&mut self, content: &'a [Part]) {
        let parts = content.iter().filter(|part| !matches!(part, Part::Text { text } if text.is_empty()));
        if let Some(Turn::User(before)) = self.turns.last_mut() {
            before.extend(parts);
            return;
        }
        let parts: Vec<_> = parts.collect();
        if !parts.is_empty() {
            self.turns.push(Turn::User(parts));
        }
    }

    fn assistant(&mut self, said: &'a AssistantMessage, reach: &'a [Message], in_turn: bool) {
        if said.text.trim().is_empty() && said.calls.is_empty() {
            return;
        }
        let mut taken = vec![false; reach.len()];
        let mut calls = Vec::with_capacity(said.calls.len());
        let mut results = Vec::with_capacity(said.calls.len());
        for call in &said.calls {
            let found = reach.iter().zip(&mut taken).find_map(|(message, taken)| match message {
                Message::Tool { call_id, content, images, .. } if *call_id == call.id && !*taken => {
                    *taken = true;
                    Some((content.as_str(), images.as_slice()))
                }
                _ => None,
            });
            let (content, images) = found.unwrap_or((NO_RESULT, &[]));
            let id = self.unique(&call.id);
            results.push(Turn::Tool(ToolResult { id: id.clone(), name: &call.name, content, images }));
            calls.push(Called { id, call });
        }
        match self.turns.last_mut() {
            Some(Turn::Assistant(before)) if before.calls.is_empty() => {
                let text = before.text.to_mut();
                if !text.is_empty() && !said.text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&said.text);
                before.message = said;
                before.calls = calls;
                before.in_turn = in_turn;
            }
            _ => {
                let text = Cow::Borrowed(said.text.as_str());
                self.turns.push(Turn::Assistant(Said { text, message: said, calls, in_turn }));
            }
        }
        self.turns.extend(results);
    }

    /// An id nobody had before, of letters that every provider takes.
    fn unique(&mut self, id: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let base: String =
            if id.is_empty() { "call".into() } else { id.chars().map(plain).take(56).collect() };
        let nine = self.ids == CallIds::Nine;
        let mut id = if nine { nine_of(&base) } else { base.clone() };
        let mut n = 1;
        while !self.seen.insert(id.clone()) {
            n += 1;
            id = format!("{base}_{n}");
            if nine {
                id = nine_of(&id);
            }
        }
        id
    }
}

/// What such ids are made of.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Nine letters and digits for any id; one that already is that stays.
fn nine_of(id: &str) -> String {
    if id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let letter = |byte: &u8| LETTERS.get(usize::from(byte % 32)).map_or('a', |letter| char::from(*letter));
    digest.iter().take(9).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use hermes_core::model::{AssistantMessage, Message, ModelCall};

    use super::{CallIds, Turn, prepare};

    fn said(text: &str, ids: &[&str]) -> Message {
        let call = |id: &&str| ModelCall { id: (*id).into(), name: "t".into(), arguments: "{}".into() };
        Message::Assistant(AssistantMessage {
            text: text.into(),
            calls: ids.iter().map(call).collect(),
            ..AssistantMessage::default()
        })
    }

    fn result(id: &str, content: &str) -> Message {
        Message::Tool { call_id: id.into(), name: "t".into(), content: content.into(), images: Vec::new() }
    }

    fn shape(messages: &[Message], ids: CallIds) -> Vec<String> {
        let show = |turn: &Turn<'_>| match turn {
            Turn::User(parts) => format!("user {}", parts.len()),
            Turn::Assistant(said) => {
                let ids: Vec<_> = said.calls.iter().map(|called| called.id.as_str()).collect();
                format!("said {} {}", said.text, ids.join(","))
            }
            Turn::Tool(result) => {
                format!("{}={}", result.id, result.content.get(..9).unwrap_or(result.content))
            }
        };
        prepare(messages, ids).iter().map(show).collect()
    }

    #[test]
    fn neighbours_of_one_role_become_one() {
        let messages =
            [Message::user("a"), Message::user("b"), said("x", &[]), said("y", &["1"]), result("1", "r")];

        assert_eq!(shape(&messages, CallIds::Any), ["user 2", "said x\ny 1", "1=r"]);
    }

    #[test]
    fn every_call_has_one_result_behind_it_and_every_result_a_call() {
        let messages = [
            result("0", "orphan"),
            Message::user("a"),
            said("", &["1", "2", "3"]),
            result("2", "two"),
            Message::user("steer"),
            result("1", "one"),
            result("1", "again"),
            said("done", &[]),
        ];

        assert_eq!(
            shape(&messages, CallIds::Any),
            ["user 1", "said  1,2,3", "1=one", "2=two", "3={\"error\":", "user 1", "said done "]
        );
    }

    #[test]
    fn repeated_and_empty_ids_become_unique() {
        let messages = [
            Message::user("a"),
            said("", &["", ""]),
            result("", "one"),
            result("", "two"),
            said("", &["c:1"]),
            result("c:1", "x"),
            said("", &["c:1"]),
            result("c:1", "y"),
        ];

        assert_eq!(
            shape(&messages, CallIds::Any),
            [
                "user 1",
                "said  call,call_2",
                "call=one",
                "call_2=two",
                "said  c_1",
                "c_1=x",
                "said  c_1_2",
                "c_1_2=y"
            ]
        );
    }

    #[test]
    fn ids_of_nine_letters_are_made_where_they_are_wanted() {
        let messages = [Message::user("a"), said("", &["abcDEF123", "call_1"]), result("call_1", "x")];

        let shape = shape(&messages, CallIds::Nine);

        assert!(shape[1].starts_with("said  abcDEF123,"));
        assert_eq!(shape[1].len(), "said  ".len() + 9 + 1 + 9);
    }

    #[test]
    fn a_thought_without_words_or_calls_is_left_out() {
        assert_eq!(shape(&[Message::user("a"), said(" ", &[])], CallIds::Any), ["user 1"]);
    }
}
