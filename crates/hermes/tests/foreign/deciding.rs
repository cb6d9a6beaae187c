//! Plugins with a say in what may run: when one fails, what it decides about is denied.

use futures::executor::block_on;
use hermes::core::hook::{EventKind, Heard, HookEvent, Reaction, tell};
use hermes::{Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{LONG, call, file_with, plugin_with, runtime, tool_lines};

#[test]
fn a_policy_hook_that_fails_denies_and_another_is_passed_over() {
    for (policy, denied) in [("true", true), ("false", false)] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        home.write("home/plugins/guard/plugin.yaml", &format!("name: guard\npolicy: {policy}\n"));
        let lines = "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda **kw: 1 / 0)\n";
        home.write("home/plugins/guard/__init__.py", lines);
        let runtime = runtime(&home, LONG);

        let outcome = runtime.session().open().unwrap().call_blocking(ToolCall::new("todo", "{}"));

        assert_eq!(outcome.status == Status::Denied, denied, "{outcome:?}");
    }
}

#[test]
fn a_name_that_is_refused_costs_a_plugin_that_tool_and_nothing_else() {
    for name in ["taken", "no name"] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        home.write("home/tools/taken.py", &file_with("taken", ""));
        let body = format!(
            "{}{}    ctx.register_hook('pre_tool_call', lambda **kw: {{'action': 'block', 'message': 'shut'}})\n",
            tool_lines(name),
            tool_lines("kept")
        );
        plugin_with(&home, "guard", "policy: true\n", &body);
        let runtime = runtime(&home, LONG);

        let denied = call(&runtime, "todo", &json!({}));

        assert!(denied.status == Status::Denied && denied.body.contains("shut"), "{denied:?}");
        assert!(runtime.tools().tool("kept").is_some());
        let told = runtime.foreign_problems().concat();
        assert!(told.contains(&format!("`{name}`")) && told.contains("plugin `guard`"), "{told}");
    }
}

#[test]
fn a_plugin_with_a_say_denies_when_one_callback_fails_and_another_answers() {
    for (policy, second, denied) in [
        ("true", "{'action': 'allow'}", true),
        ("'yes'", "{'action': 'allow'}", true),
        ("false", "{'action': 'allow'}", false),
    ] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let body = format!(
            "    ctx.register_hook('pre_tool_call', lambda **kw: 1 / 0)\n    \
             ctx.register_hook('pre_tool_call', lambda **kw: {second})\n"
        );
        plugin_with(&home, "guard", &format!("policy: {policy}\n"), &body);
        let runtime = runtime(&home, LONG);

        let outcome = call(&runtime, "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{policy}: {outcome:?}");
    }
}

#[test]
fn a_rewrite_with_a_number_that_json_has_no_word_for_is_not_taken_in_part() {
    for (policy, status) in [("true", Status::Denied), ("false", Status::Ok)] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        home.write("work/notes.txt", "one\ntwo\n");
        let body = "    ctx.register_hook('pre_tool_call', lambda args, **kw: {'action': 'rewrite', 'args': {**args, \
                    'offset': float('nan')}})\n";
        plugin_with(&home, "guard", &format!("policy: {policy}\n"), body);
        let notes = home.path().join("work/notes.txt");

        let outcome =
            call(&runtime(&home, LONG), "read_file", &json!({ "path": notes, "offset": 2, "limit": 1 }));

        assert_eq!(outcome.status, status, "{outcome:?}");
        assert_eq!(outcome.body.contains("two"), status == Status::Ok, "{outcome:?}");
        let told = format!("{} {}", outcome.body, outcome.notes.concat());
        assert!(told.contains("a number that JSON has no word for"), "{told}");
    }
}

