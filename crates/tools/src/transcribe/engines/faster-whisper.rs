//! faster-whisper, a library of Python: `stt.local.python` names a Python that has it.

use crate::template::line;
use crate::transcribe::plan::{Engine, Wish};

pub(crate) const ENGINE: Engine = Engine {
    name: "faster-whisper",
    order: 40,
    // That there is a Python says nothing about what it has.
    program: None,
    had_by: "pip install faster-whisper, and its Python in stt.local.python",
    script: Some(SCRIPT),
    line: |wish| Ok(command(wish)),
};

const SCRIPT: &str = r#"import sys
from faster_whisper import WhisperModel

recording, text, model, language = sys.argv[1:]
parts, _ = WhisperModel(model, device="auto").transcribe(recording, language=language or None)
with open(text, "w", encoding="utf-8") as out:
    out.write("".join(part.text for part in parts).strip())
"#;

fn command(wish: &Wish<'_>) -> String {
    let python = wish.python.as_deref().unwrap_or("python3");
    let (script, input, text) = (wish.script(), wish.input, wish.text());
    line(&[
        python,
        &script.to_string_lossy(),
        &input.to_string_lossy(),
        &text.to_string_lossy(),
        wish.model.as_deref().unwrap_or("base"),
        wish.language.as_deref().unwrap_or_default(),
    ])
}
