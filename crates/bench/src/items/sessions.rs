//! `sessions`: ten thousand sessions of twenty messages: taking them in, finding words, adding.
//!
//! The store is filled by the first run and used again by the others, as long as the data is.

use std::path::Path;
use std::time::Duration;

use hermes::store::Home;
use hermes::store::sessions::{Listing, Message, NewSession, Search, Sessions};
use serde_json::Value;

use crate::item::{ItemDef, Numbers, Work};
use crate::process;
use crate::timing::{millis, over_each, per_second, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("sessions", measure);

/// Messages added one by one.
const ADDED: usize = 300;

fn measure(work: &Work) -> Result<Numbers, String> {
    let folder = work.folder.join("home-sessions");
    let home = Home::at(&folder);
    let filled = work.folder.join("sessions-filled");
    if !process::is_there(&filled) {
        process::remove(&folder)?;
        let rate = fill(&open(&home)?, &work.data("sessions.jsonl")?)?;
        process::keep(&filled, &rate.to_string())?;
    }
    let rate: f64 = process::text(&filled)?.trim().parse().map_err(|wrong| format!("{wrong}"))?;
    let (store, opened) = timed(|| open(&home));
    let store = store?;
    let needles: Vec<String> = (0..20).map(|n| format!("rareneedle{}", n % 10)).collect();
    let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
    let browse = over_each(0..9, |_| said(store.list(&Listing::default())).map(drop))?;
    let append = append(&store)?;
    Ok(vec![
        ("import_msgs_per_s", rate),
        ("open_ms", millis(opened)),
        ("rare_ms", found(&store, &needles)?),
        ("uncommon_ms", found(&store, &["uncommonterm"; 9])?),
        ("common_ms", found(&store, &["docker", "rust", "parser", "socket", "omega"])?),
        (
            "two_words_ms",
            found(
                &store,
                &["docker rust", "parser socket", "omega kernel", "budget quota", "retry backoff"],
            )?,
        ),
        (
            "phrase_ms",
            found(
                &store,
                &[
                    "\"docker rust\"",
                    "\"parser socket\"",
                    "\"omega kernel\"",
                    "\"budget quota\"",
                    "\"retry backoff\"",
                ],
            )?,
        ),
        ("browse_ms", millis(browse)),
        ("append_ms", millis(append)),
        ("append_per_s", per_second(append)),
        ("db_mb", megabytes(&store)?),
    ])
}

fn open(home: &Home) -> Result<Sessions, String> {
    said(hermes::open_sessions(home))
}

fn said<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|wrong| wrong.to_string())
}

/// Takes every session of a file in; answers how many messages a second that is.
fn fill(store: &Sessions, file: &Path) -> Result<f64, String> {
    let text = process::text(file)?;
    let mut count = 0_u32;
    let (done, took) = timed(|| {
        text.lines().try_for_each(|line| {
            let session: Value = said(serde_json::from_str(line))?;
            let field = |name: &str| session.get(name).and_then(Value::as_str).map(str::to_owned);
            let id = field("id").unwrap_or_default();
            let new = NewSession { id: Some(id.clone()), model: field("model"), ..NewSession::from("cli") };
            said(store.create(&new))?;
            let messages: Vec<Message> = session
                .get("messages")
                .and_then(Value::as_array)
                .map(|messages| messages.iter().map(message).collect())
                .unwrap_or_default();
            count += u32::try_from(messages.len()).unwrap_or_default();
            said(store.append(&id, &messages)).map(drop)
        })
    });
    done?;
    Ok((f64::from(count) / took.as_secs_f64()).round())
}

fn message(message: &Value) -> Message {
    let field = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    Message::text(field("role"), field("content"))
}

/// Milliseconds of one of these searches; each must find something.
fn found(store: &Sessions, texts: &[&str]) -> Result<f64, String> {
    let search = |text: &&str| {
        let hits = said(store.search(&Search::text(*text)))?;
        if hits.is_empty() { Err(format!("nothing says {text}")) } else { Ok(()) }
    };
    over_each(texts, search).map(millis)
}

fn append(store: &Sessions) -> Result<Duration, String> {
    let id = said(store.create(&NewSession::from("cli")))?;
    let took = over_each(0..ADDED, |n| {
        let message = Message::text("user", format!("alpha beta gamma message number {n}"));
        said(store.append(&id, &[message])).map(drop)
    })?;
    said(store.delete(&id))?;
    Ok(took)
}

fn megabytes(store: &Sessions) -> Result<f64, String> {
    let bytes = said(store.stats())?.bytes;
    Ok(f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX)) / 1000.0)
}
