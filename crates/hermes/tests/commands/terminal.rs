//! Commands in the foreground, through the road, in a real shell.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Bench, call, runs, until};
use hermes::{Session, Status, ToolCall};
use serde_json::{Value, json};

fn run(session: &Session, command: &str) -> Value {
    call(session, "terminal", &json!({ "command": command }))
}

fn output(session: &Session, command: &str) -> String {
    let answer = run(session, command);
    answer["output"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_command_answers_with_output_code_and_no_error() {
    let bench = Bench::new();
    let session = bench.session();

    assert_eq!(
        run(&session, "echo out; echo err >&2; exit 3"),
        json!({ "output": "out\nerr", "exit_code": 3, "error": null })
    );
    assert_eq!(run(&session, "grep x /dev/null")["exit_code_meaning"], "nothing matched (not an error)");
    assert_eq!(run(&session, "kill -9 $$")["exit_code"], 137);
    assert_eq!(run(&session, "nosuch-program")["exit_code"], 127);
}

#[test]
fn directory_variables_functions_and_aliases_stay_for_the_next_command() {
    let bench = Bench::new();
    let session = bench.session();

    run(
        &session,
        "mkdir 'a (b) é'; cd 'a (b) é'; export X='one \"two\" $three\nfour'; f() { echo \"f $1\"; }; alias g='f g'",
    );

    assert_eq!(output(&session, "pwd"), bench.work().join("a (b) é").to_string_lossy());
    assert_eq!(output(&session, "printf %s \"$X\""), "one \"two\" $three\nfour");
    assert_eq!(output(&session, "f 1; g"), "f 1\nf g");
    run(&session, "unset X; unset -f f; unalias g; cd ..");
    assert_eq!(output(&session, "cd - >/dev/null; pwd"), bench.work().join("a (b) é").to_string_lossy());
    assert_eq!(
        output(&session, "echo \"[$X]\"; type f 2>/dev/null; type g 2>/dev/null; echo \"$SHLVL\""),
        "[]\n1"
    );
}

#[test]
fn what_was_set_before_exit_stays_too() {
    let bench = Bench::new();
    let session = bench.session();

    assert_eq!(run(&session, "export X=1; cd /usr; exit 4")["exit_code"], 4);

    assert_eq!(output(&session, "echo $X; pwd"), "1\n/usr");
    assert_eq!(output(&session, "trap 'echo bye' EXIT; export X=2; set -x; :"), "++ :\nbye");
    assert_eq!(output(&session, "echo $X"), "2");
}

#[test]
fn a_workdir_is_for_one_command_only() {
    let bench = Bench::new();
    let session = bench.session();

    let there = call(&session, "terminal", &json!({ "command": "pwd; cd /", "workdir": "/usr" }));

    assert_eq!(there["output"], "/usr");
    assert_eq!(output(&session, "pwd"), bench.work().to_string_lossy());
    let missing = call(&session, "terminal", &json!({ "command": "pwd", "workdir": "no/such" }));
    assert_eq!(missing["exit_code"], -1);
    assert!(missing["error"].as_str().unwrap().ends_with("it does not exist"), "{missing}");
}

#[test]
fn a_directory_that_is_gone_is_left_for_the_one_above() {
    let bench = Bench::new();
    let session = bench.session();

    run(&session, "mkdir -p x/y; cd x/y; rmdir ../y");

    assert_eq!(output(&session, "pwd"), bench.work().join("x").to_string_lossy());
}

#[test]
fn relative_paths_of_other_tools_follow_the_shell() {
    let bench = Bench::new();
    let session = bench.session();
    fs::create_dir(bench.work().join("sub")).unwrap();
    fs::write(bench.work().join("sub/f.txt"), "here\n").unwrap();

    run(&session, "cd sub");

    assert_eq!(call(&session, "read_file", &json!({ "path": "f.txt" }))["content"], "1|here");
}

#[test]
fn sessions_do_not_see_each_other() {
    let bench = Bench::new();
    let runtime = bench.builder().build().unwrap();
    let [a, b] = [(); 2].map(|()| runtime.session().open().unwrap());

    run(&a, "export X=a; cd /usr");

    assert_eq!(output(&b, "echo \"[$X]\"; pwd"), format!("[]\n{}", bench.work().display()));
}

#[test]
fn start_up_files_are_read_once_and_their_functions_stay() {
    let bench = Bench::new();
    bench.write("user/.profile", "echo noise; export FROM_PROFILE=1; echo x >> \"$HOME/count\"\n");
    bench.write("user/.bashrc", "hello() { echo hello; }; alias hi=hello; export OPENAI_API_KEY=leak\n");
    let runtime = bench.builder().build().unwrap();
    let [a, b] = [(); 2].map(|()| runtime.session().open().unwrap());

    assert_eq!(output(&a, "hello; hi; echo $FROM_PROFILE [$OPENAI_API_KEY]"), "hello\nhello\n1 []");
    assert_eq!(output(&a, "hello; hi; echo $FROM_PROFILE [$OPENAI_API_KEY]"), "hello\nhello\n1 []");
    assert_eq!(output(&b, "hello; hi; echo $FROM_PROFILE [$OPENAI_API_KEY]"), "hello\nhello\n1 []");
    assert_eq!(fs::read_to_string(bench.dir.path().join("user/count")).unwrap(), "x\n");
}

#[test]
fn start_up_files_that_leave_the_shell_do_not_swallow_the_command() {
    for line in ["exit 0", "exec true"] {
        let bench = Bench::new();
        bench.write("user/.bashrc", line);
        let session = bench.session();

        let answer = run(&session, "echo ran");

        assert_eq!(answer["output"], "ran");
        assert!(answer["note"].as_str().unwrap().contains("start-up files"), "{answer}");
        assert_eq!(run(&session, "echo again"), json!({ "output": "again", "exit_code": 0, "error": null }));
    }
}

#[test]
fn keys_and_what_is_in_the_homes_env_never_reach_a_command() {
    let bench = Bench::new();
    bench.write("home/.env", "PLAIN_NAME=secret1\nWANTED=secret2\n");
    bench.write("home/config.yaml", "terminal:\n  env_passthrough: [WANTED]\n");
    let given = [("OPENROUTER_API_KEY", "k"), ("PLAIN_NAME", "secret1"), ("WANTED", "w"), ("KEPT", "yes")];
    let runtime = bench.builder().env(given.map(|(a, b)| (a.to_owned(), b.to_owned()))).build().unwrap();
    let session = runtime.session().open().unwrap();

    let seen = output(&session, "env");

    assert!(seen.contains("KEPT=yes") && seen.contains("WANTED=w"), "{seen}");
    assert!(!seen.contains("OPENROUTER") && !seen.contains("secret1"), "{seen}");
}

#[test]
fn a_timeout_stops_the_whole_tree_and_keeps_what_was_written() {
    let bench = Bench::new();
    let session = bench.session();
    let command = "echo start; trap '' TERM; (setsid sleep 1000 & echo $! > pids); \
                   (env -i /bin/sleep 1000 & echo $! >> pids); echo $$ >> pids; while :; do sleep 1; done; :";
    let script = bench.work().join("run.sh");
    fs::write(&script, command).unwrap();

    let begin = Instant::now();
    let answer = call(&session, "terminal", &json!({ "command": "bash run.sh", "timeout": 1 }));

    assert_eq!(
        answer,
        json!({ "output": "start\n[Command timed out after 1s]", "exit_code": 124, "error": null, "status": "timeout" })
    );
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let pids = fs::read_to_string(bench.work().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 3);
    for pid in pids.lines() {
        assert!(!runs(pid), "{pid} still runs");
    }
    assert_eq!(output(&session, "echo fine"), "fine");
}

#[test]
fn a_sudo_that_wants_a_password_fails_at_once_and_the_answer_says_what_helps() {
    let bench = Bench::new();
    let session = bench.session();
    // Stands in for the real one, which says this when it has no terminal.
    let sudo =
        "#!/bin/sh\ntest -t 0 || { echo 'sudo: a terminal is required to read the password' >&2; exit 1; }\n";
    fs::write(bench.work().join("sudo"), sudo).unwrap();

    let answer = run(&session, "chmod +x sudo; PATH=$PWD:$PATH sudo true");

    assert_eq!((&answer["exit_code"], &answer["sudo_auth_failed"]), (&json!(1), &json!(true)), "{answer}");
    assert!(answer["note"].as_str().unwrap().contains("NOPASSWD"), "{answer}");
}

#[test]
fn a_stopped_command_answers_with_what_it_had_written() {
    let bench = Bench::new();
    let session = std::sync::Arc::new(bench.session());
    let command = "echo part; touch here; sleep 1000";
    let call = ToolCall::new("terminal", json!({ "command": command }).to_string());

    let running = std::thread::spawn({
        let session = std::sync::Arc::clone(&session);
        move || session.call_blocking(call)
    });
    until("it runs", || bench.work().join("here").exists());
    session.cancel();
    let outcome = running.join().unwrap();

    let answer: Value = serde_json::from_str(&outcome.body).unwrap();
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(
        answer,
        json!({ "output": "part\n[Command interrupted]", "exit_code": 130, "error": null, "status": "interrupted" })
    );

    let late = call_late(&bench);
    assert_eq!(late["output"], "part\n[Command timed out after 1s]");
    assert_eq!((&late["exit_code"], &late["status"]), (&json!(124), &json!("timeout")));
}

fn call_late(bench: &Bench) -> Value {
    call(&bench.session(), "terminal", &json!({ "command": "echo part; sleep 1000", "timeout": 1 }))
}

#[test]
fn a_cancelled_command_is_gone_in_time() {
    let bench = Bench::new();
    let session = bench.session();
    let pid_file = bench.work().join("pid");
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| {
            session.call_blocking(ToolCall::new(
                "terminal",
                json!({ "command": "trap '' TERM; echo $$ > pid; while :; do sleep 1000; done" }).to_string(),
            ))
        });
        until("the command starts", || fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')));
        let pid = fs::read_to_string(&pid_file).unwrap();

        let begin = Instant::now();
        session.cancel();
        let outcome = calling.join().unwrap();
        until("it is gone", || !runs(&pid));

        // 200 ms are promised; a machine that builds other things meanwhile is given more.
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        assert_eq!(outcome.status, Status::Cancelled);
    });
}

