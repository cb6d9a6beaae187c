//! Hooks and skills in a conversation: what is told beside calls, and what the prompt says.

use std::fmt::Write as _;
use std::path::Path;

use hermes::agent::{Event, TurnStatus};
use hermes::chat::Opening;
use hermes::core::toolset::Selection;
use hermes_testkit::{Answer, ModelServer, ScriptedApprover, TempHome};
use serde_json::{Value, json};

use crate::{ask, config, open, runtime, told, weather};

/// A home with a hook at each of these events; each writes what it is told into a file of its own.
fn hooked(server: &ModelServer, events: &[&str]) -> TempHome {
    let home = TempHome::new();
    let mut text = config(&server.url(), "chat_completions");
    text += "approvals:\n  mode: manual\nhooks_auto_accept: true\nhooks:\n";
    for event in events {
        let script = home.path().join(format!("{event}.sh"));
        let answer = if *event == "pre_llm_call" { r#"{"context": "it is raining"}"# } else { "{}" };
        let body = format!(
            "cat >> '{}/{event}.seen'; echo >> '{}/{event}.seen'\necho '{answer}'\n",
            home.path().display(),
            home.path().display()
        );
        std::fs::write(&script, body).unwrap();
        let _ = writeln!(text, "  {event}:\n    - command: sh {}", script.display());
    }
    home.write("config.yaml", &text);
    home
}

fn seen(home: &Path, event: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(home.join(format!("{event}.seen"))).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn hooks_are_told_about_turns_requests_and_sessions() {
    let events = [
        "on_session_start",
        "pre_llm_call",
        "post_llm_call",
        "pre_api_request",
        "post_api_request",
        "on_session_end",
        "on_session_finalize",
    ];
    let server = ModelServer::saying([Answer::text("Hello."), Answer::text("Again.")]);
    let home = hooked(&server, &events);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);
    let id = chat.session_id();

    assert_eq!(ask(&chat, "Hi").status, TurnStatus::Answered);
    assert_eq!(ask(&chat, "Hi again").status, TurnStatus::Answered);
    drop(chat);

    let bodies = server.bodies();
    assert!(bodies[0]["messages"].to_string().contains("it is raining"), "{}", bodies[0]);
    let counts: Vec<usize> = events.iter().map(|event| seen(home.path(), event).len()).collect();
    assert_eq!(counts, [1, 2, 2, 2, 2, 2, 1], "{events:?}");
    let before = seen(home.path(), "pre_llm_call");
    assert_eq!((&before[0]["session_id"], &before[0]["extra"]["user_message"]), (&json!(id), &json!("Hi")));
    assert_eq!(
        (&before[0]["extra"]["is_first_turn"], &before[1]["extra"]["is_first_turn"]),
        (&json!(true), &json!(false))
    );
    let after = seen(home.path(), "post_llm_call");
    assert!(after.iter().any(|told| told["extra"]["assistant_response"] == "Hello."), "{after:?}");
}

#[test]
fn a_hook_is_told_about_the_question_and_the_answer() {
    let command = "pkill no-such-process-zz";
    for (approver, choice) in
        [(ScriptedApprover::agrees(), "once"), (ScriptedApprover::refuses("not now"), "deny")]
    {
        let server = ModelServer::saying([
            Answer::call("c1", "terminal", &json!({ "command": command })),
            Answer::text("Done."),
        ]);
        let home = hooked(&server, &["pre_approval_request", "post_approval_response", "pre_tool_call"]);
        let runtime = runtime(&home, Vec::new());
        let chat = runtime.chat().select(Selection::of(["terminal"])).approver(approver.clone());
        let chat = chat.open_blocking().unwrap();

        assert_eq!(ask(&chat, "End it").text, "Done.");
        drop(chat);

        assert_eq!(approver.asked().len(), 1);
        assert_eq!(seen(home.path(), "pre_tool_call")[0]["tool_input"]["command"], command);
        let (asked, answered) =
            (seen(home.path(), "pre_approval_request"), seen(home.path(), "post_approval_response"));
        assert_eq!((asked.len(), answered.len()), (1, 1), "{asked:?} {answered:?}");
        assert_eq!(asked[0]["extra"]["command"], command);
        assert_eq!(answered[0]["extra"]["choice"], choice);
    }
}

#[test]
fn hooks_are_told_about_agents_that_work_for_another_and_about_requests_that_fail() {
    let server = ModelServer::deciding(|body| {
        let asked = body["messages"].to_string();
        let results = body["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").count();
        match (asked.contains("Another agent hands you this task"), results) {
            (false, 0) => Answer::call("d1", "delegate_task", &json!({ "goal": "look at PEARS" })),
            (false, _) => Answer::text("It came back."),
            (true, _) => Answer::error(400, "pears are not for me"),
        }
    });
    let home = hooked(&server, &["subagent_start", "subagent_stop", "api_request_error"]);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["delegation"], Opening::New);
    let id = chat.session_id();

    assert_eq!(ask(&chat, "Look at pears.").status, TurnStatus::Answered);
    drop(chat);

    let (began, ended) = (seen(home.path(), "subagent_start"), seen(home.path(), "subagent_stop"));
    assert_eq!((began.len(), ended.len()), (1, 1), "{began:?} {ended:?}");
    assert_eq!(began[0]["extra"]["child_goal"], "look at PEARS");
    assert_eq!(began[0]["extra"]["parent_session_id"], json!(id));
    assert!(began[0]["extra"]["child_session_id"].is_string(), "{began:?}");
    assert_eq!(began[0]["extra"]["child_session_id"], ended[0]["extra"]["child_session_id"]);
    assert_eq!(
        (&ended[0]["extra"]["child_status"], &ended[0]["extra"]["completed"]),
        (&json!("failed"), &json!(false))
    );
    let wrong = seen(home.path(), "api_request_error");
    assert!(wrong[0]["extra"]["error"].as_str().unwrap().contains("pears are not for me"), "{wrong:?}");
}

