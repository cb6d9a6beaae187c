//! What every environment promises about commands that go on in the background.

use std::fs;
use std::time::Duration;

use hermes_core::environment::{EnvError, ShellState, Size};
use hermes_core::jobs::{Happening, Job, JobInput, JobState, Jobs, LogPage, NewJob};

use crate::bench::Bench;
use crate::processes::until;

/// A job with everything usual.
pub(crate) fn plain() -> NewJob {
    NewJob {
        session: "s".to_owned(),
        shell: ShellState::default(),
        terminal: None,
        notify: false,
        watch: Vec::new(),
    }
}

/// The background of a bench, waited for.
pub(crate) struct Background<'a>(pub(crate) &'a Bench);

impl Background<'_> {
    fn jobs(&self) -> &dyn Jobs {
        self.0.place.jobs().unwrap()
    }

    pub(crate) fn start(&self, text: &str, job: NewJob) -> Job {
        let permit = self.0.permit(text);
        self.0.runtime.block_on(self.jobs().start(permit, job)).unwrap()
    }

    pub(crate) fn look(&self, id: &str) -> Job {
        self.0.runtime.block_on(self.jobs().look("s", id)).unwrap()
    }

    pub(crate) fn tail(&self, id: &str) -> String {
        let bytes = self.0.runtime.block_on(self.jobs().tail("s", id, 10_000)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    pub(crate) fn write(&self, id: &str, input: JobInput) -> Result<(), EnvError> {
        self.0.runtime.block_on(self.jobs().write("s", id, input))
    }

    pub(crate) fn wait(&self, id: &str, limit: Duration) -> Job {
        self.0.runtime.block_on(self.jobs().wait("s", id, limit)).unwrap()
    }

    pub(crate) fn ended(&self, id: &str) -> JobState {
        self.wait(id, Duration::from_secs(30)).state
    }

    fn lines(&self, id: &str, from: Option<u64>, lines: usize) -> (u64, u64, u64, String) {
        let page = LogPage { from, lines, bytes: 100_000 };
        let found = self.0.runtime.block_on(self.jobs().log("s", id, page)).unwrap();
        (found.first, found.count, found.total, String::from_utf8(found.text).unwrap())
    }
}

fn bytes(text: &str) -> JobInput {
    JobInput::Bytes(text.as_bytes().to_vec())
}

pub(crate) fn a_job_goes_on_after_the_call_and_is_written_to_and_read(bench: &Bench) {
    let background = Background(bench);
    let text = "pwd; echo err >&2; read x; echo \"got $x\"; cat; printf end; exit 3";
    let job = background.start(text, plain());
    assert_eq!((job.state, job.command.as_str()), (JobState::Running, text));
    until("it has begun", || background.tail(&job.id).ends_with("err\n"));

    background.write(&job.id, bytes("one\n")).unwrap();
    until("it has read", || background.tail(&job.id).ends_with("got one\n"));
    background.write(&job.id, bytes("two\n")).unwrap();
    background.write(&job.id, JobInput::End).unwrap();

    assert_eq!(background.ended(&job.id), JobState::Exited(3));
    let all = format!("{}\nerr\ngot one\ntwo\nend", bench.work().display());
    assert_eq!(background.tail(&job.id), all);
    assert_eq!(background.lines(&job.id, Some(2), 2), (2, 2, 5, "got one\ntwo\n".to_owned()));
    assert_eq!(background.lines(&job.id, None, 2), (3, 2, 5, "two\nend".to_owned()));
    assert!(background.write(&job.id, bytes("late")).is_err());
}

pub(crate) fn a_job_has_what_the_sessions_shell_knew(bench: &Bench) {
    let shell = bench.run("export A='x y'; f() { echo \"f $1\"; }").shell;
    let background = Background(bench);

    let job = background.start("f \"$A\"; test -t 0 || echo no terminal", NewJob { shell, ..plain() });

    assert_eq!(background.ended(&job.id), JobState::Exited(0));
    assert_eq!(background.tail(&job.id), "f x y\nno terminal\n");
}

pub(crate) fn a_killed_job_is_gone_with_everything_it_started(bench: &Bench) {
    let background = Background(bench);
    let text = "trap '' TERM; echo $$ > pids; setsid sh -c 'echo $$ >> pids; sleep 1000; sleep 1000' & \
                sleep 0.2; echo ready; while :; do sleep 1000; done";
    let job = background.start(text, plain());
    until("it has begun", || background.tail(&job.id).ends_with("ready\n"));

    let killed = bench.runtime.block_on(bench.place.jobs().unwrap().kill("s", &job.id)).unwrap();

    assert!(matches!(killed.state, JobState::Killed(_)), "{:?}", killed.state);
    let pids = fs::read_to_string(bench.work().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        assert!(!bench.runs(pid), "{pid}");
    }
}

pub(crate) fn the_end_of_a_job_and_what_is_watched_for_are_told_once(bench: &Bench) {
    let background = Background(bench);
    let told = NewJob { notify: true, ..plain() };
    let ended = background.start("echo out; exit 4", told);
    let watched = NewJob { watch: vec!["ready".to_owned()], ..plain() };
    let watched = background.start("echo starting; echo server ready now; sleep 1000", watched);
    background.start("echo quiet", plain());

    let mut heard = Vec::new();
    let begin = std::time::Instant::now();
    while heard.len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(30), "{heard:?}");
        heard.extend(bench.place.jobs().unwrap().notices());
        std::thread::sleep(Duration::from_millis(10));
    }

    heard.sort_by_key(|notice| notice.job == watched.id);
    let (end, seen) = (heard.first().unwrap(), heard.get(1).unwrap());
    assert_eq!((&end.job, end.session.as_str()), (&ended.id, "s"));
    assert_eq!(end.what, Happening::Ended { state: JobState::Exited(4), output: "out\n".to_owned() });
    assert_eq!(seen.what, Happening::Seen { lines: "server ready now".to_owned(), suppressed: 0 });
    assert!(!background.look(&ended.id).watch_hit);
    bench.runtime.block_on(bench.place.jobs().unwrap().kill("s", &watched.id)).unwrap();
    assert!(background.look(&watched.id).watch_hit);
    assert_eq!(bench.place.jobs().unwrap().notices(), []);
}

