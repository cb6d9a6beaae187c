//! `read_file`: a page of a text file, with line numbers.

use std::fmt::Write as _;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::{FileError, FilePage, PageRequest, TextPage, WholeFile};
use hermes_core::host;
use hermes_core::loop_guard::digest;
use hermes_core::outcome::Attachment;
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Reply, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::choice::choosable;
use crate::documents::{self, Document, Extracted, MAX_DOCUMENT};
use crate::pictures;
use crate::read_log::{PageKey, Seen, with_log};
use crate::toolsets::file;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ReadFile>("read_file", &file::TOOLSET)
    .emoji("📖")
    .max_result(MaxSize::Unlimited)
    .read_only()
    .placed()
    .dynamic(choosable);

/// Longest line shown, in characters.
const MAX_LINE: usize = 2_000;

/// Longest page, in characters.
const MAX_PAGE: usize = 100_000;

/// Read a text file with line numbers, page by page. Use this instead of cat, head or tail.
/// Lines come as `number|text`; `total_lines` and `next_offset` say how to go on. Notebooks, Word
/// documents, spreadsheets and PDF files are shown as text. PNG, JPEG, GIF and WebP images are shown
/// as images to models that see; other binary files are recognised and not shown.
#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// Path of the file: absolute, relative to the working directory, or ~/path
    path: String,
    /// First line to read, counted from 1
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    offset: u64,
    /// Most lines to read
    #[serde(default = "page")]
    #[schemars(range(max = 2000))]
    limit: u64,
}

fn first() -> u64 {
    1
}

fn page() -> u64 {
    500
}

impl Tool for ReadFile {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        vec![Effect::Read(place.resolve(&self.path))]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        self.read(cx).await.map(|(answer, _)| answer)
    }

    async fn reply(self, cx: &ToolCx) -> Result<Reply, ToolError> {
        let (answer, picture) = self.read(cx).await?;
        Ok(match picture {
            Some(picture) => Reply::Attached(answer, vec![picture]),
            None => Reply::Json(answer),
        })
    }
}

impl ReadFile {
    async fn read(&self, cx: &ToolCx) -> Result<(Value, Option<Attachment>), ToolError> {
        let request = PageRequest {
            first: self.offset,
            count: self.limit,
            max_line_chars: MAX_LINE,
            max_chars: MAX_PAGE,
        };
        if let Some(answer) = self.document(cx, request).await {
            return Ok((answer, None));
        }
        let answer = match cx.files().page(&self.path, request).await {
            Ok(FilePage::Text(page)) => {
                let cut = page.lines.iter().any(|line| line.cut_chars > 0);
                let lines = u64::try_from(page.lines.len()).unwrap_or(u64::MAX);
                let whole = self.offset == 1 && !cut && lines == page.total_lines;
                self.unless_known(cx, &page, Seen { stamp: page.stamp, whole })
            }
            Ok(FilePage::Image { file_size, media_type }) if !pictures::can_be_shown(media_type) => {
                not_shown(&format!("an image ({media_type})"), "it cannot be read as text", file_size, true)
            }
            Ok(FilePage::Image { file_size, media_type }) if file_size > Attachment::MAX_BYTES => {
                let most = Attachment::MAX_BYTES / (1024 * 1024);
                let why =
                    format!("it is larger than the {most} MB that can be shown; make a smaller copy of it");
                not_shown(&format!("an image ({media_type})"), &why, file_size, true)
            }
            Ok(FilePage::Image { media_type, .. }) => return self.picture(cx, media_type).await,
            Ok(FilePage::Binary { file_size }) => {
                not_shown("a binary file", "it cannot be read as text", file_size, false)
            }
            Err(ToolError::File(missing @ FileError::Missing { .. })) => not_found(&missing),
            Err(other) => return Err(other),
        };
        Ok((answer, None))
    }

