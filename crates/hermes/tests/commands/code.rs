//! Scripts that call tools, through the road, with the real Python.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes::core::policy::{Answer, ApprovalRequest, Grant, Policy, PolicyRequest, Reason, Verdict};
use hermes::core::toolset::Selection;
use hermes::{Session, Status, ToolCall};
use hermes_testkit::{MemoryJournal, Record};
use serde_json::{Value, json};

use crate::support::{Bench, call, runs, until};

fn run(session: &Session, code: &str) -> Value {
    call(session, "execute_code", &json!({ "code": code }))
}

fn output(session: &Session, code: &str) -> String {
    let answer = run(session, code);
    assert_eq!(answer["status"], "success", "{answer}");
    answer["output"].as_str().unwrap().to_owned()
}

fn configured(bench: &Bench, yaml: &str) -> Session {
    bench.write("home/config.yaml", yaml);
    bench.session()
}

#[test]
fn what_a_script_prints_comes_back() {
    let bench = Bench::new();
    let session = bench.session();

    let answer = run(&session, "import os\nprint('hé', os.getcwd())");

    assert_eq!(answer["status"], "success");
    assert_eq!(answer["output"], format!("hé {}", bench.work().display()));
    assert_eq!(answer["exit_code"], 0);
    assert_eq!(answer["tool_calls_made"], 0);
    assert_eq!(answer["stdout_truncated"], false);
    assert!(answer.get("error").is_none(), "{answer}");
}

#[test]
fn a_script_calls_the_tools_of_its_session() {
    let bench = Bench::new();
    let session = bench.session();
    let code = "from hermes_tools import read_file, write_file, search_files, patch, terminal\n\
                from pathlib import Path\n\
                write_file(Path('a.txt'), 'one\\ntwo\\n')\n\
                patch(mode='replace', path='a.txt', old_string='two', new_string='three')\n\
                print(read_file('a.txt')['content'])\n\
                print(search_files('three')['total_count'])\n\
                print(terminal('echo out; exit 3'))\n\
                print(read_file('a.txt', limit=1)['next_offset'], read_file('a.txt', limit=1)['content'])\n\
                print(read_file('none.txt')['error'][:4])";

    let answer = run(&session, code);

    assert_eq!(answer["status"], "success", "{answer}");
    let lines: Vec<&str> = answer["output"].as_str().unwrap().lines().collect();
    assert_eq!(lines[..3], ["1|one", "2|three", "1"], "{answer}");
    assert_eq!(lines[3], "{'output': 'out', 'exit_code': 3, 'error': None}");
    assert_eq!(lines[4], "2 1|one");
    assert_eq!(answer["tool_calls_made"], 8);
    // The model has not seen what the script was shown.
    assert_eq!(call(&session, "read_file", &json!({ "path": "a.txt" }))["content"], "1|one\n2|three");
}

#[test]
fn calls_of_several_threads_run_at_the_same_time() {
    let bench = Bench::new();
    let session = bench.session();
    // Each waits for the other's file, so that neither ends alone.
    let code = "import threading\n\
                from hermes_tools import terminal\n\
                def meet(mine, other):\n    \
                    got[mine] = terminal(f'touch {mine}; until test -e {other}; do sleep 0.01; done; echo {mine}', timeout=60)\n\
                got = {}\n\
                both = [threading.Thread(target=meet, args=pair) for pair in (('a', 'b'), ('b', 'a'))]\n\
                [it.start() for it in both]; [it.join() for it in both]\n\
                print(got['a']['output'], got['b']['output'])";

    assert_eq!(output(&session, code), "a b");
}

#[test]
fn many_threads_get_each_their_own_answer() {
    let bench = Bench::new();
    let lines: Vec<String> = (0..100).map(|n| format!("line {n}")).collect();
    fs::write(bench.work().join("n.txt"), lines.join("\n")).unwrap();
    let session = configured(&bench, "code_execution:\n  max_tool_calls: 200\n");
    let code = "from concurrent.futures import ThreadPoolExecutor\n\
                from hermes_tools import read_file\n\
                ask = lambda n: read_file('n.txt', offset=n + 1, limit=1)['content'] == f'{n + 1}|line {n}'\n\
                with ThreadPoolExecutor(20) as pool: print(sum(pool.map(ask, range(100))))";

    let answer = run(&session, code);

    assert_eq!((&answer["output"], &answer["tool_calls_made"]), (&json!("100"), &json!(100)), "{answer}");
}