pub(crate) fn a_job_in_a_terminal_has_one(bench: &Bench) {
    if !String::from_utf8_lossy(&bench.run("command -v script").output.head).contains("script") {
        // Without it a far place has no terminals for jobs, and says so.
        return;
    }
    let background = Background(bench);
    let terminal = Some(Size { rows: 24, columns: 80 });
    let job = background.start(
        "test -t 0 && test -t 1 && stty size; stty -echo; read x; echo \"[$x]\"",
        NewJob { terminal, ..plain() },
    );
    until("it has looked", || background.tail(&job.id).contains("24 80"));

    background.write(&job.id, bytes("typed\n")).unwrap();

    assert_eq!(background.ended(&job.id), JobState::Exited(0));
    assert!(background.tail(&job.id).ends_with("[typed]\r\n"), "{:?}", background.tail(&job.id));
}

pub(crate) fn a_long_log_is_bounded_and_read_by_lines(bench: &Bench) {
    let background = Background(bench);
    let job = background.start("seq 1 4000000", plain());

    assert_eq!(background.ended(&job.id), JobState::Exited(0));

    assert_eq!(background.lines(&job.id, Some(0), 2), (0, 2, 4_000_000, "1\n2\n".to_owned()));
    assert_eq!(
        background.lines(&job.id, None, 2),
        (3_999_998, 2, 4_000_000, "3999999\n4000000\n".to_owned())
    );
    assert!(background.tail(&job.id).ends_with("\n4000000\n"));
}

pub(crate) fn jobs_are_their_sessions_own(bench: &Bench) {
    let background = Background(bench);
    let job = background.start("sleep 1000", plain());
    let jobs = bench.place.jobs().unwrap();
    let listed = |session| {
        let all = bench.runtime.block_on(jobs.list(session)).unwrap();
        all.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };

    assert!(listed("s").contains(&job.id));
    assert!(!listed("other").contains(&job.id));
    let missing = |session, id| bench.runtime.block_on(jobs.look(session, id)).unwrap_err();
    assert_eq!(missing("other", &job.id), EnvError::NoJob(job.id.clone()));
    assert!(matches!(missing("s", "../x"), EnvError::NoJob(_)));
    let waited = background.wait(&job.id, Duration::from_millis(300));
    assert_eq!(waited.state, JobState::Running);
    bench.runtime.block_on(jobs.kill("s", &job.id)).unwrap();
}

pub(crate) fn a_job_in_a_directory_that_is_not_there_is_a_clear_error(bench: &Bench) {
    let permit = bench.permit_in("true", &bench.work().join("gone"));

    let wrong = bench.runtime.block_on(bench.place.jobs().unwrap().start(permit, plain())).unwrap_err();

    assert!(wrong.to_string().contains("gone"), "{wrong}");
}