    /// An image, for models that see, and what can be said about it to those that do not.
    async fn picture(&self, cx: &ToolCx, media_type: &str) -> Result<(Value, Option<Attachment>), ToolError> {
        let path = cx.files().real_path(&self.path);
        let bytes = cx.files().whole(&path, Attachment::MAX_BYTES).await?.bytes;
        let mut answer = json!({
            "type": "image",
            "media_type": media_type,
            "bytes": bytes.len(),
            "content": "",
            "file_size": bytes.len(),
            "is_binary": true,
            "is_image": true,
            "hint": "the image itself comes with this result for models that see",
        });
        if let Some((width, height)) = pictures::size(&bytes) {
            answer = with(with(answer, "width", json!(width)), "height", json!(height));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let picture = Attachment { media_type: media_type.to_owned(), name, bytes: bytes.into() };
        Ok((answer, Some(picture)))
    }

    /// A page of the text of a document; nothing when the file is none that can be read.
    async fn document(&self, cx: &ToolCx, request: PageRequest) -> Option<Value> {
        let path = cx.files().real_path(&self.path);
        let kind = Document::of(&path)?;
        let WholeFile { bytes, stamp, .. } = cx.files().whole(&path, MAX_DOCUMENT).await.ok()?;
        let file_size = stamp.size;
        let answer = match host::blocking(cx.host(), move || kind.text(bytes)).await.ok()? {
            Extracted::Text(text) => {
                let page = TextPage { file_size, stamp, ..documents::page(&text, request) };
                self.unless_known(cx, &page, Seen { stamp, whole: false })
            }
            Extracted::Unreadable(why) => {
                with(not_shown("a document", "", file_size, false), "error", json!(why))
            }
            Extracted::Other => return None,
        };
        Some(with(answer, "extracted_document", json!(kind.word())))
    }

    /// The page, or only that it is the same as before when the model has it already.
    fn unless_known(&self, cx: &ToolCx, page: &TextPage, seen: Seen) -> Value {
        let answer = shown(self.offset, page);
        let path = cx.files().real_path(&self.path);
        let key = PageKey { path: path.clone(), offset: self.offset, limit: self.limit };
        let content = answer.get("content").map_or(0, digest);
        let times = with_log(cx, |log| {
            log.saw(&path, seen);
            log.shown(key, content)
        });
        match times.unwrap_or(1) {
            2 if !page.lines.is_empty() => unchanged(&self.path, page),
            times @ 3.. => {
                let warning = format!(
                    "This is reading {times} of the same unchanged lines; go on with what they say instead of \
                     reading them again."
                );
                with(answer, "_warning", json!(warning))
            }
            _ => answer,
        }
    }
}

fn with(mut answer: Value, key: &str, value: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
    answer
}

/// The model was shown these lines before, and they still say the same.
fn unchanged(path: &str, page: &TextPage) -> Value {
    json!({
        "status": "unchanged",
        "dedup": true,
        "content_returned": false,
        "path": path,
        "total_lines": page.total_lines,
        "file_size": page.file_size,
        "hint": "these lines are the same as when they were read earlier in this session; use that reading. \
                 Reading them once more shows them again.",
    })
}

fn shown(first: u64, page: &TextPage) -> Value {
    let count = u64::try_from(page.lines.len()).unwrap_or(u64::MAX);
    let next = first.saturating_add(count);
    let truncated = next <= page.total_lines && count > 0;
    let mut answer = json!({
        "content": numbered(first, page),
        "total_lines": page.total_lines,
        "file_size": page.file_size,
        "truncated": truncated,
        "is_binary": false,
        "is_image": false,
    });
    let mut add = |key: &str, value: Value| {
        if let Some(fields) = answer.as_object_mut() {
            fields.insert(key.to_owned(), value);
        }
    };
    if truncated {
        add("next_offset", json!(next));
        add("truncated_by", json!(if page.ended_by.is_some() { "characters" } else { "lines" }));
    }
    if page.lossy {
        add("hint", json!("some bytes are not valid text and are shown as \u{fffd}"));
    } else if count == 0 && page.total_lines > 0 {
        add("hint", json!(format!("the file ends at line {}", page.total_lines)));
    } else if page.total_lines == 0 {
        add("hint", json!("the file is empty"));
    }
    answer
}

/// The lines with their numbers in front.
fn numbered(first: u64, page: &TextPage) -> String {
    let mut text = String::with_capacity(page.lines.text().len() + page.lines.len() * 8);
    let mut number = Digits::of(first);
    for line in page.lines.iter() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(number.as_str());
        text.push('|');
        text.push_str(line.text);
        if line.cut_chars > 0 {
            // Writing into a string cannot fail.
            let _ = write!(text, " [… {} more characters]", line.cut_chars);
        }
        number.step();
    }
    text
}

