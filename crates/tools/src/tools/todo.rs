//! `todo`: the session's task list.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::{Place, Session, Slot};
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::toolsets::todo;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Todo>("todo", &todo::TOOLSET).emoji("📋");

/// Most items in a list.
const MAX_ITEMS: usize = 256;

/// Longest text of an item, in characters.
const MAX_CONTENT: usize = 4_000;

/// Keep a task list for this session. Use it for work of three or more steps: write the list
/// before starting, keep exactly one item `in_progress`, mark items completed as soon as they are
/// done. Call it without arguments to read the list. The whole list comes back each time.
#[derive(Deserialize, JsonSchema)]
struct Todo {
    /// The items to write; leave out to read the list
    todos: Option<Vec<Item>>,
    /// false replaces the whole list; true changes the items with these ids and adds the others
    #[serde(default)]
    merge: bool,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
struct Item {
    /// Short id, unique in the list
    id: String,
    /// What is to be done
    content: String,
    /// How far it is
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// The list as the session keeps it.
#[derive(Debug, Default)]
struct TodoList(Vec<Item>);

impl Slot for TodoList {
    const NAME: &'static str = "todo list";
}

impl Tool for Todo {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let slot = TodoList::NAME;
        vec![if self.todos.is_some() { Effect::WriteSlot(slot) } else { Effect::ReadSlot(slot) }]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        cx.with_slot(|list: &mut TodoList| {
            if let Some(todos) = self.todos {
                *list = list.written(todos, self.merge)?;
            }
            Ok(json!({ "todos": list.0, "summary": list.summary() }))
        })?
    }
}

impl TodoList {
    /// The list after writing `todos`; nothing changes when they cannot be taken.
    fn written(&self, todos: Vec<Item>, merge: bool) -> Result<Self, ToolError> {
        let mut items = if merge { self.0.clone() } else { Vec::new() };
        for item in todos {
            check(&item)?;
            match items.iter_mut().find(|known| known.id == item.id) {
                // The last word on an id counts, in the place where the id first stood.
                Some(known) => *known = item,
                None => items.push(item),
            }
        }
        if items.len() > MAX_ITEMS {
            let count = items.len();
            return Err(ToolError::Failed(format!(
                "the list would have {count} items; {MAX_ITEMS} are the most"
            )));
        }
        Ok(Self(items))
    }

    fn open(&self) -> Option<String> {
        let line = |item: &Item| match item.status {
            Status::Pending => Some(format!("- [ ] {}: {}", item.id, item.content)),
            Status::InProgress => Some(format!("- [>] {}: {}", item.id, item.content)),
            Status::Completed | Status::Cancelled => None,
        };
        let lines: Vec<String> = self.0.iter().filter_map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn summary(&self) -> serde_json::Value {
        let count = |status| self.0.iter().filter(|item| item.status == status).count();
        json!({
            "total": self.0.len(),
            "pending": count(Status::Pending),
            "in_progress": count(Status::InProgress),
            "completed": count(Status::Completed),
            "cancelled": count(Status::Cancelled),
        })
    }
}

/// What is still to be done, in words for the model; nothing when there is nothing.
pub(crate) fn open_items(session: &Session) -> Option<String> {
    session.with_slot(|list: &mut TodoList| list.open())?
}

/// Puts the list back that an earlier answer of this tool showed.
pub(crate) fn restore(session: &Session, answer: &str) {
    #[derive(Deserialize)]
    struct Shown {
        todos: Vec<Item>,
    }
    if let Ok(shown) = serde_json::from_str::<Shown>(answer) {
        // A session without state keeps no list.
        let _ = session.with_slot(|list: &mut TodoList| list.0 = shown.todos);
    }
}

fn check(item: &Item) -> Result<(), ToolError> {
    let Item { id, content, .. } = item;
    if id.trim().is_empty() {
        return Err(ToolError::Failed("an item has no id".to_owned()));
    }
    if content.trim().is_empty() {
        return Err(ToolError::Failed(format!("item `{id}` has no content")));
    }
    if content.chars().count() > MAX_CONTENT {
        return Err(ToolError::Failed(format!("item `{id}` is longer than {MAX_CONTENT} characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_from_an_earlier_answer_and_tells_what_is_open() {
        use hermes_core::session::SessionSpec;
        let place = Place { cwd: "/".into(), home: None };
        let session = Session::new(SessionSpec::new("s", place));
        let list = TodoList(vec![item("a", Status::Completed), item("b", Status::InProgress)]);
        let answer = json!({ "todos": list.0, "summary": list.summary() }).to_string();

        assert_eq!(open_items(&session), None);
        restore(&session, "not an answer");
        restore(&session, &answer);

        assert_eq!(open_items(&session).as_deref(), Some("- [>] b: do b"));
    }

    fn item(id: &str, status: Status) -> Item {
        Item { id: id.to_owned(), content: format!("do {id}"), status }
    }

    #[test]
    fn writing_replaces_the_list() {
        let list = TodoList(vec![item("a", Status::Pending)]);

        let list = list.written(vec![item("b", Status::InProgress)], false).unwrap();

        assert_eq!(list.0, [item("b", Status::InProgress)]);
    }

    #[test]
    fn merging_changes_items_in_place_and_adds_the_rest() {
        let list = TodoList(vec![item("a", Status::Pending), item("b", Status::Pending)]);

        let list =
            list.written(vec![item("a", Status::Completed), item("c", Status::Pending)], true).unwrap();

        let expected = [item("a", Status::Completed), item("b", Status::Pending), item("c", Status::Pending)];
        assert_eq!(list.0, expected);
    }

    #[test]
    fn the_last_of_two_items_with_one_id_counts() {
        let written = vec![item("a", Status::Pending), item("a", Status::Cancelled)];

        let list = TodoList::default().written(written, false).unwrap();

        assert_eq!(list.0, [item("a", Status::Cancelled)]);
    }

    #[test]
    fn a_list_that_is_too_long_is_refused_whole() {
        let many = (0..=MAX_ITEMS).map(|n| item(&n.to_string(), Status::Pending)).collect();

        let refused = TodoList::default().written(many, false).unwrap_err();

        assert_eq!(refused.to_string(), "the list would have 257 items; 256 are the most");
    }

    #[test]
    fn the_summary_counts_by_status() {
        let list = TodoList(vec![item("a", Status::Pending), item("b", Status::Completed)]);

        let expected = json!({ "total": 2, "pending": 1, "in_progress": 0, "completed": 1, "cancelled": 0 });
        assert_eq!(list.summary(), expected);
    }
}
