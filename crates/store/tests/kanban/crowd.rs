//! Many processes at one board: no task is taken twice, none is lost, and what a dead worker had is found
//! again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::kanban::{Act, Filter, KanbanError, Status};
use hermes_store::{Boards, Home};

use crate::{Bench, Later, agent, done, task};

const WORKERS: usize = 8;
const TASKS: usize = 120;

/// What the processes of the next two tests do, when they are told to.
#[test]
fn worker_process() {
    let (Ok(home), Ok(session)) = (std::env::var("KANBAN_TEST_HOME"), std::env::var("KANBAN_TEST_SESSION"))
    else {
        return;
    };
    let boards = Boards::open(&Home::at(Path::new(&home)), Arc::new(Later::default())).unwrap();
    let ready = Filter { status: Some(Status::Ready), limit: 20, ..Filter::default() };
    let dies = std::env::var("KANBAN_TEST_DIES").is_ok();
    loop {
        let tasks = boards.list(None, &ready).unwrap();
        let Some(first) = tasks.get(std::process::id() as usize % 5).or(tasks.first()) else { return };
        match boards.act(&task(&first.id), &Act::Claim(Duration::from_mins(10)), &agent(&session)) {
            Ok(_) => {}
            // Somebody was quicker.
            Err(KanbanError::Taken { .. } | KanbanError::Status { .. }) => continue,
            Err(other) => panic!("{other}"),
        }
        println!("claimed {}", first.id);
        if dies {
            // Somebody kills it here.
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        boards.act(&task(&first.id), &Act::Comment(format!("by {session}")), &agent(&session)).unwrap();
        boards.act(&task(&first.id), &done(&session), &agent(&session)).unwrap();
    }
}

fn start(home: &Path, session: &str, dies: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["crowd::worker_process", "--exact", "--nocapture"]).stdout(Stdio::piped());
    command.env("KANBAN_TEST_HOME", home).env("KANBAN_TEST_SESSION", session);
    if dies {
        command.env("KANBAN_TEST_DIES", "1");
    }
    command.spawn().unwrap()
}

/// The tasks that a process says it has taken, until it says no more.
fn claimed(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| Some(line.split_once("claimed ")?.1.trim().to_owned()))
}

#[test]
fn eight_processes_take_every_task_once_and_lose_none() {
    let bench = Bench::new();
    let ids: BTreeSet<String> = (0..TASKS).map(|number| bench.make(&format!("task {number}"), &[])).collect();

    let home = bench.dir.path();
    let mut workers: Vec<Child> = (0..WORKERS).map(|n| start(home, &format!("s{n}"), false)).collect();
    let taken: Vec<String> = workers.iter_mut().flat_map(claimed).collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }

    assert_eq!(taken.len(), TASKS, "no task was taken twice");
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), ids);
    for id in &ids {
        let view = bench.boards.show(&task(id)).unwrap();
        let summary = view.task.summary.clone().unwrap();
        assert_eq!((view.task.status, view.runs.len(), view.comments.len()), (Status::Done, 1, 1));
        assert_eq!(view.comments[0].body, format!("by {summary}"));
    }
}

#[test]
fn the_task_of_a_killed_worker_is_found_again() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);
    let mut worker = start(bench.dir.path(), "doomed", true);
    assert_eq!(claimed(&mut worker).next(), Some(id.clone()));

    worker.kill().unwrap();
    worker.wait().unwrap();

    assert!(matches!(bench.act(&id, Act::Heartbeat(None), &agent("s2")), Err(KanbanError::Taken { .. })));
    bench.pass(601);
    assert_eq!(bench.act(&id, Act::Heartbeat(None), &agent("s2")).unwrap().task.status, Status::Running);
    let runs = bench.boards.show(&task(&id)).unwrap().runs;
    assert_eq!(runs[0].outcome.as_deref(), Some("expired"));
}
