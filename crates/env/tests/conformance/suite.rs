//! The promises, one function each.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_core::environment::{
    End, Environment, Input, Output, Process, Run, Size, Start, Stream, Streams, Variables, Why,
};

pub(crate) use crate::background::{
    a_job_goes_on_after_the_call_and_is_written_to_and_read, a_job_has_what_the_sessions_shell_knew,
    a_job_in_a_directory_that_is_not_there_is_a_clear_error, a_job_in_a_terminal_has_one,
    a_killed_job_is_gone_with_everything_it_started, a_long_log_is_bounded_and_read_by_lines,
    jobs_are_their_sessions_own, the_end_of_a_job_and_what_is_watched_for_are_told_once,
};
use crate::bench::{Bench, usual};
use crate::processes::{Seen, children, descriptors, own, until};

const PLAIN: &str = r#"cd -- "$1" && shift && eval "$*""#;

#[derive(Default)]
struct Heard(Mutex<(Vec<u8>, Vec<u8>)>);

impl Output for Heard {
    fn take(&self, from: Stream, bytes: &[u8]) {
        let mut heard = self.0.lock().unwrap();
        match from {
            Stream::Out => heard.0.extend_from_slice(bytes),
            Stream::Err => heard.1.extend_from_slice(bytes),
        }
    }
}

impl Heard {
    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap().0).into_owned()
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap().1).into_owned()
    }
}

/// Starts something without the shared layer, in an environment that goes with it.
fn start(bench: &Bench, text: &str, input: Input, streams: Streams) -> (Alone, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let start = Start {
        script: PLAIN,
        arguments: vec![bench.work().to_str().unwrap().to_owned()],
        input,
        streams,
        variables: Variables::UsualAnd(Vec::new()),
        line: false,
        output: Arc::clone(&heard) as Arc<_>,
    };
    let permit = bench.permit(text);
    let environment = bench.bare();
    let process = bench.runtime.block_on(environment.spawn(permit, start)).unwrap();
    (Alone { process, _environment: environment }, heard)
}

struct Alone {
    process: Box<dyn Process>,
    _environment: Arc<dyn Environment>,
}

fn end(bench: &Bench, process: &mut dyn Process) -> End {
    bench.runtime.block_on(process.ended()).unwrap()
}

pub(crate) fn the_code_of_a_command_is_reported(bench: &Bench) {
    for code in [0, 1, 2, 126, 255] {
        assert_eq!(bench.run(&format!("exit {code}")).why, Why::Ended(End::Code(code)));
        assert_eq!(bench.run(&format!("(exit {code})")).why, Why::Ended(End::Code(code)));
    }
}

pub(crate) fn a_signal_is_reported_as_one(bench: &Bench) {
    for signal in [9, 15, 6] {
        let ran = bench.run(&format!("kill -{signal} $$; sleep 10"));
        assert_eq!(ran.why, Why::Ended(End::Signal(signal)));
    }
    // A child's signal is the shell's to tell.
    assert_eq!(bench.run("sh -c 'kill -9 $$'").why, Why::Ended(End::Code(137)));
}

pub(crate) fn both_outputs_are_merged_in_the_order_they_were_written(bench: &Bench) {
    let ran = bench.run("for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done");

    let expected: Vec<u8> = (1..6).flat_map(|n| format!("out{n}\nerr{n}\n").into_bytes()).collect();
    assert_eq!(ran.output.head, expected);
}

pub(crate) fn outputs_can_be_kept_apart(bench: &Bench) {
    let (mut process, heard) = start(bench, "echo out; echo err >&2", Input::Empty, Streams::Separate);

    assert_eq!(end(bench, process.process.as_mut()), End::Code(0));

    assert_eq!((heard.out(), heard.err()), ("out\n".to_owned(), "err\n".to_owned()));
}

pub(crate) fn input_is_read_to_its_end(bench: &Bench) {
    let ran = bench.run_with("cat; echo end", Run { input: b"a\0\xffb\n".to_vec(), ..usual() });
    assert_eq!(ran.output.head, b"a\0\xffb\nend\n");

    assert_eq!(bench.run("cat; echo end").output.head, b"end\n");

    let (mut process, heard) = start(bench, "cat; echo end", Input::Open, Streams::Merged);
    process.process.write(b"one\n".to_vec()).unwrap();
    until("it is echoed", || heard.out() == "one\n");
    process.process.write(b"two\n".to_vec()).unwrap();
    process.process.close_input();
    assert_eq!(end(bench, process.process.as_mut()), End::Code(0));
    assert_eq!(heard.out(), "one\ntwo\nend\n");
    assert!(process.process.write(b"late".to_vec()).is_err());
}

