//! `process`: looks after the commands that run in the background.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::EnvError;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::jobs::{Job, JobInput, JobState, Jobs, LogLines, LogPage};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::choice::choosable;
use crate::command::ansi::plain;
use crate::command::settings::TerminalSettings;
use crate::toolsets::terminal;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Process>("process", &terminal::TOOLSET)
    .emoji("⚙️")
    .alone()
    .timeout(LONGEST_CALL)
    .placed()
    .dynamic(choosable);

/// The road's limit; waiting has its own.
const LONGEST_CALL: Duration = Duration::from_mins(65);

/// What the session's background processes are called in effects.
const SLOT: &str = "background processes";

/// How much output is shown where the whole is not asked for, in bytes.
const IN_LIST: usize = 200;
const IN_POLL: usize = 1000;
const AT_END: usize = 2000;

/// A page of the log.
const PAGE_LINES: usize = 200;
const PAGE_BYTES: usize = 80_000;

/// Longest command shown in a list, in characters.
const COMMAND: usize = 200;

/// Look after the processes that terminal started in the background. list: all of them. poll: how
/// one stands and the last of its output. log: its output by lines. wait: until it ends or timeout
/// passes. kill: stop it with everything it started. write: type data as it is. submit: type data
/// and Enter. close: end its input.
#[derive(Deserialize, JsonSchema)]
struct Process {
    /// What to do
    action: Action,
    /// Which process, as terminal returned it; needed for everything but list
    session_id: Option<String>,
    /// What to type, for write and submit
    data: Option<String>,
    /// Most seconds to wait
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// First line of the log, counted from 0; without it the last lines are shown
    offset: Option<i64>,
    /// Most lines of the log
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

impl Tool for Process {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        match self.action {
            Action::List | Action::Poll | Action::Log | Action::Wait => vec![Effect::ReadSlot(SLOT)],
            Action::Kill | Action::Close => vec![Effect::WriteSlot(SLOT)],
            // What is typed into a shell runs, so it is judged as what it may be.
            Action::Write | Action::Submit => vec![Effect::Exec(Command {
                text: self.data.clone().unwrap_or_default(),
                environment: String::new(),
                workdir: place.cwd.clone(),
            })],
        }
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let place = cx.environments().find(cx.environment())?;
        let Some(jobs) = place.jobs() else {
            return Err(ToolError::Failed("this environment has no background processes".to_owned()));
        };
        if self.action == Action::List {
            return list(jobs, cx.session_id()).await;
        }
        let Some(id) = self.session_id.as_deref().filter(|id| !id.is_empty()) else {
            return Err(ToolError::Arguments("session_id is needed for this action".to_owned()));
        };
        match self.on(jobs, cx, id).await {
            Ok(answer) => Ok(answer),
            Err(EnvError::NoJob(id)) => Ok(
                json!({ "status": "not_found", "error": format!("no background process `{id}` in this session") }),
            ),
            Err(wrong) => Ok(json!({ "session_id": id, "status": "error", "error": wrong.to_string() })),
        }
    }
}

impl Process {
    async fn on(&self, jobs: &dyn Jobs, cx: &ToolCx, id: &str) -> Result<Value, EnvError> {
        let session = cx.session_id();
        match self.action {
            Action::List | Action::Poll => {
                let job = jobs.look(session, id).await?;
                let mut answer = described(&job);
                insert(&mut answer, "output_preview", json!(end(jobs, session, id, IN_POLL).await?));
                Ok(Value::Object(answer))
            }
            Action::Log => Ok(self.log(jobs, session, id).await?),
            Action::Wait => self.wait(jobs, cx, id).await,
            Action::Kill => kill(jobs, session, id).await,
            Action::Write => self.type_in(jobs, session, id, "").await,
            Action::Submit => self.type_in(jobs, session, id, "\n").await,
            Action::Close => {
                jobs.write(session, id, JobInput::End).await?;
                Ok(json!({ "session_id": id, "status": "ok", "message": "its input is closed" }))
            }
        }
    }

