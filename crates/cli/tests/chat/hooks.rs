//! Hooks around a chat: who is told what is wrong with them, and who is asked.

use hermes_testkit::Answer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::HERMES;
use crate::screen::Terminal;
use crate::stage::{Stage, finished, lines, until};

/// A stage with one hook, which is this script.
fn hooked(answers: impl IntoIterator<Item = Answer>, event: &str, script: &str, more: &str) -> Stage {
    let stage = Stage::saying(answers);
    let file = stage.state().join("hook.sh");
    std::fs::write(&file, script).unwrap();
    let hooks = format!("hooks:\n  {event}:\n    - command: sh {}\n{more}", file.display());
    std::fs::write(stage.config(), stage.config_text() + &hooks).unwrap();
    stage
}

#[test]
fn a_hook_that_nobody_accepted_is_told_about_before_the_answer() {
    let stage = hooked([Answer::text("Hello."), Answer::text("Hello.")], "pre_llm_call", "true\n", "");

    let said = stage.chat(&["-q", "Hi"]);
    let stream = stage.chat(&["-q", "Hi", "--output-format", "stream-json"]);

    assert_eq!((said.code, said.out.as_str()), (Some(0), "Hello.\n"), "{said:?}");
    let warning = said.err.lines().find(|line| line.starts_with("warning: hooks.pre_llm_call"));
    assert!(warning.is_some_and(|line| line.contains("nobody has accepted it")), "{said:?}");
    let notice =
        |line: &&Value| line["type"] == "notice" && line.to_string().contains("nobody has accepted it");
    assert!(lines(&stream.out).iter().any(|line| notice(&line)), "{stream:?}");
}

#[test]
fn a_hook_that_fails_is_told_about_while_it_is_waited_for_and_after() {
    let asked = hooked([Answer::text("Hello.")], "pre_llm_call", "exit 3\n", "");
    let noted = hooked([Answer::text("Hello.")], "post_llm_call", "exit 3\n", "");
    for stage in [asked, noted] {
        stage.json(&["hooks", "accept", "--all"]);

        let said = stage.chat(&["-q", "Hi"]);

        assert_eq!((said.code, said.out.as_str()), (Some(0), "Hello.\n"), "{said:?}");
        assert!(said.err.contains("it ended with exit code 3"), "{said:?}");
    }
}

#[test]
fn a_policy_that_cannot_answer_denies_in_words() {
    let policy = "      policy: true\n";
    let withheld = hooked([Answer::text("It is 4711.")], "transform_llm_output", "exit 1\n", policy);
    withheld.json(&["hooks", "accept", "--all"]);
    let refused = hooked([], "pre_llm_call", "true\n", policy);

    let said = withheld.chat(&["-q", "Hi"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.starts_with("the answer is withheld") && !said.out.contains("4711"), "{said:?}");
    let said = refused.chat(&["-q", "Hi"]);
    assert_eq!((said.code, said.out.as_str()), (Some(3), ""), "{said:?}");
    assert!(said.err.contains("error: the turn is refused: the policy hook"), "{said:?}");
}

#[test]
fn ctrl_c_does_not_wait_for_a_hook() {
    let script = "touch \"$0.runs\"; sleep 50\n";
    let stage = hooked([Answer::text("Hello.")], "pre_llm_call", script, "");
    stage.json(&["hooks", "accept", "--all"]);
    let child = stage.start(&["-q", "Hi"]);

    until("the hook", || stage.state().join("hook.sh.runs").exists());
    let began = std::time::Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said = finished(child);

    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn who_is_at_the_terminal_is_asked_about_a_hook_once() {
    let script = "touch \"$0.ran\"\n";
    let stage = hooked([Answer::text("One."), Answer::text("Two.")], "pre_llm_call", script, "");
    let Some(terminal) = Terminal::open(&stage) else { return };
    let ran = stage.state().join("hook.sh.ran");

    terminal.type_line(&format!("clear; {HERMES} chat -q Hi"));
    let asked = terminal.until_shown("Run it from now on? [y/N]:");
    assert!(asked.contains("was never accepted"), "{asked}");
    terminal.press("Enter");
    let shown = terminal.until_shown("One.");
    assert!(shown.contains("nobody has accepted it") && !ran.exists(), "{shown}");

    terminal.type_line(&format!("clear; {HERMES} chat -q Hi"));
    terminal.until_shown("Run it from now on? [y/N]:");
    terminal.type_line("y");
    let shown = terminal.until_shown("Two.");
    assert!(!shown.contains("nobody has accepted it") && ran.exists(), "{shown}");
    assert_eq!(stage.json(&["hooks", "list"])[0]["state"], json!("accepted"));
}
