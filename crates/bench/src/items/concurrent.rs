//! `concurrent`: many conversations at once in one process, with a model that thinks for a while.
//!
//! Each takes five turns without calls, then one with five rounds of one command. How many there are
//! is told by `BENCH_CONC`, as numbers with commas between them.

use std::sync::Arc;
use std::time::Duration;

use hermes::Runtime;
use hermes::chat::Chat;
use serde_json::json;
use tokio::task::JoinSet;

use crate::chat::{Scripted, open, say};
use crate::item::{ItemDef, Numbers, Work};
use crate::process::{cpu_seconds, held_mb, peak_mb, variable};
use crate::timing::timed;

pub(crate) const ITEM: ItemDef = ItemDef::new("concurrent", measure).chat();

const CROWDS: &str = "1,8,50,200";
const TURNS: u32 = 5;
const ROUNDS: u32 = 5;
const LATENCY: Duration = Duration::from_millis(200);

fn measure(work: &Work) -> Result<Numbers, String> {
    let crowds = variable("BENCH_CONC").unwrap_or_else(|| CROWDS.to_owned());
    let crowds = crowds.split(',').map(|count| count.trim().parse::<u32>());
    let crowds: Vec<u32> =
        crowds.collect::<Result<_, _>>().map_err(|_| "BENCH_CONC is no list of numbers")?;
    let model = Scripted::of(work, &ITEM)?;
    let runtime = model.runtime()?;
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let threads = threads.map_err(|wrong| wrong.to_string())?;
    let mut numbers = Numbers::new();
    for count in crowds {
        numbers.extend(crowd(&model, &runtime, &threads, count)?);
    }
    Ok(numbers)
}

/// The numbers of one crowd.
fn crowd(
    model: &Scripted<'_>,
    runtime: &Runtime,
    threads: &tokio::runtime::Runtime,
    count: u32,
) -> Result<Numbers, String> {
    let chats = (0..count).map(|_| open(runtime).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let latency_ms = u64::try_from(LATENCY.as_millis()).unwrap_or_default();
    model.begin(&json!({ "rounds": 0, "latency_ms": latency_ms, "mode": "fast" }))?;
    let (chat_wall, chat_cpu) = all_say(threads, &chats, TURNS)?;
    let commands = json!({
        "rounds": ROUNDS, "tool": "terminal", "args": { "command": "true" },
        "latency_ms": latency_ms, "mode": "stateless",
    });
    model.begin(&commands)?;
    let (tools_wall, tools_cpu) = all_say(threads, &chats, 1)?;
    let ideal = LATENCY.as_secs_f64() * f64::from(ROUNDS + 1);
    // A key is as long-lived as the process that prints it.
    let key = |name: &str| -> &'static str { format!("{name}_{count}").leak() };
    Ok(vec![
        (key("chat_wall_s"), chat_wall),
        (key("chat_cpu_s"), chat_cpu),
        (key("tools_wall_s"), tools_wall),
        (key("tools_cpu_s"), tools_cpu),
        (key("tools_rounds_per_s"), f64::from(ROUNDS * count) / tools_wall),
        (key("efficiency"), ideal / tools_wall),
        (key("rss_mb"), held_mb()?),
        (key("peak_rss_mb"), peak_mb()?),
    ])
}

/// Seconds, by the clock and of the processor, until everybody had so many turns.
fn all_say(threads: &tokio::runtime::Runtime, chats: &[Arc<Chat>], turns: u32) -> Result<(f64, f64), String> {
    let before = cpu_seconds()?;
    let (done, wall) = timed(|| {
        threads.block_on(async {
            let mut talking = JoinSet::new();
            for chat in chats {
                let chat = Arc::clone(chat);
                talking.spawn(async move {
                    for turn in 0..turns {
                        say(&chat, &format!("hello {turn}")).await?;
                    }
                    Ok::<(), String>(())
                });
            }
            while let Some(ended) = talking.join_next().await {
                ended.map_err(|wrong| wrong.to_string())??;
            }
            Ok::<(), String>(())
        })
    });
    done?;
    Ok((wall.as_secs_f64(), cpu_seconds()? - before))
}
