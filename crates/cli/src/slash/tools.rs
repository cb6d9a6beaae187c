//! `/tools`: the tools the model has.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};
use crate::table::Cell;

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("tools", "", "List the tools the model has", Act::Now(run));

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let row = |tool: crate::chat::talk::ToolLine| {
        vec![Cell::new(&tool.emoji), Cell::new(&tool.name), Cell::new(&tool.toolset), Cell::new(&tool.about)]
    };
    let rows: Vec<Vec<Cell>> = cx.talk.tools().into_iter().map(row).collect();
    if rows.is_empty() {
        return Reply::say("The model has no tools in this session.");
    }
    Reply::table(cx, &["", "TOOL", "TOOLSET", "WHAT IT DOES"], &rows)
}