#[test]
fn a_program_with_a_say_that_answers_otherwise_than_agreed_denies() {
    for (policy, answer, denied) in [
        ("true", r#"{"action": "block", "message": "no"}"#, true),
        ("true", r#"{"answers": {"action": "block"}}"#, true),
        ("true", r#"[{"action": "block"}]"#, true),
        ("true", r#""block""#, true),
        ("true", "null", true),
        ("false", "null", false),
        ("true", r#"{"errors": [{"message": "down"}]}"#, true),
        ("false", r#"{"action": "block", "message": "no"}"#, false),
        ("true", r#"{"answers": []}"#, false),
        ("true", "{}", false),
    ] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let manifest = format!("name: guard\npolicy: {policy}\nrun: [python3, guard.py]\n");
        home.write("home/plugins/guard/plugin.yaml", &manifest);
        home.write(
            "home/plugins/guard/guard.py",
            &format!(
                "import json, sys\nanswers = {{'initialize': {{'hooks': ['pre_tool_call']}}, 'hook': \
                 json.loads('''{answer}''')}}\nfor line in sys.stdin:\n    asked = json.loads(line)\n    \
                 print(json.dumps({{'jsonrpc': '2.0', 'id': asked.get('id'), 'result': \
                 answers.get(asked['method'])}}), flush=True)\n"
            ),
        );

        let outcome = call(&runtime(&home, LONG), "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{policy} {answer}: {outcome:?}");
    }
}

#[test]
fn a_plugin_with_a_say_in_an_event_that_there_is_not_denies_and_says_what_may_be_meant() {
    for (policy, event, denied) in [
        ("true", "pre_tool_cal", true),
        ("true", "PRE_TOOL_CALL", true),
        ("false", "pre_tool_cal", false),
        ("true", "pre_gateway_dispatch", false),
    ] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let body = format!("    ctx.register_hook('{event}', lambda **kw: None)\n");
        plugin_with(&home, "guard", &format!("policy: {policy}\n"), &body);
        let runtime = runtime(&home, LONG);

        let outcome = call(&runtime, "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{policy} {event}: {outcome:?}");
        assert_eq!(outcome.body.contains("did you mean `pre_tool_call`"), denied, "{outcome:?}");
        let shown = runtime.plugins().remove(0).state;
        assert_eq!(matches!(shown, hermes::PluginState::Failed(_)), denied, "{shown:?}");
    }
}

/// Callbacks that end in ways which end more than themselves.
const ODD_ENDS: [&str; 7] = [
    "raise SystemExit(1)",
    "raise asyncio.CancelledError()",
    "raise KeyboardInterrupt()",
    "raise Wordless()",
    "return Wordless()",
    "return 'x' * 34_000_000",
    "return __import__('functools').reduce(lambda inner, _: [inner], range(200), None)",
];

/// A plugin whose first callbacks of an event end so, called or awaited, and whose last returns this.
fn odd_callbacks(home: &TempHome, manifest: &str, event: &str, ends: &[&str], last: &str) {
    home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
    let wordless = "    import asyncio\n    class Wordless(Exception):\n        def __str__(self):\n            raise \
                    RuntimeError('no words')\n";
    let odd = ends.iter().flat_map(|end| ["def", "async def"].map(|def| (def, end)));
    let odd = odd.map(|(def, end)| {
        format!("    {def} odd(**kw):\n        {end}\n    ctx.register_hook('{event}', odd)\n")
    });
    let odd: String = odd.collect();
    let last = format!("    ctx.register_hook('{event}', lambda **kw: {last})\n");
    plugin_with(home, "guard", manifest, &format!("{wordless}{odd}{last}"));
}

#[test]
fn whatever_callbacks_end_with_the_block_of_another_counts() {
    let home = TempHome::new();
    odd_callbacks(&home, "", "pre_tool_call", &ODD_ENDS, "{'action': 'block', 'message': 'shut'}");

    let outcome = call(&runtime(&home, LONG), "todo", &json!({}));

    assert!(outcome.status == Status::Denied && outcome.body.contains("shut"), "{outcome:?}");
}

#[test]
fn whatever_callbacks_end_with_the_text_of_another_stands_in_for_the_result() {
    let home = TempHome::new();
    odd_callbacks(&home, "", "transform_tool_result", &ODD_ENDS, "'another result'");

    let outcome = call(&runtime(&home, LONG), "todo", &json!({}));

    assert!(outcome.body.contains("another result"), "{outcome:?}");
}

#[test]
fn whatever_a_callback_of_a_policy_plugin_ends_with_denies() {
    for end in ODD_ENDS {
        let home = TempHome::new();
        odd_callbacks(&home, "policy: true\n", "pre_tool_call", &[end], "None");

        let outcome = call(&runtime(&home, LONG), "todo", &json!({}));

        assert_eq!(outcome.status, Status::Denied, "{end}: {outcome:?}");
    }
}

#[test]
fn an_answer_that_says_nothing_known_denies_with_a_say_and_is_noted_without() {
    let cases = [
        ("{'acton': 'block'}", true),
        ("{'block': True}", true),
        ("{'error': 'down'}", true),
        ("{'continue': False}", true),
        ("{'action': None}", true),
        ("{'hookSpecificOutput': {'permissionDecision': 'deny'}}", true),
        ("{'decision': 'block', 'action': 'allow'}", true),
        ("{}", false),
        ("None", false),
        ("{'decision': 'approve'}", false),
    ];
    for policy in [true, false] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let answers: Vec<&str> = cases.iter().map(|(answer, _)| *answer).collect();
        let body = format!(
            "    said = iter([{}])\n    ctx.register_hook('pre_tool_call', lambda **kw: next(said))\n",
            answers.join(", ")
        );
        plugin_with(&home, "guard", &format!("policy: {policy}\n"), &body);
        let runtime = runtime(&home, LONG);
        for (answer, is_no) in cases {
            // A no is one from anybody; what is not understood is one only from whoever has a say.
            let is_block = answer.contains("'deny'") || answer.contains("'decision': 'block'");

            let outcome = call(&runtime, "todo", &json!({}));

            let denied = outcome.status == Status::Denied;
            assert_eq!(denied, is_no && (policy || is_block), "{policy} {answer}: {outcome:?}");
            let noted = outcome.notes.concat().contains("guard");
            assert_eq!(noted, is_no && !policy && !is_block, "{policy} {answer}: {outcome:?}");
        }
    }
}

#[test]
fn a_manifest_that_cannot_be_read_denies_if_it_claims_a_say_and_else_costs_its_plugin() {
    for (text, denied) in
        [("policy: true\n: : [", true), ("policy: strict\n", true), ("kind: x\n: : [", false)]
    {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        // The folder is called otherwise.
        home.write("home/plugins/other/plugin.yaml", &format!("name: guard\n{text}"));
        home.write("home/plugins/other/__init__.py", "def register(ctx): pass\n");
        let runtime = runtime(&home, LONG);

        let outcome = call(&runtime, "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{text}: {outcome:?}");
        assert!(runtime.foreign_problems().concat().contains("plugin guard: plugin.yaml"), "{text}");
        home.write("home/plugins/other/plugin.yaml", "name: guard\n# mended\n");
        assert!(call(&runtime, "todo", &json!({})).status != Status::Denied, "{text}");
    }
}

#[test]
fn while_a_policy_plugin_is_not_heard_nothing_runs_past_it() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
    let hook =
        "    ctx.register_hook('pre_tool_call', lambda **kw: {'action': 'block', 'message': 'guarded'})\n";
    plugin_with(&home, "guard", "policy: true\n", &format!("    time.sleep(1)\n{hook}"));
    let late = call(&runtime(&home, LONG), "todo", &json!({}));
    assert_eq!(late.status, Status::Denied, "{late:?}");
    assert!(late.body.contains("guarded"), "{late:?}");

    plugin_with(&home, "guard", "policy: true\n", "    raise ValueError('broken')\n");
    let broken = call(&runtime(&home, LONG), "todo", &json!({}));
    assert_eq!(broken.status, Status::Denied, "{broken:?}");
    assert!(broken.body.contains("ValueError: broken"), "{broken:?}");

    home.write("home/config.yaml", "plugins:\n  enabled: []\n");
    assert!(call(&runtime(&home, LONG), "todo", &json!({})).status != Status::Denied);
}

/// What every event that a hook decides about comes to, by name.
fn decided(runtime: &Runtime) -> Vec<(&'static str, Heard)> {
    let tools = runtime.tools();
    let kinds = EventKind::ALL.into_iter().filter(|kind| kind.is_told() && !kind.is_observed());
    let about_calls =
        [EventKind::PreToolCall, EventKind::TransformToolResult, EventKind::TransformTerminalOutput];
    let kinds = kinds.filter(|kind| !about_calls.contains(kind));
    let heard = |kind: EventKind| {
        let event = HookEvent::new(kind, "s", json!({ "response_text": "The code is 4711." }));
        block_on(tell(tools.hooks(), &runtime.host(), event, &CancellationToken::new()))
    };
    kinds.map(|kind| (kind.name(), heard(kind))).collect()
}

#[test]
fn a_policy_plugin_that_cannot_be_loaded_denies_whatever_it_could_decide_about() {
    for (manifest, body) in [
        ("policy: true\n", "    raise ValueError('broken')\n"),
        ("policy: true\n: : [", ""),
        ("policy: true\nkind: standalone\nrun: ./none\n", ""),
    ] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        plugin_with(&home, "guard", manifest, body);
        let runtime = runtime(&home, LONG);
        runtime.try_plugins(&["guard".to_owned()]);

        let decided = decided(&runtime);

        let names: Vec<&str> = decided.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["transform_llm_output", "pre_llm_call", "pre_verify"]);
        for (name, heard) in decided {
            let denied = heard.denied.unwrap_or_else(|| panic!("{manifest}: {name} is not denied"));
            assert_eq!(denied.by, "plugin guard");
        }
    }
}

#[test]
fn a_policy_plugin_that_is_late_is_waited_for_at_every_event_it_decides_about() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
    // Longer than a start ever waits.
    let body =
        "    time.sleep(5)\n    ctx.register_hook('transform_llm_output', lambda **kw: 'I may not say.')\n";
    plugin_with(&home, "guard", "policy: true\n", body);
    let runtime = runtime(&home, LONG);

    let decided = decided(&runtime);

    let (_, answer) = decided.iter().find(|(name, _)| *name == "transform_llm_output").unwrap();
    assert_eq!(answer.reactions, [Reaction::Answer("I may not say.".to_owned())], "{answer:?}");
    assert!(decided.iter().all(|(_, heard)| heard.denied.is_none()), "{decided:?}");
}
