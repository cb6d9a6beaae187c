//! Who holds a task: one at a time, as long as there are signs of life, and no longer than a run may take.

use std::time::Duration;

use hermes_core::kanban::{Act, BlockKind, KanbanError, NewTask, Status};

use crate::{Bench, agent, done, person, task, worker};

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
