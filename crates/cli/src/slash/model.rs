//! `/model`: which model answers.

use crate::chat::numbers::tokens;
use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "model",
    "[NAME]",
    "Show the model, or answer with another one from now on",
    Act::Wait(|cx, words| Box::pin(run(cx, words))),
);

async fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    if words.is_empty() {
        let size = cx.talk.context_tokens().map(|all| format!(", {} tokens of context", tokens(all)));
        return Reply::say(format!("{}{}", cx.talk.model_name(), size.unwrap_or_default()));
    }
    Reply::told(cx.talk.set_model(words.to_owned()).await).then(After::Changed)
}
