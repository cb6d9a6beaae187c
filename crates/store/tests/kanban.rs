//! The task board, with many at work: nothing is taken twice, nothing is lost, and what a dead worker had
//! is found again.

#![expect(clippy::disallowed_methods, reason = "a test with real files and processes")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use hermes_core::kanban::{
    Act, Acted, Actor, Begin, BlockKind, Completion, Filter, Hand, KanbanError, Link, MAX_ATTACHMENT,
    NewAttachment, NewTask, Status, Task, TaskRef,
};
use hermes_store::sessions::Clock;
use hermes_store::{Boards, Home};
use serde_json::json;

const WORKERS: usize = 8;
const TASKS: usize = 120;

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

fn file(name: &str, bytes: &[u8]) -> NewAttachment {
    NewAttachment { name: name.to_owned(), media_type: None, source: None, bytes: bytes.to_vec() }
}

#[test]
fn a_task_goes_from_hand_to_hand() {
    let bench = Bench::new();
    let first = bench.make("look", &[]);
    let second = bench.make("build", &[&first]);
    assert_eq!((bench.status(&first), bench.status(&second)), (Status::Ready, Status::Todo));

    let run = bench.act(&first, Act::Heartbeat(Some("on it".to_owned())), &agent("s1")).unwrap().run.unwrap();
    let end = bench.act(&first, done("the API is v2"), &agent("s1")).unwrap();

    assert_eq!((end.task.status, end.run), (Status::Done, Some(run)));
    let view = bench.boards.show(&task(&second)).unwrap();
    assert_eq!(view.task.status, Status::Ready);
    assert_eq!(view.parents[0].summary.as_deref(), Some("the API is v2"));
    let view = bench.boards.show(&task(&first)).unwrap();
    let kinds: Vec<&str> = view.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["created", "claimed", "heartbeat", "completed"]);
    assert_eq!(view.runs[0].outcome.as_deref(), Some("completed"));
}

#[test]
fn who_does_not_hold_a_task_cannot_end_it_and_a_person_can() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);
    bench.act(&id, Act::Heartbeat(None), &agent("s1")).unwrap();

    for what in [Act::Heartbeat(None), done("mine"), Act::Block(None, "no".to_owned()), Act::Reclaim(None)] {
        let refused = bench.act(&id, what, &agent("s2")).unwrap_err();
        assert!(matches!(refused, KanbanError::Taken { .. }), "{refused}");
    }
    let again = bench.act(&id, Act::Claim(Duration::from_mins(1)), &agent("s1")).unwrap_err();
    assert!(matches!(again, KanbanError::Taken { .. }), "{again}");
    bench.act(&id, Act::Comment("hello".to_owned()), &agent("s2")).unwrap();
    assert_eq!(bench.act(&id, done("enough"), &person()).unwrap().task.status, Status::Done);
}

#[test]
fn a_claim_without_a_sign_of_life_ends_and_twice_is_enough() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);
    let run = bench.act(&id, Act::Claim(Duration::from_mins(1)), &agent("s1")).unwrap().run.unwrap();

    bench.pass(50);
    bench.act(&id, Act::Heartbeat(None), &agent("s1")).unwrap();
    bench.pass(50);
    assert_eq!(bench.status(&id), Status::Running, "the sign of life counts");
    bench.pass(20);
    assert_eq!(bench.status(&id), Status::Ready);

    let late = bench.act(&id, done("late"), &worker("s1", Some(run), &id)).unwrap_err();
    assert_eq!(late, KanbanError::RunOver { id: id.clone(), run, outcome: "expired".to_owned() });
    bench.act(&id, Act::Claim(Duration::from_mins(1)), &agent("s2")).unwrap();
    bench.pass(61);
    let view = bench.boards.show(&task(&id)).unwrap();
    assert_eq!((view.task.status, view.task.block_kind), (Status::Blocked, Some(BlockKind::Transient)));
    bench.act(&id, Act::Unblock, &person()).unwrap();
    assert_eq!(bench.boards.show(&task(&id)).unwrap().task.failures, 0);
}

#[test]
fn no_sign_of_life_goes_beyond_the_time_a_run_may_take() {
    let bench = Bench::new();
    let new =
        NewTask { title: "x".to_owned(), max_runtime: Some(Duration::from_secs(100)), ..NewTask::default() };
    let id = bench.boards.create(None, &new, &person()).unwrap().task.id;
    bench.act(&id, Act::Claim(Duration::from_secs(80)), &agent("s1")).unwrap();
    bench.pass(70);
    bench.act(&id, Act::Heartbeat(None), &agent("s1")).unwrap();

    bench.pass(31);

    let view = bench.boards.show(&task(&id)).unwrap();
    assert_eq!((view.task.status, view.runs[0].outcome.as_deref()), (Status::Ready, Some("timed_out")));
}

