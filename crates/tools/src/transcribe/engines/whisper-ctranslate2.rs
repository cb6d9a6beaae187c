//! Whisper over `CTranslate2`: the same words as the original takes, and several times as fast.

use super::whisper;
use crate::transcribe::plan::Engine;

pub(crate) const ENGINE: Engine = Engine {
    name: "whisper-ctranslate2",
    order: 10,
    program: Some("whisper-ctranslate2"),
    had_by: "pip install whisper-ctranslate2",
    script: None,
    line: |wish| Ok(whisper::command(wish)),
};
