//! `terminal`: a command in the session's shell, to its end or in the background.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::{EnvError, Ran, Run, ShellState, Shells, Size, Why};
use hermes_core::error::ToolResult;
use hermes_core::jobs::NewJob;
use hermes_core::permit::{Exec, Permit};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::choice::choosable;
use crate::command::blocking::why_it_blocks;
use crate::command::endangered::endangered;
use crate::command::exit::meaning;
use crate::command::kept::text;
use crate::command::looking::only_looks;
use crate::command::settings::TerminalSettings;
use crate::command::sudo::{HELP, wants_password};
use crate::toolsets::terminal;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Terminal>("terminal", &terminal::TOOLSET)
    .emoji("💻")
    .max_result(MaxSize::Chars(100_000))
    .alone_unless(only_looks)
    .timeout(LONGEST_CALL)
    .winds_up()
    .placed()
    .dynamic(choosable);

/// The road's limit; the command's own is shorter.
const LONGEST_CALL: Duration = Duration::from_mins(65);

/// The code of a command whose time was over.
const TIMED_OUT: i32 = 124;

/// The code of a command that was taken back.
const CANCELLED: i32 = 130;

/// Run a command in the session's shell (bash). The working directory, exported variables,
/// functions and aliases stay for the next call. Output and errors come back together; very long
/// output is cut in the middle and saved whole in a file. Set background for servers, watchers and
/// anything that should go on while you do other work; do not use &, nohup or setsid for that. Do
/// not wait for input: nothing can be typed in the foreground.
#[derive(Deserialize, JsonSchema)]
struct Terminal {
    /// The command
    command: String,
    /// Start it and return at once; it goes on in the background under its own `session_id`
    #[serde(default)]
    background: bool,
    /// Seconds after which a command in the foreground is stopped (default 180, at most 600)
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// Directory for this one command; the session's own stays as it is
    workdir: Option<String>,
    /// Give it a terminal, for programs that behave differently without one
    #[serde(default)]
    pty: bool,
    /// Background: tell the session when it ends
    #[serde(default)]
    notify_on_complete: bool,
    /// Background: tell the session when a line of output holds one of these texts
    watch_patterns: Option<Vec<String>>,
}

impl Tool for Terminal {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let workdir = self.workdir.as_ref().map_or_else(|| place.cwd.clone(), |path| place.resolve(path));
        vec![Effect::Exec(Command { text: self.command.clone(), environment: String::new(), workdir })]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let permit = cx.may_run_declared()?;
        if self.command.trim().is_empty() {
            return Ok(refused("the command is empty"));
        }
        if self.background {
            self.in_background(cx, permit).await
        } else {
            self.in_foreground(cx, permit).await
        }
    }
}

impl Terminal {
    async fn in_foreground(self, cx: &ToolCx, permit: Permit<Exec>) -> ToolResult {
        let settings = cx.service::<TerminalSettings>().copied().unwrap_or_default();
        let timeout = self.timeout.filter(|it| *it > 0).map_or(settings.timeout, Duration::from_secs);
        if self.timeout.is_some() && timeout > settings.longest {
            let most = settings.longest.as_secs();
            let why = format!(
                "timeout {} s is over the limit of {most} s; use background for longer commands",
                timeout.as_secs()
            );
            return Ok(json!({ "error": why }));
        }
        if let Some(why) = why_it_blocks(&self.command) {
            return Ok(refused(&format!("{why}; start it with background: true, without `&` or nohup")));
        }
        let started_in = permit.command().workdir.clone();
        let run = Run {
            session: cx.session_id().to_owned(),
            shell: shell_of(cx),
            input: Vec::new(),
            terminal: self.pty.then_some(Size::USUAL),
            timeout,
            keep: settings.keep,
            cancel: cx.cancelled().clone(),
        };
        let not_kept = keep_old_content(&self.command, cx, &permit).await;
        let mut ran = match cx.workplace(&permit)?.run(permit, run).await {
            Ok(ran) => ran,
            Err(wrong @ EnvError::Directory { .. }) => return Ok(self.no_directory(cx, &wrong)),
            Err(wrong) => return Ok(lost(&wrong)),
        };
        ran.notes.extend(not_kept);
        // A session without state is a single call; there is nobody to remember for.
        let _ = cx.with_slot(|shells: &mut Shells| shells.set(cx.environment(), ran.shell.clone()));
        let moved = ran.cwd.take().filter(|cwd| *cwd != started_in && self.workdir.is_none());
        let mut answer = shown(&self.command, &ran);
        if let Some(cwd) = moved {
            answer.insert("cwd".to_owned(), json!(cwd.to_string_lossy()));
            cx.move_to(&cwd);
        }
        Ok(Value::Object(answer))
    }

