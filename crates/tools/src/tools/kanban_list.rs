//! `kanban_list`: the tasks of a board.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::{self as board, Filter, Task};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kanban::{Desk, SLOT, for_orchestrators, refused, said};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef = ToolDef::of::<KanbanList>("kanban_list", &kanban::TOOLSET)
    .emoji("📋")
    .gate(for_orchestrators)
    .read_only();

/// Tasks that are shown when nothing is said about it, and the most.
const USUAL: i64 = 50;
const MOST: i64 = 200;

/// List the tasks of the board, the most urgent first: id, title, status, assignee, what blocks it. For
/// those who hand out work; filter by assignee, status or tenant.
#[derive(Deserialize, JsonSchema)]
struct KanbanList {
    /// Only tasks of this profile
    assignee: Option<String>,
    /// Only tasks that stand here
    status: Option<Status>,
    /// Only tasks of this tenant
    tenant: Option<String>,
    /// Also show tasks that were put away
    include_archived: Option<bool>,
    /// Most tasks to show, up to 200 (50 if left out)
    limit: Option<i64>,
    /// The board, if not the usual one
    board: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Triage,
    Todo,
    Ready,
    Running,
    Blocked,
    Done,
    Archived,
}

impl From<Status> for board::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Triage => Self::Triage,
            Status::Todo => Self::Todo,
            Status::Ready => Self::Ready,
            Status::Running => Self::Running,
            Status::Blocked => Self::Blocked,
            Status::Done => Self::Done,
            Status::Archived => Self::Archived,
        }
    }
}

impl Tool for KanbanList {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let limit = usize::try_from(self.limit.unwrap_or(USUAL).clamp(1, MOST)).unwrap_or(1);
        let desk = Desk::of(cx, self.board)?;
        let filter = Filter {
            assignee: said(self.assignee),
            status: self.status.map(Into::into),
            tenant: said(self.tenant),
            archived: self.include_archived.unwrap_or_default(),
            // One more tells whether there are more.
            limit: limit + 1,
        };
        let mut tasks = desk.kanban.list(desk.board.clone(), filter).await.map_err(refused)?;
        let truncated = tasks.len() > limit;
        tasks.truncate(limit);
        let shown: Vec<Value> = tasks.iter().map(row).collect();
        Ok(json!({ "tasks": shown, "count": shown.len(), "limit": limit, "truncated": truncated }))
    }
}

/// A task in a list: what is needed to choose one.
fn row(task: &Task) -> Value {
    let mut row = json!({
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "assignee": task.assignee,
        "priority": task.priority,
        "tenant": task.tenant,
        "created_at": task.created_at,
    });
    if let Some(fields) = row.as_object_mut() {
        let more = [
            ("block_kind", task.block_kind.map(|kind| json!(kind))),
            ("block_reason", task.block_reason.as_ref().map(|why| json!(why))),
            ("summary", task.summary.as_ref().map(|summary| json!(summary))),
            ("claim_expires_at", task.claim_expires_at.map(|at| json!(at))),
        ];
        fields.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    row
}