#[test]
fn a_hook_changes_what_a_command_printed_before_the_model_reads_it() {
    let server = ModelServer::saying([
        Answer::call("c1", "terminal", &json!({ "command": "echo The door code is 4711" })),
        Answer::text("I see."),
    ]);
    let home = TempHome::new();
    let script = home.path().join("hide.sh");
    std::fs::write(&script, "sed 's/.*/{\"output\": \"nothing to see\"}/'\n").unwrap();
    let hooks = format!("  transform_terminal_output:\n    - command: sh {}\n", script.display());
    let text = config(&server.url(), "chat_completions") + "hooks_auto_accept: true\nhooks:\n" + &hooks;
    home.write("config.yaml", &text);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["terminal"], Opening::New);

    ask(&chat, "Say it");

    let read = server.bodies()[1]["messages"].to_string();
    assert!(read.contains("nothing to see") && !read.contains("code is 4711\\n"), "{read}");
}

/// A home with one hook, which is this script.
fn with_hook(server: &ModelServer, event: &str, script: &str) -> TempHome {
    let home = TempHome::new();
    let file = home.write("hook.sh", script);
    let hooks =
        format!("hooks_auto_accept: true\nhooks:\n  {event}:\n    - command: sh {}\n", file.display());
    home.write("config.yaml", &(config(&server.url(), "chat_completions") + &hooks));
    home
}

#[test]
fn a_hook_changes_the_answer_before_anybody_reads_it() {
    let server = ModelServer::saying([Answer::text("The code is 4711."), Answer::text("Well.")]);
    let script = "grep -q '\"response_text\":\"The code' && echo '{\"output\": \"I may not say.\"}'\n";
    let home = with_hook(&server, "transform_llm_output", script);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    let (end, events) = told(&chat, "What is the code?");
    let other = ask(&chat, "And else?");

    assert_eq!((end.text.as_str(), other.text.as_str()), ("I may not say.", "Well."));
    assert!(!format!("{events:?}").contains("4711"), "{events:?}");
    assert!(!server.bodies()[1].to_string().contains("4711"), "it is not in the record either");
}