    async fn in_background(self, cx: &ToolCx, permit: Permit<Exec>) -> ToolResult {
        let place = cx.workplace(&permit)?;
        let Some(jobs) = place.jobs() else {
            return Ok(refused("this environment has no background processes"));
        };
        let watch: Vec<String> = self.watch_patterns.unwrap_or_default();
        // Both would tell the same thing twice.
        let ignored = self.notify_on_complete && !watch.is_empty();
        let watch = if ignored { Vec::new() } else { watch };
        let job = NewJob {
            session: cx.session_id().to_owned(),
            shell: shell_of(cx),
            terminal: self.pty.then_some(Size::USUAL),
            notify: self.notify_on_complete,
            watch: watch.clone(),
        };
        let not_kept = keep_old_content(&self.command, cx, &permit).await;
        let job = match jobs.start(permit, job).await {
            Ok(job) => job,
            Err(wrong) => return Ok(refused(&wrong.to_string())),
        };
        let mut answer = json!({
            "output": "Background process started",
            "session_id": job.id,
            "pid": job.pid,
            "exit_code": 0,
            "error": null,
        });
        let mut add = |key: &str, value: Value| {
            answer.as_object_mut().map(|fields| fields.insert(key.to_owned(), value));
        };
        if self.notify_on_complete {
            add("notify_on_complete", json!(true));
        }
        if !watch.is_empty() {
            add("watch_patterns", json!(watch));
        }
        if let Some(note) = not_kept {
            add("note", json!(note));
        }
        if ignored {
            add(
                "watch_patterns_ignored",
                json!("notify_on_complete is set, so its end is told and nothing else"),
            );
        }
        if !self.notify_on_complete && watch.is_empty() {
            add("hint", json!("use process with this session_id to poll, wait for, read or kill it"));
        }
        Ok(answer)
    }

    /// The directory is gone. The session's own is left for the nearest one that should be there.
    fn no_directory(&self, cx: &ToolCx, wrong: &EnvError) -> Value {
        if self.workdir.is_some() {
            return refused(&wrong.to_string());
        }
        let above = cx.place().cwd.parent().map_or_else(|| "/".into(), std::path::Path::to_path_buf);
        let told = format!("{wrong}; the session is in {} now", above.display());
        cx.move_to(&above);
        refused(&told)
    }
}

/// Keeps what the command is about to delete or write over; answers why something was not.
async fn keep_old_content(command: &str, cx: &ToolCx, permit: &Permit<Exec>) -> Option<String> {
    let place = Place { cwd: permit.command().workdir.clone(), home: cx.place().home.clone() };
    let endangered = endangered(command, &place);
    if endangered.is_empty() { None } else { cx.files().keep_before(permit, &endangered).await }
}

fn shell_of(cx: &ToolCx) -> ShellState {
    cx.with_slot(|shells: &mut Shells| shells.of(cx.environment())).unwrap_or_default()
}

fn refused(why: &str) -> Value {
    json!({ "output": "", "exit_code": -1, "error": why, "status": "error" })
}

