//! `/save`: the conversation as a file.

use crate::chat::files::Place;
use crate::chat::record;
use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "save",
    "[FILE]",
    "Save the conversation: .json as data, anything else as markdown",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let messages = cx.talk.history().await;
    if messages.is_empty() {
        return Reply::say("Nothing has been said yet.");
    }
    let usual = format!("hermes-{}.md", cx.talk.session_id());
    let name = if words.is_empty() { usual.as_str() } else { words };
    let data =
        std::path::Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let text = if data {
        record::json(&cx.talk.session_id(), &cx.talk.model_name(), &messages)
    } else {
        record::markdown(&messages)
    };
    let place = Place { cwd: cx.shell.cwd().to_owned(), user_home: cx.shell.user_home() };
    Reply::told(place.save(name, &text).map(|path| format!("Saved to {}.", path.display())))
}
