//! `video_gen`: films, made.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("video_gen", "Make a video from a description or a picture, and edit or lengthen one.")
        .tools(&["video_generate", "xai_video_edit", "xai_video_extend"])
        .configurable()
        .default_off();
