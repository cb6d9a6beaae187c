//! `execute_code`: a script that calls tools itself, for work of many steps.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::definitions::Offered;
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::{Script, ScriptRan, Shells, Stands, Why};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::{Gate, Probe};
use hermes_core::session::Place;
use hermes_core::tool::{Definition, MaxSize, SchemaCx, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::choice::choosable;
use crate::command::kept::text;
use crate::script::CALLABLE;
use crate::script::command::{command, needs};
use crate::script::desk::Calls;
use crate::script::module;
use crate::script::settings::ScriptSettings;
use crate::toolsets::code_execution;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ExecuteCode>("execute_code", &code_execution::TOOLSET)
    .emoji("🐍")
    .max_result(MaxSize::Chars(100_000))
    .gate(|| Gate::check("`python3` is installed, or commands run elsewhere", has_python))
    .alone()
    .timeout(LONGEST_CALL)
    .winds_up()
    .placed()
    .looks_around()
    .dynamic(in_this_company);

/// The road's limit; the script's own is shorter.
const LONGEST_CALL: Duration = Duration::from_mins(65);

/// The code of a script whose time was over.
const TIMED_OUT: i32 = 124;

/// The code of a script that was taken back.
const INTERRUPTED: i32 = 130;

/// How Python behaves in a script: text is UTF-8, what is printed is there at once, and nothing in the
/// working directory stands in for a module of the library.
const PYTHON: [(&str, &str); 5] = [
    ("PYTHONUTF8", "1"),
    ("PYTHONIOENCODING", "utf-8:replace"),
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONSAFEPATH", "1"),
];

/// Run a Python script that calls tools itself. Use it for work of three or more calls with logic
/// between them, to filter large results before you read them, or for loops over many things; call a
/// tool directly when one call does it. Only what the script prints comes back. Tools are functions of
/// the module `hermes_tools`, named as the tools are, and return dictionaries. Threads may call at the
/// same time. Helpers there:
/// `json_parse(text)`, `shell_quote(text)`, `retry(function, max_attempts=3, delay=2)`. A first line
/// such as `#!/bin/bash` chooses another interpreter, without these functions. What the script started
/// ends with it.
#[derive(Deserialize, JsonSchema)]
struct ExecuteCode {
    /// The script
    code: String,
}

/// Whether there is a Python here. Whether there is one elsewhere is seen when a script is run there.
async fn has_python(probe: Arc<dyn Probe>) -> Result<(), String> {
    if probe.program("python3") || probe.elsewhere() {
        return Ok(());
    }
    Err("needs the program `python3`".to_owned())
}

/// Names the tools that scripts of this session can call, and its limits.
fn in_this_company(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let callable: Vec<&str> = CALLABLE.into_iter().filter(|name| cx.offers(name)).collect();
    let tools = match callable.as_slice() {
        [] => "No tools can be called from scripts in this session.".to_owned(),
        [first, ..] => format!(
            "Tools that can be called here: {} (`from hermes_tools import {first}`).",
            callable.join(", ")
        ),
    };
    definition.description = format!("{} {tools}", definition.description);
    choosable(definition, cx)
}

impl Tool for ExecuteCode {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        // A script that nothing can run does nothing.
        let text = command(&self.code).ok().filter(|_| !self.is_empty());
        let exec =
            |text| Effect::Exec(Command { text, environment: String::new(), workdir: place.cwd.clone() });
        text.map(exec).into_iter().collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        if self.is_empty() {
            return Err(ToolError::Arguments("the script is empty".to_owned()));
        }
        command(&self.code).map_err(ToolError::Arguments)?;
        let permit = cx.may_run_declared()?;
        let caller =
            cx.caller().ok_or_else(|| ToolError::Failed("a script cannot run scripts".to_owned()))?;
        let settings = cx.service::<ScriptSettings>().copied().unwrap_or_default();
        let callable = |tool: &&Offered| CALLABLE.contains(&tool.name().as_ref());
        let module = module::module(caller.tools().filter(callable));
        let allowed = caller.tools().filter(callable).map(|tool| Arc::clone(tool.name())).collect();
        let desk = Arc::new(Calls::new(caller, allowed, settings.calls));
        let script = Script {
            session: cx.session_id().to_owned(),
            shell: cx
                .with_slot(|shells: &mut Shells| match settings.stands {
                    Stands::InProject => shells.of(cx.environment()),
                    Stands::Apart => shells.fresh(),
                })
                .unwrap_or_default(),
            module: (module::FILE, module),
            module_path: "PYTHONPATH",
            needs: needs(&self.code),
            variables: PYTHON.map(|(name, value)| (name.into(), value.into())).to_vec(),
            stands: settings.stands,
            timeout: settings.timeout,
            memory: settings.memory,
            keep: (settings.keep, settings.keep_errors),
            cancel: cx.cancelled().clone(),
            desk: Arc::clone(&desk) as Arc<_>,
        };
        let ran = cx.workplace(&permit)?.run_script(permit, script).await?;
        Ok(Value::Object(shown(&ran, desk.made())))
    }
}