#[test]
fn a_hook_that_wants_more_gets_more_before_the_turn_is_over() {
    let work = TempHome::new();
    let file = work.path().join("made.txt");
    let server = ModelServer::saying([
        Answer::call("c1", "write_file", &json!({ "path": file, "content": "x" })),
        Answer::text("Done."),
        Answer::text("Now it is tested."),
    ]);
    let script = "told=$(cat); echo \"$told\" >> \"$(dirname \"$0\")/seen\"\n\
                  case \"$told\" in *'\"attempt\":0'*) echo '{\"action\": \"continue\", \"message\": \"Run the tests.\"}';; esac\n";
    let home = with_hook(&server, "pre_verify", script);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["file"], Opening::New);

    let (end, events) = told(&chat, "Write it");

    assert_eq!(
        (end.status, end.text.as_str(), end.model_calls),
        (TurnStatus::Answered, "Now it is tested.", 3)
    );
    assert!(server.bodies()[2]["messages"].to_string().contains("Run the tests."));
    let turns = events.iter().filter(|event| matches!(event, Event::TurnEnded(_))).count();
    assert_eq!(turns, 1, "to whoever looks on it is one turn");
    let seen = std::fs::read_to_string(home.path().join("seen")).unwrap();
    let seen: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        (&seen[0]["extra"]["final_response"], &seen[1]["extra"]["attempt"]),
        (&json!("Done."), &json!(1))
    );
    assert_eq!(seen[0]["extra"]["changed_paths"], json!([file]));
}

#[test]
fn a_hook_that_is_never_content_is_heard_three_times() {
    let server = ModelServer::deciding(|_| Answer::text("Done."));
    let home = with_hook(&server, "pre_verify", "echo '{\"decision\": \"block\", \"reason\": \"More.\"}'\n");
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    assert_eq!(ask(&chat, "Do it").model_calls, 4);
}

#[test]
fn a_plugin_hears_of_everything_and_has_its_say() {
    let server = ModelServer::saying([Answer::text("Hello.")]);
    let home = TempHome::new();
    home.write("config.yaml", &(config(&server.url(), "chat_completions") + "plugins:\n  enabled: [ear]\n"));
    home.write("plugins/ear/plugin.yaml", "name: ear\n");
    let plugin = "EVENTS = 'on_session_start pre_llm_call pre_api_request post_api_request transform_llm_output post_llm_call on_session_end on_session_finalize'\n\
                  def register(ctx):\n    for event in EVENTS.split():\n        def heard(event=event, **kw):\n            \
                  assert kw['telemetry_schema_version'] == 'hermes.observer.v1' and kw['session_id']\n            \
                  open(__file__ + '.seen', 'a').write(event + chr(10))\n            \
                  return {'pre_llm_call': {'context': 'it rains'}, 'transform_llm_output': 'Bye.'}.get(event)\n        \
                  ctx.register_hook(event, heard)\n";
    home.write("plugins/ear/__init__.py", plugin);
    let runtime = finding_programs(&home);
    let chat = open(&runtime, &["todo"], Opening::New);

    let end = ask(&chat, "Hi");
    drop(chat);

    assert_eq!(end.text, "Bye.");
    assert!(server.bodies()[0]["messages"].to_string().contains("it rains"));
    assert_eq!(runtime.foreign_problems(), Vec::<String>::new());
    let seen = std::fs::read_to_string(home.path().join("plugins/ear/__init__.py.seen")).unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    // Those that are asked do not wait for those that only take note.
    let asked = ["pre_llm_call", "transform_llm_output"];
    seen.retain(|event| !asked.contains(event));
    let noted = [
        "on_session_start",
        "pre_api_request",
        "post_api_request",
        "post_llm_call",
        "on_session_end",
        "on_session_finalize",
    ];
    assert_eq!(seen, noted);
}