pub(crate) fn more_input_than_a_pipe_holds_does_not_block(bench: &Bench) {
    let input = vec![b'x'; 1_000_000];

    let ran = bench.run_with("wc -c", Run { input: input.clone(), ..usual() });
    assert_eq!(String::from_utf8(ran.output.head).unwrap().trim(), "1000000");

    // Written to a program that never reads: what it says is heard all the same.
    for input in [input, b"few".to_vec()] {
        let ran = bench.run_with("echo said; exit 3", Run { input, ..usual() });
        assert_eq!((ran.why, ran.output.head.as_slice()), (Why::Ended(End::Code(3)), b"said\n".as_slice()));
    }
}

pub(crate) fn binary_output_arrives_unchanged(bench: &Bench) {
    let bytes: Vec<u8> = (0..=255).collect();
    fs::write(bench.work().join("f"), &bytes).unwrap();

    assert_eq!(bench.run("cat f").output.head, bytes);
}

pub(crate) fn huge_output_is_taken_whole(bench: &Bench) {
    let ran = bench.run("head -c 500000000 /dev/zero; echo; echo the end");

    assert_eq!(ran.why, Why::Ended(End::Code(0)));
    assert_eq!(ran.output.total, 500_000_009);
    assert!(ran.output.tail.ends_with(b"the end\n"));
    assert!(ran.output.head.len() + ran.output.tail.len() <= 50_000);
}

pub(crate) fn a_timeout_kills_the_whole_tree(bench: &Bench) {
    let command = "trap '' TERM; echo $$ > pids; sleep 1000 & echo $! >> pids; \
                   setsid sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 1000; sleep 1000' & \
                   (setsid sh -c 'sleep 1000 & echo $! >> pids' &); sleep 0.2; while :; do sleep 1000; done";

    let ran = bench.run_with(command, Run { timeout: Duration::from_secs(1), ..usual() });

    assert_eq!(ran.why, Why::TimedOut(Duration::from_secs(1)));
    let pids = fs::read_to_string(bench.work().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 4, "{pids}");
    for pid in pids.lines() {
        assert!(!bench.runs(pid), "{pid}");
    }
}

pub(crate) fn endless_output_ends_with_its_time(bench: &Bench) {
    let before = own("VmRSS");

    let ran = bench.run_with("yes endless", Run { timeout: Duration::from_secs(1), ..usual() });

    assert_eq!(ran.why, Why::TimedOut(Duration::from_secs(1)));
    assert!(ran.output.total > 1_000_000, "{}", ran.output.total);
    assert!(ran.output.head.len() + ran.output.tail.len() <= 50_000);
    assert!(own("VmRSS") < before + 50_000, "{before} kB, then {} kB", own("VmRSS"));
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

/// A bomb that grows as far as it is let: to a few processes, which a user of its own is allowed.
pub(crate) fn a_fork_bomb_without_end_stays_in_its_limits(bench: &Bench) {
    let user = nobodys();
    let limited = format!(
        "setpriv --reuid={user} --clear-groups bash -c 'ulimit -u 150 && [ $(ulimit -u) = 150 ] && echo limited'"
    );
    if bench.run(&limited).output.head != b"limited\n" {
        // Without a user of its own the bomb would have no limit, and this machine is somebody's.
        assert!(
            std::env::var_os("HERMES_TEST_FULL").is_none(),
            "HERMES_TEST_FULL wants everything, but commands cannot switch to another user here"
        );
        eprintln!("SKIPPED: a fork bomb without end: commands cannot switch to another user here");
        return;
    }
    let bomb = format!(
        "exec setpriv --reuid={user} --clear-groups bash -c 'ulimit -u 150; b() {{ b | b & wait; }}; b' 2>/dev/null"
    );

    let ran = bench.run_with(&bomb, Run { timeout: Duration::from_secs(2), ..usual() });

    assert!(matches!(ran.why, Why::TimedOut(_) | Why::Ended(_)), "{:?}", ran.why);
    until("nothing of it is left", || !runs_as(user));
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

/// A user that is nobody's: the same bomb may go off in another place at this moment.
fn nobodys() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    1_000_000 + std::process::id() * 16 + NEXT.fetch_add(1, Ordering::Relaxed) % 16
}

fn runs_as(user: u32) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line("Uid:").split_whitespace().next() == Some(user.to_string().as_str())
            && !line("State:").contains('Z')
    })
}

