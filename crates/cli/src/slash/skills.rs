//! `/skills`: the skills that can be used.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};
use crate::table::Cell;

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("skills", "", "List the skills; /NAME uses one", Act::Now(run));

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let all = cx.talk.skills();
    if all.is_empty() {
        return Reply::say("There are no skills yet.");
    }
    let row = |skill: &hermes::core::skills::Skill| {
        let category = skill.category.as_deref().unwrap_or_default();
        vec![Cell::new(format!("/{}", skill.name)), Cell::new(category), Cell::new(&skill.description)]
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    Reply::table(cx, &["SKILL", "CATEGORY", "WHEN IT IS OF USE"], &rows)
}