#[test]
fn an_exception_is_an_error_with_its_traceback() {
    let bench = Bench::new();
    let session = bench.session();

    let outcome = session.call_blocking(ToolCall::new(
        "execute_code",
        json!({ "code": "print('before')\ndef f():\n    raise ValueError('no')\nf()" }).to_string(),
    ));

    let answer: Value = serde_json::from_str(&outcome.body).unwrap();
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("error"), &json!(1)));
    assert!(answer["output"].as_str().unwrap().starts_with("before\n--- stderr ---\nTraceback"), "{answer}");
    assert!(answer["error"].as_str().unwrap().ends_with("ValueError: no"), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("line 3, in f"), "{answer}");
    assert_eq!(run(&session, "x = (")["status"], "error");
    assert_eq!(run(&session, "import sys; sys.exit(7)")["exit_code"], 7);
    assert_eq!(run(&session, "import os; os.abort()")["exit_code"], 134);
}

#[test]
fn only_tools_that_the_session_has_can_be_called() {
    let bench = Bench::new();
    let runtime = bench.builder().build().unwrap();
    let select = |toolsets: &[&str]| {
        let selection = Selection::of(toolsets.iter().copied());
        runtime.session().select(selection).open().unwrap()
    };
    let look = "import hermes_tools\nprint(sorted(hermes_tools.__all__))";

    let alone = select(&["code_execution"]);
    assert_eq!(output(&alone, look), "['json_parse', 'retry', 'shell_quote']");
    let refused = run(&alone, "from hermes_tools import read_file");
    assert!(refused["error"].as_str().unwrap().contains("hermes_tools has no read_file"), "{refused}");
    let forged = "import hermes_tools\nprint(hermes_tools._call('read_file', path='/etc/hostname'))";
    assert!(output(&alone, forged).contains("cannot be called from a script here; it has no tools"));

    let all = runtime.session().open().unwrap();
    for never in ["execute_code", "delegate_task", "clarify", "memory", "process", "todo"] {
        let forged = format!("import hermes_tools\nprint(hermes_tools._call('{never}', code='1'))");
        assert!(output(&all, &forged).contains("cannot be called from a script here"), "{never}");
    }
}

#[test]
fn a_call_too_many_is_refused_and_the_script_goes_on() {
    let bench = Bench::new();
    let session = configured(&bench, "code_execution:\n  max_tool_calls: 3\n");
    let code = "from hermes_tools import read_file\n\
                print([read_file('x').get('error', '')[:7] for _ in range(5)])";

    let answer = run(&session, code);

    assert_eq!(answer["tool_calls_made"], 3, "{answer}");
    let output = answer["output"].as_str().unwrap();
    assert_eq!(output.matches("3 calls").count(), 2, "{answer}");
}

#[test]
fn a_script_whose_time_is_over_is_gone_with_everything_it_started() {
    let bench = Bench::new();
    let session = configured(&bench, "code_execution:\n  timeout: 2\n");
    let code = "import subprocess, os, signal, time\n\
                signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                child = subprocess.Popen(['setsid', 'sleep', '1000'])\n\
                print(os.getpid(), child.pid, flush=True)\n\
                from hermes_tools import terminal\n\
                terminal('echo $$ > inner; sleep 1000')\n\
                time.sleep(1000)";

    let answer = run(&session, code);

    assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("timeout"), &json!(124)), "{answer}");
    let mut pids: Vec<String> =
        answer["output"].as_str().unwrap().split_whitespace().take(2).map(str::to_owned).collect();
    pids.push(fs::read_to_string(bench.work().join("inner")).unwrap());
    for pid in &pids {
        until("it is gone", || !runs(pid));
    }
}

