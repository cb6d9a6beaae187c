//! `hermes kanban`: the task board, from the command line.

use std::path::Path;
use std::time::Duration;

use hermes::core::kanban::{
    Act, Acted, Actor, Begin, BlockKind, CLAIM, Completion, Filter, Hand, Link, NewAttachment, NewTask,
    Status, TaskRef,
};
use hermes::store::Boards;
use serde_json::{Map, Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::kanban::{BoardsAction, failed, kind, on_boards, page, place, row, status, time};
use crate::shell::Shell;
use crate::table::Cell;
use crate::tools::call::HOOKS_AT_THE_END;
use crate::{input, output};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("kanban", "Hand out, follow and finish tasks on the board that agents share");

/// Below the options.
const AFTER_HELP: &str = "\
A task is triage, todo (it waits for others), ready, running, blocked, done or archived. Agents see the board \
with `toolsets: [hermes-cli, kanban]` in config.yaml; one that works on a single task is started with \
HERMES_KANBAN_TASK=<id>. The board of all profiles is in kanban/ of the home.

Exit codes: 0 done, 1 the board refused, 2 wrong usage or no such task.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Command {
    #[command(subcommand)]
    action: Action,
    /// The board, if not the usual one
    #[arg(long, global = true, value_name = "NAME")]
    board: Option<String>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List tasks, the most urgent first
    #[command(visible_alias = "ls")]
    List(List),
    /// Show all that is known of a task
    Show {
        /// The task
        id: String,
    },
    /// Put a task on the board
    Create(Create),
    /// Say something about a task
    Comment {
        /// The task
        id: String,
        /// What to say; `@file` and `-` are read
        text: String,
    },
    /// Say that tasks are done
    Complete {
        /// The tasks
        #[arg(required = true)]
        ids: Vec<String>,
        /// What was done; `@file` and `-` are read
        #[arg(long)]
        summary: Option<String>,
        /// What came of it; `@file` and `-` are read
        #[arg(long)]
        result: Option<String>,
        /// Facts for programs, a JSON object; `@file` and `-` are read
        #[arg(long, value_name = "JSON")]
        metadata: Option<String>,
    },
    /// Stop work on a task
    Block {
        /// The task
        id: String,
        /// What stands in the way
        reason: String,
        /// dependency, `needs_input`, capability or transient
        #[arg(long, value_parser = kind)]
        kind: Option<BlockKind>,
    },
    /// Let blocked tasks go on
    Unblock {
        /// The tasks
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Let one task wait for another
    Link {
        /// What has to be done first
        parent: String,
        /// What waits for it
        child: String,
    },
    /// Let a task no longer wait for another
    Unlink {
        /// What it waited for
        parent: String,
        /// What waited
        child: String,
    },
    /// Take a task, to work on it or to start an agent for it
    Claim {
        /// The task
        id: String,
        /// How long the claim holds without a heartbeat
        #[arg(long, value_name = "SECONDS", default_value_t = CLAIM.as_secs())]
        ttl: u64,
    },
    /// Keep a claim alive
    Heartbeat {
        /// The task
        id: String,
        /// How far the work is
        #[arg(long)]
        note: Option<String>,
    },
    /// Take a running task away from whoever works on it
    Reclaim {
        /// The task
        id: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
    /// Give a task to another profile; `none` for nobody
    Assign {
        /// The task
        id: String,
        /// The profile
        #[arg(value_name = "PROFILE")]
        to: String,
    },
    /// Let tasks be worked on that were put up for a look
    Promote {
        /// The tasks
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Put tasks away
    Archive {
        /// The tasks
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Keep files with a task
    Attach {
        /// The task
        id: String,
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// What they are, such as text/csv; told by their names if left out
        #[arg(long, value_name = "TYPE")]
        media_type: Option<String>,
    },
    /// List boards, or make and remove them
    Boards {
        #[command(subcommand)]
        action: Option<BoardsAction>,
    },
}

#[derive(clap::Args)]
struct List {
    /// Only tasks of this profile
    #[arg(long, value_name = "PROFILE")]
    assignee: Option<String>,
    /// Only tasks that stand here
    #[arg(long, value_parser = status)]
    status: Option<Status>,
    /// Only tasks of this tenant
    #[arg(long)]
    tenant: Option<String>,
    /// Also those that were put away
    #[arg(long)]
    archived: bool,
    /// Most tasks to list
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
}

#[derive(clap::Args)]
struct Create {
    /// What is to be done, in one line
    title: String,
    /// What is to be done, in full; `@file` and `-` are read
    #[arg(long)]
    body: Option<String>,
    /// The profile that is to do it
    #[arg(long, value_name = "PROFILE")]
    assignee: Option<String>,
    /// A task that has to be done first; may be given several times
    #[arg(long = "parent", value_name = "ID")]
    parents: Vec<String>,
    /// Whose work it is
    #[arg(long)]
    tenant: Option<String>,
    /// Higher comes first
    #[arg(long, default_value_t, allow_negative_numbers = true)]
    priority: i64,
    /// Where it is done: scratch, dir:<path>, worktree or worktree:<path>
    #[arg(long, default_value = "scratch")]
    workspace: String,
    /// The project it belongs to
    #[arg(long)]
    project: Option<String>,
    /// Let somebody look at it first
    #[arg(long, conflicts_with = "blocked")]
    triage: bool,
    /// Let it wait until somebody unblocks it
    #[arg(long)]
    blocked: bool,
    /// A second task with the same key is not made
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// An attempt is over after this time: seconds, or as in 30m, 2h, 1d
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_runtime: Option<Duration>,
    /// A skill that the worker begins with; may be given several times
    #[arg(long = "skill", value_name = "NAME")]
    skills: Vec<String>,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let boards = hermes::open_boards(&shell.home()?).map_err(failed)?;
        let board = self.board.or_else(|| shell.variable("HERMES_KANBAN_BOARD").map(str::to_owned));
        let desk = Desk { boards, board: board.filter(|name| !name.is_empty()), by: person(shell), shell };
        match self.action {
            Action::List(list) => desk.list(list),
            Action::Show { id } => desk.show(id),
            Action::Create(create) => desk.create(create),
            Action::Comment { id, text } => {
                let text = input::text(&text, shell.cwd())?;
                desk.act(vec![id], &Act::Comment(text), "commented on")
            }
            Action::Complete { ids, summary, result, metadata } => {
                let read =
                    |text: Option<String>| text.map(|text| input::text(&text, shell.cwd())).transpose();
                let metadata = read(metadata)?.map(|text| serde_json::from_str::<Map<String, Value>>(&text));
                let metadata =
                    metadata.transpose().map_err(|why| Failure::usage(format!("--metadata: {why}")))?;
                let done = Completion {
                    summary: read(summary)?,
                    result: read(result)?,
                    metadata: metadata.unwrap_or_default(),
                    created: Vec::new(),
                };
                desk.act(ids, &Act::Complete(done), "completed")
            }
            Action::Block { id, reason, kind } => desk.act(vec![id], &Act::Block(kind, reason), "blocked"),
            Action::Unblock { ids } => desk.act(ids, &Act::Unblock, "unblocked"),
            Action::Link { parent, child } => desk.link(parent, child, true),
            Action::Unlink { parent, child } => desk.link(parent, child, false),
            Action::Claim { id, ttl } => desk.act(vec![id], &Act::Claim(Duration::from_secs(ttl)), "claimed"),
            Action::Heartbeat { id, note } => desk.act(vec![id], &Act::Heartbeat(note), "kept alive"),
            Action::Reclaim { id, reason } => desk.act(vec![id], &Act::Reclaim(reason), "taken back"),
            Action::Assign { id, to } => {
                let to = (to != "none").then_some(to);
                desk.act(vec![id], &Act::Assign(to), "assigned")
            }
            Action::Promote { ids } => desk.act(ids, &Act::Promote, "promoted"),
            Action::Archive { ids } => desk.act(ids, &Act::Archive, "archived"),
            Action::Attach { id, files, media_type } => desk.attach(id, &files, media_type.as_deref()),
            Action::Boards { action } => on_boards(&desk.boards, action.unwrap_or(BoardsAction::List), shell),
        }
    }
}

/// Who sits at the keyboard.
fn person(shell: &Shell) -> Actor {
    let said = ["HERMES_PROFILE", "USER"].into_iter().filter_map(|name| shell.variable(name));
    let name = said.map(str::trim).find(|name| !name.is_empty()).unwrap_or("user");
    Actor { name: name.to_owned(), hand: Hand::Person }
}

struct Desk<'a> {
    boards: Boards,
    board: Option<String>,
    by: Actor,
    shell: &'a Shell,
}

impl Desk<'_> {
    fn task(&self, id: String) -> TaskRef {
        TaskRef { board: self.board.clone(), id }
    }

    fn list(&self, list: List) -> Result<(), Failure> {
        let List { assignee, status, tenant, archived, limit } = list;
        let filter = Filter { assignee, status, tenant, archived, limit };
        let tasks = self.boards.list(self.board.as_deref(), &filter).map_err(failed)?;
        let out = &self.shell.out;
        if out.wants_json() {
            return out.json(&tasks);
        }
        if tasks.is_empty() {
            return out.line("no tasks");
        }
        let rows: Vec<Vec<Cell>> = tasks.iter().map(row).collect();
        out.table(&["TASK", "STATUS", "PRIORITY", "FOR", "TITLE"], &rows)
    }

    fn show(&self, id: String) -> Result<(), Failure> {
        let view = self.boards.show(&self.task(id)).map_err(failed)?;
        if self.shell.out.wants_json() {
            self.shell.out.json(&view)
        } else {
            self.shell.out.text(&page(&view))
        }
    }

    fn create(&self, create: Create) -> Result<(), Failure> {
        let (workspace, workspace_path) = place(&create.workspace, self.shell)?;
        let body = create.body.map(|body| input::text(&body, self.shell.cwd())).transpose()?;
        let new = NewTask {
            title: create.title,
            body,
            assignee: create.assignee,
            parents: create.parents,
            tenant: create.tenant.or_else(|| self.shell.variable("HERMES_TENANT").map(str::to_owned)),
            priority: create.priority,
            workspace,
            workspace_path,
            project: create.project,
            idempotency_key: create.idempotency_key,
            max_runtime: create.max_runtime,
            skills: create.skills,
            goal: None,
            begin: match (create.triage, create.blocked) {
                (true, _) => Begin::Triage,
                (_, true) => Begin::Blocked,
                _ => Begin::Open,
            },
        };
        let made = self.boards.create(self.board.as_deref(), &new, &self.by).map_err(failed)?;
        if self.shell.out.wants_json() {
            return self.shell.out.json(&json!({ "created": made.new, "task": made.task }));
        }
        let word = if made.new { "created" } else { "was there" };
        self.shell.out.text(&format!("{}: {word}, {}", made.task.id, made.task.status.word()))
    }

    /// Does the same with each task, up to the first that refuses.
    fn act(&self, ids: Vec<String>, what: &Act, word: &str) -> Result<(), Failure> {
        let mut done: Vec<Value> = Vec::new();
        for id in ids {
            let acted = self.boards.act(&self.task(id), what, &self.by).map_err(failed)?;
            self.tell_hooks(what, &acted)?;
            let Acted { task, run, note, .. } = acted;
            if self.shell.out.wants_json() {
                done.push(json!({ "task": task, "run_id": run, "note": note }));
                continue;
            }
            let run = run.filter(|_| matches!(what, Act::Claim(_)));
            let run = run.map(|run| format!(" (run {run})")).unwrap_or_default();
            let note = note.map(|note| format!("; {note}")).unwrap_or_default();
            let line = format!("{}: {word}{run}, {}{note}", task.id, task.status.word());
            self.shell.out.text(&line)?;
        }
        if self.shell.out.wants_json() { self.shell.out.json(&done) } else { Ok(()) }
    }

    /// Keeps files with a task, up to the first that is refused.
    fn attach(&self, id: String, files: &[String], media_type: Option<&str>) -> Result<(), Failure> {
        let task = self.task(id);
        let mut kept = Vec::new();
        for named in files {
            let bytes = input::bytes(named, self.shell.cwd())?;
            let name = Path::new(named).file_name().map(|name| name.to_string_lossy().into_owned());
            let file = NewAttachment {
                name: name.unwrap_or_default(),
                media_type: media_type.map(str::to_owned),
                source: None,
                bytes,
            };
            let one = self.boards.attach(&task, &file, &self.by).map_err(failed)?;
            if !self.shell.out.wants_json() {
                self.shell.out.text(&format!("{}: {} is kept, {} bytes", task.id, one.filename, one.size))?;
            }
            kept.push(one);
        }
        if self.shell.out.wants_json() { self.shell.out.json(&kept) } else { Ok(()) }
    }

    /// Hooks hear of a task that was taken up, is done or cannot go on, whoever did it.
    fn tell_hooks(&self, what: &Act, acted: &Acted) -> Result<(), Failure> {
        if acted.took || matches!(what, Act::Complete(_) | Act::Block(..)) {
            let runtime = self.shell.runtime()?;
            runtime.kanban_moved_blocking(what, acted, &self.by);
            for wrong in runtime.settle(HOOKS_AT_THE_END) {
                output::warn(&wrong);
            }
        }
        Ok(())
    }

    fn link(&self, parent: String, child: String, wanted: bool) -> Result<(), Failure> {
        let link = Link { board: self.board.clone(), parent, child };
        let child = self.boards.link(&link, wanted, &self.by).map_err(failed)?;
        if self.shell.out.wants_json() {
            return self.shell.out.json(&child);
        }
        let word = if wanted { "waits for" } else { "no longer waits for" };
        self.shell.out.text(&format!("{} {word} {}: {}", child.id, link.parent, child.status.word()))
    }
}
