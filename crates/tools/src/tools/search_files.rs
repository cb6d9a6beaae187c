//! `search_files`: text inside files, or files by name.

use std::path::Path;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::{
    ContentReport, FileError, FoundLine, SearchQuery, SearchReport, SearchStop, SearchTarget,
};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::choice::choosable;
use crate::toolsets::file;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SearchFiles>("search_files", &file::TOOLSET)
    .emoji("🔎")
    .max_result(MaxSize::Chars(100_000))
    .read_only()
    .placed()
    .dynamic(choosable);

/// Most results one call returns.
const MAX_LIMIT: usize = 1_000;

/// Most lines of context.
const MAX_CONTEXT: usize = 20;

/// From this many matches on they are written as one text grouped by file, which is shorter.
const GROUPED: usize = 5;

/// Search text inside files by regular expression, or find files by name. Use this instead of
/// grep, rg, find or ls. Ignored and hidden files are passed over. Files by name come newest first.
#[derive(Deserialize, JsonSchema)]
struct SearchFiles {
    /// Regular expression for content, or glob (such as *.rs) for files
    pattern: String,
    /// Look inside files, or for files by name
    #[serde(default)]
    target: Target,
    /// Directory or file to search in
    #[serde(default = "here")]
    path: String,
    /// Only files whose name or path matches this glob, such as *.py
    file_glob: Option<String>,
    /// Most results to return
    #[serde(default = "fifty")]
    limit: u64,
    /// Results to pass over first, to see the next page
    #[serde(default)]
    offset: u64,
    /// Matching lines, only the files that match, or the number of matches per file
    #[serde(default)]
    output_mode: OutputMode,
    /// Lines to show before and after each match
    #[serde(default)]
    context: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    Content,
    Files,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    FilesOnly,
    Count,
}

fn here() -> String {
    ".".to_owned()
}

fn fifty() -> u64 {
    50
}

impl Tool for SearchFiles {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        vec![Effect::Read(place.resolve(&self.path))]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let query = self.query();
        match cx.files().search(&self.path, query).await {
            Ok(report) => Ok(self.answer(&report)),
            Err(ToolError::File(missing @ FileError::Missing { .. })) => {
                Err(ToolError::Failed(missing.to_string()))
            }
            Err(other) => Err(other),
        }
    }
}

impl SearchFiles {
    fn query(&self) -> SearchQuery {
        let pattern = self.pattern.clone();
        let target = match self.target {
            Target::Files => SearchTarget::Files { pattern },
            Target::Content => SearchTarget::Content {
                pattern,
                report: match self.output_mode {
                    OutputMode::Content => ContentReport::Lines,
                    OutputMode::FilesOnly => ContentReport::FilesOnly,
                    OutputMode::Count => ContentReport::Count,
                },
                context: within(self.context, MAX_CONTEXT),
            },
        };
        SearchQuery {
            target,
            file_glob: self.file_glob.clone(),
            limit: within(self.limit, MAX_LIMIT).max(1),
            offset: usize::try_from(self.offset).unwrap_or(usize::MAX),
        }
    }

    fn answer(&self, report: &SearchReport) -> Value {
        let mut answer = Map::new();
        answer.insert("total_count".to_owned(), json!(report.total));
        if report.total_is_lower_bound {
            answer.insert("total_is_lower_bound".to_owned(), json!(true));
        }
        match (self.target, self.output_mode) {
            (Target::Files, _) | (Target::Content, OutputMode::FilesOnly) => {
                let files: Vec<_> = report.files.iter().map(|(path, _)| text(path)).collect();
                answer.insert("files".to_owned(), json!(files));
            }
            (Target::Content, OutputMode::Count) => {
                let counts: Map<_, _> = report.files.iter().map(|(path, n)| (text(path), json!(n))).collect();
                answer.insert("counts".to_owned(), Value::Object(counts));
            }
            (Target::Content, OutputMode::Content) => answer.extend(matches(&report.lines)),
        }
        answer.extend(self.incomplete(report));
        if !report.unreadable.is_empty() {
            let list: Vec<_> =
                report.unreadable.iter().map(|(path, why)| format!("{}: {why}", text(path))).collect();
            answer.insert("unreadable".to_owned(), json!(list));
        }
        Value::Object(answer)
    }

