//! Lines of a program, heard by whoever waits for them.

#![expect(
    clippy::disallowed_methods,
    reason = "a test has no host: it starts its own threads and waits itself"
)]

use std::io::{PipeWriter, Write as _};

use futures::future::BoxFuture;

use tokio::runtime::Runtime;

use super::*;

/// Time as it passes.
struct Passing(tokio::runtime::Handle);

impl Host for Passing {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let _inside = self.0.enter();
        Box::pin(tokio::time::sleep(time))
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}

/// An output and the other end of it, in a runtime.
fn output() -> (Runtime, Arc<Output>, PipeWriter) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (reader, writer) = io::pipe().unwrap();
    let reader = OwnedFd::from(reader);
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    let inside = runtime.enter();
    let output = Arc::new(Output::new(reader, Arc::new(Passing(runtime.handle().clone()))).unwrap());
    drop(inside);
    (runtime, output, writer)
}

/// Takes lines that begin with an exclamation mark.
fn loud(line: Vec<u8>) -> Option<Vec<u8>> {
    (!line.starts_with(b"!")).then_some(line)
}

fn text(piece: Option<Piece>) -> String {
    match piece {
        Some(Piece::Whole(line)) => String::from_utf8(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_without_end_takes_no_memory_without_end() {
    let mut line = Line::default();
    for _ in 0..40 {
        line.push(&vec![b'x'; 1024 * 1024]);
    }
    assert!(line.bytes.capacity() < 3 * MAX_MESSAGE);
    line.push(b"\"id\":3}");

    let Piece::Cut(edges, total) = line.take() else { panic!() };

    assert!(edges.len() < 5 * EDGE && total > 40_000_000);
    assert!(edges.ends_with(b"\"id\":3}"));
}

#[test]
fn whoever_sleeps_takes_what_comes_and_the_task_gets_the_rest_in_order() {
    let (runtime, output, mut writer) = output();
    let (tell, told) = std::sync::mpsc::channel();
    writer.write_all(b"one\n!mine\ntwo\nthr").unwrap();

    assert!(output.sleep(&AtomicBool::new(false), |line| {
        let rest = loud(line);
        if rest.is_none() {
            tell.send(()).unwrap();
        }
        rest
    }));

    assert!(told.try_recv().is_ok());
    writer.write_all(b"ee\n").unwrap();
    drop(writer);
    let heard = runtime.block_on(async {
        [output.next(loud).await, output.next(loud).await, output.next(loud).await].map(text)
    });
    assert_eq!(heard, ["one", "two", "three"]);
    assert!(runtime.block_on(output.next(loud)).is_none());
    assert!(!output.sleep(&AtomicBool::new(false), loud), "nothing will come");
}

#[test]
fn a_task_that_waits_hears_of_what_a_sleeper_left_for_it() {
    let (runtime, output, mut writer) = output();
    for n in 0..200 {
        let (task, bell, woken) =
            (Arc::clone(&output), Arc::clone(&output), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&woken);
        let heard = runtime.spawn(async move {
            let heard = task.next(loud).await;
            flag.store(true, Ordering::SeqCst);
            bell.wake();
            heard
        });
        writer.write_all(format!("{n}\n!\n").as_bytes()).unwrap();
        // Whoever is first takes both lines in; the first of them is for the task either way.
        while !woken.load(Ordering::SeqCst) {
            output.sleep(&woken, loud);
        }

        assert_eq!(text(runtime.block_on(heard).unwrap()), n.to_string());
    }
}

#[test]
fn the_task_listens_again_when_no_thread_comes_any_more_or_somebody_needs_it() {
    let (runtime, output, mut writer) = output();
    for attended in [false, true] {
        writer.write_all(b"!\n").unwrap();
        assert!(output.sleep(&AtomicBool::new(false), loud));
        assert!(output.ear().is_none(), "the thread listened");
        let task = Arc::clone(&output);
        let heard = runtime.spawn(async move { task.next(loud).await });
        if attended {
            output.attend();
        }
        writer.write_all(b"later\n").unwrap();

        assert_eq!(text(runtime.block_on(heard).unwrap()), "later");
        assert!(output.ear().is_some());
    }
}

#[test]
fn the_bell_wakes_a_sleeper_before_and_while_it_sleeps() {
    let (_runtime, output, _writer) = output();
    let woken = Arc::new(AtomicBool::new(true));
    assert!(output.sleep(&woken, loud), "it was woken before it slept");

    for _ in 0..200 {
        woken.store(false, Ordering::SeqCst);
        let (sleeper, flag) = (Arc::clone(&output), Arc::clone(&woken));
        let other = std::thread::spawn(move || {
            flag.store(true, Ordering::SeqCst);
            sleeper.wake();
        });
        while !woken.load(Ordering::SeqCst) {
            assert!(output.sleep(&woken, loud));
        }
        other.join().unwrap();
    }
}

#[test]
fn one_sleeps_and_another_is_sent_away() {
    let (_runtime, output, mut writer) = output();
    let sleeper = Arc::clone(&output);
    let first = std::thread::spawn(move || sleeper.sleep(&AtomicBool::new(false), loud));
    while !output.asleep.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }

    assert!(!output.sleep(&AtomicBool::new(false), loud));

    writer.write_all(b"!\n").unwrap();
    assert!(first.join().unwrap());
}

#[test]
fn what_nobody_takes_is_kept_up_to_a_limit_and_the_rest_stays_in_the_pipe() {
    let (runtime, output, mut writer) = output();
    let many = 2 * MAX_KEPT;
    let writing = std::thread::spawn(move || {
        for n in 0..many {
            writer.write_all(format!("{n} {}\n", "x".repeat(1024)).as_bytes()).unwrap();
        }
    });
    while output.sleep(&AtomicBool::new(false), loud) {}

    assert!(output.taken().kept.len() < MAX_KEPT + CHUNK / 1024);
    let heard: Vec<String> = runtime.block_on(async {
        let mut heard = Vec::new();
        while let Some(piece) = output.next(loud).await {
            heard.push(text(Some(piece)).split(' ').next().unwrap().to_owned());
        }
        heard
    });
    writing.join().unwrap();
    assert_eq!(heard, (0..many).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn what_was_said_already_needs_no_sleep_unless_somebody_else_listens() {
    let (_runtime, output, mut writer) = output();
    let glanced = |output: &Output| {
        let heard = Mutex::new(Vec::new());
        output.glance(|line| {
            heard.lock().unwrap().push(String::from_utf8(line).unwrap());
            None
        });
        heard.into_inner().unwrap()
    };
    writer.write_all(b"!first\n").unwrap();
    // Nobody looks at the task's ear: it is there, and what was said stays for the task.
    assert_eq!(glanced(&output), [""; 0]);

    assert!(output.sleep(&AtomicBool::new(false), loud));
    writer.write_all(b"!second\n!third\n").unwrap();

    assert_eq!(glanced(&output), ["!second", "!third"]);
    assert_eq!(glanced(&output), [""; 0], "it does not wait for more");
    output.occupied.store(true, Ordering::SeqCst);
    writer.write_all(b"!fourth\n").unwrap();
    assert_eq!(glanced(&output), [""; 0], "it belongs to whoever sleeps there");
}

#[test]
fn a_program_is_waited_for_awake_while_it_answers_quickly() {
    let (_runtime, output, mut writer) = output();
    let lately = |output: &Output| output.lately.load(Ordering::Relaxed);
    let slept = |output: &Output, writer: &mut PipeWriter| {
        writer.write_all(b"!here\n").unwrap();
        assert!(output.sleep(&AtomicBool::new(false), loud));
    };
    assert_eq!(lately(&output), SLOWLY);

    // No time passes here while anybody sleeps.
    slept(&output, &mut writer);
    assert_eq!(lately(&output), QUICKLY);
    writer.write_all(b"!here\n").unwrap();
    output.glance(loud);
    assert_eq!(lately(&output), QUICKLY, "it was heard");

    output.glance(loud);
    assert_eq!(lately(&output), IN_VAIN);
    // However short the rest of the wait was, being awake for the beginning of it was no use.
    slept(&output, &mut writer);
    assert_eq!(lately(&output), SLOWLY);
    slept(&output, &mut writer);
    assert_eq!(lately(&output), QUICKLY);
}
