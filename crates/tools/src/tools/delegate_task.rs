//! `delegate_task`: hands work to other agents.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::delegate::{Delegates, End, Giver, Limits, Role, Step, Task};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::tool::{Definition, SchemaCx, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::toolsets::delegation;

pub(crate) const TOOL: ToolDef = ToolDef::of::<DelegateTask>("delegate_task", &delegation::TOOLSET)
    .emoji("🔀")
    .alone()
    .timeout(LONGEST_CALL)
    .waits()
    .dynamic(fitted)
    .gate(|| Gate::given::<Arc<dyn Delegates>>("an agent that can start others"));

/// The road's limit; each task may have a shorter one.
const LONGEST_CALL: Duration = Duration::from_hours(25);

/// Most tasks of one call, where the configuration says nothing.
const USUAL_TASKS: u64 = 3;

/// Hand work to other agents and get their reports. Each starts with an empty conversation and knows
/// only goal and context, so write down all it needs: paths, errors, what was tried, what is wanted back.
/// Use it for work that would fill your context (long searches, reading much), or for several things that
/// do not depend on each other, which then run at the same time. Not for a single quick step. A report is
/// the agent's own word: check what matters. Give goal for one task, tasks for several.
#[derive(Deserialize, JsonSchema)]
struct DelegateTask {
    /// What is to be reached, for one task
    goal: Option<String>,
    /// What must be known for it: files, errors, constraints
    context: Option<String>,
    /// Several tasks that run at the same time; instead of goal
    tasks: Option<Vec<TaskArgs>>,
    /// leaf does the work itself; orchestrator may hand parts of it on, where that is allowed
    role: Option<RoleArg>,
    /// Do not wait: the reports come into the conversation later
    background: Option<bool>,
}

/// One task of several.
#[derive(Deserialize, JsonSchema)]
struct TaskArgs {
    /// What is to be reached
    goal: String,
    /// What must be known for it
    context: Option<String>,
    /// leaf or orchestrator, for this task
    role: Option<RoleArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RoleArg {
    Leaf,
    Orchestrator,
}

impl Tool for DelegateTask {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        // What the others do is judged when they do it.
        Vec::new()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let Some(delegates) = cx.service::<Arc<dyn Delegates>>() else {
            return Err(ToolError::Failed("no other agents can be started here".to_owned()));
        };
        let limits = delegates.limits();
        let background = self.background == Some(true);
        let mut notes = Vec::new();
        let tasks = self.tasks(limits, &mut notes)?;
        let from = Giver { session: cx.session_id(), call: cx.call().as_str(), cancel: cx.cancelled() };
        if background && limits.background {
            return dispatched(delegates.as_ref(), tasks, from, &notes).await;
        }
        if background {
            notes.push("reports cannot come in later here, so this call waited for them".to_owned());
        }
        let begin = cx.host().now();
        let ends = delegates.run(tasks, from).await;
        Ok(reported(&ends, cx.host().now().saturating_sub(begin), &notes))
    }
}

impl DelegateTask {
    fn tasks(self, limits: Limits, notes: &mut Vec<String>) -> Result<Vec<Task>, ToolError> {
        let wrong = |why: String| Err(ToolError::Arguments(why));
        let goal = self.goal.filter(|goal| !goal.trim().is_empty());
        let listed = self.tasks.filter(|tasks| !tasks.is_empty());
        let given = match (goal, listed) {
            (Some(goal), None) => vec![TaskArgs { goal, context: self.context, role: self.role }],
            (None, Some(tasks)) => tasks
                .into_iter()
                .map(|task| TaskArgs {
                    // What is said for all holds for those that say nothing themselves.
                    context: task.context.or_else(|| self.context.clone()),
                    role: task.role.or(self.role),
                    ..task
                })
                .collect(),
            (Some(_), Some(_)) => return wrong("give goal or tasks, not both".to_owned()),
            (None, None) => return wrong("goal is needed, or tasks for several".to_owned()),
        };
        if given.len() > limits.tasks {
            let (count, most) = (given.len(), limits.tasks);
            return wrong(format!("tasks: {count} are given, {most} are the most of one call"));
        }
        let mut tasks = Vec::with_capacity(given.len());
        let mut handed_on = false;
        for (at, TaskArgs { goal, context, role }) in given.into_iter().enumerate() {
            if goal.trim().is_empty() {
                return wrong(format!("tasks[{at}]: goal is empty"));
            }
            let wants_on = role == Some(RoleArg::Orchestrator);
            handed_on |= wants_on && !limits.orchestrators;
            let role = if wants_on && limits.orchestrators { Role::Orchestrator } else { Role::Leaf };
            let context = context.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            tasks.push(Task { goal: goal.trim().to_owned(), context, role });
        }
        if handed_on {
            notes.push(
                "tasks cannot be handed on from here; the agents do all the work themselves".to_owned(),
            );
        }
        Ok(tasks)
    }
}

