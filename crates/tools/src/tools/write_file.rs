//! `write_file`: a whole file, new or in place of another.

use std::path::Path;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::files::{Change, WholeFile};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::choice::choosable;
use crate::edited::{Extent, as_read, existing, note, outside, remember, shown, stale};
use crate::guard_rails::not_a_reading;
use crate::lint::lint;
use crate::matching::lines::Ends;
use crate::text_file::{Encoding, TextFile};
use crate::toolsets::file;

pub(crate) const TOOL: ToolDef = ToolDef::of::<WriteFile>("write_file", &file::TOOLSET)
    .emoji("✍️")
    .max_result(MaxSize::Chars(100_000))
    .placed()
    .dynamic(choosable);

/// Write a whole file: a new one, or in place of everything an existing one holds. Missing
/// directories are made. An existing file keeps its mode, line ends and encoding. The result says
/// whether JSON, YAML, TOML or Python content still parses. To change a part of a file, edit that
/// part instead.
#[derive(Deserialize, JsonSchema)]
struct WriteFile {
    /// Path of the file: absolute, relative to the working directory, or ~/path
    path: String,
    /// Everything the file is to hold, without line numbers
    content: String,
    /// Set only when the user asked for a file of another profile to be written
    #[serde(default)]
    #[expect(dead_code, reason = "policy reads it in the arguments")]
    cross_profile: bool,
}

impl Tool for WriteFile {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        vec![Effect::Write(place.resolve(&self.path))]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        if let Err(why) = not_a_reading(&self.content) {
            return Ok(json!({ "error": why }));
        }
        let path = cx.files().real_path(&self.path);
        let old = existing(cx, &path).await?;
        let mut warnings: Vec<String> = outside(cx, &self.path).into_iter().collect();
        let (bytes, encoding_note) = encoded(&self.content, old.as_ref());
        warnings.extend(encoding_note);
        if let Some(old) = &old {
            if old.bytes == bytes {
                return Ok(unchanged(&path, bytes.len()));
            }
            warnings.extend(stale(cx, &path, old.stamp, Extent::Whole));
        }
        let bytes_written = bytes.len();
        let change = Change::Put {
            permit: cx.may_write(&path)?,
            content: bytes.into(),
            expect: as_read(old.as_ref()),
        };
        let applied = cx.files().change(vec![change]).await?;
        remember(cx, &applied.changed);
        warnings.extend(applied.not_kept);

        let old_text = old.and_then(|old| TextFile::decode(old.bytes)).map(|file| file.text);
        let mut answer = Map::new();
        answer.insert("bytes_written".to_owned(), json!(bytes_written));
        let made_dirs = applied.changed.iter().any(|change| change.dirs_created);
        answer.insert("dirs_created".to_owned(), json!(made_dirs));
        answer.insert("lint".to_owned(), lint(&path, old_text.as_deref(), &self.content).value());
        answer.insert("resolved_path".to_owned(), json!(shown(&path)));
        answer.insert("files_modified".to_owned(), json!([shown(&path)]));
        note(&mut answer, "_warning", &warnings);
        Ok(Value::Object(answer))
    }
}

fn unchanged(path: &Path, bytes: usize) -> Value {
    json!({
        "bytes_written": bytes,
        "dirs_created": false,
        "resolved_path": shown(path),
        "files_modified": [],
        "_hint": "the file held exactly this already; nothing was changed",
    })
}

/// The content the way the old file was written, and a remark when that was not possible.
fn encoded(content: &str, old: Option<&WholeFile>) -> (Vec<u8>, Option<String>) {
    let plain = || content.as_bytes().to_vec();
    let Some(old) = old.filter(|old| !old.bytes.is_empty()) else { return (plain(), None) };
    let Some(old) = TextFile::decode(old.bytes.clone()) else {
        return (plain(), Some("the file was not text before.".to_owned()));
    };
    if old.encoding.is_guess() {
        let note = (!content.is_ascii()).then(|| "the file was not UTF-8 before; it is now.".to_owned());
        return (plain(), note);
    }
    let marked = old.encoding != Encoding::Utf8 { mark: false };
    let content = if marked { content.strip_prefix('\u{FEFF}').unwrap_or(content) } else { content };
    let windows = Ends::of(&old.text) == Ends::Windows && Ends::of(content) == Ends::Unix;
    let text = if windows { &content.replace('\n', "\r\n") } else { content };
    (TextFile::encode(old.encoding, text).unwrap_or_else(|_| plain()), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(old: &[u8], content: &str) -> Vec<u8> {
        encoded(content, Some(&WholeFile { bytes: old.to_vec(), ..WholeFile::default() })).0
    }

    #[test]
    fn the_new_content_is_written_like_the_old() {
        assert_eq!(over(b"a\r\nb\r\n", "x\ny\n"), b"x\r\ny\r\n");
        assert_eq!(over(b"a\r\nb\n", "x\ny\n"), b"x\ny\n");
        assert_eq!(over(b"a\r\n", "x\r\ny\n"), b"x\r\ny\n");
        assert_eq!(over(b"\xEF\xBB\xBFa", "x"), b"\xEF\xBB\xBFx");
        assert_eq!(over(b"\xEF\xBB\xBFa", "\u{FEFF}x"), b"\xEF\xBB\xBFx");
        assert_eq!(over(b"\xFF\xFEa\0", "x"), b"\xFF\xFEx\0");
        assert_eq!(over(b"", "x\n"), b"x\n");
        assert_eq!(over(b"\xE9", "\u{e9}"), "\u{e9}".as_bytes());
    }
}