#[test]
fn a_child_that_holds_the_output_open_does_not_hold_the_call() {
    let bench = Bench::new();
    let session = bench.session();

    let begin = Instant::now();
    let answer = run(&session, "bash -c 'echo a; sh -c \"sleep 1000 >&2; :\" 2>&1 & disown; echo b'");

    assert_eq!(answer["exit_code"], -1, "the guard rail sees it: {answer}");
    fs::write(bench.work().join("x.sh"), "echo a; sleep 1000 & echo b").unwrap();
    assert_eq!(output(&session, "bash x.sh"), "a\nb");
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    run(&session, "pkill -x -P 1 sleep; true");
}

#[test]
fn long_output_keeps_both_ends_and_is_saved_whole() {
    let bench = Bench::new();
    let session = bench.session();

    let answer = run(&session, "seq 1 100000");

    let shown = answer["output"].as_str().unwrap();
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("\n99999\n100000") && shown.len() < 52_000);
    assert!(shown.contains("bytes left out; the whole output is in"), "{shown}");
    let saved = fs::read_to_string(answer["output_file"].as_str().unwrap()).unwrap();
    assert_eq!(saved.lines().count(), 100_000);
    assert_eq!(answer["output_bytes"], json!(saved.len()));
}

#[test]
fn output_that_is_no_text_is_shown_as_far_as_it_is_one() {
    let bench = Bench::new();
    let session = bench.session();

    assert_eq!(output(&session, "printf 'a\\377b\\0c\\033[31md\\033[0m'"), "a\u{fffd}bcd");
}

