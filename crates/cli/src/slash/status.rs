//! `/status`: session, model, place, settings.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("status", "", "Show session, model, place and settings", Act::Now(run));

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let on = |on: bool| if on { "on" } else { "off" };
    Reply::say(format!(
        "session    {}\nmodel      {}\nfolder     {}\ntools      {}\nverbose    {}\nreasoning  {}\nyolo       {}\nqueued     {}",
        cx.talk.session_id(),
        cx.talk.model_name(),
        cx.shell.cwd().display(),
        cx.talk.tools().len(),
        cx.verbosity.word(),
        on(cx.reasoning),
        on(cx.yolo),
        cx.queued,
    ))
}
