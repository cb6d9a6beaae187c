//! `/toolsets`: the toolsets there are.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};
use crate::table::Cell;

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("toolsets", "", "List the toolsets, and which this session has", Act::Now(run));

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let row = |set: crate::chat::talk::ToolsetLine| {
        let on = if set.on { "on" } else { "—" };
        vec![Cell::new(&set.name), Cell::new(on), Cell::new(&set.about)]
    };
    let rows: Vec<Vec<Cell>> = cx.talk.toolsets().into_iter().map(row).collect();
    Reply::table(cx, &["TOOLSET", "", "WHAT IT IS FOR"], &rows)
}
