//! `yb_send_sticker`: sends a sticker to a Yuanbao chat.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::needed;
use crate::toolsets::hermes_yuanbao;
use crate::yuanbao::{self as lib, fitting};

pub(crate) const TOOL: ToolDef = ToolDef::of::<SendSticker>("yb_send_sticker", &hermes_yuanbao::TOOLSET)
    .emoji("🎨")
    .gate(lib::gate)
    .untrusted();

/// Send a sticker to a Yuanbao chat: the one at hand, or another. `yb_search_sticker` finds stickers.
#[derive(Deserialize, JsonSchema)]
struct SendSticker {
    /// Which: its name or its id
    sticker: Option<String>,
    /// Where to; the chat at hand if left out
    chat_id: Option<String>,
    /// Id of the message it answers
    reply_to: Option<String>,
}

impl Tool for SendSticker {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let place = self.chat_id.as_deref().unwrap_or("this chat");
        lib::sends(&format!("send the sticker {:?} to {place}", self.sticker.as_deref().unwrap_or_default()))
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let wish = needed(self.sticker.as_deref(), "sticker", "sending")?;
        let desk = lib::desk(cx)?;
        let chat = self.chat_id.as_deref().map(str::trim).filter(|chat| !chat.is_empty()).map(str::to_owned);
        let Some(chat) = chat.or_else(|| desk.chat()) else {
            return Err(ToolError::Arguments("chat_id is needed: this is no Yuanbao chat".to_owned()));
        };
        let all = desk.stickers(lib::permit(cx)?).await.map_err(lib::failed)?;
        let Some(sticker) = fitting(&all, wish).first().copied() else {
            return Err(ToolError::Failed(format!(
                "no sticker shows {wish:?}; yb_search_sticker finds some"
            )));
        };
        let reply_to = self.reply_to.as_deref();
        let sent =
            desk.send_sticker(lib::permit(cx)?, &chat, sticker, reply_to).await.map_err(lib::failed)?;
        Ok(json!({
            "success": true,
            "chat_id": sent.chat,
            "message_id": sent.message,
            "sticker": { "sticker_id": sticker.id, "name": sticker.name },
        }))
    }
}
