//! What is learnt at a start, by whom it is held up, and what later starts know.

use std::time::{Duration, Instant};

use hermes::Runtime;
use hermes::store::Home;
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, call, file_with, plugin_with, runtime, tool_lines};

/// The same home at another start, where whoever needs Python finds none.
fn without_python(home: &TempHome) -> Runtime {
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env([("PATH".to_owned(), home.path().display().to_string())])
        .build()
        .unwrap()
}

#[test]
fn what_was_learnt_is_asked_again_when_what_it_depends_on_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [keyed]\n");
    let body = format!("    if os.environ.get('KEYED'):\n    {}", tool_lines("keyed"));
    plugin_with(&home, "keyed", "requires_env: [KEYED]\n", &body);
    home.write(
        "home/tools/uses.py",
        &file_with("uses", "from tools.shared import WORD").replace("'from': 'uses'", "'from': WORD"),
    );
    home.write("home/tools/shared.py", "WORD = 'first'\nTOOL = 'first'\n");
    home.write(
        "home/tools/named.py",
        "import json\nfrom tools import shared\nfrom tools.registry import registry\n\
         registry.register(shared.TOOL, 'mine', {'name': shared.TOOL, 'parameters': {'type': 'object'}}, \
         lambda args, **kw: json.dumps({}))\n",
    );
    let first = runtime(&home, LONG);
    first.wait_for_tool("first");
    assert!(first.tools().tool("first").is_some() && first.tools().tool("keyed").is_none());

    home.write("home/tools/shared.py", "WORD = 'second, which is longer'\nTOOL = 'second'\n");
    home.write("home/.env", "KEYED=1\n");
    let second = runtime(&home, LONG);
    second.wait_for_tool("second");
    second.wait_for_tool("keyed");

    let tools = second.tools();
    assert!(
        tools.tool("second").is_some() && tools.tool("first").is_none(),
        "{:?}",
        second.foreign_problems()
    );
    assert!(tools.tool("keyed").is_some(), "{:?}", second.foreign_problems());
    assert!(call(&second, "uses", &json!({})).body.contains("second"));
}

#[test]
fn what_hangs_holds_up_no_start_and_nobody_else() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [asleep, awake]\n");
    plugin_with(&home, "asleep", "", "    time.sleep(60)\n");
    plugin_with(&home, "awake", "", &tool_lines("plugged"));
    home.write("home/tools/asleep.py", &file_with("dreamt", "time.sleep(60)"));
    home.write("home/tools/awake.py", &file_with("dropped", ""));

    let began = Instant::now();
    let first = runtime(&home, LONG);
    let there = first.tools();
    let took = began.elapsed();
    assert!(there.tool("plugged").is_some() && there.tool("dropped").is_some(), "{:?}", first.warnings());
    assert!(there.tool("dreamt").is_none());
    assert!(took < Duration::from_secs(10), "it waited for those that hang: {took:?}");

    let began = Instant::now();
    let second = without_python(&home);
    let there = second.tools();
    let took = began.elapsed();
    assert!(there.tool("plugged").is_some() && there.tool("dropped").is_some());
    let said = second.foreign_problems().join("\n");
    assert_eq!(said.matches("it takes its time to say what it offers").count(), 2, "{said}");
    assert!(took < Duration::from_secs(2), "it waited again: {took:?}");
    assert!(second.why_missing("dreamt").concat().contains("asleep.py"));
}

#[test]
fn what_never_answers_is_told_and_asked_again_only_when_it_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [asleep]\n");
    plugin_with(&home, "asleep", "", "    time.sleep(60)\n");
    let first = runtime(&home, LONG);

    first.try_plugins(&["asleep".to_owned()]);
    assert!(first.foreign_problems().concat().contains("did not say within 15 s"));
    let second = without_python(&home);
    second.wait_for_tool("dreamt");
    assert!(second.foreign_problems().concat().contains("did not say within 15 s"));

    plugin_with(&home, "asleep", "", &tool_lines("dreamt"));
    let third = runtime(&home, LONG);
    third.wait_for_tool("dreamt");
    assert!(third.tools().tool("dreamt").is_some(), "{:?}", third.foreign_problems());
}

