//! The contract for the task board that many agents and people share.
//!
//! A task waits until the tasks it depends on are done, is taken by one worker at a time, and is handed
//! on with a summary. Who takes one holds it by a claim that ends by itself unless it is kept alive, so
//! that the work of an agent that died is found again. Where tasks are kept, and how many processes use
//! them at once, is the business of whoever implements [`Kanban`].
//!
//! - here: the trait, who asks, and why something is refused
//! - [`task`]: what is told of a task

pub mod task;

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

pub use task::{
    Attached, BlockKind, BoardRow, Comment, Event, Filter, Run, Status, Task, TaskView, WorkspaceKind,
};

/// The board that is always there.
pub const DEFAULT_BOARD: &str = "default";

/// How long a claim holds without a sign of life.
pub const CLAIM: Duration = Duration::from_mins(15);

/// Most runs in a row that may end without a result before a task waits for somebody to look.
pub const MAX_FAILURES: u32 = 2;

/// Largest attachment, in bytes, and most of one task.
pub const MAX_ATTACHMENT: usize = 25 * 1024 * 1024;
/// Most attachments of one task.
pub const MAX_ATTACHMENTS: usize = 100;

/// Keeps tasks.
pub trait Kanban: Send + Sync {
    /// The profile whose agents ask.
    fn profile(&self) -> &str;

    /// Makes a task, or finds the one that was made with the same key.
    fn create(&self, board: Option<String>, new: NewTask, by: Actor) -> Answer<'_, Created>;

    /// The tasks that fit, the most urgent first.
    fn list(&self, board: Option<String>, filter: Filter) -> Answer<'_, Vec<Task>>;

    /// All that is known of a task.
    fn show(&self, of: TaskRef) -> Answer<'_, TaskView>;

    /// Does something with a task.
    fn act(&self, of: TaskRef, what: Act, by: Actor) -> Answer<'_, Acted>;

    /// Lets one task wait for another, or no longer.
    fn link(&self, link: Link, wanted: bool, by: Actor) -> Answer<'_, Task>;

    /// Keeps a file with a task.
    fn attach(&self, to: TaskRef, file: NewAttachment, by: Actor) -> Answer<'_, Attached>;

    /// The boards, with how many tasks each has.
    fn boards(&self) -> Answer<'_, Vec<BoardRow>>;
}

/// What the board answers.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, KanbanError>>;

/// A task, by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRef {
    /// The board; none means the usual one.
    pub board: Option<String>,
    /// Its id.
    pub id: String,
}

/// That `child` waits for `parent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The board; none means the usual one.
    pub board: Option<String>,
    /// What has to be done first.
    pub parent: String,
    /// What waits for it.
    pub child: String,
}

/// Who does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The profile, or the person's name.
    pub name: String,
    /// What they may overrule.
    pub hand: Hand,
}

/// Whether somebody may overrule a claim of somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hand {
    /// A person may.
    Person,
    /// An agent may not.
    Agent {
        /// Its session, which is how its claims are known.
        session: String,
        /// The run it was started for, if it was started for one.
        run: Option<i64>,
        /// The task it was started for.
        task: Option<String>,
    },
}

/// A task that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewTask {
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub body: Option<String>,
    /// The profile that is to do it.
    pub assignee: Option<String>,
    /// Tasks that have to be done first.
    pub parents: Vec<String>,
    /// Whose work it is.
    pub tenant: Option<String>,
    /// Higher comes first.
    pub priority: i64,
    /// Where it is done.
    pub workspace: WorkspaceKind,
    /// The folder, where there is one.
    pub workspace_path: Option<PathBuf>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// A second task with the same key is not made.
    pub idempotency_key: Option<String>,
    /// A run is over after this time.
    pub max_runtime: Option<Duration>,
    /// Skills that whoever does it begins with.
    pub skills: Vec<String>,
    /// Whether it is worked on turn after turn until a judge says that it is done, and for how many
    /// turns at most.
    pub goal: Option<Option<u32>>,
    /// How it begins.
    pub begin: Begin,
}

/// How a task begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begin {
    /// It can be taken as soon as what it depends on is done.
    #[default]
    Open,
    /// Somebody has to look at it first.
    Triage,
    /// It waits until somebody unblocks it.
    Blocked,
}

