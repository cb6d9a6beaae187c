//! The chat in a real terminal: what a person sees while a tool runs, is asked, stops a turn, goes on
//! and leaves. tmux is the terminal.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use hermes_testkit::Answer;
use serde_json::json;

use crate::home::HERMES;
use crate::stage::{Stage, shell};
use crate::sudo;

/// A terminal in which a shell of the test's user runs.
pub(crate) struct Terminal<'a> {
    stage: &'a Stage,
}

impl<'a> Terminal<'a> {
    /// Opens it; none where there is no tmux, which is a failure in CI.
    pub(crate) fn open(stage: &'a Stage) -> Option<Self> {
        let terminal = Self { stage };
        let there = Command::new("tmux").arg("-V").output().is_ok_and(|said| said.status.success());
        if !there {
            assert!(std::env::var_os("CI").is_none(), "tmux is not here");
            eprintln!("NOT RUN: there is no tmux to look at the chat with");
            return None;
        }
        let opened = terminal.tmux(&["new-session", "-d", "-x", "100", "-y", "50", "env PS1='$ ' sh"]);
        assert!(opened.status.success(), "{opened:?}");
        terminal.until(|screen| screen.trim() == "$");
        Some(terminal)
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let socket = self.stage.path().join("tmux");
        let all = [&["-u", "-f", "/dev/null", "-S", socket.to_str().unwrap()], words].concat();
        let mut command = self.stage.program("tmux", &all);
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").output().unwrap()
    }

    /// What is on the screen, without what has scrolled away.
    pub(crate) fn screen(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8(shown.stdout).unwrap()
    }

