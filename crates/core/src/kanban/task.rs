//! What is told of a task: the same words for models, programs and people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Writes an enum whose variants have one word each, on the wire and in the store.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$about])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The one a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.word() == word)
            }
        }
    };
}

words! {
    /// Where a task stands.
    Status {
        /// Somebody has to look at it first.
        Triage = "triage",
        /// It waits for other tasks.
        Todo = "todo",
        /// It can be taken.
        Ready = "ready",
        /// Somebody works on it.
        Running = "running",
        /// It waits for somebody to unblock it.
        Blocked = "blocked",
        /// It is done.
        Done = "done",
        /// It was put away.
        Archived = "archived",
    }
}

words! {
    /// Why a task cannot go on.
    BlockKind {
        /// Another task has to be done first.
        Dependency = "dependency",
        /// Somebody has to say something.
        NeedsInput = "needs_input",
        /// Whoever tried cannot do this kind of work.
        Capability = "capability",
        /// It may well work later.
        Transient = "transient",
    }
}

words! {
    /// Where a task is worked on.
    WorkspaceKind {
        /// In a folder that is made for it.
        Scratch = "scratch",
        /// In a folder that is there.
        Dir = "dir",
        /// In a work tree of a repository.
        Worktree = "worktree",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro that makes the enum knows no default")]
impl Default for WorkspaceKind {
    fn default() -> Self {
        Self::Scratch
    }
}

/// A task. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The board it is on.
    pub board: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, in full.
    pub body: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// The profile that is to do it.
    pub assignee: Option<String>,
    /// Higher comes first.
    pub priority: i64,
    /// Whose work it is.
    pub tenant: Option<String>,
    /// Where it is done.
    pub workspace_kind: WorkspaceKind,
    /// The folder, where there is one.
    pub workspace_path: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// A run is over after so many seconds.
    pub max_runtime_seconds: Option<i64>,
    /// Skills that whoever does it begins with.
    pub skills: Vec<String>,
    /// Whether it is worked on until a judge says that it is done.
    pub goal_mode: bool,
    /// Most turns of that.
    pub goal_max_turns: Option<i64>,
    /// Who made it.
    pub created_by: String,
    /// The task on which they worked.
    pub created_in: Option<String>,
    /// When it was made.
    pub created_at: i64,
    /// When it was last taken.
    pub started_at: Option<i64>,
    /// When it was done.
    pub completed_at: Option<i64>,
    /// What was done.
    pub summary: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// Facts about that.
    pub metadata: Map<String, Value>,
    /// Why it is blocked, by kind.
    pub block_kind: Option<BlockKind>,
    /// Why it is blocked.
    pub block_reason: Option<String>,
    /// Runs in a row that ended without a result.
    pub failures: u32,
    /// The run that is on.
    pub run_id: Option<i64>,
    /// Until when the claim of that run holds.
    pub claim_expires_at: Option<i64>,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its number.
    pub id: i64,
    /// The profile that made it.
    pub profile: String,
    /// When it began.
    pub started_at: i64,
    /// The last sign of life.
    pub heartbeat_at: i64,
    /// Until when its claim holds, or held.
    pub claim_expires_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// How: completed, blocked, expired, `timed_out`, reclaimed.
    pub outcome: Option<String>,
    /// What was said at its end.
    pub summary: Option<String>,
}

/// Something that was said about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Who said it.
    pub author: String,
    /// What.
    pub body: String,
    /// When.
    pub created_at: i64,
}

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// What, in a word.
    pub kind: String,
    /// Who did it.
    pub by: String,
    /// The run during which it happened.
    pub run_id: Option<i64>,
    /// More about it.
    pub detail: Option<String>,
    /// When.
    pub created_at: i64,
}

/// A file that is kept with a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attached {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub filename: String,
    /// What it is.
    pub content_type: String,
    /// How large it is.
    pub size: u64,
    /// Where it is.
    pub path: String,
    /// The address it came from.
    pub source: Option<String>,
    /// Who attached it.
    pub attached_by: String,
    /// When.
    pub created_at: i64,
}

/// All that is known of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskView {
    /// The task.
    pub task: Task,
    /// What has to be done first.
    pub parents: Vec<Task>,
    /// What waits for it.
    pub children: Vec<Task>,
    /// What was said, oldest first.
    pub comments: Vec<Comment>,
    /// What happened, oldest first; the newest hundred.
    pub events: Vec<Event>,
    /// The attempts, oldest first.
    pub runs: Vec<Run>,
    /// What is kept with it.
    pub attachments: Vec<Attached>,
}

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoardRow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub title: Option<String>,
    /// How many tasks stand where, without those that were put away.
    pub tasks: Vec<(Status, i64)>,
}

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only those of this profile.
    pub assignee: Option<String>,
    /// Only those that stand here.
    pub status: Option<Status>,
    /// Only those of this tenant.
    pub tenant: Option<String>,
    /// Also those that were put away.
    pub archived: bool,
    /// No more than this.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_wire() {
        for status in Status::ALL {
            assert_eq!(serde_json::json!(status), status.word());
            assert_eq!(Status::from_word(status.word()), Some(*status));
        }
        for kind in BlockKind::ALL {
            assert_eq!(serde_json::json!(kind), kind.word());
        }
        assert_eq!(Status::from_word("gone"), None);
    }
}