/// Tells the model how many tasks it may give; without any, the tool is left out.
fn fitted(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let number = |key: &str| (cx.config)(key).and_then(|value| value.as_u64());
    if number("delegation.max_spawn_depth") == Some(0) {
        return None;
    }
    let most = number("delegation.max_concurrent_children").unwrap_or(USUAL_TASKS).max(1);
    let tasks = definition.parameters.pointer_mut("/properties/tasks").and_then(Value::as_object_mut);
    if let Some(tasks) = tasks {
        let words = format!("Up to {most} tasks that run at the same time; instead of goal");
        tasks.insert("description".to_owned(), json!(words));
        tasks.insert("maxItems".to_owned(), json!(most));
    }
    Some(definition)
}

async fn dispatched(
    delegates: &dyn Delegates,
    tasks: Vec<Task>,
    from: Giver<'_>,
    notes: &[String],
) -> ToolResult {
    let goals: Vec<String> = tasks.iter().map(|task| task.goal.clone()).collect();
    let id = delegates.dispatch(tasks, from).await.map_err(ToolError::Failed)?;
    let mut note =
        "The reports will come into the conversation as a new message; go on with other work and do \
                    not wait for them."
            .to_owned();
    for more in notes {
        note.push_str(" Note: ");
        note.push_str(more);
    }
    Ok(json!({
        "status": "dispatched",
        "mode": "background",
        "count": goals.len(),
        "delegation_id": id,
        "goals": goals,
        "note": note,
    }))
}

fn reported(ends: &[End], took: Duration, notes: &[String]) -> Value {
    let results: Vec<Value> = ends.iter().enumerate().map(|(at, end)| report(at, end)).collect();
    let transcripts: Vec<&String> = ends.iter().filter_map(|end| end.transcript.as_ref()).collect();
    let mut answer = Map::new();
    answer.insert("results".to_owned(), json!(results));
    answer.insert("total_duration_seconds".to_owned(), json!(seconds(took)));
    if !transcripts.is_empty() {
        answer.insert("live_transcripts".to_owned(), json!(transcripts));
    }
    if !notes.is_empty() {
        answer.insert("note".to_owned(), json!(notes.join("; ")));
    }
    Value::Object(answer)
}

fn report(at: usize, end: &End) -> Value {
    let mut report = Map::new();
    let tokens = json!({
        "input": end.tokens.input,
        "output": end.tokens.output,
        "cache_read": end.tokens.cache_read,
        "cache_write": end.tokens.cache_write,
        "reasoning": end.tokens.reasoning,
    });
    let facts = [
        ("task_index", json!(at)),
        ("status", json!(end.status.word())),
        ("summary", json!(end.summary)),
        ("api_calls", json!(end.api_calls)),
        ("duration_seconds", json!(seconds(end.took))),
        ("model", json!(end.model)),
        ("exit_reason", json!(end.exit_reason)),
        ("tokens", tokens),
        ("tool_trace", end.trace.iter().map(step).collect()),
    ];
    report.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    if let Some(error) = &end.error {
        report.insert("error".to_owned(), json!(error));
    }
    if let Some(transcript) = &end.transcript {
        report.insert("live_transcript".to_owned(), json!(transcript));
    }
    Value::Object(report)
}

fn step(step: &Step) -> Value {
    json!({
        "tool": step.tool,
        "status": step.status,
        "args_bytes": step.argument_bytes,
        "result_bytes": step.result_bytes,
    })
}

