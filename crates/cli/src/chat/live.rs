//! The tools that run: one row each while they do, and the line that stays of each.
//!
//! Pure: what happened and the time in, rows and lines out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::chat::numbers::seconds;
use crate::chat::preview;
use crate::chat::talk::ToolLine;
use crate::chat::text::{Line, Style};

/// Most rows of running tools.
const MAX_ROWS: usize = 8;

/// Narrowest column of names.
const NAME: usize = 9;

/// Most results that can be asked for again.
const KEPT: usize = 1;

/// Turns while something runs, a step every tenth of a second.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What is shown of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Verbosity {
    /// Nothing stays.
    Off,
    /// A line when another tool is used than before.
    New,
    /// A line for each call.
    #[default]
    All,
    /// The same, with arguments and results.
    Verbose,
}

impl Verbosity {
    pub(crate) const ALL: [Self; 4] = [Self::Off, Self::New, Self::All, Self::Verbose];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::New => "new",
            Self::All => "all",
            Self::Verbose => "verbose",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// The one after it, around.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Off => Self::New,
            Self::New => Self::All,
            Self::All => Self::Verbose,
            Self::Verbose => Self::Off,
        }
    }
}

/// The calls that run, and what is remembered of those that did.
#[derive(Debug, Default)]
pub(crate) struct Live {
    running: Vec<Running>,
    emoji: BTreeMap<String, String>,
    last_tool: Option<String>,
    finished: VecDeque<(String, String)>,
}

#[derive(Debug)]
struct Running {
    id: String,
    tool: String,
    arguments: Map<String, Value>,
    since: Duration,
    /// How far it is, where it tells.
    progress: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended<'a> {
    pub(crate) id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) status: &'a str,
    pub(crate) seconds: f64,
    pub(crate) result: &'a str,
}

impl Live {
    /// Knows what the tools look like.
    pub(crate) fn new(tools: Vec<ToolLine>) -> Self {
        let emoji = tools.into_iter().map(|tool| (tool.name, tool.emoji)).collect();
        Self { emoji, ..Self::default() }
    }

    /// A turn that was dropped may leave calls without an end.
    pub(crate) fn clear(&mut self) {
        self.running.clear();
    }

    /// A call begins.
    pub(crate) fn began(&mut self, id: String, tool: String, arguments: Map<String, Value>, now: Duration) {
        self.running.push(Running { id, tool, arguments, since: now, progress: None });
    }

    /// A call tells how far it is.
    pub(crate) fn progress(&mut self, id: &str, words: &str) {
        if let Some(call) = self.running.iter_mut().find(|call| call.id == id) {
            call.progress = Some(words.chars().filter(|c| !c.is_control()).take(60).collect());
        }
    }

    /// A call is over; what stays of it.
    pub(crate) fn ended(&mut self, call: Ended<'_>, verbosity: Verbosity, width: usize) -> Vec<Line> {
        let at = self.running.iter().position(|running| running.id == call.id);
        let arguments = at.map(|at| self.running.remove(at).arguments).unwrap_or_default();
        self.finished.push_back((call.tool.to_owned(), call.result.to_owned()));
        while self.finished.len() > KEPT {
            self.finished.pop_front();
        }
        let again = self.last_tool.replace(call.tool.to_owned()).is_some_and(|last| last == call.tool);
        let failed = call.status != "ok";
        let shown = match verbosity {
            Verbosity::Off => failed,
            Verbosity::New => failed || !again,
            Verbosity::All | Verbosity::Verbose => true,
        };
        if !shown {
            return Vec::new();
        }
        let result = serde_json::from_str::<Value>(call.result).ok();
        let mut lines = vec![self.final_line(call, &arguments, result.as_ref(), width)];
        if failed && let Some(why) = result.as_ref().and_then(|result| result.get("error")?.as_str()) {
            lines.push(Line::faint("┊    ").with(why, Style::FAINT.and(Style::RED)).cut(width));
        }
        if let Some(diff) = result.as_ref().and_then(|result| result.get("diff")?.as_str()) {
            lines.extend(preview::diff(diff, width, verbosity == Verbosity::Verbose));
        }
        if verbosity == Verbosity::Verbose {
            lines.extend(preview::arguments(&arguments, width));
            lines.extend(preview::result(call.result, width, preview::SHORT));
        }
        lines
    }

    /// The last result, at length.
    pub(crate) fn unfolded(&self, width: usize) -> Vec<Line> {
        let Some((tool, result)) = self.finished.back() else {
            return vec![Line::faint("No tool has run yet.")];
        };
        let mut lines = vec![Line::faint(&format!("┊ what {tool} answered:"))];
        lines.extend(preview::result(result, width, preview::LONG));
        lines
    }

    /// The rows of what runs now.
    pub(crate) fn rows(&self, now: Duration, width: usize) -> Vec<Line> {
        let mut rows: Vec<Line> = self
            .running
            .iter()
            .take(MAX_ROWS)
            .map(|call| {
                let time = seconds(now.saturating_sub(call.since).as_secs_f64());
                let time = match &call.progress {
                    Some(words) => format!("{words}  {time}"),
                    None => time,
                };
                self.row(spinner(now), &call.tool, &call.arguments, &time, width)
            })
            .collect();
        let more = self.running.len().saturating_sub(MAX_ROWS);
        if more > 0 {
            rows.push(Line::faint(&format!("┊ … and {more} more")));
        }
        rows
    }

    /// That the model is writing a call of this tool.
    pub(crate) fn preparing(&self, tool: &str, now: Duration) -> Line {
        Line::faint(&format!("{} {} preparing {tool}…", spinner(now), self.emoji(tool)))
    }

