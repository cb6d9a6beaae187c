//! Where what was made is kept: in the cache of the state folder, or where the model wants it.

use std::path::{Path, PathBuf};

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::files::{Change, Content, Expect};
use hermes_core::session::Place;

/// Where made things are kept. The composition root hands it out when there is a state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaSettings {
    /// The cache of the state folder.
    pub cache: PathBuf,
}

/// The folder for one kind of things (`audio`, `images`, `videos`); without a state folder, the place
/// where the session stands.
pub(crate) fn folder(settings: Option<&MediaSettings>, place: &Place, kind: &str) -> PathBuf {
    settings.map_or_else(|| place.cwd.clone(), |settings| settings.cache.join(kind))
}

/// What a call that keeps something there has to declare.
pub(crate) fn effect(services: &Services, place: &Place, kind: &str) -> Effect {
    Effect::Write(folder(services.service(), place, kind))
}

/// Keeps bytes under a name in the folder for their kind.
pub(crate) async fn keep(cx: &ToolCx, kind: &str, name: &str, bytes: Vec<u8>) -> Result<PathBuf, ToolError> {
    put(cx, &folder(cx.service(), &cx.place(), kind).join(name), bytes).await
}

/// Puts bytes where a declared path leads.
pub(crate) async fn put(cx: &ToolCx, path: &Path, bytes: Vec<u8>) -> Result<PathBuf, ToolError> {
    let path = cx.files().real_path(&path.to_string_lossy());
    let permit = cx.may_write(&path)?;
    let content = Content { bytes, mode: None };
    cx.files().change(vec![Change::Put { permit, content, expect: Expect::Anything }]).await?;
    Ok(path)
}
