//! What `hermes kanban` shows, how it reads what was typed, and its boards.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use hermes::core::effect::lexical;
use hermes::core::kanban::{BlockKind, BoardRow, KanbanError, Status, Task, TaskView, WorkspaceKind};
use hermes::store::Boards;
use hermes::store::sessions::Moment;
use serde_json::json;

use crate::command::Failure;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

/// Why the board says no, with the exit code that tells it.
pub(crate) fn failed(why: KanbanError) -> Failure {
    match why {
        KanbanError::NoTask { .. } | KanbanError::NoBoard { .. } | KanbanError::Invalid(_) => {
            Failure::usage(why)
        }
        other => Failure::failed(other),
    }
}

/// A task in a list.
pub(crate) fn row(task: &Task) -> Vec<Cell> {
    let tone = match task.status {
        Status::Done => Tone::Good,
        Status::Blocked => Tone::Bad,
        Status::Archived => Tone::Faint,
        _ => Tone::Plain,
    };
    vec![
        Cell::new(&task.id).tone(Tone::Strong),
        Cell::new(task.status.word()).tone(tone),
        Cell::new(task.priority.to_string()).right(),
        Cell::new(task.assignee.as_deref().unwrap_or("-")),
        Cell::new(&task.title),
    ]
}

/// A board in a list.
pub(crate) fn board_row(board: &BoardRow) -> Vec<Cell> {
    let counts: Vec<String> =
        board.tasks.iter().map(|(status, count)| format!("{count} {}", status.word())).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let title = board.title.as_deref().unwrap_or("-");
    vec![Cell::new(&board.name).tone(Tone::Strong), Cell::new(counts), Cell::new(title)]
}

/// All that is known of a task, on a page.
pub(crate) fn page(view: &TaskView) -> String {
    let task = &view.task;
    let mut text = format!("{}  {}\n", task.id, task.title);
    let claim = task.claim_expires_at.map(|at| format!("claimed until {}", when(at)));
    let facts = [
        ("status", Some(task.status.word().to_owned())),
        ("for", task.assignee.clone()),
        ("blocked", task.block_reason.clone()),
        ("claim", claim),
        ("tenant", task.tenant.clone()),
        ("project", task.project.clone()),
        ("workspace", task.workspace_path.clone()),
        ("created", Some(format!("{} by {}", when(task.created_at), task.created_by))),
        ("completed", task.completed_at.map(when)),
    ];
    for (name, value) in facts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name:<10} {value}");
    }
    for piece in [&task.body, &task.summary, &task.result].into_iter().flatten() {
        let _ = write!(text, "\n{}\n", piece.trim_end());
    }
    for (title, tasks) in [("waits for", &view.parents), ("before", &view.children)] {
        for other in tasks {
            let _ = write!(text, "\n{title} {} ({}) {}", other.id, other.status.word(), other.title);
        }
    }
    for run in &view.runs {
        let outcome = run.outcome.as_deref().unwrap_or("running");
        let said = run.summary.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
        let _ = write!(text, "\nrun {} by {}, {outcome}{said}", run.id, run.profile);
    }
    for file in &view.attachments {
        let _ = write!(text, "\nattached {} ({} bytes): {}", file.filename, file.size, file.path);
    }
    for comment in &view.comments {
        let _ = write!(text, "\n{} {}: {}", when(comment.created_at), comment.author, comment.body);
    }
    text.truncate(text.trim_end().len());
    text
}

fn when(seconds: i64) -> String {
    Moment::from_micros(seconds.saturating_mul(1_000_000)).to_string()
}

/// `dir:<path>` and the like.
pub(crate) fn place(given: &str, shell: &Shell) -> Result<(WorkspaceKind, Option<PathBuf>), Failure> {
    let (word, path) = given.split_once(':').map_or((given, None), |(word, path)| (word, Some(path)));
    let kind = WorkspaceKind::from_word(word)
        .ok_or_else(|| Failure::usage(format!("--workspace: `{word}` is not scratch, dir or worktree")))?;
    let path = path.map(|path| lexical(path, shell.cwd(), shell.user_home().as_deref()));
    Ok((kind, path))
}

/// The name of a status, as it is typed.
pub(crate) fn status(word: &str) -> Result<Status, String> {
    Status::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Status::ALL.iter().map(|status| status.word()).collect();
        format!("it is one of {}", known.join(", "))
    })
}

/// The name of a kind of block, as it is typed.
pub(crate) fn kind(word: &str) -> Result<BlockKind, String> {
    BlockKind::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = BlockKind::ALL.iter().map(|kind| kind.word()).collect();
        format!("it is one of {}", known.join(", "))
    })
}

/// A time as it is typed: seconds, or `30m`, `2h`, `1d`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(number) => (number, text.chars().last().unwrap_or('s')),
        None => (text, 's'),
    };
    let seconds = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => 1,
    };
    let number = number.parse::<u64>().ok().filter(|number| *number > 0);
    let time = number.and_then(|number| number.checked_mul(seconds));
    time.map(Duration::from_secs)
        .ok_or_else(|| "a time is a number of seconds, or as in 30m, 2h, 1d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [("90", 90), ("45s", 45), ("30m", 1800), ("2h", 7200), ("1d", 86_400)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "m", "0", "-1", "1w", "1.5h", "99999999999999999999d"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}

#[derive(clap::Subcommand)]
pub(crate) enum BoardsAction {
    /// List boards
    List,
    /// Make a board
    Create {
        /// Its name: a-z, 0-9, `-` and `_`
        name: String,
        /// What it is for
        #[arg(long)]
        title: Option<String>,
    },
    /// Remove a board that has no tasks
    Rm {
        /// Its name
        name: String,
    },
}

/// Lists boards, makes one, or removes one.
pub(crate) fn on_boards(boards: &Boards, action: BoardsAction, shell: &Shell) -> Result<(), Failure> {
    let out = &shell.out;
    match action {
        BoardsAction::List => {
            let all = boards.boards().map_err(failed)?;
            if out.wants_json() {
                return out.json(&all);
            }
            let rows: Vec<Vec<Cell>> = all.iter().map(board_row).collect();
            out.table(&["BOARD", "TASKS", "WHAT FOR"], &rows)
        }
        BoardsAction::Create { name, title } => {
            let new = boards.make_board(&name, title.as_deref()).map_err(failed)?;
            if out.wants_json() {
                return out.json(&json!({ "name": name, "created": new }));
            }
            out.text(&format!("{name}: {}", if new { "created" } else { "was there" }))
        }
        BoardsAction::Rm { name } => {
            boards.remove_board(&name).map_err(failed)?;
            if out.wants_json() {
                out.json(&json!({ "name": name }))
            } else {
                out.text(&format!("{name}: removed"))
            }
        }
    }
}