    fn emoji(&self, tool: &str) -> &str {
        self.emoji.get(tool).map_or("⚡", String::as_str)
    }

    fn final_line(
        &self,
        call: Ended<'_>,
        arguments: &Map<String, Value>,
        result: Option<&Value>,
        width: usize,
    ) -> Line {
        let exit = result.and_then(|result| result.get("exit_code")?.as_i64()).filter(|code| *code != 0);
        let sign = match (call.status, exit) {
            ("ok", None) => String::new(),
            ("ok", Some(code)) => format!(" [exit {code}]"),
            (status, _) => format!(" [{status}]"),
        };
        let line =
            self.row("┊", call.tool, arguments, &seconds(call.seconds), width.saturating_sub(sign.len()));
        line.with(&sign, if call.status == "ok" { Style::YELLOW } else { Style::RED })
    }

    fn row(&self, mark: &str, tool: &str, arguments: &Map<String, Value>, time: &str, width: usize) -> Line {
        let start = Line::faint(mark)
            .with(&format!(" {} ", self.emoji(tool)), Style::PLAIN)
            .with(&format!("{tool:<NAME$} "), Style::FAINT);
        let room = width.saturating_sub(start.width() + time.len() + 2);
        let mut line = start;
        line.extend(Line::plain(&preview::detail(arguments)).cut(room.max(1)));
        line.with(&format!("  {time}"), Style::FAINT)
    }
}

/// What turns at this moment.
pub(crate) fn spinner(now: Duration) -> &'static str {
    let step = usize::try_from(now.as_millis() / 100).unwrap_or_default();
    SPINNER.get(step % SPINNER.len()).copied().unwrap_or("·")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live() -> Live {
        let tool = |name: &str, emoji: &str| ToolLine {
            name: name.to_owned(),
            emoji: emoji.to_owned(),
            toolset: String::new(),
            about: String::new(),
        };
        Live::new(vec![tool("terminal", "💻"), tool("read_file", "📖")])
    }

    fn arguments(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn ended<'a>(id: &'a str, tool: &'a str, status: &'a str, result: &'a str) -> Ended<'a> {
        Ended { id, tool, status, seconds: 1.23, result }
    }

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn how_far_a_call_is_stands_before_its_time() {
        let mut live = live();
        live.began("1".into(), "terminal".into(), arguments(&json!({ "command": "x" })), Duration::ZERO);

        live.progress("1", "50 % half\u{1b}");
        live.progress("2", "of nobody");

        let rows = live.rows(Duration::from_secs(3), 60);
        assert!(texts(&rows)[0].ends_with("x  50 % half  3.0s"), "{:?}", texts(&rows));
    }

    #[test]
    fn each_running_tool_has_a_row_with_its_time() {
        let mut live = live();
        live.began(
            "1".into(),
            "terminal".into(),
            arguments(&json!({ "command": "cargo test\n -p x" })),
            Duration::ZERO,
        );
        live.began(
            "2".into(),
            "read_file".into(),
            arguments(&json!({ "path": "README.md" })),
            Duration::from_secs(2),
        );

        let rows = live.rows(Duration::from_secs(12), 60);

        assert_eq!(texts(&rows), ["⠋ 💻 terminal  cargo test  -p x  12s", "⠋ 📖 read_file README.md  10s"]);
    }

    #[test]
    fn the_line_that_stays_tells_how_it_ended() {
        let mut live = live();
        live.began("1".into(), "terminal".into(), arguments(&json!({ "command": "false" })), Duration::ZERO);

        let stays = live.ended(ended("1", "terminal", "ok", r#"{"exit_code":1}"#), Verbosity::All, 60);
        let denied =
            live.ended(ended("2", "terminal", "denied", r#"{"error":"denied by rule"}"#), Verbosity::Off, 60);

        assert_eq!(texts(&stays), ["┊ 💻 terminal  false  1.2s [exit 1]"]);
        assert_eq!(texts(&denied), ["┊ 💻 terminal    1.2s [denied]", "┊    denied by rule"]);
        assert!(live.rows(Duration::ZERO, 60).is_empty());
    }

    #[test]
    fn a_change_of_a_file_shows_what_changed() {
        let mut live = live();

        let stays = live.ended(
            ended("1", "patch", "ok", r#"{"diff":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"}"#),
            Verbosity::All,
            60,
        );

        assert_eq!(texts(&stays)[1..], ["┊ --- a/x", "┊ +++ b/x", "┊ @@ -1 +1 @@", "┊ -old", "┊ +new"]);
    }

    #[test]
    fn how_much_stays_is_a_choice() {
        let mut live = live();
        let mut count =
            |verbosity| live.ended(ended("1", "read_file", "ok", r#"{"content":"a"}"#), verbosity, 60).len();

        assert_eq!(count(Verbosity::New), 1);
        assert_eq!(count(Verbosity::New), 0);
        assert_eq!(count(Verbosity::Off), 0);
        assert_eq!(count(Verbosity::All), 1);
        assert!(count(Verbosity::Verbose) > 1);
    }

    #[test]
    fn rows_are_never_wider_than_the_terminal() {
        let mut live = live();
        let long = arguments(&json!({ "command": "x".repeat(500) }));
        live.began("1".into(), "terminal".into(), long, Duration::ZERO);

        assert!(live.rows(Duration::from_secs(100), 40).iter().all(|row| row.width() <= 40));
        let stays = live.ended(ended("1", "terminal", "timed_out", "{}"), Verbosity::All, 40);
        assert!(stays.iter().all(|row| row.width() <= 40), "{:?}", texts(&stays));
    }
}
