//! What a person points at with `@` in a message: files, folders, changes of the repository.
//!
//! What is pointed at is read by the session's own tools, on the road like every call, so that nothing
//! can be pointed at that could not be read. It is put behind the message, within a share of the
//! model's context; what cannot be read, or has no room, is told and left out.

use hermes_core::call::ToolCall;
use hermes_core::model::Part;
use serde_json::{Value, json};

use crate::session::Session;

/// Characters of a token, about.
const CHARS_PER_TOKEN: u64 = 4;
/// Share of the context that may be filled this way, and the share from which it is told, in percent.
const MOST_SHARE: u64 = 50;
const TOLD_SHARE: u64 = 25;
/// The context that is assumed where its size is not known, in tokens.
const USUAL_CONTEXT: u64 = 64_000;
/// Most references of one message.
const MAX_REFERENCES: usize = 32;
/// Most lines of a file, and most names of a folder, which is what the tools give at once.
const MAX_LINES: u64 = 2_000;
const MAX_NAMES: u64 = 500;
/// Most commits.
const MAX_COMMITS: u64 = 10;

/// Something that is pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reference {
    /// `@file:path`, `@file:path:10-20`.
    File { path: String, lines: Option<(u64, u64)> },
    /// `@folder:path`.
    Folder { path: String },
    /// `@diff`: what is changed and not staged.
    Diff,
    /// `@staged`.
    Staged,
    /// `@git:3`: the last commits.
    Commits(u64),
    /// `@url:address`.
    Address(String),
}

/// A message with what it points at, and what is to be told about that.
pub(crate) struct Attached {
    pub(crate) input: Vec<Part>,
    pub(crate) notes: Vec<String>,
}

/// Reads what a message points at and puts it behind the message.
pub(super) async fn attached(session: &Session, mut input: Vec<Part>, context: Option<u64>) -> Attached {
    // A message that is sent again has what it points at behind it already.
    let (before, texts): (Vec<&str>, Vec<&str>) =
        input.iter().filter_map(text_of).partition(|text| text.starts_with(ATTACHED));
    let mut found: Vec<Reference> = texts.into_iter().flat_map(references).collect();
    found.retain(|reference| !before.iter().any(|text| text.starts_with(&opening(reference))));
    let mut notes = Vec::new();
    let window = context.unwrap_or(USUAL_CONTEXT).saturating_mul(CHARS_PER_TOKEN);
    let (most, told) = (window / 100 * MOST_SHARE, window / 100 * TOLD_SHARE);
    let mut used = 0_u64;
    for reference in found.iter().take(MAX_REFERENCES) {
        let name = reference.to_string();
        let text = match read(session, reference).await {
            Ok(text) => text,
            Err(why) => {
                notes.push(format!("{name} was left out: {why}"));
                continue;
            }
        };
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if used.saturating_add(size) > most {
            notes.push(format!("{name} was left out: with it, half of the model's context would be filled"));
            continue;
        }
        used += size;
        input.push(Part::Text { text: format!("{}{text}\n[end of {name}]", opening(reference)) });
    }
    if found.len() > MAX_REFERENCES {
        notes.push(format!("only the first {MAX_REFERENCES} things pointed at with @ were read"));
    }
    if used > told {
        let share = used.saturating_mul(100) / window.max(1);
        notes.push(format!("what was pointed at with @ fills {share} % of the model's context"));
    }
    Attached { input, notes }
}

/// How a text begins that was put behind a message.
const ATTACHED: &str = "\n\n[@";

fn opening(reference: &Reference) -> String {
    format!("\n\n[{reference}]\n")
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        Part::Image { .. } => None,
    }
}

async fn read(session: &Session, reference: &Reference) -> Result<String, String> {
    let (tool, arguments) = match reference {
        Reference::File { path, lines } => {
            let (first, last) = lines.unwrap_or((1, MAX_LINES));
            let limit = last.saturating_sub(first).saturating_add(1).min(MAX_LINES);
            ("read_file", json!({ "path": path, "offset": first, "limit": limit }))
        }
        Reference::Folder { path } => {
            ("search_files", json!({ "pattern": "*", "target": "files", "path": path, "limit": MAX_NAMES }))
        }
        Reference::Diff => ("terminal", json!({ "command": "git --no-pager diff" })),
        Reference::Staged => ("terminal", json!({ "command": "git --no-pager diff --staged" })),
        Reference::Commits(count) => {
            ("terminal", json!({ "command": format!("git --no-pager log --patch --max-count={count}") }))
        }
        Reference::Address(_) => {
            return Err("addresses are not read here; ask the model to look at it".to_owned());
        }
    };
    let outcome = session.call(ToolCall::new(tool, arguments.to_string())).await;
    let body: Value = serde_json::from_str(&outcome.body).unwrap_or_default();
    if let Some(why) = body.get("error").and_then(Value::as_str).filter(|why| !why.is_empty()) {
        return Err(why.to_owned());
    }
    shown(reference, &body)
}

/// What a tool answered, as a text.
fn shown(reference: &Reference, body: &Value) -> Result<String, String> {
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| body.get(key).and_then(Value::as_u64);
    match reference {
        Reference::File { lines, .. } => {
            if body.get("dedup").and_then(Value::as_bool) == Some(true) {
                return Err("the model has it already, and it is unchanged".to_owned());
            }
            if body.get("is_binary").and_then(Value::as_bool) == Some(true) {
                return Err("it is not a text".to_owned());
            }
            let content = text("content").ok_or("it could not be read")?;
            let more = number("next_offset").filter(|_| lines.is_none());
            Ok(match more {
                Some(next) => format!("{content}\n(it goes on from line {next})"),
                None => content,
            })
        }
        Reference::Folder { .. } => {
            let files = body.get("files").and_then(Value::as_array).ok_or("it could not be listed")?;
            let mut names: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
            names.sort_unstable();
            Ok(if names.is_empty() { "(empty)".to_owned() } else { names.join("\n") })
        }
        _ => match number("exit_code") {
            Some(0) => {
                Ok(text("output").filter(|out| !out.is_empty()).unwrap_or_else(|| "(none)".to_owned()))
            }
            _ => Err(text("output").unwrap_or_else(|| "git could not tell".to_owned())),
        },
    }
}