/// A number as it is written, which counts up. Formatting each by itself takes longer than all the rest
/// of a page.
struct Digits(String);

impl Digits {
    fn of(number: u64) -> Self {
        Self(number.to_string())
    }

    fn as_str(&self) -> &str {
        &self.0
    }

    fn step(&mut self) {
        let nines = self.0.bytes().rev().take_while(|digit| *digit == b'9').count();
        let kept = self.0.len() - nines;
        self.0.truncate(kept);
        // A number of nines only gets one more digit.
        let raised = self
            .0
            .pop()
            .map_or('1', |digit| char::from_digit(digit.to_digit(10).unwrap_or(0) + 1, 10).unwrap_or('0'));
        self.0.push(raised);
        self.0.extend(std::iter::repeat_n('0', nines));
    }
}

fn not_shown(what: &str, why: &str, file_size: u64, is_image: bool) -> Value {
    json!({
        "content": "",
        "total_lines": 0,
        "file_size": file_size,
        "truncated": false,
        "is_binary": true,
        "is_image": is_image,
        "error": format!("this is {what}; {why}"),
    })
}

fn not_found(missing: &FileError) -> Value {
    let similar = match missing {
        FileError::Missing { similar, .. } => similar.as_slice(),
        _ => &[],
    };
    json!({ "error": missing.to_string(), "similar_files": similar })
}

#[cfg(test)]
mod tests {
    use hermes_core::files::{PageEnd, PageLines};

    use super::*;

    fn lines(all: &[(&str, usize)]) -> PageLines {
        let mut lines = PageLines::default();
        for (text, cut_chars) in all {
            lines.push(text, *cut_chars);
        }
        lines
    }

    #[test]
    fn numbers_count_up_as_they_are_written() {
        let mut digits = Digits::of(1);

        for number in 1..12_000_u64 {
            assert_eq!(digits.as_str(), number.to_string());
            digits.step();
        }
    }

    #[test]
    fn numbers_go_on_from_the_offset_and_cut_lines_say_so() {
        let page = TextPage { lines: lines(&[("a", 0), ("b", 7)]), ..TextPage::default() };

        assert_eq!(numbered(9, &page), "9|a\n10|b [… 7 more characters]");
    }

    #[test]
    fn a_page_in_the_middle_says_where_to_go_on() {
        let page =
            TextPage { lines: lines(&[("a", 0)]), total_lines: 3, file_size: 6, ..TextPage::default() };

        let answer = shown(2, &page);

        assert_eq!(answer["truncated"], true);
        assert_eq!(answer["next_offset"], 3);
        assert_eq!(answer["truncated_by"], "lines");
    }

    #[test]
    fn a_page_that_ended_early_says_why() {
        let ended_by = Some(PageEnd::Chars);
        let page = TextPage { lines: lines(&[("a", 0)]), total_lines: 3, ended_by, ..TextPage::default() };

        assert_eq!(shown(1, &page)["truncated_by"], "characters");
    }

    #[test]
    fn past_the_end_there_is_a_hint_and_nothing_else_to_read() {
        let page = TextPage { total_lines: 3, file_size: 6, ..TextPage::default() };

        let answer = shown(10, &page);

        assert_eq!(answer["truncated"], false);
        assert_eq!(answer["hint"], "the file ends at line 3");
    }
}