/// Why there is no end to tell, with what had been written until then.
fn lost(wrong: &EnvError) -> Value {
    let mut answer = refused(&wrong.to_string());
    if let (EnvError::CutOff { output, .. }, Some(fields)) = (wrong, answer.as_object_mut()) {
        fields.insert("output".to_owned(), json!(text(output)));
        if let Some(path) = &output.saved_to {
            fields.insert("output_file".to_owned(), json!(path.to_string_lossy()));
        }
    }
    answer
}

fn shown(command: &str, ran: &Ran) -> Map<String, Value> {
    let mut output = text(&ran.output);
    let mut say = |words: &str| {
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(words);
    };
    let (code, stopped) = match ran.why {
        Why::Ended(end) => (end.code(), None),
        Why::TimedOut(limit) => {
            say(&format!("[Command timed out after {}s]", limit.as_secs()));
            (TIMED_OUT, Some("timeout"))
        }
        Why::Cancelled => {
            say("[Command interrupted]");
            (CANCELLED, Some("interrupted"))
        }
    };
    let sudo = wants_password(&output, code);
    let mut answer = Map::new();
    answer.insert("output".to_owned(), json!(output));
    answer.insert("exit_code".to_owned(), json!(code));
    answer.insert("error".to_owned(), Value::Null);
    if let Some(status) = stopped {
        answer.insert("status".to_owned(), json!(status));
    }
    if let (Why::Ended(_), Some(meaning)) = (ran.why, meaning(command, code)) {
        answer.insert("exit_code_meaning".to_owned(), json!(meaning));
    }
    if let Some(path) = &ran.output.saved_to {
        answer.insert("output_file".to_owned(), json!(path.to_string_lossy()));
        answer.insert("output_bytes".to_owned(), json!(ran.output.total));
    }
    if sudo {
        answer.insert("sudo_auth_failed".to_owned(), json!(true));
    }
    let notes = ran.notes.iter().map(String::as_str).chain(sudo.then_some(HELP));
    let notes: Vec<&str> = notes.collect();
    if !notes.is_empty() {
        answer.insert("note".to_owned(), json!(notes.join("; ")));
    }
    answer
}

#[cfg(test)]
mod tests {
    use hermes_core::environment::{End, Kept};

    use super::*;

    fn ran(why: Why, output: Kept) -> Ran {
        Ran { why, output, cwd: None, shell: ShellState::default(), notes: Vec::new() }
    }

    fn kept(text: &str) -> Kept {
        let total = u64::try_from(text.len()).unwrap();
        Kept { head: text.as_bytes().to_vec(), total, ..Kept::default() }
    }

    #[test]
    fn an_answer_has_output_code_and_no_error() {
        let answer = shown("ls", &ran(Why::Ended(End::Code(0)), kept("  a\u{1b}[0m\nb\n\n")));

        assert_eq!(Value::Object(answer), json!({ "output": "  a\nb", "exit_code": 0, "error": null }));
    }

    #[test]
    fn what_was_written_before_the_connection_broke_is_shown_with_the_error() {
        let output = Box::new(kept("so far\n"));
        let wrong = EnvError::CutOff { environment: "lab".to_owned(), why: "gone".to_owned(), output };

        let answer = lost(&wrong);

        assert_eq!(answer["output"], "so far");
        assert_eq!((&answer["exit_code"], &answer["status"]), (&json!(-1), &json!("error")));
        assert!(answer["error"].as_str().unwrap().contains("the connection was lost"));
    }

    #[test]
    fn a_timeout_is_code_124_with_a_line_at_the_end() {
        let answer = shown("x", &ran(Why::TimedOut(Duration::from_secs(2)), kept("part\n")));

        assert_eq!(answer["output"], "part\n[Command timed out after 2s]");
        assert_eq!(answer["exit_code"], 124);
    }

    #[test]
    fn a_signal_is_told_as_shells_do() {
        let answer = shown("x", &ran(Why::Ended(End::Signal(9)), kept("")));

        assert_eq!(answer["exit_code"], 137);
        assert!(answer["exit_code_meaning"].as_str().unwrap().starts_with("killed"));
    }
}