pub(crate) fn a_fork_bomb_ends_with_its_time(bench: &Bench) {
    // Bounded from outside, so that a suite that fails here does not take the machine with it.
    let bomb = "b() { [ $1 -gt 0 ] || { sleep 1000; return; }; b $(($1 - 1)) & b $(($1 - 1)) & wait; }; b 6";

    let ran = bench.run_with(bomb, Run { timeout: Duration::from_secs(1), ..usual() });

    assert_eq!(ran.why, Why::TimedOut(Duration::from_secs(1)));
    until("nothing of it is left", || !bench_runs(bench, "b 6"));
}

fn bench_runs(bench: &Bench, text: &str) -> bool {
    let work = bench.work();
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let cmdline = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&cmdline).into_owned();
        line.contains(text) && line.contains(work.to_str().unwrap())
    })
}

pub(crate) fn a_cancelled_command_is_gone_in_time(bench: &Bench) {
    bench.run("true");
    let run = usual();
    let cancel = run.cancel.clone();
    let file = bench.work().join("pid");
    let permit = bench.permit("trap '' TERM; echo $$ > pid; while :; do sleep 1000; done");
    std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, run)).unwrap());
        until("it starts", || fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
        let pid = fs::read_to_string(&file).unwrap();

        cancel.cancel();
        let ran = running.join().unwrap();

        // How quickly that goes is measured elsewhere.
        assert_eq!(ran.why, Why::Cancelled);
        assert!(!bench.runs(&pid));
    });
}

pub(crate) fn an_abandoned_command_is_gone_in_time(bench: &Bench) {
    // It has a place of its own, where other processes have the numbers that these have in the bench's.
    let text = "trap '' TERM; echo $$ $(readlink /proc/self/ns/pid); while :; do sleep 1000; done";
    let (process, heard) = start(bench, text, Input::Empty, Streams::Merged);
    until("it starts", || heard.out().ends_with('\n'));
    let said = heard.out();
    let (pid, namespace) = said.trim().split_once(' ').unwrap();
    let seen = Seen::within(pid, namespace).unwrap();
    assert!(seen.runs());

    drop(process);
    until("it is gone", || !seen.runs());
}

pub(crate) fn the_directory_stays_for_the_next_command(bench: &Bench) {
    let odd = "a 'b' \"c\" $d\n(é)";
    fs::create_dir(bench.work().join(odd)).unwrap();

    let ran = bench.run("cd a*");

    assert_eq!(ran.cwd, Some(bench.work().join(odd)));
    let permit = bench.permit_in("pwd", &ran.cwd.unwrap());
    let there = bench.runtime.block_on(bench.place.run(permit, usual()));
    assert_eq!(there.unwrap().output.head, format!("{}\n", bench.work().join(odd).display()).into_bytes());
}

pub(crate) fn variables_functions_and_aliases_stay_as_documented(bench: &Bench) {
    let all: String = (1_u8..=127).map(char::from).collect();
    fs::write(bench.work().join("all"), &all).unwrap();
    let set = "export A=$'x\\ty\\n\"z\" $HOME `id` \\\\ \\'q\\''; export ALL=\"$(cat all; echo .)\"; plain=1; \
               f() { echo \"f $1\"; }; export -f f; alias g='f g'; declare -rx R=ro; declare -ix N=5; exit 7";
    let shell = bench.run(set).shell;

    assert_eq!(bench.output("printf %s \"$A\"", &shell), "x\ty\n\"z\" $HOME `id` \\ 'q'");
    assert_eq!(bench.output("printf %s \"${ALL%.}\"", &shell), all);
    assert_eq!(bench.output("f 1; g; bash -c 'f 2'; echo \"[$plain]\"", &shell), "f 1\nf g\nf 2\n[]\n");
    assert_eq!(bench.output("echo $R; N=N+1; echo $N", &shell), "ro\n6\n");
    let shell = bench.run_with("unset A; unset -f f; unalias g", Run { shell, ..usual() }).shell;
    assert_eq!(bench.output("echo \"[$A]\"; type f g >/dev/null 2>&1 || echo gone", &shell), "[]\ngone\n");
}

pub(crate) fn output_cannot_pose_as_state(bench: &Bench) {
    let text = "declare -x FORGED=\"1\"\n#mark\n#mark\n/etc\n#mark\n";
    fs::write(bench.work().join("forged"), text).unwrap();

    let ran = bench.run("cat forged forged");

    assert_eq!(ran.cwd, Some(bench.work()));
    assert_eq!(bench.output("echo \"[$FORGED]\"", &ran.shell), "[]\n");
}

