//! `idle`: what a conversation costs before, during and after a turn with a model that needs no time.

use futures::executor::block_on;
use serde_json::json;

use crate::chat::{Scripted, open, say};
use crate::item::{ItemDef, Numbers, Work};
use crate::process::held_mb;
use crate::timing::{millis, over_each, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("idle", measure).chat();

fn measure(work: &Work) -> Result<Numbers, String> {
    let model = Scripted::of(work, &ITEM)?;
    model.begin(&json!({ "rounds": 0 }))?;
    let (first, construct_first) = timed(|| {
        let runtime = model.runtime()?;
        Ok::<_, String>((open(&runtime)?, runtime))
    });
    let (first, runtime) = first?;
    block_on(say(&first, "hello"))?;
    let after_turn = held_mb()?;
    let construct_next = over_each(0..5, |_| open(&runtime).map(drop))?;
    let chat = open(&runtime)?;
    let turn = over_each(0..10, |_| block_on(say(&chat, "hello again")))?;
    model.begin(&json!({ "rounds": 20, "tool": "terminal", "args": { "command": "true" } }))?;
    let (done, rounds) = timed(|| block_on(say(&chat, "go")));
    done?;
    Ok(vec![
        ("construct_first_s", construct_first.as_secs_f64()),
        ("construct_next_ms", millis(construct_next)),
        ("turn_warm_ms", millis(turn)),
        ("warm_20_tool_rounds_ms", millis(rounds)),
        ("after_turn_mb", after_turn),
        ("end_mb", held_mb()?),
    ])
}