#[test]
fn tasks_never_wait_for_each_other() {
    let bench = Bench::new();
    let (a, b, c) = (bench.make("a", &[]), bench.make("b", &[]), bench.make("c", &[]));
    bench.link(&a, &b).unwrap();
    assert_eq!(bench.link(&b, &c).unwrap().status, Status::Todo);

    let refused = bench.link(&c, &a).unwrap_err();

    let path = vec![a.clone(), b.clone(), c.clone()];
    assert_eq!(refused, KanbanError::Cycle { parent: c.clone(), child: a.clone(), path });
    assert!(matches!(bench.link(&a, &a), Err(KanbanError::Cycle { .. })));
    assert_eq!(bench.status(&a), Status::Ready, "nothing was changed");
    assert_eq!(bench.link(&a, &b).unwrap().id, b, "a link that is there is no mistake");
}

#[test]
fn a_task_that_waits_for_others_goes_on_by_itself() {
    let bench = Bench::new();
    let own = bench.make("own", &[]);
    bench.act(&own, Act::Heartbeat(None), &agent("s1")).unwrap();
    let sub = bench.make("sub", &[]);
    bench.link(&sub, &own).unwrap();

    let kind = Some(BlockKind::Dependency);
    let blocked = bench.act(&own, Act::Block(kind, "needs sub".to_owned()), &agent("s1")).unwrap();
    assert_eq!(blocked.task.status, Status::Todo);
    assert!(blocked.note.unwrap().contains(&sub));
    bench.act(&sub, done("there"), &person()).unwrap();
    assert_eq!(bench.status(&own), Status::Ready);

    let other = bench.act(&own, Act::Block(kind, "something".to_owned()), &person()).unwrap();
    assert_eq!(other.task.status, Status::Blocked, "there is nothing it could wait for");
}

#[test]
fn what_cannot_be_done_from_where_a_task_stands_is_told() {
    let bench = Bench::new();
    let new = NewTask { title: "x".to_owned(), begin: Begin::Triage, ..NewTask::default() };
    let id = bench.boards.create(None, &new, &person()).unwrap().task.id;

    let told = bench.act(&id, done("x"), &person()).unwrap_err().to_string();
    assert_eq!(
        told,
        format!("`{id}` is triage, so it cannot be completed: somebody has to promote it first")
    );
    bench.act(&id, Act::Promote, &person()).unwrap();
    assert!(bench.act(&id, Act::Unblock, &person()).is_err());
    bench.act(&id, done("x"), &person()).unwrap();
    for what in
        [done("x"), Act::Heartbeat(None), Act::Block(None, "y".to_owned()), Act::Promote, Act::Unblock]
    {
        assert!(matches!(bench.act(&id, what, &person()), Err(KanbanError::Status { .. })));
    }
    bench.act(&id, Act::Archive, &person()).unwrap();
    assert_eq!(bench.boards.list(None, &Filter { limit: 9, ..Filter::default() }).unwrap(), []);
}

#[test]
fn tasks_that_nobody_made_are_not_claimed_as_work() {
    let bench = Bench::new();
    let own = bench.make("own", &[]);
    bench.act(&own, Act::Heartbeat(None), &agent("s1")).unwrap();
    let new = NewTask { title: "sub".to_owned(), ..NewTask::default() };
    let made = bench.boards.create(None, &new, &worker("s1", None, &own)).unwrap().task.id;
    let complete = |created: &[&str]| {
        Act::Complete(Completion {
            summary: Some("x".to_owned()),
            created: created.iter().map(|id| (*id).to_owned()).collect(),
            metadata: json!({ "files": 3 }).as_object().unwrap().clone(),
            ..Completion::default()
        })
    };

    let refused = bench.act(&own, complete(&[&made, "t_00000000"]), &agent("s1")).unwrap_err();
    assert!(refused.to_string().contains("`t_00000000`"), "{refused}");
    assert_eq!(bench.status(&own), Status::Running);

    let end = bench.act(&own, complete(&[&made]), &agent("s1")).unwrap();
    assert_eq!(json!(end.task.metadata), json!({ "files": 3, "created_cards": [made] }));
}

