//! Random batches of reads and writes: no two that conflict ever overlap.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{Either, select};
use hermes_core::call::ToolCall;
use hermes_core::effect::Effect;
use hermes_core::outcome::Status;
use hermes_core::session::Place;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{Rig, object};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// What runs now, and the first clash or crowd that was seen.
#[derive(Default)]
struct Watch {
    running: Vec<(usize, bool, PathBuf)>,
    most: usize,
    trouble: Option<String>,
}

impl Watch {
    fn enter(&mut self, at: usize, writes: bool, path: PathBuf) {
        let same = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        let clash = self.running.iter().find(|(_, other, there)| (writes || *other) && same(&path, there));
        if let Some((other, ..)) = clash {
            self.trouble.get_or_insert(format!("call {at} overlaps call {other}"));
        }
        self.running.push((at, writes, path));
        self.most = self.most.max(self.running.len());
    }

    fn leave(&mut self, at: usize) {
        self.running.retain(|(running, ..)| *running != at);
    }
}

fn path(arguments: &Map<String, Value>) -> &str {
    arguments.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// `link` leads to `a`.
fn real(path: &Path) -> PathBuf {
    path.strip_prefix("/work/link")
        .map_or_else(|_| path.to_path_buf(), |rest| Path::new("/work/a").join(rest))
}

fn number(arguments: &Map<String, Value>, key: &str) -> u64 {
    arguments.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// A tool that reads or writes its path for as many seconds as it is told.
fn file_tool(name: &str, writes: bool, watch: &Arc<Mutex<Watch>>) -> ToolEntry {
    let definition = object(
        &json!({ "path!": { "type": "string" }, "at!": { "type": "integer" }, "takes!": { "type": "integer" } }),
    );
    let effects = move |arguments: &Map<String, Value>, place: &Place| {
        let path = place.resolve(path(arguments));
        vec![if writes { Effect::Write(path) } else { Effect::Read(path) }]
    };
    let watch = Arc::clone(watch);
    ToolEntry::from_fn(name, "test", definition, effects, move |arguments, cx| {
        let watch = Arc::clone(&watch);
        async move {
            let at = usize::try_from(number(&arguments, "at")).unwrap_or_default();
            watch.lock().unwrap().enter(at, writes, real(&cx.place().resolve(path(&arguments))));
            cx.host().sleep(Duration::from_secs(number(&arguments, "takes"))).await;
            watch.lock().unwrap().leave(at);
            Ok(json!({ "at": at }))
        }
    })
    .trusted()
}

fn calls() -> impl Strategy<Value = Vec<(bool, &'static str, u64)>> {
    let paths = vec!["a", "a/b", "a/b/c", "a/d", "e", "e/f", ".", "./a/../e", "link", "link/b"];
    prop::collection::vec((any::<bool>(), prop::sample::select(paths), 0..4_u64), 0..20)
}

proptest! {
    #[test]
    fn conflicting_calls_never_overlap_and_outcomes_are_in_order(calls in calls()) {
        let watch: Arc<Mutex<Watch>> = Arc::default();
        let rig = Rig::with([file_tool("read", false, &watch), file_tool("write", true, &watch)]);
        rig.files.link("/work/link", "/work/a");
        let batch: Vec<ToolCall> = calls
            .iter()
            .enumerate()
            .map(|(at, (writes, path, takes))| {
                let arguments = json!({ "path": path, "at": at, "takes": takes }).to_string();
                ToolCall::new(if *writes { "write" } else { "read" }, arguments)
            })
            .collect();

        let outcomes = block_on(async {
            let toolbox = rig.toolbox().await;
            let work = rig.road.batch(&rig.session, &toolbox, batch);
            let clock = async {
                loop {
                    rig.host.pass(Duration::from_secs(3)).await;
                    // Let whoever woke up go on before the clock moves again.
                    futures::pending!();
                }
            };
            match select(Box::pin(work), Box::pin(clock)).await {
                Either::Left((outcomes, _)) => outcomes,
                Either::Right((never, _)) => never,
            }
        });

        let watch = watch.lock().unwrap();
        prop_assert_eq!(&watch.trouble, &None);
        prop_assert!(watch.most <= 8);
        prop_assert_eq!(outcomes.len(), calls.len());
        for (at, outcome) in outcomes.iter().enumerate() {
            prop_assert_eq!(outcome.status, Status::Ok);
            prop_assert_eq!(serde_json::from_str::<Value>(&outcome.body).unwrap()["at"].as_u64(), Some(at as u64));
        }
    }
}