#[test]
fn a_script_that_is_taken_back_answers_with_what_it_had_printed() {
    let bench = Bench::new();
    let session = Arc::new(bench.session());
    let code = "import os, time\nprint('here', flush=True)\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)";
    let call = ToolCall::new("execute_code", json!({ "code": code }).to_string());
    let pid = bench.work().join("pid");

    let running = std::thread::spawn({
        let session = Arc::clone(&session);
        move || session.call_blocking(call)
    });
    until("it runs", || fs::read_to_string(&pid).is_ok_and(|text| !text.is_empty()));
    session.cancel();
    let outcome = running.join().unwrap();

    let answer: Value = serde_json::from_str(&outcome.body).unwrap();
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!((&answer["status"], &answer["output"]), (&json!("interrupted"), &json!("here")));
    assert!(!runs(&fs::read_to_string(&pid).unwrap()));
}

#[test]
fn what_a_script_left_running_ends_with_it() {
    let bench = Bench::new();
    let session = bench.session();
    // One holds the outputs, one holds the line to the tools, one has left for a session of its own.
    let code = "import os, subprocess, time\n\
                from hermes_tools import terminal\n\
                child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n\
                fork = os.fork()\n\
                if fork == 0:\n    os.setsid(); time.sleep(1000)\n\
                print(terminal('echo ok')['output'], child.pid, fork)";
    let begin = Instant::now();

    let said = output(&session, code);

    assert!(begin.elapsed() < Duration::from_mins(1));
    let words: Vec<&str> = said.split(' ').collect();
    assert_eq!(words[0], "ok");
    assert!(!runs(words[1]) && !runs(words[2]), "{said}");
}

#[test]
fn a_forked_child_cannot_call_tools_in_its_parents_name() {
    let bench = Bench::new();
    let session = bench.session();
    let code = "import os\n\
                from hermes_tools import terminal\n\
                pid = os.fork()\n\
                if pid == 0:\n    \
                    try: terminal('echo no')\n    \
                    except RuntimeError as wrong: print(wrong, flush=True)\n    \
                    os._exit(0)\n\
                os.waitpid(pid, 0)";

    assert!(output(&session, code).contains("only from the script's own process"));
}

#[test]
fn rubbish_on_the_line_is_answered_and_does_no_harm() {
    let bench = Bench::new();
    let session = bench.session();
    let code = "import os, json\n\
                for text in (b'rubbish\\n', b'\\n\\n', b'\\xff\\xfe\\n', b'[1]\\n', b'{\"id\": \"x\", \"tool\": 1}\\n'):\n    \
                    os.write(3, text)\n\
                got = b''\n\
                while got.count(b'\\n') < 4: got += os.read(3, 65536)\n\
                print(all('no call' in json.loads(line)['error'] for line in got.splitlines()))\n\
                os.write(3, b'rubbish\\n')\n\
                from hermes_tools import terminal\n\
                print(terminal('echo still here')['output'])";
    assert_eq!(output(&session, code), "True\nstill here");

    // A message without end closes the line, not us.
    let endless = "import os\n\
                   try:\n    \
                       while True: os.write(3, b'x' * 65536)\n\
                   except OSError as wrong: print('closed')\n\
                   from hermes_tools import terminal\n\
                   try: terminal('echo no')\n\
                   except (OSError, RuntimeError): print('refused')";
    assert_eq!(output(&session, endless), "closed\nrefused");

    // One that asks and never listens is slowed down, not fed without end.
    let deaf = "import os, select\n\
                os.set_blocking(3, False)\n\
                sent = 0\n\
                try:\n    \
                    while sent < 10**9: sent += os.write(3, b'rubbish\\n' * 8192)\n\
                except BlockingIOError: pass\n\
                print(sent < 10**9)";
    assert_eq!(output(&session, deaf), "True");
}