/// A task that was made, or found.
#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// The task.
    pub task: Task,
    /// Whether it is new.
    pub new: bool,
}

/// What can be done with a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Takes it, for this long without a sign of life.
    Claim(Duration),
    /// A sign of life of whoever has it; a task that nobody has is taken.
    Heartbeat(Option<String>),
    /// It is done.
    Complete(Completion),
    /// It cannot go on.
    Block(Option<BlockKind>, String),
    /// It can go on.
    Unblock,
    /// Somebody has looked at it: it can be taken.
    Promote,
    /// Takes it away from whoever has it.
    Reclaim(Option<String>),
    /// Puts it away.
    Archive,
    /// Gives it to another profile, or to nobody.
    Assign(Option<String>),
    /// Says something about it.
    Comment(String),
}

/// How a task was done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Completion {
    /// What was done, for whoever goes on from there.
    pub summary: Option<String>,
    /// The result itself.
    pub result: Option<String>,
    /// Facts for programs.
    pub metadata: Map<String, Value>,
    /// Tasks that were made on the way; each must be there.
    pub created: Vec<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Acted {
    /// The task as it is now.
    pub task: Task,
    /// The run this was about.
    pub run: Option<i64>,
    /// Whether the task was taken by this.
    pub took: bool,
    /// What else there is to know, in words.
    pub note: Option<String>,
}

/// A file that is to be kept with a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttachment {
    /// Its name, without any folder.
    pub name: String,
    /// What it is, as in `text/plain`.
    pub media_type: Option<String>,
    /// The address it came from.
    pub source: Option<String>,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Why the board refuses something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KanbanError {
    /// No such task.
    #[error("there is no task `{id}` on the board `{board}`")]
    NoTask {
        /// What was asked for.
        id: String,
        /// Where.
        board: String,
    },
    /// No such board.
    #[error("there is no board `{name}`; there {}", known_boards(.known))]
    NoBoard {
        /// What was asked for.
        name: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// What was given makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The task is not in a state in which this can be done.
    #[error("`{id}` is {}, so it cannot be {doing}: {hint}", .status.word())]
    Status {
        /// The task.
        id: String,
        /// How it is.
        status: Status,
        /// What was wanted, as in "completed".
        doing: &'static str,
        /// What would help.
        hint: String,
    },
    /// Somebody else has it.
    #[error("`{id}` is being worked on by {holder} (run {run}); the claim holds for {seconds} s more")]
    Taken {
        /// The task.
        id: String,
        /// Who.
        holder: String,
        /// The run.
        run: i64,
        /// How long the claim holds without a sign of life.
        seconds: i64,
    },
    /// The run this agent was started for is over.
    #[error("run {run} of `{id}` is over ({outcome}); stop working on it")]
    RunOver {
        /// The task.
        id: String,
        /// The run.
        run: i64,
        /// How it ended.
        outcome: String,
    },
    /// One would wait for itself.
    #[error("`{child}` cannot wait for `{parent}`, which waits for it: {}", .path.join(" → "))]
    Cycle {
        /// What was to be done first.
        parent: String,
        /// What was to wait.
        child: String,
        /// From the child, by what waits for it, to the parent.
        path: Vec<String>,
    },
    /// The state folder could not be read or written.
    #[error("{0}")]
    Store(String),
}

fn known_boards(known: &[String]) -> String {
    match known {
        [only] => format!("is only `{only}`"),
        many => format!("are {}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_something_is_refused_is_told_in_a_sentence() {
        let cycle = KanbanError::Cycle {
            parent: "t_c".to_owned(),
            child: "t_a".to_owned(),
            path: ["t_a", "t_b", "t_c"].map(str::to_owned).to_vec(),
        };
        let board = KanbanError::NoBoard { name: "x".to_owned(), known: vec![DEFAULT_BOARD.to_owned()] };
        let status = KanbanError::Status {
            id: "t_a".to_owned(),
            status: Status::Triage,
            doing: "completed",
            hint: "promote it first".to_owned(),
        };

        assert_eq!(cycle.to_string(), "`t_a` cannot wait for `t_c`, which waits for it: t_a → t_b → t_c");
        assert_eq!(board.to_string(), "there is no board `x`; there is only `default`");
        assert_eq!(status.to_string(), "`t_a` is triage, so it cannot be completed: promote it first");
    }
}