impl ExecuteCode {
    fn is_empty(&self) -> bool {
        self.code.trim().is_empty()
    }
}

fn shown(ran: &ScriptRan, calls: u64) -> Map<String, Value> {
    let (mut output, errors) = (text(&ran.out), text(&ran.err));
    let (status, code, error) = match ran.why {
        Why::Ended(end) if end.code() == 0 => ("success", 0, None),
        Why::Ended(end) => {
            let code = end.code();
            let why =
                if errors.is_empty() { format!("the script ended with code {code}") } else { errors.clone() };
            ("error", code, Some(why))
        }
        Why::TimedOut(limit) => {
            let why = format!("the script was stopped after {} s", limit.as_secs());
            ("timeout", TIMED_OUT, Some(why))
        }
        Why::Cancelled => ("interrupted", INTERRUPTED, Some("the script was interrupted".to_owned())),
    };
    if error.is_some() && !errors.is_empty() {
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str("--- stderr ---\n");
        output.push_str(&errors);
    }
    let omitted = ran.out.left_out();
    let mut answer = Map::new();
    let mut add = |key: &str, value: Value| answer.insert(key.to_owned(), value);
    add("status", json!(status));
    add("output", json!(output));
    add("exit_code", json!(code));
    add("tool_calls_made", json!(calls));
    add("duration_seconds", json!((ran.took.as_secs_f64() * 100.0).round() / 100.0));
    add("stdout_truncated", json!(omitted > 0));
    add("stdout_bytes_captured", json!(ran.out.total - omitted));
    add("stdout_bytes_total", json!(ran.out.total));
    add("stdout_bytes_omitted", json!(omitted));
    if let Some(path) = &ran.out.saved_to {
        add("output_file", json!(path.to_string_lossy()));
    }
    if !ran.notes.is_empty() {
        add("warning", json!(ran.notes.join("; ")));
    }
    if let Some(error) = error {
        add("error", json!(error));
    }
    answer
}

#[cfg(test)]
mod tests {
    use hermes_core::environment::{End, Kept};

    use super::*;

    fn ran(why: Why, out: &str, err: &str) -> ScriptRan {
        let kept = |text: &str| Kept {
            head: text.as_bytes().to_vec(),
            total: u64::try_from(text.len()).unwrap(),
            ..Kept::default()
        };
        let took = Duration::from_millis(1234);
        ScriptRan { why, out: kept(out), err: kept(err), took, notes: Vec::new() }
    }

    #[test]
    fn a_script_that_went_well_shows_what_it_printed_and_no_errors() {
        let answer = shown(&ran(Why::Ended(End::Code(0)), "42\n", "a warning"), 3);

        assert_eq!(
            Value::Object(answer),
            json!({
                "status": "success", "output": "42", "exit_code": 0, "tool_calls_made": 3,
                "duration_seconds": 1.23, "stdout_truncated": false, "stdout_bytes_captured": 3,
                "stdout_bytes_total": 3, "stdout_bytes_omitted": 0,
            })
        );
    }

    #[test]
    fn a_script_that_failed_shows_its_errors_too() {
        let answer = shown(&ran(Why::Ended(End::Code(1)), "begun\n", "Traceback"), 0);

        assert_eq!(answer["status"], "error");
        assert_eq!(answer["output"], "begun\n--- stderr ---\nTraceback");
        assert_eq!(answer["error"], "Traceback");
    }

    #[test]
    fn a_script_that_was_stopped_shows_what_it_had_printed() {
        let late = shown(&ran(Why::TimedOut(Duration::from_mins(5)), "part", ""), 0);
        assert_eq!((&late["status"], &late["output"]), (&json!("timeout"), &json!("part")));

        let taken_back = shown(&ran(Why::Cancelled, "part", ""), 0);
        assert_eq!((&taken_back["status"], &taken_back["output"]), (&json!("interrupted"), &json!("part")));
    }
}
