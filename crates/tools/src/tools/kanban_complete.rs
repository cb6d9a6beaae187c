//! `kanban_complete`: a task is done.

use std::borrow::Cow;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::kanban::{Act, Completion, MAX_ATTACHMENT, NewAttachment, TaskRef};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::kanban::{Desk, SLOT, for_workers, said};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanComplete>("kanban_complete", &kanban::TOOLSET).emoji("✔").gate(for_workers).placed();

/// Most files that are kept at once.
const MAX_ARTIFACTS: usize = 20;

/// Say that a task is done and what came of it. The summary is what those who go on from here will read:
/// what was done, what was decided, what is left. Only for what is really done; a task that cannot be done
/// is blocked with a reason instead.
#[derive(Deserialize, JsonSchema)]
struct KanbanComplete {
    /// The task; your own if left out
    task_id: Option<String>,
    /// What was done, in a few sentences
    summary: Option<String>,
    /// Facts for programs and for the tasks that follow, such as changed files or counts
    metadata: Option<Facts>,
    /// The result itself, where it is a text
    result: Option<String>,
    /// Ids of tasks that you made while working on this one
    created_cards: Option<Vec<String>>,
    /// Paths of files that are the result; copies are kept with the task
    artifacts: Option<Vec<String>>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

/// Any object.
#[derive(Deserialize)]
#[serde(transparent)]
struct Facts(Map<String, Value>);

impl JsonSchema for Facts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Facts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

impl Tool for KanbanComplete {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let files = self.artifacts.iter().flatten().map(|path| Effect::Read(place.resolve(path)));
        std::iter::once(Effect::WriteSlot(SLOT)).chain(files).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let artifacts = self.artifacts.unwrap_or_default();
        if artifacts.len() > MAX_ARTIFACTS {
            return Err(ToolError::Arguments(format!("artifacts: {MAX_ARTIFACTS} are the most")));
        }
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(self.task_id)?;
        let files = read(cx, &artifacts).await?;
        let mut metadata = self.metadata.map(|facts| facts.0).unwrap_or_default();
        if !artifacts.is_empty() {
            metadata.insert("artifacts".to_owned(), json!(artifacts));
        }
        let done = Completion {
            summary: said(self.summary),
            result: said(self.result),
            metadata,
            created: self.created_cards.unwrap_or_default(),
        };
        let mut answer = desk.act(task.clone(), Act::Complete(done)).await?;
        if let (Some(fields), false) = (answer.as_object_mut(), files.is_empty()) {
            let (kept, lost) = keep(&desk, &task, files).await;
            fields.insert("attachments".to_owned(), json!(kept));
            if !lost.is_empty() {
                fields.insert("not_kept".to_owned(), json!(lost));
            }
        }
        Ok(answer)
    }
}

/// The files, each with its name. One that is not there is told before anything is completed.
async fn read(cx: &ToolCx, artifacts: &[String]) -> Result<Vec<NewAttachment>, ToolError> {
    let most = u64::try_from(MAX_ATTACHMENT).unwrap_or(u64::MAX);
    let mut files = Vec::new();
    for path in artifacts {
        let real = cx.files().real_path(path);
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = cx.files().whole(&real, most).await?.bytes;
        files.push(NewAttachment { name, media_type: None, source: None, bytes });
    }
    Ok(files)
}

/// Keeps copies of files with the task: where they are, and why one is not.
async fn keep(desk: &Desk<'_>, task: &TaskRef, files: Vec<NewAttachment>) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for file in files {
        match desk.kanban.attach(task.clone(), file, desk.by.clone()).await {
            Ok(attached) => kept.push(attached.path),
            Err(why) => lost.push(why.to_string()),
        }
    }
    (kept, lost)
}
