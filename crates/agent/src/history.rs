//! Makes a conversation that was cut off, or kept by somebody else, fit to be sent.
//!
//! Providers refuse a call without a result, a result without a call, and two messages of the person
//! in a row. A turn never records such a thing, but the process may have been killed in one.

use hermes_core::model::{AssistantMessage, Finish, Message};
use serde_json::json;

const CUT_OFF: &str = "[the previous turn was cut off before its answer]";

/// What has to be added to a conversation before the person can say something.
pub fn mend(messages: &[Message]) -> Vec<Message> {
    let mut added = Vec::new();
    let last = messages.iter().rposition(|message| !matches!(message, Message::Tool { .. }));
    if let Some((Message::Assistant(answer), results)) =
        last.and_then(|at| messages.get(at..)).and_then(<[Message]>::split_first)
    {
        added.extend(missing(answer, results));
        if answer.calls.is_empty() {
            return added;
        }
    }
    if !messages.is_empty() {
        let text = CUT_OFF.to_owned();
        added.push(Message::Assistant(AssistantMessage {
            text,
            finish: Finish::Unknown,
            ..AssistantMessage::default()
        }));
    }
    added
}

/// The conversation with every call followed by one result, no result without its call, and no two
/// messages of the person in a row. A good conversation comes out as it went in.
pub fn tidy(messages: Vec<Message>) -> Vec<Message> {
    let mut clean: Vec<Message> = Vec::with_capacity(messages.len());
    let mut open: Option<usize> = None;
    for message in messages {
        if let Message::Tool { call_id, .. } = &message {
            if open.is_some_and(|at| waits_for(&clean, at, call_id)) {
                clean.push(message);
            }
            continue;
        }
        close(&mut clean, open.take());
        match (clean.last_mut(), message) {
            (Some(Message::User { content }), Message::User { content: more }) => content.extend(more),
            (_, message) => {
                if matches!(&message, Message::Assistant(answer) if !answer.calls.is_empty()) {
                    open = Some(clean.len());
                }
                clean.push(message);
            }
        }
    }
    close(&mut clean, open);
    clean
}

/// Whether the answer at `at` has such a call, and no result for it yet.
fn waits_for(clean: &[Message], at: usize, id: &str) -> bool {
    let Some((Message::Assistant(answer), results)) = clean.get(at..).and_then(<[Message]>::split_first)
    else {
        return false;
    };
    let calls = answer.calls.iter().filter(|call| call.id == id).count();
    let answered = results.iter().filter(|result| is_result_of(result, id)).count();
    answered < calls
}

fn close(clean: &mut Vec<Message>, open: Option<usize>) {
    let Some(at) = open else { return };
    let stubs = match clean.get(at..).and_then(<[Message]>::split_first) {
        Some((Message::Assistant(answer), results)) => missing(answer, results),
        _ => Vec::new(),
    };
    clean.extend(stubs);
}

/// A result for every call that has none.
fn missing(answer: &AssistantMessage, results: &[Message]) -> Vec<Message> {
    let mut stubs: Vec<Message> = Vec::new();
    for call in &answer.calls {
        let wanted = answer.calls.iter().filter(|other| other.id == call.id).count();
        let there = results.iter().chain(&stubs).filter(|result| is_result_of(result, &call.id)).count();
        if there < wanted {
            let error = "interrupted: the program ended while this call ran; how far it came is not known";
            let content = json!({ "error": error, "status": "cancelled" }).to_string();
            let (call_id, name) = (call.id.clone(), call.name.clone());
            stubs.push(Message::Tool { call_id, name, content, images: Vec::new() });
        }
    }
    stubs
}

fn is_result_of(message: &Message, id: &str) -> bool {
    matches!(message, Message::Tool { call_id, .. } if call_id == id)
}

#[cfg(test)]
mod tests {
    use hermes_core::model::ModelCall;

    use super::*;

    fn answer(text: &str, calls: &[&str]) -> Message {
        let call =
            |id: &&str| ModelCall { id: (*id).to_owned(), name: "t".to_owned(), arguments: String::new() };
        let calls = calls.iter().map(call).collect();
        Message::Assistant(AssistantMessage { text: text.to_owned(), calls, ..AssistantMessage::default() })
    }

    fn result(id: &str) -> Message {
        let (call_id, name, content) = (id.to_owned(), "t".to_owned(), "{}".to_owned());
        Message::Tool { call_id, name, content, images: vec![] }
    }

    fn shape(messages: &[Message]) -> String {
        let letter = |message: &Message| match message {
            Message::User { .. } => 'u',
            Message::Assistant(answer) if answer.calls.is_empty() => 'a',
            Message::Assistant(_) => 'c',
            Message::Tool { .. } => 't',
        };
        messages.iter().map(letter).collect()
    }

    #[test]
    fn a_good_conversation_is_left_alone() {
        let good =
            vec![Message::user("x"), answer("", &["1", "2"]), result("1"), result("2"), answer("y", &[])];

        assert_eq!(tidy(good.clone()), good);
        assert_eq!(mend(&good), []);
        assert_eq!(mend(&[]), []);
    }

    #[test]
    fn a_killed_turn_gets_its_results_and_an_end() {
        assert_eq!(shape(&mend(&[Message::user("x")])), "a");
        assert_eq!(shape(&mend(&[Message::user("x"), answer("", &["1", "2"]), result("1")])), "ta");
        assert_eq!(shape(&mend(&[Message::user("x"), answer("", &["1"]), result("1")])), "a");
    }

    #[test]
    fn what_is_broken_in_the_middle_is_made_whole() {
        let broken = vec![
            result("0"),
            Message::user("x"),
            Message::user("y"),
            answer("", &["1", "2"]),
            result("2"),
            result("2"),
            result("9"),
            Message::user("z"),
            answer("", &["3"]),
        ];

        assert_eq!(shape(&tidy(broken)), "ucttuct");
    }

    #[test]
    fn calls_that_share_an_id_get_a_result_each() {
        let twins = vec![Message::user("x"), answer("", &["", ""]), result("")];

        assert_eq!(shape(&tidy(twins)), "uctt");
    }
}
