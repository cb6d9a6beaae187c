//! `terminal`: commands in the environment alone, and by the tool with everything around it.

use std::time::Duration;

use hermes::store::Home;
use hermes::{Runtime, Session, ToolCall};
use hermes_core::cx::ToolCx;
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::{Run, Shells};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef, ToolEntry};
use hermes_core::toolset::Toolset;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work, called, worked};
use crate::process;
use crate::timing::{median, millis, over_each, per_call, per_second, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("terminal", measure);

/// Commands per number.
const COMMANDS: u32 = 20;

/// Ten million bytes in lines of a hundred.
const MUCH: &str = "head -c 10000000 /dev/zero | tr '\\0' 'x' | fold -w 100";

static BARE: Toolset = Toolset::new("bench_bare", "A command without the tool around it.");

const RUN: ToolDef = ToolDef::of::<BareRun>("bench_run", &BARE);

/// Runs `true` in the environment.
#[derive(Deserialize, JsonSchema)]
struct BareRun {}

impl Tool for BareRun {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let (text, environment) = ("true".to_owned(), String::new());
        vec![Effect::Exec(Command { text, environment, workdir: place.cwd.clone() })]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let permit = cx.may_run_declared()?;
        let run = Run {
            session: cx.session_id().to_owned(),
            shell: cx.with_slot(|shells: &mut Shells| shells.of(cx.environment()))?,
            input: Vec::new(),
            terminal: None,
            timeout: Duration::from_mins(1),
            keep: 50_000,
            cancel: cx.cancelled().clone(),
        };
        let ran = cx.workplace(&permit)?.run(permit, run).await;
        let ran = ran.map_err(|wrong| ToolError::Failed(wrong.to_string()))?;
        cx.with_slot(|shells: &mut Shells| shells.set(cx.environment(), ran.shell.clone()))?;
        Ok(json!({}))
    }
}

fn open(work: &Work) -> Result<Session, String> {
    let home = Home::at(&work.folder.join("home-terminal"));
    let scope = Scope::new(Source::Embedder("bench".to_owned())).tool(ToolEntry::from(&RUN));
    let builder = Runtime::builder().cwd(&work.folder).home(home).env(process::variables()).scope(scope);
    let runtime = builder.build().map_err(|wrong| wrong.to_string())?;
    runtime.session().open().map_err(|wrong| wrong.to_string())
}

fn measure(work: &Work) -> Result<Numbers, String> {
    let bare = open(work)?;
    let (first, env_first) = timed(|| called(&bare, "bench_run", &json!({})));
    first?;
    let env = per_call(COMMANDS, || called(&bare, "bench_run", &json!({})).map(drop))?;

    let session = open(work)?;
    let (first, tool_first) = timed(|| run(&session, &json!({ "command": "true" })));
    first?;
    let tool = per_call(COMMANDS, || run(&session, &json!({ "command": "true" })))?;
    let mut much: Vec<f64> = Vec::new();
    for _ in 0..5 {
        let (done, time) = timed(|| run(&session, &json!({ "command": MUCH })));
        done?;
        much.push(millis(time));
    }
    let background =
        over_each(0..COMMANDS, |_| run(&session, &json!({ "command": "true", "background": true })))?;
    Ok(vec![
        ("env_first_ms", millis(env_first)),
        ("env_execute_ms", millis(env)),
        ("env_execute_per_s", per_second(env)),
        ("tool_first_ms", millis(tool_first)),
        ("tool_ms", millis(tool)),
        ("tool_per_s", per_second(tool)),
        ("output_10MB_ms", median(&mut much)),
        ("background_start_ms", millis(background)),
    ])
}

fn run(session: &Session, arguments: &Value) -> Result<(), String> {
    worked(session.call_blocking(ToolCall::new("terminal", arguments.to_string()))).map(drop)
}
