//! `/history`: the conversation so far.

use hermes::core::model::Message;

use crate::chat::record;
use crate::chat::slash::{Act, Reply, SlashCx, SlashDef, drawn};
use crate::chat::text::{Line, Style};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "history",
    "[N]",
    "Show the last N messages of the conversation",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

/// Messages shown when no number is given.
const SOME: usize = 10;

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let Ok(count) = (if words.is_empty() { Ok(SOME) } else { words.parse::<usize>() }) else {
        return Reply::wrong("How many messages? /history 20");
    };
    let messages = cx.talk.history().await;
    if messages.is_empty() {
        return Reply::say("Nothing has been said yet.");
    }
    let newest = messages.get(messages.len().saturating_sub(count)..).unwrap_or_default();
    Reply::lines(newest.iter().flat_map(|message| shown(message, cx)).collect())
}

fn shown(message: &Message, cx: &SlashCx<'_>) -> Vec<Line> {
    match message {
        Message::User { content } => {
            let text = record::text_of(content);
            let mut lines = vec![Line::default()];
            lines.extend(text.lines().map(|line| Line::new("❯ ", Style::BOLD).with(line, Style::BOLD)));
            lines.push(Line::default());
            lines
        }
        Message::Assistant(said) => {
            let calls = said.calls.iter().map(|call| Line::faint(&format!("┊ calls {}", call.name)));
            drawn(&said.text, cx).into_iter().chain(calls).collect()
        }
        Message::Tool { name, content, .. } => {
            vec![Line::faint(&format!("┊ {name} answered {} characters", content.chars().count()))]
        }
    }
}
