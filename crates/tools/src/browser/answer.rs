//! What answers of the browser tools have in common.

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::capture::{Captured, Detail};
use crate::browser::page::Settled;

/// Most characters of a snapshot; what is longer is kept in a file.
const MAX_SNAPSHOT: usize = 15_000;

/// Titles of pages that want to see a person.
const BOT_WORDS: [&str; 11] = [
    "access denied",
    "access to this page has been denied",
    "are you a robot",
    "attention required",
    "blocked",
    "bot detection",
    "captcha",
    "checking your browser",
    "just a moment",
    "security check",
    "verify you are human",
];

/// Adds a field.
pub(crate) fn with(mut answer: Value, key: &str, value: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
    answer
}

/// Adds what else there is to know: dialogs that wait, what was not let through, a page that still loads.
pub(crate) fn with_news(mut answer: Value, browser: &Browser, settled: Settled) -> Value {
    let dialogs: Vec<Value> =
        browser.wire.state(|state| state.dialogs().iter().map(super::Dialog::shown).collect());
    if !dialogs.is_empty() {
        answer = with(answer, "pending_dialogs", Value::Array(dialogs));
        let words = "the page waits for an answer to its dialog: browser_dialog gives one";
        answer = with(answer, "note", json!(words));
    } else if settled == Settled::Loading {
        answer = with(answer, "note", json!("the page is still loading"));
    }
    let refused = browser.refused();
    if refused.is_empty() { answer } else { with(answer, "blocked_requests", json!(refused)) }
}

/// The answer about a page with its snapshot.
pub(crate) async fn with_snapshot(
    cx: &ToolCx,
    browser: &Browser,
    answer: Value,
    detail: Detail,
    name: &str,
) -> Result<Value, ToolError> {
    let Some(Captured { snapshot, url, frames }) = browser.capture(detail).await? else {
        return Ok(with(with(answer, "snapshot", json!("")), "element_count", json!(0)));
    };
    let mut answer = with(answer, "url", json!(url));
    answer = with(answer, "title", json!(snapshot.title));
    let shown = shortened(cx, snapshot.text, name).await;
    answer = with(answer, "snapshot", json!(shown));
    answer = with(answer, "element_count", json!(snapshot.shown.len()));
    if !frames.is_empty() {
        answer = with(answer, "frame_tree", Value::Array(frames));
    }
    let title = snapshot.title.to_lowercase();
    if BOT_WORDS.iter().any(|words| title.contains(words)) {
        let words = format!(
            "the title {:?} suggests that the site wants to see a person; another source may serve better",
            snapshot.title
        );
        answer = with(answer, "bot_detection_warning", json!(words));
    }
    Ok(answer)
}

/// The text as far as it is shown; the whole of it is kept where it can be read on.
async fn shortened(cx: &ToolCx, text: String, name: &str) -> String {
    let Some((shown, line)) = cut(&text) else { return text };
    let shown = shown.to_owned();
    let left = text.chars().count() - shown.chars().count();
    match cx.keep(name, text).await {
        Some(path) => format!(
            "{shown}\n[{left} characters are left out; the whole snapshot is in {}, go on from line {line}]",
            path.display()
        ),
        None => format!("{shown}\n[{left} characters are left out]"),
    }
}

/// The whole lines that fit, and the number of the first one that does not; nothing when all do.
fn cut(text: &str) -> Option<(&str, usize)> {
    let (end, _) = text.char_indices().nth(MAX_SNAPSHOT)?;
    let head = text.get(..end)?;
    // A single line that is too long is cut where it may be.
    let shown = head.rfind('\n').and_then(|at| head.get(..at)).unwrap_or(head);
    Some((shown, shown.lines().count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_snapshot_is_cut_between_lines() {
        let line = "- text: word\n";
        let text = line.repeat(2 * MAX_SNAPSHOT / line.len());

        let (shown, next) = cut(&text).unwrap();

        assert!(shown.ends_with("word") && shown.len() <= MAX_SNAPSHOT);
        assert_eq!(text.lines().nth(next - 1), Some("- text: word"));
        assert_eq!(shown.lines().count(), next - 1);
        assert_eq!(cut("short"), None);
        assert_eq!(
            cut(&"é".repeat(MAX_SNAPSHOT + 1)).map(|(shown, next)| (shown.chars().count(), next)),
            Some((MAX_SNAPSHOT, 2))
        );
    }
}