#[test]
fn huge_output_is_cut_in_the_middle_and_bytes_that_are_no_text_are_shown() {
    let bench = Bench::new();
    let session = bench.session();

    let answer = run(&session, "import sys\nfor n in range(300000): print('line', n)\nprint('the end')");

    let output = answer["output"].as_str().unwrap();
    assert_eq!(answer["status"], "success");
    assert!(output.starts_with("line 0\n") && output.ends_with("\nthe end"), "{}", output.len());
    assert_eq!(answer["stdout_truncated"], true);
    let [captured, total, omitted] =
        ["captured", "total", "omitted"].map(|part| answer[format!("stdout_bytes_{part}")].as_u64().unwrap());
    assert!(captured <= 50_000 && captured > 40_000 && captured + omitted == total, "{captured} {total}");
    let whole = fs::read_to_string(answer["output_file"].as_str().unwrap()).unwrap();
    assert_eq!(u64::try_from(whole.len()).unwrap(), total);

    let odd = run(&session, "import os\nos.write(1, b'a\\xff\\xfeb\\x00c\\n')\nprint('\\ud800')");
    assert_eq!(odd["output"].as_str().unwrap().replace('\u{0}', ""), "a\u{fffd}\u{fffd}bc\n?", "{odd}");
    let errors = run(&session, "import sys\nsys.stderr.write('x' * 100000)\nsys.exit(1)");
    assert!(errors["error"].as_str().unwrap().len() < 11_000);
}

#[test]
fn long_output_of_a_call_inside_is_kept_in_a_file_of_its_own() {
    let bench = Bench::new();
    let session = bench.session();
    let code = "from hermes_tools import terminal\n\
                got = terminal('seq 100000')\n\
                print(len(open(got['output_file']).read()) == got['output_bytes'])";

    assert_eq!(output(&session, code), "True");
}

#[test]
fn memory_has_a_limit() {
    let bench = Bench::new();
    let session = configured(&bench, "code_execution:\n  memory_mb: 300\n");

    assert_eq!(output(&session, "print(len(bytearray(10**8)))"), "100000000");
    let answer = run(&session, "bytearray(10**9)");

    assert!(answer["error"].as_str().unwrap().ends_with("MemoryError"), "{answer}");
}

#[test]
fn a_script_stands_in_the_project_with_its_python_or_apart() {
    let bench = Bench::new();
    bench.write("work/helper.py", "VALUE = 5");
    bench.write("work/hermes_tools.py", "VALUE = 'not ours'");
    let session = bench.session();
    assert_eq!(
        output(&session, "import helper, hermes_tools\nprint(helper.VALUE, hasattr(hermes_tools, 'retry'))"),
        "5 True"
    );
    call(&session, "terminal", &json!({ "command": "mkdir sub; cd sub; export SEEN=yes" }));
    assert_eq!(
        output(&session, "import os\nprint(os.path.basename(os.getcwd()), os.environ['SEEN'])"),
        "sub yes"
    );

    call(&session, "terminal", &json!({ "command": "python3 -m venv --without-pip .venv" }));
    assert_eq!(output(&session, "import sys\nprint(sys.prefix == sys.base_prefix)"), "False");

    let session = configured(&bench, "code_execution:\n  mode: strict\n");
    let code = "import os\nprint(os.listdir(), os.getcwd())\nopen('x', 'w').write('1')\ntry:\n    import helper\nexcept ImportError: print('apart')";
    let said = output(&session, code);
    assert!(said.starts_with("[] ") && said.ends_with("\napart"), "{said}");
    assert!(!bench.work().join("x").exists());
}

#[test]
fn secrets_of_ours_are_not_in_its_environment() {
    let bench = Bench::new();
    bench.write("home/.env", "OPENROUTER_API_KEY=sk-or-very-secret-0123456789\n");
    let env = [("GITHUB_TOKEN".to_owned(), "ghp_x".to_owned()), ("PLAIN".to_owned(), "1".to_owned())];
    let session = bench.builder().env(env).build().unwrap().session().open().unwrap();

    let said = output(
        &session,
        "import os\nprint([name in os.environ for name in ('OPENROUTER_API_KEY', 'GITHUB_TOKEN', 'PLAIN')])\nimport hermes_tools\nprint('HERMES_TOOLS_LINE' in os.environ)",
    );

    assert_eq!(said, "[False, False, True]\nFalse");
}

