//! `patch`: small edits of a file of 5 000 lines, by both modes, and the matcher alone.

use std::path::PathBuf;

use hermes::Session;
use hermes_tools::matching::{Places, replace};
use serde_json::json;

use crate::item::{ItemDef, Numbers, Work, called, with_path};
use crate::process;
use crate::timing::{micros, millis, over_each, per_call};

pub(crate) const ITEM: ItemDef = ItemDef::new("patch", measure);

/// Edits per number.
const EDITS: usize = 12;

fn measure(work: &Work) -> Result<Numbers, String> {
    let session = work.session(&ITEM)?;
    let mut numbers = Numbers::new();
    for (kind, replaced, patched) in
        [("txt", "replace_txt_ms", "v4a_txt_ms"), ("py", "replace_py_ms", "v4a_py_ms")]
    {
        let edited = Edited::copy(work, &session, kind)?;
        numbers.push((replaced, millis(over_each(0..EDITS, |n| edited.replace(&session, n))?)));
        numbers.push((patched, millis(over_each(0..EDITS, |n| edited.patch(&session, n))?)));
    }
    numbers.extend(matcher(work)?);
    Ok(numbers)
}

/// A copy of a file of the shared data.
struct Edited {
    path: PathBuf,
    lines: Vec<String>,
}

impl Edited {
    fn copy(work: &Work, session: &Session, kind: &str) -> Result<Self, String> {
        let text = process::text(&work.data(&format!("patch.{kind}"))?)?;
        let path = work.folder.join(format!("p5k.{kind}"));
        called(session, "write_file", &with_path(json!({ "content": text }), &path))?;
        called(session, "read_file", &with_path(json!({ "limit": 10 }), &path))?;
        Ok(Self { path, lines: text.lines().map(str::to_owned).collect() })
    }

    fn line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", String::as_str)
    }

    fn replace(&self, session: &Session, n: usize) -> Result<(), String> {
        let old = block(&self.lines, 400 * n + 7, 3);
        let new = format!("{old}\nnew_{n} = 1");
        let arguments = json!({ "mode": "replace", "old_string": old, "new_string": new });
        called(session, "patch", &with_path(arguments, &self.path)).map(drop)
    }

    fn patch(&self, session: &Session, n: usize) -> Result<(), String> {
        let at = 400 * n + 107;
        let (before, line, after) = (self.line(at), self.line(at + 1), self.line(at + 2));
        let name = line.split(' ').next().unwrap_or_default();
        let patch = format!(
            "*** Begin Patch\n*** Update File: {}\n@@\n {before}\n-{line}\n+{name} = 2\n {after}\n*** End Patch",
            self.path.display()
        );
        called(session, "patch", &json!({ "mode": "patch", "patch": patch })).map(drop)
    }
}

/// The matcher alone: exactly, with other indentation, and with nothing to find.
fn matcher(work: &Work) -> Result<Numbers, String> {
    let text = process::text(&work.data("patch.txt")?)?;
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let exact = block(&lines, 2_500, 5);
    let shifted: Vec<String> = exact.lines().map(|line| format!("    {line}")).collect();
    let miss: Vec<String> = (0..5).map(|n| format!("zzz {n} yyy")).collect();
    let edit = |old: &str| replace(&text, old, "x = 1", Places::One);
    let found = |old: &str| edit(old).map(drop).map_err(|wrong| format!("{wrong:?}"));
    let missed = |old: &str| edit(old).map_or(Ok(()), |_| Err("found what is not there".to_owned()));
    Ok(vec![
        ("matcher_exact_us", micros(per_call(20, || found(&exact))?)),
        ("matcher_fuzzy_ms", millis(per_call(3, || found(&shifted.join("\n")))?)),
        ("matcher_miss_ms", millis(per_call(1, || missed(&miss.join("\n")))?)),
    ])
}

fn block(lines: &[String], from: usize, count: usize) -> String {
    lines.get(from..from + count).unwrap_or_default().join("\n")
}