    async fn log(&self, jobs: &dyn Jobs, session: &str, id: &str) -> Result<Value, EnvError> {
        let lines = self.limit.map_or(PAGE_LINES, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let from = match self.offset {
            // Counted from the end.
            Some(offset) if offset < 0 => {
                let page = LogPage { from: None, lines: 1, bytes: PAGE_BYTES };
                Some(jobs.log(session, id, page).await?.total.saturating_sub(offset.unsigned_abs()))
            }
            offset => offset.map(i64::unsigned_abs),
        };
        let state = jobs.look(session, id).await?.state;
        let page = jobs.log(session, id, LogPage { from, lines, bytes: PAGE_BYTES }).await?;
        Ok(Value::Object(page_of_log(id, state, &page)))
    }

    async fn wait(&self, jobs: &dyn Jobs, cx: &ToolCx, id: &str) -> Result<Value, EnvError> {
        let longest = cx.service::<TerminalSettings>().copied().unwrap_or_default().timeout;
        let asked = self.timeout.map_or(longest, Duration::from_secs);
        let job = jobs.wait(cx.session_id(), id, asked.min(longest)).await?;
        let over = job.state.is_over();
        let mut answer = described(&job);
        let size = if over { AT_END } else { IN_POLL };
        insert(&mut answer, "output", json!(end(jobs, cx.session_id(), id, size).await?));
        if !over {
            insert(&mut answer, "status", json!("timeout"));
            let waited = asked.min(longest).as_secs();
            let more = if asked > longest { " (the most one call may wait)" } else { "" };
            insert(
                &mut answer,
                "timeout_note",
                json!(format!("still running after {waited} s{more}; wait again, or do something else")),
            );
        }
        Ok(Value::Object(answer))
    }

    async fn type_in(&self, jobs: &dyn Jobs, session: &str, id: &str, then: &str) -> Result<Value, EnvError> {
        let text = format!("{}{then}", self.data.as_deref().unwrap_or_default());
        let count = text.len();
        jobs.write(session, id, JobInput::Bytes(text.into_bytes())).await?;
        Ok(json!({ "session_id": id, "status": "ok", "bytes_written": count }))
    }
}

async fn list(jobs: &dyn Jobs, session: &str) -> ToolResult {
    let mut processes = Vec::new();
    for job in jobs.list(session).await? {
        let mut answer = described(&job);
        insert(
            &mut answer,
            "output_preview",
            json!(end(jobs, session, &job.id, IN_LIST).await.unwrap_or_default()),
        );
        processes.push(Value::Object(answer));
    }
    Ok(json!({ "processes": processes }))
}

async fn kill(jobs: &dyn Jobs, session: &str, id: &str) -> Result<Value, EnvError> {
    let before = jobs.look(session, id).await?;
    if before.state.is_over() {
        let mut answer = described(&before);
        insert(&mut answer, "status", json!("already_exited"));
        return Ok(Value::Object(answer));
    }
    let job = jobs.kill(session, id).await?;
    let mut answer = described(&job);
    insert(&mut answer, "status", json!(if job.state.is_over() { "killed" } else { "error" }));
    if !job.state.is_over() {
        insert(&mut answer, "error", json!("it does not end, though it was killed"));
    }
    insert(&mut answer, "output", json!(end(jobs, session, id, AT_END).await?));
    Ok(Value::Object(answer))
}

/// What every answer about a process says.
fn described(job: &Job) -> Map<String, Value> {
    let mut answer = Map::new();
    insert(&mut answer, "session_id", json!(job.id));
    insert(&mut answer, "command", json!(shortened(&job.command)));
    insert(&mut answer, "cwd", json!(job.cwd.to_string_lossy()));
    insert(&mut answer, "pid", json!(job.pid));
    insert(&mut answer, "started_at", json!(job.started_at));
    insert(&mut answer, "uptime_seconds", json!(job.ran_for.as_secs()));
    insert(&mut answer, "status", json!(if job.state.is_over() { "exited" } else { "running" }));
    if job.state.is_over() {
        insert(&mut answer, "exit_code", json!(job.state.code()));
        insert(&mut answer, "completion_reason", json!(reason(job.state)));
    }
    if matches!(job.state, JobState::Killed(_)) {
        insert(&mut answer, "termination_source", json!("process.kill"));
    }
    if job.notify {
        insert(&mut answer, "notify_on_complete", json!(true));
    }
    if !job.watch.is_empty() {
        insert(&mut answer, "watch_patterns", json!(job.watch));
        insert(&mut answer, "watch_hit", json!(job.watch_hit));
    }
    if job.found_again {
        insert(&mut answer, "detached", json!(true));
        insert(&mut answer, "note", json!("started by an earlier run"));
    }
    answer
}

fn reason(state: JobState) -> &'static str {
    match state {
        JobState::Running => "running",
        JobState::Exited(_) => "exited",
        JobState::Killed(_) => "killed",
        JobState::Lost => "lost",
    }
}

