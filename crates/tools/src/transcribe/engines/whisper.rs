//! Whisper as `OpenAI` publishes it.

use crate::template::line;
use crate::transcribe::plan::{Engine, Wish};

pub(crate) const ENGINE: Engine = Engine {
    name: "whisper",
    order: 20,
    program: Some("whisper"),
    had_by: "pip install openai-whisper",
    script: None,
    line: |wish| Ok(command(wish)),
};

/// The words that its command line takes, and those of programs that took them over.
pub(super) fn command(wish: &Wish<'_>) -> String {
    let model = wish.model.as_deref().unwrap_or("base");
    let folder = wish.base.parent().unwrap_or(wish.base).to_string_lossy();
    let input = wish.input.to_string_lossy();
    let mut words =
        vec![wish.program, &input, "--model", model, "--output_format", "txt", "--output_dir", &folder];
    if let Some(language) = &wish.language {
        words.extend(["--language", language]);
    }
    line(&words)
}
