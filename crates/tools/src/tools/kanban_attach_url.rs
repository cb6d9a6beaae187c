//! `kanban_attach_url`: a file from the web to be kept with a task.

use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::kanban::{MAX_ATTACHMENT, NewAttachment};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use hermes_core::web::{Reach, WebReply, WebRequest, host_in};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kanban::{Desk, SLOT, for_workers, refused, said};
use crate::toolsets::kanban;
use crate::web::address::carries_secret;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanAttachUrl>("kanban_attach_url", &kanban::TOOLSET).emoji("📎").gate(for_workers);

/// Longest wait for the whole file.
const PATIENCE: Duration = Duration::from_mins(1);

/// Attach a file from the web to a task of the board: it is fetched now, up to 25 MB, and kept with the
/// task, so that it is there when the address no longer is.
#[derive(Deserialize, JsonSchema)]
struct KanbanAttachUrl {
    /// The task; your own if left out
    task_id: Option<String>,
    /// Address of the file, http or https
    url: String,
    /// Name to keep it under, without a folder; taken from the address if left out
    filename: Option<String>,
    /// What it is, such as text/csv; as the server says if left out
    content_type: Option<String>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanAttachUrl {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let mut effects = vec![Effect::WriteSlot(SLOT)];
        effects.extend(host_in(&self.url).map(Effect::Connect));
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let url = self.url.trim();
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return Err(ToolError::Arguments(format!("{url:?} is no address of the web")));
        }
        if let Some(why) = carries_secret(url) {
            return Err(ToolError::Arguments(why));
        }
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(self.task_id)?;
        // Nothing is fetched for a task that is not there.
        desk.kanban.show(task.clone()).await.map_err(refused)?;
        let request = WebRequest::get(url, Reach::Open).timeout(PATIENCE).max_bytes(MAX_ATTACHMENT);
        let reply = cx.web()?.fetch(request).await?;
        check(&reply)?;
        let name = said(self.filename).unwrap_or_else(|| name_in(&reply.url));
        let said_type = reply.header("content-type").and_then(|given| given.split(';').next());
        let media_type = said(self.content_type).or_else(|| said_type.map(str::to_owned));
        let (id, source) = (task.id.clone(), Some(url.to_owned()));
        let file = NewAttachment { name, media_type, source, bytes: reply.body };
        let kept = desk.kanban.attach(task, file, desk.by.clone()).await.map_err(refused)?;
        Ok(json!({ "ok": true, "task_id": id, "attachment": kept }))
    }
}

fn check(reply: &WebReply) -> Result<(), ToolError> {
    if !reply.is_ok() {
        return Err(ToolError::Failed(format!("{} answered with status {}", reply.url, reply.status)));
    }
    if reply.cut {
        let most = MAX_ATTACHMENT / (1024 * 1024);
        return Err(ToolError::Failed(format!("{} is larger than {most} MB", reply.url)));
    }
    Ok(())
}

/// The last name in an address, without what cannot be in a file's name.
fn name_in(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let last = path.split('/').skip(1).filter(|part| !part.is_empty()).last().unwrap_or_default();
    let name: String = last
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\\' | '%') { '_' } else { c })
        .take(100)
        .collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "download".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_what_its_address_calls_it() {
        let names = [
            ("https://a.example/x/report.pdf?v=2#p", "report.pdf"),
            ("https://a.example/", "download"),
            ("https://a.example", "download"),
            ("https://a.example/x/", "x"),
            ("https://a.example/..%2f..%2fetc", "_2f.._2fetc"),
            ("https://a.example/.env", "env"),
        ];

        for (url, name) in names {
            assert_eq!(name_in(url), name, "{url}");
        }
    }
}
