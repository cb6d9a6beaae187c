//! `/sessions`: the sessions there are.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};
use crate::table::Cell;

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("sessions", "", "List the newest sessions", Act::Wait(|cx, _| Box::pin(run(cx))));

/// Sessions shown.
const SOME: usize = 20;

async fn run(cx: &SlashCx<'_>) -> Reply {
    let sessions = match cx.talk.list_sessions().await {
        Ok(sessions) if sessions.is_empty() => return Reply::say("There are no sessions yet."),
        Ok(sessions) => sessions,
        Err(why) => return Reply::wrong(why),
    };
    let row = |session: &crate::chat::talk::SessionLine| {
        let title = session.title.as_deref().unwrap_or("—");
        let count = session.messages.to_string();
        vec![Cell::new(&session.id), Cell::new(&session.when), Cell::new(count).right(), Cell::new(title)]
    };
    let rows: Vec<Vec<Cell>> = sessions.iter().take(SOME).map(row).collect();
    Reply::table(cx, &["SESSION", "LAST USED", "MESSAGES", "TITLE"], &rows)
}
