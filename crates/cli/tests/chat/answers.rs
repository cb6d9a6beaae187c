//! What is written where, in three forms, and how a session is gone on with.

use hermes_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

use crate::home::Said;
use crate::stage::{Stage, finished, lines, shell};

fn scene() -> Stage {
    Stage::saying([shell("c1", "echo hello from the shell"), Answer::text("It said *hello*.")])
}

fn session(said: &Said) -> String {
    said.json()["session"].as_str().unwrap().to_owned()
}

/// What the model was told by the person, in the last question.
fn told(stage: &Stage) -> Vec<String> {
    let bodies = stage.server.bodies();
    let messages = bodies.last().unwrap()["messages"].as_array().unwrap().clone();
    let users = messages.iter().filter(|message| message["role"] == "user");
    users.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn standard_output_is_the_answer_and_nothing_else() {
    let stage = scene();

    let said = stage.chat(&["-q", "Say hello"]);

    assert_eq!((said.code, said.out.as_str()), (Some(0), "It said *hello*.\n"), "{said:?}");
    assert!(said.err.contains("terminal") || said.err.contains("echo hello"), "{}", said.err);
    assert!(said.err.lines().last().unwrap().starts_with("session_id: "), "{}", said.err);
    assert!(!said.err.contains('\u{1b}'), "{:?}", said.err);
    let result = stage.server.bodies()[1]["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(result["content"].as_str().unwrap().contains("hello from the shell"), "{result}");
}

#[test]
fn quietly_there_is_the_session_and_with_z_nothing_beside_the_answer() {
    let quiet = scene().chat(&["-q", "Say hello", "-Q"]);
    let bare = scene().chat(&["-z", "Say hello"]);

    assert_eq!((quiet.code, quiet.out.as_str()), (Some(0), "It said *hello*.\n"));
    assert!(
        quiet.err.trim().starts_with("session_id: ") && quiet.err.trim().lines().count() == 1,
        "{quiet:?}"
    );
    assert_eq!((bare.code, bare.out.as_str(), bare.err.as_str()), (Some(0), "It said *hello*.\n", ""));
}

#[test]
fn servers_that_are_not_there_are_told_in_one_line() {
    let servers = "mcp_servers:\n  dead: {command: 'false'}\n  late: {command: sleep, args: ['30']}\n";
    let chat = |words: &[&str]| {
        let stage = scene();
        std::fs::write(stage.config(), stage.config_text() + servers).unwrap();
        stage.chat(words)
    };

    let (usual, quiet, bare) =
        (chat(&["-q", "Say hello"]), chat(&["-q", "Say hello", "-Q"]), chat(&["-z", "Say hello"]));

    let told = usual.err.lines().next().unwrap();
    // Whether the one has failed by then is a matter of how fast the machine is.
    let slowly = "MCP: dead, late are still starting";
    assert!(told == "MCP: dead does not work; late is still starting" || told == slowly, "{told}");
    assert!(!quiet.err.contains("MCP") && bare.err.is_empty(), "{quiet:?} {bare:?}");
}

#[test]
fn json_is_one_document_with_a_version() {
    let said = scene().chat(&["-q", "Say hello", "--output-format", "json"]);

    let told = said.json();
    assert_eq!(said.out.lines().count(), 1);
    assert_eq!((&told["type"], &told["version"]), (&json!("turn_ended"), &json!(1)));
    assert_eq!((&told["status"], &told["text"]), (&json!("answered"), &json!("It said *hello*.")));
    assert_eq!(
        (&told["model_calls"], &told["tool_calls"], &told["denied"]),
        (&json!(2), &json!(1), &json!(0))
    );
}

#[test]
fn a_stream_is_json_lines_from_the_version_to_the_end() {
    let said = scene().chat(&["-q", "Say hello", "--output-format", "stream-json"]);

    let events = lines(&said.out);
    let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
    assert_eq!((kind(&events[0]), &events[0]["version"]), ("start".to_owned(), &json!(1)));
    assert!(events[0]["tools"].as_array().unwrap().contains(&json!("terminal")));
    assert_eq!(kind(events.last().unwrap()), "turn_ended");
    let kinds: Vec<String> = events.iter().map(kind).collect();
    let at =
        |wanted: &str| kinds.iter().position(|kind| kind == wanted).unwrap_or_else(|| panic!("{kinds:?}"));
    assert!(at("turn_began") < at("call_began") && at("call_began") < at("call_ended"), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "turn_ended").count(), 1);
    let words: String = events
        .iter()
        .filter(|event| event["type"] == "text")
        .filter_map(|event| event["text"].as_str())
        .collect();
    assert_eq!(words, "It said *hello*.");
}

#[test]
fn a_question_can_come_from_standard_input() {
    for words in [&["chat", "-q", "-"][..], &["chat"]] {
        let stage = Stage::with(ModelServer::always(Answer::text("Read.")));

        let said = stage.run_with(words, "What is 世界?\n".as_bytes());

        assert_eq!((said.code, said.out.as_str()), (Some(0), "Read.\n"), "{words:?}: {said:?}");
        assert!(told(&stage)[0].contains("What is 世界?"), "{:?}", told(&stage));
    }
}

#[test]
fn a_session_is_gone_on_with_by_its_id_by_its_beginning_or_as_the_last_one() {
    let stage = Stage::with(ModelServer::always(Answer::text("Yes.")));
    let id = session(&stage.chat(&["-q", "first", "--output-format", "json"]));
    let start = &id[..id.len() - 2];

    for words in [["--resume", &id], ["-r", start]] {
        let said = stage.chat(&[&["-q", "second", "--output-format", "json"], &words[..]].concat());
        assert_eq!(session(&said), id, "{said:?}");
    }
    for words in [&["-c"][..], &["--continue"]] {
        let said = stage.chat(&[&["-q", "third", "--output-format", "json"], words].concat());
        assert_eq!(session(&said), id, "{said:?}");
    }

    let told: Vec<String> = told(&stage);
    assert_eq!(told, ["first", "second", "second", "third", "third"]);
    assert_ne!(session(&stage.chat(&["-q", "other", "--output-format", "json"])), id);
}

#[test]
fn words_of_the_answer_are_there_before_it_is_over() {
    use std::io::BufRead as _;
    let slow = Answer::text("one two three four five six").slowly(std::time::Duration::from_millis(150));
    let stage = Stage::saying([slow]);
    let mut child = stage.start(&["-q", "Count", "--output-format", "stream-json"]);
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());

    let mut line = String::new();
    while !line.contains("\"type\":\"text\"") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the words came with the end");
    }

    assert!(child.try_wait().unwrap().is_none(), "it was over when its first words came");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    assert_eq!(finished(child).code, Some(0));
    assert!(rest.trim_end().lines().last().unwrap().contains("turn_ended"));
}
