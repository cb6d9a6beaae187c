//! `search`: a tree of 20 000 files, by content and by name.
//!
//! Every pattern is asked once, so that nothing is found in a cache of answers.

use std::path::Path;
use std::time::Duration;

use hermes::Session;
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work, called, with_path};
use crate::timing::{millis, over_each};

pub(crate) const ITEM: ItemDef = ItemDef::new("search", measure);

/// Files of the tree that hold the needle.
const NEEDLES: u64 = 21;

const WORDS: [&str; 9] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota"];

fn measure(work: &Work) -> Result<Numbers, String> {
    let tree = work.data("tree")?;
    let session = work.session(&ITEM)?;
    let run = |found: Found, variants: &[Value]| search(&session, &tree, found, variants).map(millis);
    let nine = |variant: fn(usize) -> Value| (0..9).map(variant).collect::<Vec<_>>();

    run(Found::Nothing, &[json!({ "pattern": "warming up" })])?;
    let common: Vec<Value> =
        WORDS.iter().map(|word| json!({ "pattern": format!("omega (cache|{word})") })).collect();
    Ok(vec![
        (
            "literal_rare_ms",
            run(Found::Needles, &nine(|at| json!({ "pattern": format!("treeneedl[e]|zz{at}") })))?,
        ),
        (
            "regex_rare_ms",
            run(
                Found::Needles,
                &nine(|at| json!({ "pattern": format!(r"fn needle_[0-9]+\(\) \{{ tree[a-z]+e \}}|qq{at}") })),
            )?,
        ),
        ("common_ms", run(Found::Something, &common)?),
        ("nomatch_ms", run(Found::Nothing, &nine(|at| json!({ "pattern": format!("nosuchthing{at}") })))?),
        (
            "glob_files_ms",
            run(Found::Something, &nine(|at| json!({ "pattern": format!("*{at}5.rs"), "target": "files" })))?,
        ),
        (
            "files_only_ms",
            run(
                Found::Needles,
                &nine(|at| json!({ "pattern": format!("treeneedle|zz{at}"), "output_mode": "files_only" })),
            )?,
        ),
    ])
}

/// How much a search has to find for its time to count.
#[derive(Clone, Copy)]
enum Found {
    Nothing,
    Something,
    Needles,
}

fn search(session: &Session, tree: &Path, found: Found, variants: &[Value]) -> Result<Duration, String> {
    over_each(variants, |variant| {
        let body = called(session, "search_files", &with_path(variant.clone(), tree))?.body;
        let answer: Value = serde_json::from_str(&body).map_err(|wrong| wrong.to_string())?;
        let count = answer.get("total_count").and_then(Value::as_u64).unwrap_or_default();
        let right = match found {
            Found::Nothing => count == 0,
            Found::Something => count > 0,
            Found::Needles => count == NEEDLES,
        };
        if right { Ok(()) } else { Err(format!("{variant} found {count}")) }
    })
}
