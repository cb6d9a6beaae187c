//! The shorter conversation, from the old one and a plan.

use hermes_core::model::{AssistantMessage, Message, Part};

use super::note;
use super::page::{cut_words, paged_before, same_as, short_call, stand_in};
use super::plan::{Fate, Need, Plan};

/// A text that has to be kept elsewhere before the conversation can be shortened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page<'a> {
    /// The message it is in.
    pub(crate) at: usize,
    /// The text.
    pub(crate) text: &'a str,
}

/// The texts to page out, in order; those that were paged out before are not among them.
pub(crate) fn pages<'a>(messages: &'a [Message], plan: &Plan) -> Vec<Page<'a>> {
    let mut pages = Vec::new();
    for (at, (message, fate)) in messages.iter().zip(&plan.fates).enumerate() {
        if !matches!(fate, Fate::Page(_)) {
            continue;
        }
        match message {
            Message::Tool { content, .. } if paged_before(content).is_none() => {
                pages.push(Page { at, text: content });
            }
            Message::User { content } => pages.extend(longest(content).map(|text| Page { at, text })),
            _ => {}
        }
    }
    pages
}

/// The conversation as it will be; `id` gives the id of the page of a message.
pub(crate) fn build(
    messages: &[Message],
    plan: &Plan,
    need: &Need<'_>,
    summary: &str,
    id: &dyn Fn(usize) -> String,
) -> Vec<Message> {
    let last = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
    let mut built: Vec<Message> = Vec::new();
    let mut is_first = true;
    for (at, (message, fate)) in messages.iter().zip(&plan.fates).enumerate() {
        let kept = match (message, fate) {
            (_, Fate::Gone) => continue,
            (Message::User { content }, fate) => {
                let mut content = match fate {
                    Fate::Page(most) => cut(content, &id(at), *most, need.reread),
                    _ => content.clone(),
                };
                if std::mem::take(&mut is_first) {
                    content.retain(|part| !note::is_note(part));
                    content.extend(note::part(summary, need.todos));
                } else if matches!(built.last(), Some(Message::User { .. })) {
                    built.push(understood());
                }
                Message::User { content }
            }
            (Message::Assistant(answer), Fate::Thin) => Message::Assistant(thin(answer, at > last)),
            (Message::Tool { call_id, name, content, .. }, Fate::Page(glimpse)) => {
                let id = paged_before(content).unwrap_or_else(|| id(at));
                let content = stand_in(&id, content, *glimpse, need.reread);
                Message::Tool { call_id: call_id.clone(), name: name.clone(), content, images: Vec::new() }
            }
            (Message::Tool { call_id, name, .. }, Fate::SameAs(later)) => {
                let content = messages.get(*later).map(same_as).unwrap_or_default();
                Message::Tool { call_id: call_id.clone(), name: name.clone(), content, images: Vec::new() }
            }
            (message, _) => message.clone(),
        };
        built.push(kept);
    }
    built
}

/// What it would be with a summary as long as it may be: to see whether the plan is good enough.
pub(crate) fn rehearse(messages: &[Message], plan: &Plan, need: &Need<'_>) -> Vec<Message> {
    let summary = if plan.sums_up() { "x".repeat(plan.summary) } else { earlier(messages) };
    build(messages, plan, need, &summary, &|_| "0123456789abcdef".to_owned())
}

/// The summary that is in the conversation already.
pub(crate) fn earlier(messages: &[Message]) -> String {
    let first = messages.iter().find(|message| matches!(message, Message::User { .. }));
    first.and_then(note::earlier).unwrap_or_default()
}

fn understood() -> Message {
    Message::Assistant(AssistantMessage { text: note::UNDERSTOOD.to_owned(), ..AssistantMessage::default() })
}

/// An old answer without what was thought, and with short arguments. Within the turn that goes on,
/// providers insist on seeing their signatures again.
fn thin(answer: &AssistantMessage, is_of_this_turn: bool) -> AssistantMessage {
    AssistantMessage {
        text: answer.text.clone(),
        reasoning: None,
        calls: answer.calls.iter().map(short_call).collect(),
        finish: answer.finish,
        keep: if is_of_this_turn { answer.keep.clone() } else { serde_json::Map::new() },
    }
}

/// The longest text of a message, summaries aside.
fn longest(content: &[Part]) -> Option<&str> {
    let texts = content.iter().filter(|part| !note::is_note(part)).filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    texts.max_by_key(|text| text.len())
}

fn cut(content: &[Part], id: &str, most: usize, reread: &str) -> Vec<Part> {
    let long = longest(content).unwrap_or_default();
    let shorten = |part: &Part| match part {
        Part::Text { text } if text == long => Part::Text { text: cut_words(id, text, most, reread) },
        other => other.clone(),
    };
    content.iter().map(shorten).collect()
}
