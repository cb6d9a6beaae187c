//! What a task goes through: made, linked, blocked, done, on its own board.

use hermes_core::kanban::{Act, Begin, BlockKind, Completion, Filter, KanbanError, NewTask, Status, TaskRef};
use serde_json::json;

use crate::{Bench, agent, done, person, task, worker};

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
