//! Hooks that nobody waits for: plugins that never answer to news, and programs that leave others behind.

use std::path::Path;
use std::time::{Duration, Instant};

use hermes::{Runtime, ToolCall};
use hermes_testkit::TempHome;

use crate::{LONG, plugin_with, runtime};

/// Calls a tool that looks at nothing, so often.
#[track_caller]
fn call_todo(runtime: &Runtime, times: usize) {
    let session = runtime.session().open().unwrap();
    for _ in 0..times {
        let outcome = session.call_blocking(ToolCall::new("todo", "{}"));
        assert!(outcome.status.is_ok(), "{outcome:?}");
    }
}

/// Waits until somebody has written this into a file.
#[track_caller]
fn until_it_says(file: &Path, words: &str) {
    let began = Instant::now();
    while std::fs::read_to_string(file).unwrap_or_default() != words {
        assert!(began.elapsed() < LONG, "{:?}", std::fs::read_to_string(file));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn plugins_that_never_answer_to_news_keep_none_from_others() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [stuck, stuck-too, ear]\n");
    let hook = |does: &str| {
        format!("    def after(**kw):\n        {does}\n    ctx.register_hook('post_tool_call', after)\n")
    };
    for name in ["stuck", "stuck-too"] {
        plugin_with(&home, name, "", &hook("time.sleep(1000)"));
    }
    let heard = home.path().join("heard");
    plugin_with(&home, "ear", "", &hook(&format!("open('{}', 'a').write('x')", heard.display())));
    let runtime = runtime(&home, LONG);

    call_todo(&runtime, 4);

    until_it_says(&heard, "xxxx");
    let wrong = runtime.settle(Duration::from_millis(50));
    // Of four, each of the two is being told one.
    assert!(wrong.concat().contains("after 0.05 s; events that were not told: 6"), "{wrong:?}");
}

#[test]
fn programs_that_hang_at_news_keep_none_from_others() {
    let home = TempHome::new();
    home.write("project/notes.txt", "they run in this folder");
    let heard = home.path().join("heard");
    let ear = home.path().join("ear.sh");
    std::fs::write(&ear, format!("printf x >>'{}'\n", heard.display())).unwrap();
    let hooks = ["sleep 764", "sleep 765", "sleep 766", &format!("sh {}", ear.display())];
    let hooks = format!("    - command: {}\n", hooks.join("\n    - command: "));
    home.write("home/config.yaml", &format!("hooks_auto_accept: true\nhooks:\n  post_tool_call:\n{hooks}"));
    let runtime = runtime(&home, LONG);

    call_todo(&runtime, 4);

    until_it_says(&heard, "xxxx");
    let wrong = runtime.settle(Duration::from_millis(50));
    assert!(wrong.concat().contains("events that were not told: 9"), "{wrong:?}");
}

#[test]
fn what_a_hook_leaves_behind_ends_with_it() {
    let home = TempHome::new();
    let script = home.path().join("hook.sh");
    let lines = "#!/bin/sh\ncat >/dev/null\nsleep 764 &\necho $! >\"$0.pid\"\necho '{}'\n";
    std::fs::write(&script, lines).unwrap();
    home.write("project/notes.txt", "it runs in this folder");
    let config = "hooks_auto_accept: true\nhooks:\n  pre_tool_call:\n    - command: sh ";
    home.write("home/config.yaml", &format!("{config}{}\n", script.display()));
    let runtime = runtime(&home, LONG);

    call_todo(&runtime, 1);

    let pid = std::fs::read_to_string(home.path().join("hook.sh.pid")).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
    assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
}
