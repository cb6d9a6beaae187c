//! `hermes import [PATH]`: sessions, tasks and jobs of an existing Hermes home, which stays as it is.

use std::path::{Path, PathBuf};

use hermes::core::kanban::{Actor, Hand};
use hermes::store::{CronHome, Home};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::cron::jobs;
use crate::kanban::failed;
use crate::output;
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Import>("import", "Bring in sessions, tasks and jobs of an existing Hermes home");

/// Below the options.
const AFTER_HELP: &str = "\
A home is looked through for state.db (sessions), kanban.db (tasks) and cron/jobs.json (jobs). They are only read. \
What was brought in before is known again, so it can be repeated. Jobs come in paused: where they come from they \
may go on. `hermes cron resume` lets one run here.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Import {
    /// One of the files, or a Hermes home with them; the home in use when left out
    path: Option<PathBuf>,
}

/// What lies where.
#[derive(Default)]
struct Sources {
    sessions: Option<PathBuf>,
    tasks: Option<PathBuf>,
    jobs: Option<PathBuf>,
}

impl Sources {
    fn of(path: Option<&Path>, home: &Home, cwd: &Path) -> Self {
        let there = |path: PathBuf| Home::has_file(&path).then_some(path);
        let Some(path) = path else {
            // The jobs of the home in use are in use already.
            let tasks = home.state_db().with_file_name("kanban.db");
            return Self { sessions: there(home.state_db()), tasks: there(tasks), jobs: None };
        };
        let path = cwd.join(path);
        match path.file_name().and_then(|name| name.to_str()) {
            _ if CronHome::is_folder(&path) => Self {
                sessions: there(path.join("state.db")),
                tasks: there(path.join("kanban.db")),
                jobs: there(path.join("cron/jobs.json")),
            },
            Some("kanban.db") => Self { tasks: Some(path), ..Self::default() },
            Some("jobs.json") => Self { jobs: Some(path), ..Self::default() },
            _ => Self { sessions: Some(path), ..Self::default() },
        }
    }
}

impl Run for Import {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let home = shell.home()?;
        let from = Sources::of(self.path.as_deref(), &home, shell.cwd());
        let mut told = serde_json::Map::new();
        if let Some(path) = &from.sessions {
            told.insert("path".to_owned(), json!(path));
            told.insert("imported".to_owned(), sessions(shell, &home, path)?);
        }
        if let Some(path) = &from.tasks {
            told.insert("tasks".to_owned(), tasks(shell, &home, path)?);
        }
        if let Some(path) = &from.jobs {
            told.insert("jobs".to_owned(), taken_over(shell, path)?);
        }
        if told.is_empty() {
            let place = self.path.map_or_else(|| home.state_db(), |path| shell.cwd().join(path));
            return Err(Failure::failed(format!(
                "cannot import {}: there is nothing of Hermes",
                place.display()
            )));
        }
        if shell.out.wants_json() { shell.out.json(&told) } else { Ok(()) }
    }
}

fn sessions(shell: &Shell, home: &Home, path: &Path) -> Result<Value, Failure> {
    let done = hermes::open_sessions(home)?.import(path)?;
    for (id, title) in &done.renamed {
        output::warn(&format!("session {id} is now titled `{title}`: its title was taken"));
    }
    for id in &done.skipped {
        output::warn(&format!("session {id} was left out: another session has this id"));
    }
    say(
        shell,
        &format!(
            "{} new sessions, {} known, {} new messages from {}",
            done.new_sessions,
            done.known_sessions,
            done.new_messages,
            path.display()
        ),
    )?;
    Ok(json!(done))
}

fn tasks(shell: &Shell, home: &Home, path: &Path) -> Result<Value, Failure> {
    let by = Actor { name: "import".to_owned(), hand: Hand::Person };
    let done = hermes::open_boards(home).map_err(failed)?.import(path, None, &by).map_err(Failure::failed)?;
    for (task, file, why) in &done.left_out {
        output::warn(&format!("{task}: the file {file} was left out: {why}"));
    }
    say(
        shell,
        &format!(
            "{} new tasks, {} known, {} comments and {} files from {}",
            done.new_tasks,
            done.known_tasks,
            done.comments,
            done.attachments,
            path.display()
        ),
    )?;
    Ok(json!(done))
}

fn taken_over(shell: &Shell, path: &Path) -> Result<Value, Failure> {
    let cron = jobs(shell)?;
    let (new, known) = cron.home().adopt(path, &cron.here()?)?;
    say(
        shell,
        &format!("{} new jobs, {known} known, all of them paused, from {}", new.len(), path.display()),
    )?;
    let names: Vec<Value> = new.iter().map(|job| json!({ "id": job.id, "name": job.name })).collect();
    Ok(json!({ "new_jobs": new.len(), "known_jobs": known, "jobs": names }))
}

fn say(shell: &Shell, line: &str) -> Result<(), Failure> {
    if shell.out.wants_json() { Ok(()) } else { shell.out.text(line) }
}
