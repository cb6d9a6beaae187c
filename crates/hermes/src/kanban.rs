//! The task board, and hooks that are told when a task is taken up, is done, or cannot go on.

use std::sync::{Arc, OnceLock};

use hermes_core::hook::{EventKind, HookEvent, tell};
use hermes_core::kanban::{
    Act, Acted, Actor, Answer, Attached, BoardRow, Created, Filter, Hand, Kanban, Link, NewAttachment,
    NewTask, Task, TaskRef, TaskView,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::runtime::{Runtime, WeakRuntime};
use hermes_core::wait::wait;

/// The runtime whose hooks are told; known once it is put together.
pub(crate) type Later = Arc<OnceLock<WeakRuntime>>;

/// A board about which hooks are told.
pub(crate) struct ToldKanban {
    pub(crate) inner: Arc<dyn Kanban>,
    pub(crate) runtime: Later,
}

impl Kanban for ToldKanban {
    fn profile(&self) -> &str {
        self.inner.profile()
    }

    fn create(&self, board: Option<String>, new: NewTask, by: Actor) -> Answer<'_, Created> {
        self.inner.create(board, new, by)
    }

    fn list(&self, board: Option<String>, filter: Filter) -> Answer<'_, Vec<Task>> {
        self.inner.list(board, filter)
    }

    fn show(&self, of: TaskRef) -> Answer<'_, TaskView> {
        self.inner.show(of)
    }

    fn act(&self, of: TaskRef, what: Act, by: Actor) -> Answer<'_, Acted> {
        Box::pin(async move {
            let acted = self.inner.act(of, what.clone(), by.clone()).await?;
            if let Some(runtime) = self.runtime.get().and_then(WeakRuntime::upgrade) {
                runtime.kanban_moved(&what, &acted, &by).await;
            }
            Ok(acted)
        })
    }

    fn link(&self, link: Link, wanted: bool, by: Actor) -> Answer<'_, Task> {
        self.inner.link(link, wanted, by)
    }

    fn attach(&self, to: TaskRef, file: NewAttachment, by: Actor) -> Answer<'_, Attached> {
        self.inner.attach(to, file, by)
    }

    fn boards(&self) -> Answer<'_, Vec<BoardRow>> {
        self.inner.boards()
    }
}

impl Runtime {
    /// Tells hooks what became of a task.
    pub(crate) async fn kanban_moved(&self, what: &Act, acted: &Acted, by: &Actor) {
        let Some((kind, more)) = event(what, acted) else { return };
        let snapshot = self.tools();
        if !snapshot.hooks().iter().any(|hook| hook.hears(kind)) {
            return;
        }
        let session = match &by.hand {
            Hand::Agent { session, .. } => session.as_str(),
            Hand::Person => "",
        };
        let task = &acted.task;
        let mut facts = json!({
            "task_id": task.id, "board": task.board, "assignee": task.assignee, "run_id": acted.run,
            "profile_name": by.name,
        });
        if let (Some(fields), Some((key, value))) = (facts.as_object_mut(), more) {
            fields.insert(key.to_owned(), json!(value));
        }
        // Whoever only takes note is not waited for.
        let (event, never) = (HookEvent::new(kind, session, facts), CancellationToken::new());
        for note in tell(snapshot.hooks(), &self.host(), event, &never).await.notes {
            self.note_of_hook(&note);
        }
    }

    /// The same for code that just waits and moves tasks by itself.
    pub fn kanban_moved_blocking(&self, what: &Act, acted: &Acted, by: &Actor) {
        wait(self.kanban_moved(what, acted, by));
    }
}

/// A fact that only one kind of event has.
type Fact = (&'static str, Option<String>);

/// What hooks are told of a move, and the fact that only this kind has.
fn event(what: &Act, acted: &Acted) -> Option<(EventKind, Option<Fact>)> {
    match what {
        Act::Claim(_) | Act::Heartbeat(_) if acted.took => Some((EventKind::KanbanTaskClaimed, None)),
        Act::Complete(done) => {
            Some((EventKind::KanbanTaskCompleted, Some(("summary", done.summary.clone()))))
        }
        Act::Block(_, reason) => Some((EventKind::KanbanTaskBlocked, Some(("reason", Some(reason.clone()))))),
        _ => None,
    }
}