/// Seconds, to the hundredth.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use hermes_core::delegate::EndStatus;
    use hermes_core::model::Usage;

    use super::*;

    const LIMITS: Limits = Limits { tasks: 2, orchestrators: false, background: false };

    fn asked(arguments: Value, limits: Limits) -> Result<(Vec<Task>, Vec<String>), String> {
        let mut notes = Vec::new();
        let tasks = DelegateTask::deserialize(arguments).unwrap().tasks(limits, &mut notes);
        tasks.map(|tasks| (tasks, notes)).map_err(|wrong| wrong.to_string())
    }

    fn task(goal: &str, context: Option<&str>, role: Role) -> Task {
        Task { goal: goal.to_owned(), context: context.map(str::to_owned), role }
    }

    #[test]
    fn one_goal_or_several_tasks_are_understood() {
        let one = asked(json!({ "goal": " find it ", "context": "in src" }), LIMITS).unwrap();
        let several = asked(
            json!({ "context": "all", "tasks": [{ "goal": "a" }, { "goal": "b", "context": "c" }] }),
            LIMITS,
        )
        .unwrap();

        assert_eq!(one.0, [task("find it", Some("in src"), Role::Leaf)]);
        assert_eq!(several.0, [task("a", Some("all"), Role::Leaf), task("b", Some("c"), Role::Leaf)]);
    }

    #[test]
    fn what_cannot_be_done_is_said_with_its_reason() {
        for (arguments, why) in [
            (json!({}), "goal is needed"),
            (json!({ "goal": " ", "tasks": [] }), "goal is needed"),
            (json!({ "goal": "a", "tasks": [{ "goal": "b" }] }), "not both"),
            (json!({ "tasks": [{ "goal": "a" }, { "goal": " " }] }), "tasks[1]: goal is empty"),
            (json!({ "tasks": [{ "goal": "a" }, { "goal": "b" }, { "goal": "c" }] }), "2 are the most"),
        ] {
            let wrong = asked(arguments.clone(), LIMITS).unwrap_err();
            assert!(wrong.contains(why), "{arguments}: {wrong}");
        }
    }

    #[test]
    fn a_task_is_handed_on_only_where_that_is_allowed() {
        let arguments = json!({ "goal": "a", "role": "orchestrator" });

        let (tasks, notes) = asked(arguments.clone(), LIMITS).unwrap();
        assert_eq!((tasks[0].role, notes.len()), (Role::Leaf, 1));
        let (tasks, notes) = asked(arguments, Limits { orchestrators: true, ..LIMITS }).unwrap();
        assert_eq!((tasks[0].role, notes.len()), (Role::Orchestrator, 0));
    }

    #[test]
    fn the_schema_says_how_many_tasks_there_may_be() {
        let definition = || Definition {
            description: String::new(),
            parameters: json!({ "properties": { "tasks": { "type": "array" } } }),
        };
        let with = |config: &'static [(&'static str, u64)]| {
            let config =
                move |key: &str| config.iter().find(|(known, _)| *known == key).map(|(_, n)| json!(n));
            fitted(definition(), &SchemaCx { offered: &[], config: &config })
        };

        let usual = with(&[]).unwrap();
        assert_eq!(usual.parameters["properties"]["tasks"]["maxItems"], 3);
        let more = with(&[("delegation.max_concurrent_children", 7)]).unwrap();
        assert!(
            more.parameters["properties"]["tasks"]["description"].as_str().unwrap().starts_with("Up to 7")
        );
        assert!(with(&[("delegation.max_spawn_depth", 0)]).is_none());
    }

    #[test]
    fn an_end_is_reported_whole() {
        let end = End {
            status: EndStatus::Timeout,
            summary: None,
            api_calls: 4,
            took: Duration::from_millis(1234),
            model: Some("m".to_owned()),
            exit_reason: "timeout".to_owned(),
            tokens: Usage { input: 10, output: 2, ..Usage::default() },
            trace: vec![Step {
                tool: "terminal".to_owned(),
                status: "ok".to_owned(),
                argument_bytes: 5,
                result_bytes: 9,
            }],
            error: Some("too slow".to_owned()),
            transcript: Some("/x/1.log".to_owned()),
        };

        let told = reported(&[end], Duration::from_secs(2), &["a note".to_owned()]);

        assert_eq!(
            told,
            json!({
                "results": [{
                    "task_index": 0, "status": "timeout", "summary": null, "api_calls": 4,
                    "duration_seconds": 1.23, "model": "m", "exit_reason": "timeout",
                    "tokens": { "input": 10, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
                    "tool_trace": [{ "tool": "terminal", "status": "ok", "args_bytes": 5, "result_bytes": 9 }],
                    "error": "too slow", "live_transcript": "/x/1.log",
                }],
                "total_duration_seconds": 2.0,
                "live_transcripts": ["/x/1.log"],
                "note": "a note",
            })
        );
    }
}
