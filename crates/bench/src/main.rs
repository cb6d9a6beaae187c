//! `hermes-bench`: measures items and prints one JSON object, `{item: {key: number}}`.
//!
//! Every item is measured in several fresh processes; each of its numbers is the median over them.
//! An item is one file in `items/`; what is not built yet has no item and no number.

mod arguments;
mod chat;
mod item;
mod items;
mod process;
mod servers;
mod timing;

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Map, Number, Value, json};

use crate::arguments::{Asked, Place, USAGE};
use crate::item::{ItemDef, Work};
use crate::items::ITEMS;

/// Fresh processes per item.
const PROCESSES: usize = 5;

fn main() -> ExitCode {
    let told = match arguments::read(process::words()) {
        Err(wrong) => Err((2, format!("{wrong}\n{USAGE}"))),
        Ok(asked) => answer(asked).map_err(|wrong| (1, wrong)),
    };
    let (code, written) = match told {
        Ok(text) => (0, writeln!(io::stdout(), "{text}")),
        Err((code, wrong)) => (code, writeln!(io::stderr(), "hermes-bench: {wrong}")),
    };
    ExitCode::from(if written.is_ok() { code } else { 1 })
}

fn answer(asked: Asked) -> Result<String, String> {
    match asked {
        Asked::List => Ok(ITEMS.iter().map(|item| item.name()).collect::<Vec<_>>().join("\n")),
        Asked::Once { item, place } => once(find(&item)?, place),
        Asked::Measure { item, place, json } => {
            let chosen = match item {
                // Without a model there is nothing to measure in conversations.
                None => ITEMS.iter().copied().filter(|it| place.model.is_some() || !it.is_chat()).collect(),
                Some(name) => vec![find(&name)?],
            };
            let mut all = Map::new();
            for item in chosen {
                all.insert(item.name().to_owned(), Value::Object(medians(item, &place)?));
            }
            Ok(if json { Value::Object(all).to_string() } else { table(&all) })
        }
    }
}

fn find(name: &str) -> Result<&'static ItemDef, String> {
    let found = ITEMS.iter().copied().find(|item| item.name() == name);
    found.ok_or_else(|| format!("no item `{name}`; `hermes-bench list` names those there are"))
}

fn once(item: &ItemDef, place: Place) -> Result<String, String> {
    process::make(&place.work)?;
    let numbers = item.measure(&Work { folder: place.work, model: place.model })?;
    let fields: Map<String, Value> =
        numbers.into_iter().map(|(key, number)| (key.to_owned(), json!(number))).collect();
    Ok(Value::Object(fields).to_string())
}

/// Each number of an item: the median over fresh processes.
fn medians(item: &ItemDef, place: &Place) -> Result<Map<String, Value>, String> {
    let runs = (0..PROCESSES).map(|_| process::fresh(item.name(), place)).collect::<Result<Vec<_>, _>>()?;
    let keys = runs.first().map(|run| run.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let median = |key: String| {
        let mut values: Vec<f64> = runs.iter().filter_map(|run| run.get(&key)?.as_f64()).collect();
        let value = rounded(timing::median(&mut values));
        (key, value)
    };
    Ok(keys.into_iter().map(median).collect())
}

/// Four digits behind the point, none for a whole number.
fn rounded(value: f64) -> Value {
    let short = (value * 1e4).round() / 1e4;
    #[expect(clippy::cast_possible_truncation, reason = "whole, and a cast to an integer saturates")]
    let number =
        if short.fract() == 0.0 { Some(Number::from(short as i64)) } else { Number::from_f64(short) };
    number.map_or(Value::Null, Value::Number)
}

fn table(all: &Map<String, Value>) -> String {
    let numbers = |item: &Value| item.as_object().cloned().unwrap_or_default();
    let lines = all.iter().flat_map(|(item, keys)| {
        numbers(keys).into_iter().map(move |(key, value)| format!("{item:<12}{key:<28}{value}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
