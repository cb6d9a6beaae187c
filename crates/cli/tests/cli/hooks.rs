//! Shell hooks through the program: real scripts in a temporary home.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, Said};

/// A home whose configuration names scripts by `NAME`.
struct Scene(Home);

impl Scene {
    /// `config` may say `{dir}` for the folder of the scripts.
    fn new(config: &str, scripts: &[(&str, &str)]) -> Self {
        let home = Home::new();
        let scene = Self(home);
        std::fs::create_dir_all(scene.dir()).unwrap();
        for (name, text) in scripts {
            scene.script(name, text);
        }
        let config = config.replace("{dir}", &scene.dir().display().to_string());
        std::fs::write(scene.0.config(), config).unwrap();
        scene
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("hooks")
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.dir().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn accept(&self) {
        self.0.json(&["hooks", "accept", "--all"]);
    }

    fn read(&self, arguments: &Value) -> Said {
        self.0.run(&["tools", "call", "read_file", &arguments.to_string()])
    }

    fn seen(&self, name: &str) -> Option<Value> {
        let text = std::fs::read_to_string(self.dir().join(name)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

fn notes() -> Value {
    json!({ "path": "notes.txt" })
}

const BLOCK: &str = r#"cat > "$0.seen"; echo '{"decision": "block", "reason": "not today"}'"#;

#[test]
fn a_blocking_hook_sees_the_call_and_stops_it() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n      matcher: read_.*\n";
    let scene = Scene::new(config, &[("block.sh", BLOCK)]);
    scene.accept();

    let said = scene.read(&notes());
    let other = scene.0.run(&["tools", "call", "todo"]);

    assert_eq!(said.code, Some(1));
    assert!(said.json()["error"].as_str().unwrap().contains("not today"), "{said:?}");
    assert_eq!(other.code, Some(0), "the matcher is for other tools: {other:?}");
    let seen = scene.seen("block.sh.seen").unwrap();
    assert_eq!(
        (&seen["hook_event_name"], &seen["tool_name"]),
        (&json!("pre_tool_call"), &json!("read_file"))
    );
    assert_eq!(seen["tool_input"]["path"], json!("notes.txt"));
    assert_eq!(seen["cwd"], json!(scene.0.project().display().to_string()));
    assert_eq!(seen["extra"]["telemetry_schema_version"], json!("hermes.observer.v1"));
}

#[test]
fn a_call_whose_result_is_withheld_has_run_and_is_no_success() {
    let config = "hooks:\n  transform_tool_result:\n    - command: '{dir}/clean.sh'\n      policy: true\n";
    let scene = Scene::new(config, &[("clean.sh", "exit 7")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();

    let said = scene.read(&notes());
    let story = scene.0.run(&["--json", "tools", "call", "read_file", &notes().to_string()]);

    assert!(said.json()["error"].as_str().unwrap().starts_with("the result is withheld"), "{said:?}");
    assert_eq!((said.code, story.code), (Some(1), Some(1)), "{said:?}");
    assert_eq!(story.json()["status"], "withheld", "{story:?}");
}

#[test]
fn a_hook_that_nobody_accepted_does_not_run_and_is_told_about() {
    let scene =
        Scene::new("hooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n", &[("block.sh", BLOCK)]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));

    let said = scene.read(&notes());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("nobody has accepted it"), "{said:?}");
    assert!(scene.seen("block.sh.seen").is_none());
    let mut command = scene.0.command(&["tools", "call", "read_file", &notes().to_string()]);
    let said = Said::of(command.env("HERMES_ACCEPT_HOOKS", "1").output().unwrap());
    assert_eq!(said.code, Some(1), "{said:?}");
    let flagged = scene.0.run(&["tools", "call", "--accept-hooks", "read_file", &notes().to_string()]);
    assert_eq!(flagged.code, Some(1), "{flagged:?}");
}

#[test]
fn a_changed_script_has_lost_its_consent() {
    let scene =
        Scene::new("hooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n", &[("block.sh", BLOCK)]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();
    assert_eq!(scene.0.json(&["hooks", "list"])[0]["state"], json!("accepted"));
    assert_eq!(scene.read(&notes()).code, Some(1));

    scene.script("block.sh", &format!("{BLOCK} # changed"));

    let said = scene.read(&notes());
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("changed since it was accepted"), "{said:?}");
    assert_eq!(scene.0.json(&["hooks", "list"])[0]["state"], json!("changed"));
    let list = std::fs::read_to_string(scene.0.state().join("shell-hooks-allowlist.json")).unwrap();
    assert!(list.contains("script_mtime_at_approval") && list.contains("approved_at"), "{list}");
}

#[test]
fn a_rewriting_hook_changes_what_runs_and_a_transforming_one_what_is_read() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/rewrite.sh'\n  transform_tool_result:\n    - command: '{dir}/change.sh'\n      matcher: read_file\n";
    let rewrite = r#"echo '{"action": "rewrite", "args": {"path": "other.txt"}}'"#;
    let change = r#"sed 's/.*"result":.*/{"result": {"content": "changed"}}/'"#;
    let scene = Scene::new(config, &[("rewrite.sh", rewrite), ("change.sh", "cat > \"$0.seen\"; echo '{}'")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n").file("other.txt", "bread\n"));
    scene.accept();

    let said = scene.read(&notes());
    assert!(said.out.contains("bread") && !said.out.contains("milk"), "{said:?}");
    let seen = scene.seen("change.sh.seen").unwrap();
    assert_eq!((&seen["tool_input"]["path"], &seen["extra"]["status"]), (&json!("other.txt"), &json!("ok")));

    scene.script("change.sh", change);
    scene.accept();
    assert_eq!(scene.read(&notes()).json(), json!({ "content": "changed" }));
}

#[test]
fn a_policy_hook_that_cannot_answer_denies() {
    let cases = [
        ("missing", "rm -f \"$0\"", "cannot start"),
        ("crashes", "exit 3", "exit code 3"),
        ("garbage", "echo oops", "not JSON"),
        ("slow", "sleep 30", "took longer"),
    ];
    for (name, text, why) in cases {
        let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/judge.sh'\n      policy: true\n      timeout: 1\n";
        let scene = Scene::new(config, &[("judge.sh", text)]);
        let scene = Scene(scene.0.file("notes.txt", "milk\n"));
        scene.accept();
        if name == "missing" {
            std::fs::remove_file(scene.dir().join("judge.sh")).unwrap();
        }

        let said = scene.read(&notes());

        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        let error = said.json()["error"].as_str().unwrap().to_owned();
        let expected = if name == "missing" { "changed since" } else { why };
        assert!(error.contains("policy hook failed") && error.contains(expected), "{name}: {error}");
    }
    let unaccepted = Scene::new(
        "hooks:\n  pre_tool_call:\n    - command: '{dir}/judge.sh'\n      policy: true\n",
        &[("judge.sh", "true")],
    );
    let said = unaccepted.read(&notes());
    assert!(said.json()["error"].as_str().unwrap().contains("nobody has accepted it"), "{said:?}");
    unaccepted.accept();
    let passed = Scene(unaccepted.0.file("notes.txt", "milk\n")).read(&notes());
    assert_eq!(passed.code, Some(0), "an empty answer is a yes: {passed:?}");
}

#[test]
fn a_plain_hook_that_fails_is_passed_over_with_a_word() {
    let scene =
        Scene::new("hooks:\n  pre_tool_call:\n    - command: '{dir}/odd.sh'\n", &[("odd.sh", "echo oops")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();

    let said = scene.read(&notes());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("not JSON"), "{said:?}");
}

#[test]
fn a_slow_observer_does_not_slow_the_call_and_gets_its_word() {
    let config = "hooks:\n  post_tool_call:\n    - command: '{dir}/watch.sh'\n";
    let scene = Scene::new(config, &[("watch.sh", "sleep 1; cat > \"$0.seen\"")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();

    let mut command = scene.0.command(&["tools", "call", "read_file", &notes().to_string(), "--json"]);
    let said = Said::of(command.output().unwrap());

    let took = said.json()["duration_ms"].as_f64().unwrap();
    assert!(took < 500.0, "{took}");
    let seen = scene.seen("watch.sh.seen").unwrap();
    assert_eq!(
        (&seen["extra"]["status"], &seen["hook_event_name"]),
        (&json!("ok"), &json!("post_tool_call"))
    );
    assert!(seen["extra"]["result"].as_str().unwrap().contains("milk"));
}

#[test]
fn hooks_get_a_clean_environment_and_nothing_of_a_shell() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/env.sh \"a b\" $HOME'\n";
    let scene = Scene::new(config, &[("env.sh", "{ env; echo \"$1|$2\"; } > \"$0.env\"")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();

    let mut command = scene.0.command(&["tools", "call", "read_file", &notes().to_string()]);
    Said::of(command.env("OPENAI_API_KEY", "sk-secret-value").output().unwrap());

    let seen = std::fs::read_to_string(scene.dir().join("env.sh.env")).unwrap();
    assert!(!seen.contains("sk-secret-value") && seen.contains("a b|$HOME"), "{seen}");
}

#[test]
fn hooks_are_listed_tried_revoked_and_looked_after() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n      matcher: terminal\n";
    let scene = Scene::new(config, &[("block.sh", BLOCK)]);
    let command = scene.dir().join("block.sh").display().to_string();

    let listed = scene.0.json(&["hooks", "list"]);
    assert_eq!((&listed[0]["state"], &listed[0]["runs"]), (&json!("not accepted"), &json!(false)));
    assert_eq!(scene.0.run(&["hooks", "doctor"]).code, Some(1));
    let tried = scene.0.json(&["hooks", "test", "pre_tool_call", "--for-tool", "terminal"]);
    assert_eq!(tried[0]["meaning"], json!("the call is blocked: not today"));
    assert_eq!(scene.0.run(&["hooks", "test", "pre_tool_call", "--for-tool", "todo"]).code, Some(2));
    let wrong = scene.0.run(&["hooks", "test", "pre_tool_cal"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("`pre_tool_call`"), "{wrong:?}");
    scene.0.json(&["hooks", "accept", &command]);
    assert_eq!(scene.0.run(&["hooks", "doctor"]).code, Some(0));
    scene.0.json(&["hooks", "revoke", &command]);
    assert_eq!(scene.0.run(&["hooks", "revoke", &command]).code, Some(2));
    let broken = Home::configured("hooks:\n  pre_tol_call: []\n").run(&["hooks", "list"]);
    assert!(broken.err.contains("hooks.pre_tool_call"), "{broken:?}");
}

#[test]
fn a_hook_with_a_say_at_an_event_that_there_is_not_lets_nothing_run() {
    let config =
        |policy: bool| format!("hooks:\n  pre_tol_call:\n    - command: x\n      policy: {policy}\n");
    let call = |policy: bool| Home::configured(&config(policy)).run(&["tools", "call", "todo"]);

    let denied = call(true);

    assert_ne!(denied.code, Some(0), "{denied:?}");
    let why = "`hooks.pre_tol_call` is not a known key, and `policy` below it would have no effect";
    assert!(denied.err.contains(why) && denied.err.contains("`hooks.pre_tool_call`"), "{denied:?}");
    assert_eq!(call(false).code, Some(0));
    let misspelt = Home::configured("Hooks:\n  pre_tool_call:\n    - command: x\n      policy: true\n");
    let denied = misspelt.run(&["tools", "call", "todo"]);
    assert!(
        denied.code != Some(0) && denied.err.contains("`Hooks.pre_tool_call` is not a known"),
        "{denied:?}"
    );
}

#[test]
fn a_hook_with_a_say_under_a_key_that_stands_again_lets_nothing_run() {
    let event = |policy: bool| format!("  pre_tool_call:\n    - command: x\n      policy: {policy}\n");
    let again = "  pre_tool_call:\n    - command: other\n";
    let call = |config: &str| Home::configured(config).run(&["tools", "call", "todo"]);

    let inner = call(&format!("hooks:\n{}{again}", event(true)));
    let outer = call(&format!("hooks:\n{}hooks:\n{again}", event(true)));

    let why = "stands again further down, and `policy` below it would have no effect";
    assert!(
        inner.code != Some(0) && inner.err.contains(&format!("`hooks.pre_tool_call` {why}")),
        "{inner:?}"
    );
    assert!(outer.code != Some(0) && outer.err.contains(&format!("`hooks` {why}")), "{outer:?}");
    assert_eq!(call(&format!("hooks:\n{}{again}", event(false))).code, Some(0));
}

#[test]
fn a_say_where_nobody_waits_is_told_to_decide_nothing() {
    let config = "hooks:\n  post_tool_call:\n    - command: '{dir}/look.sh'\n      policy: true\n";
    let scene = Scene::new(config, &[("look.sh", "cat >/dev/null")]);
    scene.0.run(&["hooks", "accept", "--all"]);

    let listed = scene.0.run(&["hooks", "list"]);
    let doctor = scene.0.run(&["hooks", "doctor"]);

    assert!((listed.out + &listed.err).contains("`policy: true` decides nothing"));
    assert!((doctor.out + &doctor.err).contains("`policy: true` decides nothing"));
}

#[test]
fn a_hook_that_leaves_something_running_is_not_waited_for() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/leave.sh'\n";
    let scene = Scene::new(config, &[("leave.sh", "sleep 20 &")]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));
    scene.accept();

    let began = Instant::now();
    let said = scene.read(&notes());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_matcher_may_look_ahead_and_one_that_is_no_pattern_is_told_about() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n      matcher: (?!todo).*\n";
    let scene = Scene::new(config, &[("block.sh", BLOCK)]);
    scene.accept();
    assert_eq!(scene.read(&notes()).code, Some(1));
    assert_eq!(scene.0.run(&["tools", "call", "todo"]).code, Some(0));

    for (policy, code) in [(false, 0), (true, 1)] {
        let config = format!(
            "hooks:\n  pre_tool_call:\n    - command: '{{dir}}/block.sh'\n      matcher: '*'\n      policy: {policy}\n"
        );
        let scene = Scene::new(&config, &[("block.sh", BLOCK)]);
        scene.0.run(&["hooks", "accept", "--all"]);

        assert_eq!(scene.0.run(&["tools", "call", "todo"]).code, Some(code), "policy: {policy}");
        let told = "the matcher `*` is not a pattern";
        for words in [&["hooks", "list"][..], &["hooks", "doctor"], &["config", "check"], &["doctor"]] {
            let said = scene.0.run(words);
            assert!(format!("{}{}", said.out, said.err).contains(told), "{words:?}: {said:?}");
        }
        assert_eq!(scene.0.json(&["config", "check"])["found"][0]["line"], json!(4));
    }
}

#[test]
fn a_plain_hook_that_crashes_or_is_not_there_is_passed_over_with_a_word() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/crash.sh'\n    - command: '{dir}/nowhere.sh'\n    - command: no-such-hook-here\n    - command: '{dir}/says.sh'\n";
    let says = "echo '{\"action\": \"allow\"}'; exit 5";
    let scene = Scene::new(config, &[("crash.sh", "echo broken >&2; exit 3"), ("says.sh", says)]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n"));

    let accepted = scene.0.run(&["hooks", "accept", "--all"]);
    assert!(accepted.err.contains("nowhere.sh` that can be run"), "{accepted:?}");
    assert!(accepted.err.contains("there is no program `no-such-hook-here`"), "{accepted:?}");
    let said = scene.read(&notes());

    assert_eq!(said.code, Some(0), "{said:?}");
    for wanted in ["exit code 3 (broken)", "there is no such file", "it is not installed", "exit code 5"] {
        assert!(said.err.contains(wanted), "{wanted}: {said:?}");
    }
}

#[test]
fn the_doctor_runs_each_accepted_hook_once_with_a_tool_it_is_for() {
    let config = "hooks:\n  pre_tool_call:\n    - command: '{dir}/one.sh'\n      matcher: read_file\n    - command: '{dir}/two.sh'\n    - command: '{dir}/none.sh'\n      matcher: no_such_tool\n    - command: '{dir}/new.sh'\n";
    let script = "cat >> \"$0.seen\"; echo >> \"$0.seen\"";
    let names = ["one.sh", "two.sh", "none.sh", "new.sh"];
    let scene = Scene::new(config, &names.map(|name| (name, script)));
    for name in &names[..3] {
        scene.0.json(&["hooks", "accept", &scene.dir().join(name).display().to_string()]);
    }

    let said = scene.0.run(&["hooks", "doctor", "--json"]);

    let states: Vec<Value> = said.json().as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["ok", "ok", "not tried", "problem"]);
    assert_eq!(said.code, Some(1), "one waits to be accepted: {said:?}");
    let runs = |name: &str| {
        let text = std::fs::read_to_string(scene.dir().join(format!("{name}.seen"))).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["tool_name"].clone()).collect()
    };
    let seen: [Vec<Value>; 4] = names.map(runs);
    assert_eq!(seen, [vec![json!("read_file")], vec![json!("terminal")], vec![], vec![]]);
}

#[test]
fn a_program_on_the_search_path_is_accepted_as_it_is() {
    let scene = Scene::new("hooks:\n  pre_tool_call:\n    - command: myhook\n", &[("myhook", BLOCK)]);
    let scene = Scene(scene.0.file("notes.txt", "milk\n").file("myhook", "not what runs"));
    let run = |words: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", scene.dir().display());
        Said::of(scene.0.command(words).env("PATH", path).output().unwrap())
    };
    let call = ["tools", "call", "read_file", r#"{"path": "notes.txt"}"#];
    assert_eq!(run(&["hooks", "accept", "myhook"]).code, Some(0));
    assert_eq!(run(&call).code, Some(1), "it blocks");

    std::fs::write(scene.0.project().join("myhook"), "changed, and still not what runs").unwrap();
    assert_eq!(run(&call).code, Some(1));
    scene.script("myhook", "true");

    let said = run(&call);
    assert!(said.code == Some(0) && said.err.contains("changed since it was accepted"), "{said:?}");
}

#[test]
fn a_large_interpreter_can_be_accepted_and_a_failure_stops_nothing_else() {
    let config = "hooks:\n  pre_tool_call:\n    - command: 'broken \"quote'\n    - command: '{dir}/large hook'\n    - command: '{dir}/block.sh'\n";
    let scene = Scene::new(config, &[("block.sh", BLOCK), ("large", "exit 0")]);
    let large = std::fs::File::options().append(true).open(scene.dir().join("large")).unwrap();
    large.set_len(40 * 1024 * 1024).unwrap();

    let said = scene.0.run(&["hooks", "accept", "--all"]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("a quote is not closed"), "{said:?}");
    let states: Vec<Value> =
        scene.0.json(&["hooks", "list"]).as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["broken", "accepted", "accepted"]);
}

#[test]
fn a_hook_is_told_about_questions_outside_of_a_chat_too() {
    let config = "approvals:\n  mode: manual\nhooks:\n  pre_approval_request:\n    - command: '{dir}/before.sh'\n  post_approval_response:\n    - command: '{dir}/after.sh'\n";
    let script = "cat > \"$0.seen\"";
    let scene = Scene::new(config, &[("before.sh", script), ("after.sh", script)]);
    scene.accept();

    scene.0.run(&["tools", "call", "terminal", r#"{"command": "pkill no-such-process-zz"}"#]);

    let (asked, answered) = (scene.seen("before.sh.seen").unwrap(), scene.seen("after.sh.seen").unwrap());
    assert_eq!(asked["extra"]["command"], json!("pkill no-such-process-zz"));
    assert_eq!(answered["extra"]["choice"], json!("deny"));
}

#[test]
fn what_is_listed_is_what_happens() {
    let config = "hooks_auto_accept: true\nhooks:\n  pre_tool_call:\n    - command: '{dir}/block.sh'\n";
    let scene = Scene::new(config, &[("block.sh", BLOCK)]);
    std::fs::write(scene.0.state().join("shell-hooks-allowlist.json"), "[oops").unwrap();

    let listed = scene.0.json(&["hooks", "list"]);

    assert_eq!((&listed[0]["state"], &listed[0]["runs"]), (&json!("accepted unseen"), &json!(true)));
    assert_eq!(scene.read(&notes()).code, Some(1), "it runs");
    let odd = r#"echo '{"action": 5}'"#;
    let policy = "hooks:\n  pre_tool_call:\n    - command: '{dir}/odd.sh'\n      policy: true\n";
    let scene = Scene::new(policy, &[("odd.sh", odd)]);
    scene.accept();
    let said = scene.read(&notes());
    assert!(said.json()["error"].as_str().unwrap().contains("is not a word"), "{said:?}");
}
