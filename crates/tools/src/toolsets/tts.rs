//! `tts`: speech.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("tts", "Turn text into speech.")
    .tools(&["text_to_speech"])
    .configurable()
    .legacy("tts_tools", &["text_to_speech"]);
