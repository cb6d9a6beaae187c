//! `/usage`: what the session has used.

use crate::chat::numbers::{cache_share, dollars, percent, tokens};
use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "usage",
    "",
    "Show what this session has used: tokens, cache, cost, context",
    Act::Wait(|cx, _| Box::pin(run(cx))),
);

async fn run(cx: &SlashCx<'_>) -> Reply {
    let all = cx.talk.usage().await;
    let share = cache_share(all.usage.cache_read, all.usage.input).map_or("—".to_owned(), percent);
    let context = all.context_used.map_or("—".to_owned(), percent);
    Reply::say(format!(
        "sent       {} tokens, {} of them from the cache ({share}), {} written to it\nanswered   {} tokens, {} of them thinking\ncalls      {} of models, {} of tools\ncost       {}\ncontext    {context} used",
        tokens(all.usage.input),
        tokens(all.usage.cache_read),
        tokens(all.usage.cache_write),
        tokens(all.usage.output),
        tokens(all.usage.reasoning),
        all.model_calls,
        all.tool_calls,
        all.cost_usd.map_or("not known".to_owned(), dollars),
    ))
}
