//! The task board: `kanban/tasks.db` below the root of all profiles, and the files attached to tasks.
//!
//! | module | what it does |
//! |---|---|
//! | `db` | one connection, transactions, what is due by now |
//! | `rows` | from rows of the database to what is told of a task |
//! | `tasks` | make, list, show; boards |
//! | `moves` | take, keep alive, complete, block, and all else that moves a task |
//! | `claims` | who holds a task, and claims that are over |
//! | `links` | what waits for what, without circles |
//! | `attachments` | files kept with a task |
//! | `import` | the tasks of the original's `kanban.db` |
//!
//! Many processes share the file. Every change is one transaction that takes the write lock at its
//! beginning, so that two workers never take the same task; a unique index stands behind that. The
//! first thing a change does is to end claims whose time is over. The file is not the original's
//! `kanban.db`: both can be there, and one can be brought into the other.

mod attachments;
mod claims;
mod db;
mod import;
mod links;
mod moves;
mod rows;
mod tasks;

use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::host::{Host, blocking};
use hermes_core::kanban::{
    Act, Acted, Actor, Answer, Attached, BoardRow, Created, Filter, Kanban, KanbanError, Link, NewAttachment,
    NewTask, Task, TaskRef, TaskView,
};

use crate::home::{DEFAULT_PROFILE, Home};
use crate::sessions::Clock;

pub use db::Boards;
pub use import::ImportedTasks;

/// The boards of a home, for async code. Nothing is opened, and no file is made, before they are used.
#[derive(Clone)]
pub struct HomeKanban {
    place: Arc<Place>,
    host: Arc<dyn Host>,
}

struct Place {
    home: Home,
    clock: Arc<dyn Clock>,
    open: Mutex<Option<Boards>>,
}

impl HomeKanban {
    /// The boards of a home, on the threads of `host`.
    pub fn new(home: &Home, host: &Arc<dyn Host>, clock: &Arc<dyn Clock>) -> Self {
        let place = Place { home: home.clone(), clock: Arc::clone(clock), open: Mutex::new(None) };
        Self { place: Arc::new(place), host: Arc::clone(host) }
    }

    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Boards) -> Result<T, KanbanError> + Send + 'static,
    ) -> Answer<'_, T> {
        let place = Arc::clone(&self.place);
        Box::pin(async move {
            let done = blocking(&self.host, move || place.with(work)).await;
            done.map_err(|lost| KanbanError::Store(lost.to_string()))?
        })
    }
}

impl Place {
    fn with<T>(&self, work: impl FnOnce(&Boards) -> Result<T, KanbanError>) -> Result<T, KanbanError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let boards = match open.take() {
            Some(boards) => boards,
            None => Boards::open(&self.home, Arc::clone(&self.clock))?,
        };
        // Work that panics takes its connection, and with it its transaction, down with it.
        let done = work(&boards);
        *open = Some(boards);
        done
    }
}

impl Kanban for HomeKanban {
    fn profile(&self) -> &str {
        self.place.home.profile().unwrap_or(DEFAULT_PROFILE)
    }

    fn create(&self, board: Option<String>, new: NewTask, by: Actor) -> Answer<'_, Created> {
        self.with(move |boards| boards.create(board.as_deref(), &new, &by))
    }

    fn list(&self, board: Option<String>, filter: Filter) -> Answer<'_, Vec<Task>> {
        self.with(move |boards| boards.list(board.as_deref(), &filter))
    }

    fn show(&self, of: TaskRef) -> Answer<'_, TaskView> {
        self.with(move |boards| boards.show(&of))
    }

    fn act(&self, of: TaskRef, what: Act, by: Actor) -> Answer<'_, Acted> {
        self.with(move |boards| boards.act(&of, &what, &by))
    }

    fn link(&self, link: Link, wanted: bool, by: Actor) -> Answer<'_, Task> {
        self.with(move |boards| boards.link(&link, wanted, &by))
    }

    fn attach(&self, to: TaskRef, file: NewAttachment, by: Actor) -> Answer<'_, Attached> {
        self.with(move |boards| boards.attach(&to, &file, &by))
    }

    fn boards(&self) -> Answer<'_, Vec<BoardRow>> {
        self.with(Boards::boards)
    }
}