    /// What is said when there is more than this page.
    fn incomplete(&self, report: &SearchReport) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("truncated".to_owned(), json!(report.stopped.is_some()));
        let reason = match report.stopped {
            None => return fields,
            Some(SearchStop::Limit) => {
                let limit = u64::try_from(within(self.limit, MAX_LIMIT).max(1)).unwrap_or(1);
                fields.insert("next_offset".to_owned(), json!(self.offset.saturating_add(limit)));
                "limit"
            }
            Some(SearchStop::Time) => "time",
            Some(SearchStop::Cancelled) => "cancelled",
        };
        fields.insert("limit_reason".to_owned(), json!(reason));
        fields
    }
}

/// A count as the model gives it, held to what we serve.
fn within(asked: u64, most: usize) -> usize {
    usize::try_from(asked).unwrap_or(most).min(most)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Few matches one by one; many as a text grouped by file.
fn matches(lines: &[FoundLine]) -> Map<String, Value> {
    let mut fields = Map::new();
    let plain = lines.iter().all(|line| line.matched);
    if plain && lines.len() < GROUPED {
        let list: Vec<_> = lines
            .iter()
            .map(|line| json!({ "path": text(&line.path), "line": line.number, "content": line.text }))
            .collect();
        fields.insert("matches".to_owned(), json!(list));
    } else {
        let format =
            "each file on a line of its own, then its lines: `number:text` matched, `number-text` is context";
        fields.insert("matches_format".to_owned(), json!(format));
        fields.insert("matches_text".to_owned(), json!(grouped(lines)));
    }
    fields
}

fn grouped(lines: &[FoundLine]) -> String {
    let mut out = String::new();
    let mut before: Option<&FoundLine> = None;
    for line in lines {
        let same_file = before.is_some_and(|last| last.path == line.path);
        if !same_file {
            if before.is_some() {
                out.push('\n');
            }
            out.push_str(&text(&line.path));
            out.push('\n');
        } else if before.is_some_and(|last| !last.matched || !line.matched) && !follows(before, line) {
            out.push_str("--\n");
        }
        let mark = if line.matched { ":" } else { "-" };
        out.extend([&line.number.to_string(), mark, &line.text, "\n"]);
        before = Some(line);
    }
    out
}

fn follows(before: Option<&FoundLine>, line: &FoundLine) -> bool {
    before.is_some_and(|last| last.number + 1 == line.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, number: u64, text: &str, matched: bool) -> FoundLine {
        FoundLine { path: path.into(), number, text: text.to_owned(), matched }
    }

    #[test]
    fn few_matches_come_one_by_one() {
        let fields = Value::Object(matches(&[found("a.rs", 3, "x", true)]));

        assert_eq!(fields, json!({ "matches": [{ "path": "a.rs", "line": 3, "content": "x" }] }));
    }

    #[test]
    fn context_is_told_apart_and_gaps_are_shown() {
        let lines = [
            found("a.rs", 1, "one", false),
            found("a.rs", 2, "two", true),
            found("a.rs", 9, "nine", false),
            found("b.rs", 1, "first", true),
        ];

        assert_eq!(grouped(&lines), "a.rs\n1-one\n2:two\n--\n9-nine\n\nb.rs\n1:first\n");
    }

    #[test]
    fn a_page_that_is_cut_says_where_the_next_begins() {
        let search: SearchFiles =
            serde_json::from_value(json!({ "pattern": "x", "limit": 2, "offset": 4 })).unwrap();
        let report = SearchReport { total: 9, stopped: Some(SearchStop::Limit), ..SearchReport::default() };

        let answer = search.answer(&report);

        assert_eq!(answer["truncated"], true);
        assert_eq!(answer["next_offset"], 6);
        assert_eq!(answer["total_count"], 9);
    }

    #[test]
    fn limits_are_held_to_what_we_serve() {
        let search: SearchFiles =
            serde_json::from_value(json!({ "pattern": "x", "limit": 1_000_000, "context": 500 })).unwrap();

        let query = search.query();

        assert_eq!(query.limit, MAX_LIMIT);
        assert!(matches!(query.target, SearchTarget::Content { context: MAX_CONTEXT, .. }));
    }
}