fn page_of_log(id: &str, state: JobState, page: &LogLines) -> Map<String, Value> {
    let mut answer = Map::new();
    insert(&mut answer, "session_id", json!(id));
    insert(&mut answer, "status", json!(if state.is_over() { "exited" } else { "running" }));
    insert(&mut answer, "output", json!(plain(&page.text).trim_end_matches('\n')));
    insert(&mut answer, "total_lines", json!(page.total));
    let last = page.first + page.count.saturating_sub(1);
    let showing =
        if page.count == 0 { "no lines".to_owned() } else { format!("lines {}-{last}", page.first) };
    insert(&mut answer, "showing", json!(showing));
    if page.first + page.count < page.total {
        insert(&mut answer, "next_offset", json!(page.first + page.count));
    }
    if page.dropped > 0 {
        insert(&mut answer, "dropped_lines", json!(page.dropped));
    }
    insert(&mut answer, "log_file", json!(page.path.to_string_lossy()));
    answer
}

/// The last of a process's output, as text that begins with a whole line where it can.
async fn end(jobs: &dyn Jobs, session: &str, id: &str, bytes: usize) -> Result<String, EnvError> {
    let tail = jobs.tail(session, id, bytes).await?;
    let text = plain(&tail);
    let whole =
        if tail.len() < bytes { Some(text.as_str()) } else { text.split_once('\n').map(|(_, rest)| rest) };
    Ok(whole.filter(|rest| !rest.is_empty()).unwrap_or(&text).trim_end().to_owned())
}

fn shortened(command: &str) -> String {
    let mut short: String = command.chars().take(COMMAND).collect();
    if short.len() < command.len() {
        short.push('…');
    }
    short
}

fn insert(answer: &mut Map<String, Value>, key: &str, value: Value) {
    answer.insert(key.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(state: JobState) -> Job {
        Job {
            id: "proc_1".to_owned(),
            session: "s".to_owned(),
            command: "x".repeat(300),
            cwd: "/w".into(),
            pid: 7,
            started_at: 100,
            ran_for: Duration::from_secs(3),
            state,
            found_again: false,
            notify: false,
            watch: Vec::new(),
            watch_hit: false,
        }
    }

    #[test]
    fn a_running_process_has_no_code_and_a_finished_one_says_why() {
        let running = described(&job(JobState::Running));
        assert_eq!(running["status"], "running");
        assert!(!running.contains_key("exit_code"));

        let killed = described(&job(JobState::Killed(143)));
        assert_eq!(killed["exit_code"], 143);
        assert_eq!(killed["completion_reason"], "killed");
        assert_eq!(killed["termination_source"], "process.kill");
        assert_eq!(described(&job(JobState::Lost))["exit_code"], Value::Null);
    }

    #[test]
    fn long_commands_are_cut() {
        assert_eq!(described(&job(JobState::Running))["command"].as_str().unwrap().chars().count(), 201);
    }

    #[test]
    fn a_page_says_which_lines_it_shows_and_where_to_go_on() {
        let page = LogLines { text: b"a\nb\n".to_vec(), first: 4, count: 2, total: 9, ..LogLines::default() };

        let answer = page_of_log("p", JobState::Running, &page);

        assert_eq!(answer["output"], "a\nb");
        assert_eq!(answer["showing"], "lines 4-5");
        assert_eq!(answer["next_offset"], 6);
    }
}
