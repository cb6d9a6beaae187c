//! The task board, by subject.
//!
//! | module | what it proves |
//! |---|---|
//! | `tasks` | what a task goes through, and what it cannot |
//! | `claims` | who holds a task, and for how long |
//! | `attachments` | files stay where they belong |
//! | `crowd` | many processes at work: nothing is taken twice, nothing is lost |
//! | `import` | tasks of the original come along |

#![expect(clippy::disallowed_methods, reason = "a test with real files and processes")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

mod attachments;
mod claims;
mod crowd;
mod import;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use hermes_core::kanban::{
    Act, Acted, Actor, Completion, Hand, KanbanError, Link, NewTask, Status, Task, TaskRef,
};
use hermes_store::sessions::Clock;
use hermes_store::{Boards, Home};

/// The real time, and so many seconds later.
#[derive(Default)]
struct Later(AtomicU64);

impl Clock for Later {
    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

struct Bench {
    dir: tempfile::TempDir,
    clock: Arc<Later>,
    boards: Boards,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(Later::default());
        let boards = Boards::open(&Home::at(dir.path()), clock.clone()).unwrap();
        Self { dir, clock, boards }
    }

    fn pass(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn make(&self, title: &str, parents: &[&str]) -> String {
        let parents = parents.iter().map(|id| (*id).to_owned()).collect();
        let new = NewTask { title: title.to_owned(), parents, ..NewTask::default() };
        self.boards.create(None, &new, &person()).unwrap().task.id
    }

    #[expect(clippy::needless_pass_by_value, reason = "acts are made where they are used")]
    fn act(&self, id: &str, what: Act, by: &Actor) -> Result<Acted, KanbanError> {
        self.boards.act(&task(id), &what, by)
    }

    fn status(&self, id: &str) -> Status {
        self.boards.show(&task(id)).unwrap().task.status
    }

    fn link(&self, parent: &str, child: &str) -> Result<Task, KanbanError> {
        let link = Link { board: None, parent: parent.to_owned(), child: child.to_owned() };
        self.boards.link(&link, true, &person())
    }
}

fn task(id: &str) -> TaskRef {
    TaskRef { board: None, id: id.to_owned() }
}

fn person() -> Actor {
    Actor { name: "ann".to_owned(), hand: Hand::Person }
}

fn agent(session: &str) -> Actor {
    let hand = Hand::Agent { session: session.to_owned(), run: None, task: None };
    Actor { name: "coder".to_owned(), hand }
}

fn worker(session: &str, run: Option<i64>, own: &str) -> Actor {
    let hand = Hand::Agent { session: session.to_owned(), run, task: Some(own.to_owned()) };
    Actor { name: "coder".to_owned(), hand }
}

fn done(summary: &str) -> Act {
    Act::Complete(Completion { summary: Some(summary.to_owned()), ..Completion::default() })
}
