//! A call in few words: what it is about, what it changed, what came back.

use serde_json::{Map, Value};

use crate::chat::text::{Line, Style};

/// Lines of a result shown along the way.
pub(crate) const SHORT: usize = 12;

/// Lines of a result shown when asked for.
pub(crate) const LONG: usize = 400;

/// Lines of a change shown.
const DIFF: usize = 40;

/// Letters of an argument shown.
const VALUE: usize = 200;

/// Arguments that say most, best first.
const TELLING: [&str; 14] = [
    "command",
    "path",
    "file_path",
    "pattern",
    "query",
    "url",
    "urls",
    "code",
    "goal",
    "question",
    "name",
    "action",
    "text",
    "content",
];

/// Before each line that belongs to a call.
const MARGIN: &str = "┊ ";

/// The one argument that tells most.
pub(crate) fn detail(arguments: &Map<String, Value>) -> String {
    let telling = TELLING.iter().find_map(|name| arguments.get(*name).filter(|value| !value.is_null()));
    let value = telling.or_else(|| arguments.values().find(|value| value.is_string()));
    value.map(brief).unwrap_or_default()
}

/// The arguments, one line each.
pub(crate) fn arguments(arguments: &Map<String, Value>, width: usize) -> Vec<Line> {
    let line = |(name, value): (&String, &Value)| {
        Line::faint(&format!("{MARGIN}  {name}: ")).with(&brief(value), Style::FAINT).cut(width)
    };
    arguments.iter().map(line).collect()
}

/// What changed, in colours; all of it when asked for.
pub(crate) fn diff(text: &str, width: usize, whole: bool) -> Vec<Line> {
    let most = if whole { usize::MAX } else { DIFF };
    let line = |line: &str| {
        let style = match line.chars().next() {
            Some('+') if !line.starts_with("+++") => Style::GREEN,
            Some('-') if !line.starts_with("---") => Style::RED,
            Some('@') => Style::CYAN,
            _ => Style::FAINT,
        };
        Line::faint(MARGIN).with(line, style).cut(width)
    };
    some(text.lines().map(line), most)
}

/// What came back: the long texts of it as they are, the rest as JSON.
pub(crate) fn result(text: &str, width: usize, most: usize) -> Vec<Line> {
    let shown = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => fields.iter().map(field).collect::<Vec<_>>().join("\n"),
        Ok(other) => serde_json::to_string_pretty(&other).unwrap_or_default(),
        Err(_) => text.to_owned(),
    };
    some(shown.lines().map(|line| Line::faint(MARGIN).with(line, Style::FAINT).cut(width)), most)
}

fn field((name, value): (&String, &Value)) -> String {
    match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{}", text.trim_end()),
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    }
}

fn some(lines: impl Iterator<Item = Line>, most: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = lines.collect();
    if lines.len() > most {
        let hidden = lines.len() - most;
        lines.truncate(most);
        lines.push(Line::faint(&format!("{MARGIN}… {hidden} more lines")));
    }
    lines
}

fn brief(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let mut short: String = text.chars().take(VALUE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_most_telling_argument_is_chosen() {
        let of = |value: Value| detail(value.as_object().unwrap());

        assert_eq!(of(json!({ "limit": 5, "path": "a.rs", "pattern": "x" })), "a.rs");
        assert_eq!(of(json!({ "odd": "thing", "n": 1 })), "thing");
        assert_eq!(of(json!({ "n": 1 })), "");
    }

    #[test]
    fn a_result_is_shown_as_text_and_cut() {
        let text = json!({ "content": "one\ntwo\nthree", "total_lines": 3 }).to_string();

        let lines: Vec<String> = result(&text, 40, 3).iter().map(Line::text).collect();

        assert_eq!(lines, ["┊ content:", "┊ one", "┊ two", "┊ … 2 more lines"]);
    }
}
