//! All that a worker has to read before it begins, as one text: the task, what came of the tasks before
//! it, what earlier attempts left, and what was said.

use std::fmt::Write as _;

use hermes_core::kanban::{Run, TaskView};

/// Most characters of one piece.
const MAX_PIECE: usize = 8_000;
/// Most comments, newest last.
const MAX_COMMENTS: usize = 30;

/// The text.
pub(crate) fn context(view: &TaskView) -> String {
    let task = &view.task;
    let mut text = format!("# {} ({})\n", task.title, task.id);
    if let Some(body) = &task.body {
        paragraph(&mut text, body);
    }
    if let Some(path) = &task.workspace_path {
        paragraph(&mut text, &format!("Work in {path} ({}).", task.workspace_kind.word()));
    }
    if let Some(reason) = &task.block_reason {
        paragraph(&mut text, &format!("It is blocked: {reason}"));
    }
    for parent in &view.parents {
        heading(&mut text, &format!("Before it: {} ({}, {})", parent.title, parent.id, parent.status.word()));
        for piece in [&parent.summary, &parent.result].into_iter().flatten() {
            paragraph(&mut text, piece);
        }
        if !parent.metadata.is_empty()
            && let Ok(facts) = serde_json::to_string(&parent.metadata)
        {
            paragraph(&mut text, &facts);
        }
    }
    for run in view.runs.iter().filter(|run| run.ended_at.is_some()) {
        attempt(&mut text, run);
    }
    if !view.attachments.is_empty() {
        heading(&mut text, "Attachments");
        for file in &view.attachments {
            line(&mut text, &format!("- {} ({} bytes): {}", file.filename, file.size, file.path));
        }
    }
    let passed_over = view.comments.len().saturating_sub(MAX_COMMENTS);
    if !view.comments.is_empty() {
        heading(&mut text, "Comments");
    }
    if passed_over > 0 {
        line(&mut text, &format!("({passed_over} older ones are left out)"));
    }
    for comment in view.comments.iter().skip(passed_over) {
        line(&mut text, &format!("- {}: {}", comment.author, cut(&comment.body).replace('\n', "\n  ")));
    }
    text
}

fn attempt(text: &mut String, run: &Run) {
    let outcome = run.outcome.as_deref().unwrap_or("ended");
    heading(text, &format!("Earlier attempt {} by {}: {outcome}", run.id, run.profile));
    if let Some(summary) = &run.summary {
        paragraph(text, summary);
    }
}

fn heading(text: &mut String, words: &str) {
    // Writing into a string cannot fail.
    let _ = write!(text, "\n## {words}\n");
}

fn paragraph(text: &mut String, words: &str) {
    let _ = write!(text, "\n{}\n", cut(words.trim()));
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "{words}");
}

fn cut(words: &str) -> String {
    let long = words.chars().count().saturating_sub(MAX_PIECE);
    if long == 0 {
        return words.to_owned();
    }
    let kept: String = words.chars().take(MAX_PIECE).collect();
    format!("{kept}… [{long} more characters]")
}

#[cfg(test)]
mod tests {
    use hermes_core::kanban::{Comment, Status, Task, WorkspaceKind};
    use serde_json::Map;

    use super::*;

    fn task(id: &str, title: &str) -> Task {
        Task {
            id: id.to_owned(),
            board: "default".to_owned(),
            title: title.to_owned(),
            body: None,
            status: Status::Ready,
            assignee: None,
            priority: 0,
            tenant: None,
            workspace_kind: WorkspaceKind::Scratch,
            workspace_path: None,
            project: None,
            max_runtime_seconds: None,
            skills: Vec::new(),
            goal_mode: false,
            goal_max_turns: None,
            created_by: "default".to_owned(),
            created_in: None,
            created_at: 0,
            started_at: None,
            completed_at: None,
            summary: None,
            result: None,
            metadata: Map::new(),
            block_kind: None,
            block_reason: None,
            failures: 0,
            run_id: None,
            claim_expires_at: None,
        }
    }

    #[test]
    fn a_worker_reads_the_task_what_came_before_and_what_was_said() {
        let parent =
            Task { status: Status::Done, summary: Some("The API is v2".to_owned()), ..task("t_1", "Look") };
        let run = Run {
            id: 4,
            profile: "coder".to_owned(),
            started_at: 1,
            heartbeat_at: 1,
            claim_expires_at: 2,
            ended_at: Some(2),
            outcome: Some("blocked".to_owned()),
            summary: Some("no key".to_owned()),
        };
        let view = TaskView {
            task: Task { body: Some("Use the API.".to_owned()), ..task("t_2", "Build") },
            parents: vec![parent],
            children: Vec::new(),
            comments: vec![Comment {
                author: "ann".to_owned(),
                body: "key is\nset".to_owned(),
                created_at: 3,
            }],
            events: Vec::new(),
            runs: vec![run],
            attachments: Vec::new(),
        };

        assert_eq!(
            context(&view),
            "# Build (t_2)\n\nUse the API.\n\n## Before it: Look (t_1, done)\n\nThe API is v2\n\n\
             ## Earlier attempt 4 by coder: blocked\n\nno key\n\n## Comments\n- ann: key is\n  set\n"
        );
    }

    #[test]
    fn long_pieces_are_cut_and_say_so() {
        let long = "x".repeat(MAX_PIECE + 7);

        assert!(cut(&long).ends_with("… [7 more characters]"));
    }
}