#[test]
fn other_interpreters_are_named_in_the_first_line() {
    let bench = Bench::new();
    let session = bench.session();

    assert_eq!(output(&session, "#!/bin/bash\nset -u\nx=(1 2); echo ${#x[@]}"), "2");
    assert_eq!(output(&session, "#!/usr/bin/env perl\nprint 6 * 7;"), "42");
    let unknown = run(&session, "#!/bin/cat\n");
    assert!(unknown["error"].as_str().unwrap().contains("cannot be run by `cat`"), "{unknown}");
    assert!(run(&session, " \n ")["error"].as_str().unwrap().contains("empty"));
}

#[test]
fn every_call_of_a_script_is_on_record_under_its_call() {
    let bench = Bench::new();
    let journal = Arc::new(MemoryJournal::default());
    let session = bench.builder().journal(journal.clone()).build().unwrap().session().id("s").open().unwrap();

    output(&session, "from hermes_tools import terminal\nterminal('echo 1')\nterminal('echo 2')");

    let started: Vec<String> = journal
        .records()
        .into_iter()
        .filter_map(|record| match record {
            Record::Starting { id, tool, .. } => Some(format!("{id} {tool}")),
            _ => None,
        })
        .collect();
    assert_eq!(started, ["s.1 execute_code", "s.1/1 terminal", "s.1/2 terminal"]);
}

/// Asks about commands that name a word, and denies those that name another.
struct Words;

impl Policy for Words {
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict {
        let command = request.arguments.get("command").and_then(Value::as_str).unwrap_or_default();
        match command {
            text if text.contains("never") => Verdict::Deny(Reason::new("words", "never")),
            text if text.contains("ask") => Verdict::Ask(Reason::new("words", "asked")),
            _ => Verdict::Allow,
        }
    }
}

#[test]
fn inside_a_script_the_same_is_asked_and_denied() {
    let bench = Bench::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let approver = {
        let asked = Arc::clone(&asked);
        move |request: &ApprovalRequest| {
            asked.lock().unwrap().push(request.arguments.clone());
            if request.arguments.contains("yes") {
                Answer::Approved(Grant::Once)
            } else {
                Answer::Refused { by: "you".to_owned(), why: "no".to_owned() }
            }
        }
    };
    let runtime = bench.builder().policy(Words).build().unwrap();
    let session = runtime.session().approver(Arc::new(approver)).open().unwrap();
    let code = "from hermes_tools import terminal\n\
                for word in ('ask yes', 'ask no', 'never', 'plain'):\n    \
                    print(terminal(f'echo {word}'))";

    let said = output(&session, code);

    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("'output': 'ask yes'") && lines[3].contains("'output': 'plain'"), "{said}");
    assert!(lines[1].contains("denied by you: no") && lines[2].contains("denied by words: never"), "{said}");
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[test]
fn a_dangerous_script_is_judged_before_any_of_it_runs() {
    let bench = Bench::new();
    let home = hermes::store::Home::at(&bench.dir.path().join("home"));
    let policy = hermes::GuardPolicy::new(hermes::PolicySettings::default(), Some(home));
    let session = bench.builder().policy(policy).build().unwrap().session().open().unwrap();
    let run = |code: &str| {
        session.call_blocking(ToolCall::new("execute_code", json!({ "code": code }).to_string()))
    };

    let denied = run("open('ran', 'w').write('1')\nimport shutil\nshutil.rmtree('/etc')");
    assert_eq!(denied.status, Status::Denied, "{}", denied.body);
    let asked = run("open('ran', 'w').write('1')\nimport os\nos.system('systemctl stop sshd')");
    assert_eq!(asked.status, Status::Denied, "{}", asked.body);
    assert!(!bench.work().join("ran").exists());

    let inner =
        run("from hermes_tools import terminal\nprint(terminal('systemctl stop' + ' sshd')['error'])");
    assert!(inner.status.is_ok() && inner.body.contains("denied"), "{}", inner.body);
}