/// What a text points at, in order, each once.
fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut before = None;
    for (at, sign) in text.char_indices() {
        let begins = sign == '@' && before.is_none_or(|c: char| c.is_whitespace() || "([{\"'".contains(c));
        before = Some(sign);
        if let Some(reference) = begins.then(|| text.get(at + 1..)).flatten().and_then(reference)
            && !found.contains(&reference)
        {
            found.push(reference);
        }
    }
    found
}

/// What the words behind an `@` point at.
fn reference(words: &str) -> Option<Reference> {
    let word = words.split(char::is_whitespace).next()?;
    match word.trim_end_matches(CLOSING) {
        "diff" => return Some(Reference::Diff),
        "staged" => return Some(Reference::Staged),
        _ => {}
    }
    let (kind, rest) = words.split_once(':')?;
    match kind {
        "file" => {
            let (path, behind) = path(rest)?;
            let (path, lines) = match (lines(behind), path.rsplit_once(':')) {
                (Some(lines), _) => (path, Some(lines)),
                (None, Some((name, tail))) => match lines_of(tail) {
                    Some(lines) => (name.to_owned(), Some(lines)),
                    None => (path.clone(), None),
                },
                (None, None) => (path, None),
            };
            Some(Reference::File { path, lines })
        }
        "folder" => path(rest).map(|(path, _)| Reference::Folder { path }),
        "git" => {
            let count = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
            Some(Reference::Commits(u64::clamp(count, 1, MAX_COMMITS)))
        }
        "url" => path(rest).map(|(address, _)| Reference::Address(address)),
        _ => None,
    }
}

/// Signs that end a sentence and not a name.
const CLOSING: [char; 9] = [',', '.', ';', ':', '!', '?', ')', ']', '}'];

/// A path, in quotes or up to the next space, and what is behind it.
fn path(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let (path, behind) = if let Some(quote) = quote {
        text.get(1..)?.split_once(quote)?
    } else {
        let word = text.split(char::is_whitespace).next()?;
        (word.trim_end_matches(CLOSING).trim_end_matches(['"', '\'']), "")
    };
    (!path.is_empty()).then(|| (path.to_owned(), behind))
}

/// `:10-20` behind a path in quotes.
fn lines(behind: &str) -> Option<(u64, u64)> {
    let word = behind.strip_prefix(':')?.split(char::is_whitespace).next()?;
    lines_of(word.trim_end_matches(CLOSING))
}

/// `10-20`, or `10` for that line alone.
fn lines_of(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && last >= first).then_some((first, last))
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, lines: Some((first, last)) } => write!(f, "@file:{path}:{first}-{last}"),
            Self::File { path, lines: None } => write!(f, "@file:{path}"),
            Self::Folder { path } => write!(f, "@folder:{path}"),
            Self::Diff => f.write_str("@diff"),
            Self::Staged => f.write_str("@staged"),
            Self::Commits(count) => write!(f, "@git:{count}"),
            Self::Address(address) => write!(f, "@url:{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: Option<(u64, u64)>) -> Reference {
        Reference::File { path: path.to_owned(), lines }
    }

    #[test]
    fn what_is_pointed_at_is_found_in_order_and_once() {
        let text = "See @file:src/main.rs:10-20, @folder:docs/ and (@diff). Again @diff, @staged! @git:3?";

        let expected = [
            file("src/main.rs", Some((10, 20))),
            Reference::Folder { path: "docs/".to_owned() },
            Reference::Diff,
            Reference::Staged,
            Reference::Commits(3),
        ];
        assert_eq!(references(text), expected);
    }

    #[test]
    fn names_may_have_spaces_in_quotes_and_colons_without() {
        assert_eq!(references("@file:\"my notes.txt\":7"), [file("my notes.txt", Some((7, 7)))]);
        assert_eq!(references("@file:'a b'"), [file("a b", None)]);
        assert_eq!(references("@file:a:b.txt"), [file("a:b.txt", None)]);
        assert_eq!(references("@file:x:20-10"), [file("x:20-10", None)]);
    }

    #[test]
    fn addresses_of_people_and_other_words_are_not_meant() {
        for text in
            ["me@diff", "mail me@file:x", "@someone", "@file:", "@file: x", "@different", "@git:many", "@"]
        {
            assert_eq!(references(text), [], "{text}");
        }
    }

    #[test]
    fn each_kind_of_answer_is_shown_as_a_text() {
        let long = json!({ "content": "1|a", "total_lines": 9, "next_offset": 2 });
        let names = json!({ "files": ["b", "a"] });

        assert_eq!(shown(&file("x", None), &long).unwrap(), "1|a\n(it goes on from line 2)");
        assert_eq!(shown(&file("x", Some((1, 1))), &long).unwrap(), "1|a");
        assert!(shown(&file("x", None), &json!({ "content": "", "is_binary": true })).is_err());
        assert_eq!(shown(&Reference::Folder { path: ".".into() }, &names).unwrap(), "a\nb");
        assert_eq!(shown(&Reference::Diff, &json!({ "output": "", "exit_code": 0 })).unwrap(), "(none)");
        assert!(shown(&Reference::Diff, &json!({ "output": "no repository", "exit_code": 128 })).is_err());
    }
}