#[test]
fn a_worker_keeps_to_its_own_task() {
    let bench = Bench::new();
    let (own, other) = (bench.make("own", &[]), bench.make("other", &[]));

    let refused = bench.act(&other, done("x"), &worker("s1", None, &own)).unwrap_err().to_string();

    assert!(refused.contains(&own) && refused.contains("comment"), "{refused}");
    bench.act(&other, Act::Comment("look here".to_owned()), &worker("s1", None, &own)).unwrap();
    // A person took it for the agent that is started next.
    bench.act(&own, Act::Claim(Duration::from_mins(1)), &person()).unwrap();
    bench.act(&own, Act::Heartbeat(None), &worker("s1", None, &own)).unwrap();
    bench.act(&own, done("x"), &worker("s1", None, &own)).unwrap();
}

#[test]
fn a_second_task_with_the_same_key_is_not_made() {
    let bench = Bench::new();
    let new = NewTask { title: "x".to_owned(), idempotency_key: Some("k".to_owned()), ..NewTask::default() };

    let first = bench.boards.create(None, &new, &person()).unwrap();
    let again = bench.boards.create(None, &new, &person()).unwrap();
    bench.act(&first.task.id, Act::Archive, &person()).unwrap();
    let after = bench.boards.create(None, &new, &person()).unwrap();

    assert!(first.new && !again.new && after.new);
    assert_eq!(first.task.id, again.task.id);
    assert_ne!(first.task.id, after.task.id);
}

#[test]
fn boards_do_not_see_each_other() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);

    let missing = bench.boards.list(Some("lab"), &Filter::default()).unwrap_err().to_string();
    assert_eq!(missing, "there is no board `lab`; there is only `default`");
    assert!(bench.boards.make_board("lab", None).unwrap() && !bench.boards.make_board("lab", None).unwrap());
    assert!(bench.boards.make_board("../lab", None).is_err());
    let there = TaskRef { board: Some("lab".to_owned()), id };
    assert!(matches!(bench.boards.show(&there), Err(KanbanError::NoTask { .. })));
    assert!(bench.boards.remove_board("default").is_err());
    bench.boards.remove_board("lab").unwrap();
}

#[test]
fn attachments_stay_below_their_folder() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);

    let kept = bench.boards.attach(&task(&id), &file("report.txt", b"hello"), &person()).unwrap();
    assert_eq!((kept.content_type.as_str(), kept.size), ("text/plain", 5));
    assert_eq!(std::fs::read(&kept.path).unwrap(), b"hello");
    let again = bench.boards.attach(&task(&id), &file("report.txt", b"other"), &person()).unwrap();
    assert_ne!(again.path, kept.path, "the first is still there");
    for bad in ["../x", "/etc/passwd", "a/b", "..", ".env", ""] {
        assert!(bench.boards.attach(&task(&id), &file(bad, b""), &person()).is_err(), "{bad}");
    }
    let large = vec![0; MAX_ATTACHMENT + 1];
    assert!(bench.boards.attach(&task(&id), &file("large", &large), &person()).is_err());
    assert!(bench.boards.attach(&task("../../x"), &file("x", b""), &person()).is_err());
    assert_eq!(bench.boards.show(&task(&id)).unwrap().attachments.len(), 2);
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);
    let kept = bench.boards.attach(&task(&id), &file("a", b"1"), &person()).unwrap();
    let folder = Path::new(&kept.path).parent().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder).unwrap();

    assert!(bench.boards.attach(&task(&id), &file("b", b"2"), &person()).is_err());

    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(bench.boards.show(&task(&id)).unwrap().attachments.len(), 1, "what was not kept is not told");
}

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
    command.args(["worker_process", "--exact", "--nocapture"]).stdout(Stdio::piped());
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