/// A runtime in this home that finds programs.
fn finding_programs(home: &TempHome) -> hermes::Runtime {
    let path = std::env::var("PATH").unwrap();
    let builder = hermes::Runtime::builder().cwd("/").home(hermes::store::Home::at(home.path()));
    builder.env([("PATH".to_owned(), path)]).build().unwrap()
}

#[test]
fn hooks_of_both_kinds_are_told_where_a_command_printed_something() {
    let server = ModelServer::saying([
        Answer::call("c1", "terminal", &json!({ "command": "echo hi" })),
        Answer::text("Done."),
    ]);
    let home = with_hook(&server, "transform_terminal_output", "cat > \"$(dirname \"$0\")/seen\"\n");
    let text = std::fs::read_to_string(home.path().join("config.yaml")).unwrap();
    home.write("config.yaml", &(text + "plugins:\n  enabled: [ear]\n"));
    home.write("plugins/ear/plugin.yaml", "name: ear\n");
    let plugin = "import json\ndef register(ctx):\n    ctx.register_hook('transform_terminal_output', \
                  lambda **kw: open(__file__ + '.seen', 'w').write(json.dumps(kw)) and None)\n";
    home.write("plugins/ear/__init__.py", plugin);
    let runtime = finding_programs(&home);
    let chat = open(&runtime, &["terminal"], Opening::New);

    assert_eq!(ask(&chat, "Say hi").text, "Done.");

    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(home.path().join(file)).unwrap()).unwrap()
    };
    for told in [read("seen")["extra"].clone(), read("plugins/ear/__init__.py.seen")] {
        let facts = ["command", "output", "returncode", "task_id", "env_type"].map(|key| told[key].clone());
        let wanted = [json!("echo hi"), json!("hi"), json!(0), json!(chat.session_id()), json!("local")];
        assert_eq!(facts, wanted, "{told}");
    }
}

#[test]
fn a_plugin_changes_the_answer_before_a_program_does() {
    let server = ModelServer::saying([Answer::text("Hello.")]);
    let script =
        "sed -n 's/.*\"response_text\":\"\\([^\"]*\\)\".*/{\"output\": \"\\1 Then the program.\"}/p'\n";
    let home = with_hook(&server, "transform_llm_output", script);
    let text = std::fs::read_to_string(home.path().join("config.yaml")).unwrap();
    home.write("config.yaml", &(text + "plugins:\n  enabled: [ear]\n"));
    home.write("plugins/ear/plugin.yaml", "name: ear\n");
    let plugin = "def register(ctx):\n    ctx.register_hook('transform_llm_output', \
                  lambda response_text, **kw: response_text + ' First the plugin.')\n";
    home.write("plugins/ear/__init__.py", plugin);
    let runtime = finding_programs(&home);
    let chat = open(&runtime, &["todo"], Opening::New);

    assert_eq!(ask(&chat, "Hi").text, "Hello. First the plugin. Then the program.");
}

#[test]
fn the_prompt_names_skills_once_and_says_nothing_without_them() {
    let server = ModelServer::saying([Answer::text("One."), Answer::text("Two."), Answer::text("Three.")]);
    let home = TempHome::new();
    home.write("config.yaml", &config(&server.url(), "chat_completions"));
    let runtime = runtime(&home, vec![weather().0]);
    let none = open(&runtime, &["skills"], Opening::New);
    ask(&none, "One?");

    home.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: How tea is made\n---\n1. Boil water\n");
    let some = open(&runtime, &["skills"], Opening::New);
    ask(&some, "Two?");
    home.write("skills/cake/SKILL.md", "---\nname: cake\ndescription: How cake is made\n---\n1. Bake\n");
    ask(&some, "Three?");

    let systems: Vec<String> = server.bodies().iter().map(|body| body["messages"][0].to_string()).collect();
    assert!(!systems[0].contains("# Skills"), "{}", systems[0]);
    assert!(systems[1].contains("- tea: How tea is made"), "{}", systems[1]);
    assert_eq!(systems[1], systems[2], "the prompt of a session stays as it was");
}
