//! The table of patch cases: each is a text, an edit, and what must come of it.
//!
//! `patch_cases/*.json` are lists. A replacement has `before`, `old`, `new`, perhaps `all`; a patch
//! has the files `before` and the `patch`. Then follows either `after`, or `error`: the kind of a
//! miss with the line numbers it `says`, or words of the message.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "the test reads its table"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_tools::matching::{Miss, Places, replace};
use hermes_tools::v4a::{Doc, Docs, apply, parse};
use serde_json::Value;

fn table(prefix: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patch_cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let theme = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if theme.starts_with("v4a") != (prefix == "v4a") {
            continue;
        }
        let list: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        cases.extend(
            list.into_iter().map(|case| (format!("{theme}: {}", case["name"].as_str().unwrap()), case)),
        );
    }
    cases
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap()
}

fn miss(miss: &Miss) -> (&'static str, Vec<usize>) {
    match miss {
        Miss::Empty => ("empty", Vec::new()),
        Miss::Same => ("same", Vec::new()),
        Miss::Unchanged => ("unchanged", Vec::new()),
        Miss::Nowhere { near } => ("nowhere", near.iter().map(|section| section.line).collect()),
        Miss::Several { lines } => ("several", lines.clone()),
    }
}

fn replacement(case: &Value) -> Result<(), String> {
    let places = if case["all"] == true { Places::All } else { Places::One };
    let got = replace(text(case, "before"), text(case, "old"), text(case, "new"), places);
    match (&got, case["after"].as_str()) {
        (Ok(edit), Some(after)) if edit.text == after => Ok(()),
        (Err(wrong), None) => {
            let (kind, lines) = miss(wrong);
            let says: Option<Vec<usize>> = serde_json::from_value(case["says"].clone()).unwrap_or_default();
            let fits = kind == text(case, "error") && says.is_none_or(|says| lines.starts_with(&says));
            if fits { Ok(()) } else { Err(format!("{wrong:?}")) }
        }
        _ => Err(format!("{got:?}")),
    }
}

fn patch(case: &Value) -> Result<(), String> {
    let before: BTreeMap<String, String> = serde_json::from_value(case["before"].clone()).unwrap();
    let place = |path: &str| PathBuf::from(path);
    let doc = |(path, text): (String, String)| (place(&path), Some(Doc { text, from: Some(place(&path)) }));
    let mut docs: Docs = before.into_iter().map(doc).collect();
    let done = parse(text(case, "patch")).and_then(|ops| apply(&ops, &mut docs, &place));
    match (done, case["error"].as_str()) {
        (Err(wrong), Some(words)) if wrong.to_string().contains(words) => Ok(()),
        (Ok(()), None) => {
            let after: BTreeMap<PathBuf, String> =
                docs.into_iter().filter_map(|(path, doc)| Some((path, doc?.text))).collect();
            let wanted: BTreeMap<PathBuf, String> = serde_json::from_value(case["after"].clone()).unwrap();
            if after == wanted { Ok(()) } else { Err(format!("{after:?}")) }
        }
        (other, _) => Err(format!("{other:?}")),
    }
}

fn all_hold(cases: &[(String, Value)], check: fn(&Value) -> Result<(), String>) {
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|(name, case)| Some(format!("{name}\n  case {case}\n  got  {}", check(case).err()?)))
        .collect();

    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_replacement_of_the_table_holds() {
    all_hold(&table("replace"), replacement);
}

#[test]
fn every_patch_of_the_table_holds() {
    all_hold(&table("v4a"), patch);
}

#[test]
fn the_table_is_large_enough_to_mean_something() {
    assert!(table("replace").len() + table("v4a").len() > 500);
}
