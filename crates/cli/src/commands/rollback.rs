//! `hermes rollback`: what files held before calls changed them, and going back to it.

use hermes::store::checkpoints::Checkpoint;
use hermes::{Rollback, RollbackError};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("rollback", "Show and undo changes that calls made to files in this directory");

#[derive(clap::Args)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the checkpoints of this directory, newest first
    List,
    /// Show what going back to a checkpoint would change
    Diff(Which),
    /// Go back to a checkpoint: undo its turn and every later one
    Restore(Which),
}

#[derive(clap::Args)]
struct Which {
    /// Id of the checkpoint, its beginning, or its place in the list (1 is the newest)
    id: String,
    /// Only this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let rollback = runtime.rollback().ok_or_else(|| {
            Failure::failed("checkpoints are switched off; set `checkpoints.enabled: true` in config.yaml")
        })?;
        match self.action {
            Action::List => list(&rollback, shell),
            Action::Diff(which) => diff(&rollback, &which, shell),
            Action::Restore(which) => restore(&rollback, &which, shell),
        }
    }
}

fn list(rollback: &Rollback, shell: &Shell) -> Result<(), Failure> {
    let list = rollback.list().map_err(told)?;
    if shell.out.wants_json() {
        return shell.out.json(&list);
    }
    if list.is_empty() {
        return shell.out.line("no checkpoints for this directory");
    }
    let row = |(place, checkpoint): (usize, &Checkpoint)| {
        vec![
            Cell::new(place.to_string()),
            Cell::new(&checkpoint.id).tone(Tone::Strong),
            Cell::new(ago(rollback.age(checkpoint).as_secs())),
            Cell::new(checkpoint.tools.join(", ")),
            Cell::new(names(checkpoint)),
        ]
    };
    let rows: Vec<_> = (1..).zip(&list).map(row).collect();
    shell.out.table(&["#", "ID", "WHEN", "BY", "FILES"], &rows)
}

fn diff(rollback: &Rollback, which: &Which, shell: &Shell) -> Result<(), Failure> {
    let text = rollback.diff(&which.id, which.file.as_deref()).map_err(told)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "id": which.id, "diff": text }));
    }
    if text.is_empty() {
        return shell.out.line("nothing would change");
    }
    shell.out.line(text.trim_end_matches('\n'))
}

fn restore(rollback: &Rollback, which: &Which, shell: &Shell) -> Result<(), Failure> {
    let done = rollback.restore(&which.id, which.file.as_deref()).map_err(told)?;
    if shell.out.wants_json() {
        let answer: Value = json!({
            "restored": done.restored,
            "removed": done.removed,
            "unchanged": done.unchanged,
            "undo": done.undo,
        });
        return shell.out.json(&answer);
    }
    for (words, paths) in
        [("restored", &done.restored), ("removed", &done.removed), ("unchanged", &done.unchanged)]
    {
        for path in paths {
            shell.out.line(&format!("{words} {}", path.display()))?;
        }
    }
    match done.undo {
        Some(id) => shell.out.line(&format!("to undo this: hermes rollback restore {id}")),
        None => shell.out.line("nothing had to be changed"),
    }
}

fn told(wrong: RollbackError) -> Failure {
    match wrong {
        RollbackError::Unknown(_) | RollbackError::Unclear(_) | RollbackError::NotInIt(_) => {
            Failure::usage(wrong)
        }
        other => Failure::failed(other),
    }
}

fn names(checkpoint: &Checkpoint) -> String {
    let name =
        |path: &std::path::Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let shown: Vec<String> = checkpoint.files.iter().map(|file| name(&file.path)).collect();
    shown.join(", ")
}

/// How long ago, the way people say it.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn ages_are_told_the_way_people_say_them() {
        let said = [5, 60, 7200, 200_000].map(ago);
        assert_eq!(said, ["just now", "1 min ago", "2 h ago", "2 days ago"]);
    }
}