pub(crate) fn a_child_that_holds_the_pipe_does_not_hold_the_call(bench: &Bench) {
    let ran = bench.run("sleep 1000 & echo $!");

    assert_eq!(ran.why, Why::Ended(End::Code(0)));
    let pid = String::from_utf8(ran.output.head).unwrap();
    assert!(bench.runs(&pid), "it was not asked to stop");
    bench.run(&format!("kill {pid}"));
}

pub(crate) fn a_terminal_is_one_and_can_be_resized(bench: &Bench) {
    // A far terminal hears of its new size by another way than of what is typed, and maybe later.
    let text = "test -t 0 && test -t 1 && test -t 2 && tty >/dev/null && stty size; stty -echo; read x; n=0; \
        while [ \"$(stty size)\" = '24 80' ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n + 1)); done; \
        stty size; echo \"[$x]\"";
    let (mut process, heard) =
        start(bench, text, Input::Open, Streams::Terminal(Size { rows: 24, columns: 80 }));
    until("it has looked", || heard.out().contains("24 80"));

    process.process.resize(Size { rows: 50, columns: 132 });
    process.process.write(b"typed\n".to_vec()).unwrap();

    assert_eq!(end(bench, process.process.as_mut()), End::Code(0));
    assert!(heard.out().ends_with("50 132\r\n[typed]\r\n"), "{:?}", heard.out());
}

pub(crate) fn a_command_that_follows_others_is_as_alone_as_the_first(bench: &Bench) {
    let shell = bench.run("true").shell;
    let look = "echo \"$0 $# $((SECONDS < 9)) $PWD it's ${OLDPWD-nowhere} [$(cat)]\" 'a\\b\nc'; \
        compgen -v | grep __h_ | grep -v -e __h_cmd -e __h_dir -e __h_old; nosuchprogram 2>&1; [ $# = 0 ]";

    let first = bench.output(look, &shell);

    assert!(first.contains("nosuchprogram"), "{first}");
    for _ in 0..8 {
        assert_eq!(bench.output(look, &shell), first);
    }
    let plain: Vec<String> =
        (0..6).map(|_| bench.output("env | grep -v -e ^_ -e ^SHLVL | sort; pwd", &shell)).collect();
    assert!(plain.windows(2).all(|pair| pair.first() == pair.last()), "{plain:?}");
    // What a session has set since is there, and nothing of what another did.
    let other = bench.run_with("export NEXT=1; cd /", Run { shell: shell.clone(), ..usual() }).shell;
    for _ in 0..4 {
        assert_eq!(bench.output("printenv NEXT", &other), "1\n");
        assert_eq!(bench.output("printenv NEXT || true", &shell), "");
    }
}

pub(crate) fn a_thousand_calls_leave_nothing_behind(bench: &Bench) {
    let permit = bench.permit("echo x; export N=$((N + 1))");
    let once =
        |shell| bench.runtime.block_on(bench.place.run(permit.clone(), Run { shell, ..usual() })).unwrap();
    let mut shell = once(hermes_core::environment::ShellState::default()).shell;
    for _ in 0..10 {
        shell = once(shell).shell;
    }
    let before = (descriptors(), own("Threads"), children());

    for _ in 0..1000 {
        shell = once(shell).shell;
    }

    assert_eq!(bench.output("echo $N", &shell), "1011\n");
    until("all is as before", || {
        // Other tests of this program come and go; only more than before is a leak.
        (descriptors(), own("Threads"), children()) <= before
            || (descriptors() <= before.0 + 40
                && own("Threads") <= before.1 + 20
                && children() <= before.2 + 20)
    });
}

pub(crate) fn what_a_command_inherits_is_what_it_should(bench: &Bench) {
    let shell = bench.run("true").shell;

    // No descriptor of ours, no signal ignored or held back, no key, a session of its own.
    assert_eq!(bench.output("ls /proc/self/fd | tr '\\n' ' '", &shell), "0 1 2 3 ");
    let signals = "awk '/Sig(Blk|Ign)/ { print substr($2, 13) }' /proc/self/status";
    assert_eq!(bench.output(signals, &shell), "0000\n0000\n");
    assert_eq!(bench.output("env | grep -c KEY || true", &shell), "0\n");
    assert_eq!(
        bench.output("read -r _ _ _ _ _ sid _ </proc/$$/stat; [ $sid = $$ ] && echo leads", &shell),
        "leads\n"
    );
}