#[test]
fn a_program_gets_a_terminal_when_asked_in_the_foreground() {
    let bench = Bench::new();
    let session = bench.session();

    let answer = call(
        &session,
        "terminal",
        &json!({
            "command": "tty >/dev/null && test -t 0 -a -t 1 -a -t 2 && stty size; read x; echo \"[$x]\"; export P=1; exit 3",
            "pty": true,
        }),
    );

    assert_eq!(answer, json!({ "output": "30 120\n[]", "exit_code": 3, "error": null }));
    assert_eq!(output(&session, "tty; echo $P"), "not a tty\n1");
}

#[test]
fn commands_that_would_not_end_are_sent_to_the_background() {
    let bench = Bench::new();
    let session = bench.session();

    let answer = run(&session, "python3 -m http.server");

    assert_eq!(answer["exit_code"], -1);
    assert_eq!(answer["status"], "error");
    assert!(answer["error"].as_str().unwrap().contains("background: true"), "{answer}");
    let too_long = call(&session, "terminal", &json!({ "command": "true", "timeout": 601 }));
    assert_eq!(too_long.as_object().unwrap().keys().collect::<Vec<_>>(), ["error"]);
}

#[test]
fn a_command_may_be_very_long() {
    let bench = Bench::new();
    let session = bench.session();
    let long = "é".repeat(150_000);

    assert_eq!(output(&session, &format!("x='{long}'; echo ${{#x}}")), "150000");
    assert!(run(&session, "echo \0")["error"].as_str().unwrap().contains("NUL"));
}

#[test]
fn without_a_yes_nothing_runs() {
    let bench = Bench::new();
    let runtime = bench.builder().policy(hermes::core::policy::Careful).build().unwrap();
    let session = runtime.session().open().unwrap();

    let outcome = session.call_blocking(ToolCall::new("terminal", r#"{"command": "touch made"}"#));

    assert_eq!(outcome.status, Status::Denied);
    assert!(!bench.work().join("made").exists());
}