/// Tables and columns as the original has them; older files have fewer.
const ORIGINAL: &str = "
    CREATE TABLE tasks (id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT, assignee TEXT, status TEXT NOT NULL,
        priority INTEGER, created_by TEXT, created_at INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER,
        workspace_kind TEXT, workspace_path TEXT, claim_lock TEXT, claim_expires INTEGER, tenant TEXT, result TEXT,
        idempotency_key TEXT, consecutive_failures INTEGER, skills TEXT, goal_mode INTEGER, block_kind TEXT);
    CREATE TABLE task_links (parent_id TEXT, child_id TEXT);
    CREATE TABLE task_comments (id INTEGER PRIMARY KEY, task_id TEXT, author TEXT, body TEXT, created_at INTEGER);
    CREATE TABLE task_events (id INTEGER PRIMARY KEY, task_id TEXT, run_id INTEGER, kind TEXT, payload TEXT, created_at INTEGER);
    CREATE TABLE task_runs (id INTEGER PRIMARY KEY, task_id TEXT, profile TEXT, status TEXT, started_at INTEGER,
        ended_at INTEGER, outcome TEXT, summary TEXT, error TEXT, last_heartbeat_at INTEGER, claim_expires INTEGER);
    CREATE TABLE task_attachments (id INTEGER PRIMARY KEY, task_id TEXT, filename TEXT, stored_path TEXT,
        content_type TEXT, size INTEGER, uploaded_by TEXT, created_at INTEGER);
    INSERT INTO tasks (id, title, status, priority, created_by, created_at, workspace_kind, skills, result)
        VALUES ('t_done', 'Collect', 'done', 2, 'ann', 1700000000, 'scratch', '[\"csv\"]', '42');
    INSERT INTO tasks (id, title, status, created_at, block_kind)
        VALUES ('t_stuck', 'Ask', 'blocked', 1700000001, 'needs_input'),
               ('t_run', 'Report', 'running', 1700000002, NULL),
               ('t_wait', 'Print', 'todo', 1700000003, NULL),
               ('t_odd', 'Check', 'review', 1700000004, NULL);
    INSERT INTO task_links VALUES ('t_run', 't_wait'), ('t_done', 't_run'), ('t_gone', 't_run');
    INSERT INTO task_comments (task_id, author, body, created_at) VALUES ('t_done', 'bob', 'well done', 1700000005);
    INSERT INTO task_events (task_id, kind, payload, created_at)
        VALUES ('t_stuck', 'blocked', '{\"reason\": \"which one?\"}', 1700000006);
    INSERT INTO task_runs (task_id, profile, status, started_at, ended_at, outcome, summary)
        VALUES ('t_done', 'analyst', 'done', 1700000000, 1700000009, 'completed', 'all of it');
    INSERT INTO task_runs (task_id, profile, status, started_at) VALUES ('t_run', 'writer', 'running', 1700000002);
";

#[test]
fn the_tasks_of_the_original_are_brought_in_once() {
    let (bench, other) = (Bench::new(), tempfile::tempdir().unwrap());
    let path = other.path().join("kanban.db");
    let file = other.path().join("data.csv");
    std::fs::write(&file, "a,b\n").unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(ORIGINAL).unwrap();
    let attach = "INSERT INTO task_attachments (task_id, filename, stored_path, size, created_at) VALUES (?1, ?2, ?3, 4, 1)";
    db.execute(attach, ("t_done", "data.csv", file.to_str().unwrap())).unwrap();
    db.execute(attach, ("t_done", "passwd", "/etc/passwd")).unwrap();
    let by = Actor { name: "import".to_owned(), hand: Hand::Person };

    let brought = bench.boards.import(&path, None, &by).unwrap();

    assert_eq!((brought.new_tasks, brought.known_tasks, brought.comments, brought.attachments), (5, 0, 1, 1));
    // A file from elsewhere cannot be made to come along.
    assert_eq!((brought.left_out.len(), brought.left_out[0].1.as_str()), (1, "passwd"));
    let view = |id: &str| bench.boards.show(&task(id)).unwrap();
    let first = view("t_done");
    assert_eq!(
        (first.task.status, first.task.created_at, first.task.priority),
        (Status::Done, 1_700_000_000, 2)
    );
    assert_eq!((first.task.skills, first.task.result), (vec!["csv".to_owned()], Some("42".to_owned())));
    assert_eq!(
        (first.comments[0].body.as_str(), first.runs[0].summary.as_deref()),
        ("well done", Some("all of it"))
    );
    let stuck = view("t_stuck").task;
    assert_eq!((stuck.status, stuck.block_kind), (Status::Blocked, Some(BlockKind::NeedsInput)));
    assert_eq!(stuck.block_reason.as_deref(), Some("which one?"));
    assert_eq!(view("t_odd").task.status, Status::Blocked);
    // Nobody here works on what ran there, and somebody may.
    let running = view("t_run");
    assert_eq!((running.task.status, running.task.run_id), (Status::Ready, None));
    bench.act("t_run", Act::Claim(Duration::from_mins(1)), &agent("s1")).unwrap();
    bench.act("t_run", done("x"), &agent("s1")).unwrap();
    assert_eq!(view("t_wait").task.status, Status::Ready);

    let again = bench.boards.import(&path, None, &by).unwrap();
    assert_eq!((again.new_tasks, again.known_tasks, again.attachments), (0, 5, 0));
    assert_eq!(view("t_run").task.status, Status::Done);
    let wrong = bench.boards.import(&file, None, &by).unwrap_err();
    assert!(wrong.to_string().contains("cannot import"), "{wrong}");
}
