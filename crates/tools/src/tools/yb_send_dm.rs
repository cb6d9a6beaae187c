//! `yb_send_dm`: writes to one person on Yuanbao.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use hermes_core::yuanbao::{Direct, Media};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{id, needed};
use crate::toolsets::hermes_yuanbao;
use crate::yuanbao::{self as lib, only};

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<SendDm>("yb_send_dm", &hermes_yuanbao::TOOLSET).emoji("✉️").gate(lib::gate).untrusted();

/// Most files with one message, and how large each may be.
const MOST_FILES: usize = 10;
const MAX_BYTES: u64 = 20 * 1024 * 1024;

/// Write a direct message to somebody on Yuanbao, with text, files or both. Name them by their user id, or
/// by a group they are in and their name there.
#[derive(Deserialize, JsonSchema)]
struct SendDm {
    /// Code of a group they are in
    group_code: Option<String>,
    /// Their name in the group
    name: Option<String>,
    /// What to say
    message: Option<String>,
    /// Their user id, instead of a name
    user_id: Option<String>,
    /// Files to send with it
    media_files: Option<Vec<MediaFile>>,
}

/// A file.
#[derive(Deserialize, JsonSchema)]
struct MediaFile {
    /// Where it is
    path: String,
    /// Whether it is to be heard as a voice message
    is_voice: Option<bool>,
}

impl Tool for SendDm {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let whom = self.user_id.as_deref().or(self.name.as_deref()).unwrap_or_default();
        let group =
            self.group_code.as_ref().map(|group| format!(" of the group {group}")).unwrap_or_default();
        let paths: Vec<_> = self.files().map(|file| place.resolve(&file.path)).collect();
        let files: Vec<String> = paths.iter().map(|path| format!(" [{}]", path.display())).collect();
        let text = self.message.as_deref().unwrap_or_default().trim();
        let detail = format!("write to {whom}{group}: {text}{}", files.concat());
        lib::sends(&detail).into_iter().chain(paths.into_iter().map(Effect::Read)).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let text = self.message.as_deref().unwrap_or_default().trim().to_owned();
        if text.is_empty() && self.files().next().is_none() {
            return Err(ToolError::Arguments(
                "there is nothing to send: give message or media_files".to_owned(),
            ));
        }
        let group = self.group_code.as_deref().map(|code| id(code, "group_code")).transpose()?;
        let user = match self.user_id.as_deref().map(str::trim).filter(|user| !user.is_empty()) {
            Some(user) => id(user, "user_id")?.to_owned(),
            None => self.found(cx, group).await?,
        };
        let media = self.media(cx).await?;
        let message = Direct { user: user.clone(), group: group.map(str::to_owned), text, media };
        let sent = lib::desk(cx)?.send_direct(lib::permit(cx)?, message).await.map_err(lib::failed)?;
        Ok(json!({ "success": true, "user_id": user, "chat_id": sent.chat, "message_id": sent.message }))
    }
}

impl SendDm {
    fn files(&self) -> impl Iterator<Item = &MediaFile> {
        self.media_files.iter().flatten()
    }

    /// The id of whom the name means.
    async fn found(&self, cx: &ToolCx, group: Option<&str>) -> Result<String, ToolError> {
        let name = needed(self.name.as_deref(), "user_id, or name and group_code", "sending")?;
        let group = needed(group, "group_code", "a name")?;
        let members = lib::desk(cx)?.members(lib::permit(cx)?, group).await.map_err(lib::failed)?;
        only(&members, name).map(|member| member.id.clone())
    }

    async fn media(&self, cx: &ToolCx) -> Result<Vec<Media>, ToolError> {
        if self.files().count() > MOST_FILES {
            return Err(ToolError::Arguments(format!("at most {MOST_FILES} files go with one message")));
        }
        let mut media = Vec::new();
        for file in self.files() {
            let path = cx.files().real_path(&file.path);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = cx.files().whole(&path, MAX_BYTES).await?.bytes;
            media.push(Media { name, bytes, is_voice: file.is_voice.unwrap_or_default() });
        }
        Ok(media)
    }
}
