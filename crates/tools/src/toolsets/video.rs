//! `video`: films, looked at.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("video", "Watch a video and answer questions about it.")
    .tools(&["video_analyze"])
    .configurable()
    .default_off();