    /// Types a line.
    pub(crate) fn type_line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.press("Enter");
    }

    pub(crate) fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Waits until the screen is like this, and gives it.
    pub(crate) fn until(&self, is: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if is(&screen) {
                return screen;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "it never came; the screen is\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub(crate) fn until_shown(&self, text: &str) -> String {
        self.until(|screen| screen.contains(text))
    }

    /// Starts the chat and waits until it listens.
    pub(crate) fn chat(&self, words: &str) -> String {
        self.chat_by(HERMES, words)
    }

    /// The same, with the program started in another way.
    fn chat_by(&self, program: &str, words: &str) -> String {
        self.type_line("clear");
        self.until(|screen| screen.lines().next().is_some_and(|line| line.trim() == "$"));
        self.type_line(&format!("{program} chat {words}"));
        self.until(|screen| screen.contains("/help shows every command") && screen.contains("custom/m"))
    }

    /// Leaves the chat, and gives what the terminal is set to then.
    fn leave(&self) -> String {
        self.press("C-d");
        self.until_shown("To go on with this session");
        self.type_line("stty -a; echo set=$?");
        self.until_shown("set=0")
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_tool_that_runs_is_seen_to_run_and_can_be_stopped() {
    let stage =
        Stage::saying([shell("c1", "sleep 60"), Answer::text("Then let us talk about **something else**.")]);
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("");

    terminal.type_line("Sleep a little");
    let row = |screen: &str, time: &str| {
        screen.lines().any(|line| line.contains("sleep 60") && line.contains(time))
    };
    terminal.until(|screen| row(screen, "1."));
    terminal.until(|screen| row(screen, "2."));
    terminal.press("C-c");
    let stopped = terminal.until(|screen| screen.contains("[cancelled]") || screen.contains("topped"));
    terminal.type_line("Never mind");
    let shown = terminal.until_shown("something else");

    assert!(stopped.contains("❯ Sleep a little"), "{stopped}");
    assert!(shown.contains("❯ Never mind") && !shown.contains("**"), "{shown}");
    let left = terminal.leave();
    assert!(left.contains(" echo ") && left.contains(" icanon ") && !left.contains("-icanon"), "{left}");
}

#[test]
fn a_risky_call_is_asked_about_on_the_screen() {
    let risky = "eval \"$PAYLOAD\"; touch ran";
    let stage = Stage::saying([
        shell("c1", risky),
        Answer::text("I left it."),
        shell("c2", risky),
        Answer::text("It ran."),
    ]);
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("");

    terminal.type_line("Run it");
    terminal.until_shown("approve? (");
    // What is typed the moment a question appears does not count.
    std::thread::sleep(Duration::from_millis(700));
    terminal.type_line("d");
    let refused = terminal.until_shown("I left it.");
    assert!(refused.contains("needs your approval") && refused.contains("✗ refused"), "{refused}");
    assert!(!stage.project().join("ran").exists());

    terminal.type_line("Do run it");
    terminal
        .until(|screen| screen.matches("needs your approval").count() == 2 && screen.contains("approve? ("));
    std::thread::sleep(Duration::from_millis(700));
    terminal.type_line("o");
    let ran = terminal.until_shown("It ran.");
    assert!(ran.contains("✓ approved, this once"), "{ran}");
    assert!(stage.project().join("ran").exists());
}

#[test]
fn the_password_of_sudo_is_asked_for_on_the_screen_and_never_shown() {
    let password = ["vErY", "s3cret"].join("-");
    let asks = sudo::asking();
    let stage = Stage::saying([shell("c1", &asks), Answer::text("Done.")]);
    if !sudo::play(stage.path(), &stage.project()) {
        return;
    }
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat_by(sudo::HERMES_OF_NOBODY, "--yolo");

    terminal.type_line("Do it as root");
    let asked = terminal.until_shown("sudo asks for your password, to run:");
    // What is typed the moment a question appears does not count.
    std::thread::sleep(Duration::from_millis(700));
    terminal.type_line(&password);
    let shown = terminal.until_shown("Done.");

    assert!(asked.contains("./sudo -p -c"), "{asked}");
    assert!(shown.contains("✓ handed to sudo") && !shown.contains(&password), "{shown}");
    let read = stage.server.bodies()[1]["messages"].to_string();
    assert!(read.contains(&format!("length {}", password.len())) && !read.contains(&password), "{read}");
    assert_eq!(sudo::files_with(stage.path(), &password), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_chat_is_left_and_gone_on_with() {
    let stage = Stage::saying([Answer::text("Noted: blue."), Answer::text("You said blue.")]);
    let Some(terminal) = Terminal::open(&stage) else { return };
    let first = terminal.chat("");
    terminal.type_line("My colour is blue");
    terminal.until_shown("Noted: blue.");
    terminal.leave();

    let again = terminal.chat("-c");
    let session = |screen: &str| {
        let line = screen.lines().find(|line| line.starts_with("session ")).unwrap_or_default().to_owned();
        line.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(session(&first), session(&again), "{again}");
    assert!(again.contains("goes on after: My colour is blue"), "{again}");
    terminal.type_line("Which colour?");
    terminal.until_shown("You said blue.");
    assert!(stage.server.bodies()[1]["messages"].to_string().contains("My colour is blue"));

    terminal.type_line("/help");
    let help = terminal.until_shown("Ctrl-C  stop the turn");
    for word in ["/help", "/undo", "/model", "WHAT IT DOES"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(help.lines().all(|line| !line.ends_with('…')), "{help}");
    terminal.press("C-c");
    terminal.press("C-c");
    terminal
        .until(|screen| screen.contains("To go on with this session") && screen.trim_end().ends_with('$'));
}

#[test]
fn a_command_of_a_plugin_answers_and_says_something_in_the_chat() {
    let stage = Stage::saying([Answer::text("Hello, Ann!")]);
    let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins/greeter");
    let there = stage.state().join("plugins");
    std::fs::create_dir_all(&there).unwrap();
    let copied = Command::new("cp").arg("-r").arg(plugin).arg(&there).status().unwrap();
    assert!(copied.success());
    assert_eq!(stage.run(&["plugins", "enable", "greeter"]).code, Some(0));
    let Some(terminal) = Terminal::open(&stage) else { return };

    terminal.chat("");
    terminal.type_line("/greet Ann");
    let screen = terminal.until_shown("Hello, Ann!");

    assert!(screen.contains("I will ask for it.") && screen.contains("Greet Ann, please."), "{screen}");
    let asked = stage.server.bodies()[0]["messages"].to_string();
    assert!(asked.contains("Greet Ann, please."), "{asked}");
}

/// A server whose only tool tells how far it is, and ends when the file `go` is there.
const SLOW_SERVER: &str = r#"
import json, pathlib, sys, time
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
tool = {"name": "work", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        info = {"name": "slow", "version": "1"}
        send({"id": number, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": [tool]}})
    elif method == "tools/call":
        told = {"progressToken": params["_meta"]["progressToken"], "progress": 1, "total": 4, "message": "a quarter"}
        send({"method": "notifications/progress", "params": told})
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        send({"id": number, "result": {"content": [{"type": "text", "text": "worked"}]}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})
"#;

#[test]
fn how_far_a_tool_of_a_server_is_stands_on_the_line_of_its_call() {
    let stage = Stage::saying([Answer::call("c1", "mcp__slow__work", &json!({})), Answer::text("All done.")]);
    std::fs::write(stage.project().join("server.py"), SLOW_SERVER).unwrap();
    let added = stage.run(&["mcp", "add", "slow", "--", "python3", "server.py"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("");

    terminal.type_line("Work");
    terminal
        .until(|screen| screen.lines().any(|line| line.contains("work") && line.contains("25 % a quarter")));
    std::fs::write(stage.project().join("go"), "").unwrap();
    let over = terminal.until_shown("All done.");

    assert!(!over.contains("a quarter"), "{over}");
}

#[test]
fn a_question_about_a_command_elsewhere_says_where_it_would_run() {
    let stage = Stage::saying([shell("c1", "systemctl stop sshd"), Answer::text("I left it.")]);
    let place = "terminal:\n  environments:\n    lab: {backend: ssh, host: lab.invalid, cwd: /srv/app}\n";
    let config = stage.state().join("config.yaml");
    let text = std::fs::read_to_string(&config).unwrap() + place;
    std::fs::write(&config, text).unwrap();
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("--env lab");

    terminal.type_line("Stop it");
    let asked = terminal.until_shown("approve? (");
    // What is typed the moment a question appears does not count.
    std::thread::sleep(Duration::from_millis(700));
    terminal.type_line("d");
    terminal.until_shown("I left it.");

    assert!(asked.contains("where   lab, in /srv/app"), "{asked}");
}