#[test]
fn a_failure_is_remembered_and_tried_again_when_the_tool_is_named() {
    let home = TempHome::new();
    home.write("home/tools/needy.py", &file_with("needy", "open(os.environ['HERMES_HOME'] + '/there')"));
    let first = runtime(&home, LONG);
    first.wait_for_tool("needy");
    assert!(first.foreign_problems().concat().contains("FileNotFoundError"));

    assert!(without_python(&home).foreign_problems().concat().contains("FileNotFoundError"));

    home.write("home/there", "");
    let third = runtime(&home, LONG);
    assert!(third.tools().tool("needy").is_none());
    third.wait_for_tool("needy");
    assert!(third.tools().tool("needy").is_some(), "{:?}", third.foreign_problems());
}

#[test]
fn a_file_that_ends_the_process_it_is_loaded_in_is_alone_in_that() {
    let home = TempHome::new();
    home.write("home/tools/exits.py", &file_with("exits", "time.sleep(0.1); os._exit(3)"));
    home.write("home/tools/slow.py", &file_with("slow", "time.sleep(0.5)"));
    let runtime = runtime(&home, LONG);
    runtime.tools();

    runtime.wait_for_tool("slow");

    assert!(call(&runtime, "slow", &json!({})).status.is_ok(), "{:?}", runtime.foreign_problems());
    runtime.wait_for_tool("exits");
    assert!(runtime.foreign_problems().concat().contains("exit code 3"), "{:?}", runtime.foreign_problems());
}

#[test]
fn a_file_that_joins_late_takes_nothing_from_those_that_are_there() {
    let home = TempHome::new();
    home.write("home/tools/slow.py", &file_with("slow", "time.sleep(2)"));
    let counting =
        file_with("count", "told = []").replace("{'from': 'count'}", "[told.append(1), len(told)]");
    home.write("home/tools/count.py", &counting);
    let runtime = runtime(&home, LONG);
    let first = call(&runtime, "count", &json!({}));

    assert!(call(&runtime, "slow", &json!({})).status.is_ok(), "{:?}", runtime.foreign_problems());

    let second = call(&runtime, "count", &json!({}));
    assert!(first.body.contains('1') && second.body.contains('2'), "{first:?} {second:?}");
}

#[test]
fn a_later_start_knows_its_plugins_by_one_file_until_one_of_theirs_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [one, two]\n");
    plugin_with(&home, "one", "", &tool_lines("first"));
    plugin_with(&home, "two", "policy: true\n", &tool_lines("second"));
    home.write("home/plugins/two/inner/more.py", "");
    let has = |runtime: &Runtime, tool: &str| runtime.tools().tool(tool).is_some();
    // What changed a moment ago may change again within the same tick, and is not relied upon.
    std::thread::sleep(Duration::from_millis(100));
    let learning = runtime(&home, LONG);
    learning.try_plugins(&["one".to_owned(), "two".to_owned()]);
    assert!(has(&learning, "first") && has(&learning, "second"), "{:?}", learning.foreign_problems());

    // Neither Python nor what was learnt elsewhere is needed any more.
    std::fs::remove_file(home.path().join("home/cache/plugins.jsonl")).unwrap();
    let later = without_python(&home);
    assert!(has(&later, "first") && has(&later, "second"), "{:?}", later.foreign_problems());
    assert_eq!(later.foreign_problems(), Vec::<String>::new());

    // A file deep in a folder counts for a start, a manifest at once.
    home.write("home/plugins/two/inner/more.py", "changed = True\n");
    assert!(has(&later, "second"));
    assert!(!has(&without_python(&home), "second"));
    home.write("home/plugins/one/plugin.yaml", "name: another\n");
    assert!(!has(&later, "first"));
}

#[test]
fn a_program_that_is_one_moment_looks_once() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [late]\n");
    home.write("home/tools/first.py", &file_with("first", ""));
    let path = std::env::var("PATH").unwrap();
    let builder = || {
        let builder = Runtime::builder().cwd(home.path()).home(Home::at(&home.path().join("home")));
        builder.env([("PATH".to_owned(), path.clone())])
    };
    let (once, always) = (builder().one_moment().build().unwrap(), builder().build().unwrap());
    for runtime in [&once, &always] {
        runtime.wait_for_tool("first");
        assert!(runtime.tools().tool("first").is_some(), "{:?}", runtime.foreign_problems());
    }

    home.write("home/tools/second.py", &file_with("second", ""));
    plugin_with(&home, "late", "", &tool_lines("third"));
    always.wait_for_tool("second");
    always.try_plugins(&["late".to_owned()]);

    let has = |runtime: &Runtime, tool: &str| runtime.tools().tool(tool).is_some();
    assert!(has(&always, "second") && has(&always, "third"), "{:?}", always.foreign_problems());
    assert!(has(&once, "first") && !has(&once, "second") && !has(&once, "third"));
}
