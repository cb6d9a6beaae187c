//! Whole conversations, key by key, with a scripted agent and a screen of paper.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures::executor::block_on;
use futures::future::BoxFuture;
use hermes::agent::TurnStatus;
use hermes::core::policy::{Answer, ApprovalRequest, Approver};
use serde_json::json;

use super::*;
use crate::chat::double::{Act, Double, began, ended, grand_turn, text};
use crate::chat::keys::Key;
use crate::chat::screen::Size;
use crate::chat::screen::tests::Paper;
use crate::chat::settings::BusyInput;

#[derive(Default)]
struct PaperDesk {
    ticking: AtomicBool,
    looked: AtomicU64,
}

impl Desk for PaperDesk {
    fn tick(&self, on: bool) {
        self.ticking.store(on, Ordering::Relaxed);
    }

    fn suspend(&self) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> Size {
        Size { columns: 70, rows: 40 }
    }

    fn now(&self) -> Duration {
        // A second goes by between any two looks at the clock.
        Duration::from_secs(self.looked.fetch_add(1, Ordering::Relaxed))
    }
}

const SETTINGS: Settings =
    Settings { busy_input: BusyInput::Queue, verbosity: Verbosity::All, reasoning: false, fold_pastes: 5 };

/// Types these keys and gives what is on the paper in the end, and the exit code.
fn typed(talk: &Double, settings: Settings, keys: &[&str], mail: Mail) -> (Vec<String>, u8) {
    let shell = Shell::of_this_process(false, None);
    let place = Place { cwd: "/work".into(), user_home: None };
    let desk = PaperDesk::default();
    for word in keys {
        let named = match *word {
            "^C" => vec![Key::Ctrl('c')],
            "^D" => vec![Key::Ctrl('d')],
            "^O" => vec![Key::Ctrl('o')],
            "TAB" => vec![Key::Tab],
            "ENTER" => vec![Key::Enter],
            "ESC" => vec![Key::Escape],
            text => text.chars().map(Key::Char).collect(),
        };
        for key in named {
            mail.queue.unbounded_send(Happening::Key(key)).unwrap();
        }
    }
    let screen = Screen::new(Paper::new(70), desk.size(), false);
    let outside = Outside { shell: &shell, place, kept: None, of_plugins: of_plugins(talk) };
    let mut chat = Chat::new(talk, &desk, outside, screen, mail, settings, vec![]);
    let code = block_on(chat.run()).unwrap();
    let goodbye = chat.goodbye();
    chat.screen.leave(&goodbye).unwrap();
    assert!(!desk.ticking.load(Ordering::Relaxed), "nothing ticks in the end");
    (chat.screen.out().text(), code)
}

fn mail() -> Mail {
    let (queue, inbox) = unbounded();
    Mail { queue, inbox }
}

fn shown(talk: &Double, keys: &[&str]) -> Vec<String> {
    typed(talk, SETTINGS, keys, mail()).0
}

#[test]
fn a_question_is_answered_with_tools_in_between() {
    let acts = vec![
        text("Let me look."),
        began("1", "read_file", &json!({ "path": "a.rs" })),
        ended("1", "read_file", "ok", &json!({ "content": "x" })),
        text("It is **fine**."),
    ];
    let talk = Double::new().turn(acts, TurnStatus::Answered, "It is **fine**.");

    let paper = shown(&talk, &["how is it?", "ENTER", "^D"]);

    let expected = [
        "hermes 0.1.0  acme/large · 3 tools · /work",
        "session 20260101_120000_abcdef · /help shows every command",
        "goes on after: once more",
        "",
        "❯ how is it?",
        "",
        "Let me look.",
        "",
        "┊ 📖 read_file a.rs  0.5s",
        "",
        "It is fine.",
        "",
        "To go on with this session: hermes chat -r 20260101_120000_abcdef",
        "",
    ];
    assert_eq!(paper, expected);
    assert_eq!(talk.heard(), ["turn: how is it?"]);
}

#[test]
fn control_c_stops_the_turn_and_again_leaves() {
    let talk = Double::new().turn(vec![text("Well"), Act::Hang], TurnStatus::Answered, "");

    let (paper, code) = typed(&talk, SETTINGS, &["go", "ENTER", "^C", "^D"], mail());

    assert!(paper.contains(&"⏹ stopped".to_owned()), "{paper:#?}");
    assert_eq!(code, 0);
}

#[test]
fn control_c_with_nothing_to_stop_leaves_when_pressed_twice() {
    let talk = Double::new();

    assert_eq!(typed(&talk, SETTINGS, &["half", "^C", "^C", "^C"], mail()).1, 0);
    assert!(talk.heard().is_empty());
}

#[test]
fn enter_while_busy_does_what_was_chosen() {
    let script = || Double::new().turn(vec![Act::Hang], TurnStatus::Answered, "");
    let keys = ["one", "ENTER", "two", "ENTER", "^D"];

    let interrupting = script();
    let settings = Settings { busy_input: BusyInput::Interrupt, ..SETTINGS };
    typed(&interrupting, settings, &keys, mail());
    assert_eq!(interrupting.heard(), ["turn: one", "turn: two"]);

    let steering = script();
    let settings = Settings { busy_input: BusyInput::Steer, ..SETTINGS };
    typed(&steering, settings, &["one", "ENTER", "two", "ENTER", "^C", "^D"], mail());
    assert_eq!(steering.heard(), ["turn: one", "steer: two"]);

    let queueing = script();
    let keys = ["one", "ENTER", "two", "ENTER", "/stop", "ENTER", "!", "ENTER", "^D"];
    shown(&queueing, &keys);
    // Stopped by the person: what waited is theirs again, to be changed and sent.
    assert_eq!(queueing.heard(), ["turn: one", "turn: two!"]);
}

/// Somebody who types as soon as they are asked.
struct ThenTypes {
    approver: ScreenApprover,
    keys: [Key; 3],
}

impl Approver for ThenTypes {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        let typing = async {
            for key in &self.keys {
                self.approver.queue.unbounded_send(Happening::Key(key.clone())).unwrap();
            }
        };
        // In this order: the question is in the queue before the keys are.
        Box::pin(async move { futures::join!(self.approver.ask(request), typing).0 })
    }
}

#[test]
fn a_risky_call_is_asked_about_on_the_same_screen() {
    let mail = mail();
    let keys = [Key::Char('o'), Key::Enter, Key::Ctrl('d')];
    let approver = Arc::new(ThenTypes { approver: ScreenApprover { queue: mail.queue.clone() }, keys });
    let acts = vec![Act::Ask("rm -rf /srv/data"), text("Done.")];
    let talk = Double::new().approver(approver).turn(acts, TurnStatus::Answered, "Done.");

    let (paper, _) = typed(&talk, SETTINGS, &["clean up", "ENTER"], mail);

    assert!(paper.contains(&"terminal needs your approval".to_owned()), "{paper:#?}");
    assert!(paper.contains(&"✓ approved, this once".to_owned()), "{paper:#?}");
    assert_eq!(talk.heard(), ["turn: clean up", "approved: true"]);
}

#[test]
fn slash_commands_reach_the_conversation() {
    let talk = Double::new();
    let keys = [
        "/title My talk",
        "ENTER",
        "/undo 2",
        "ENTER",
        "/model acme/small",
        "ENTER",
        "/reasoning high",
        "ENTER",
        "/branch A copy",
        "ENTER",
        "/yolo",
        "ENTER",
        "/retry",
        "ENTER",
        "/compress tests",
        "ENTER",
        "/new",
        "ENTER",
        "/nonsense",
        "ENTER",
        "/quit",
        "ENTER",
    ];

    let paper = shown(&talk, &keys);

    let heard = [
        "rename My talk",
        "undo 2",
        "model acme/small",
        "effort high",
        "fork A copy",
        "yolo true",
        "undo 1",
        "turn: once more",
        "compress tests",
        "new session",
    ];
    assert_eq!(talk.heard(), heard);
    assert!(paper.iter().any(|line| line.starts_with("There is no command /nonsense")), "{paper:#?}");
}

#[test]
fn every_slash_command_answers_without_words_and_with_odd_ones() {
    for def in COMMANDS.iter().filter(|def| def.name() != "policy" && def.name() != "save") {
        let talk = Double::new();
        let plain = format!("/{}", def.name());
        let odd = format!("/{} \u{1b}[2J ?", def.name());

        shown(&talk, &[&plain, "ENTER", &odd, "ENTER", "^D"]);
    }
}

#[test]
fn commands_of_plugins_are_in_the_help_and_are_completed() {
    let paper = shown(&Double::new(), &["/help", "ENTER", "/gre", "TAB", "ENTER", "^D"]);

    let greet = |line: &String| line.contains("/greet NAME") && line.contains("Greet somebody");
    assert!(paper.iter().any(greet), "{paper:#?}");
    assert!(!paper.iter().any(|line| line.starts_with("There is no command")), "{paper:#?}");
}

#[test]
fn the_last_result_is_shown_on_request() {
    let acts = vec![ended("1", "terminal", "ok", &json!({ "output": "a\nb" }))];
    let talk = Double::new().turn(acts, TurnStatus::Answered, "");

    let paper = shown(&talk, &["go", "ENTER", "^O", "^D"]);

    assert!(paper.contains(&"┊ what terminal answered:".to_owned()), "{paper:#?}");
    assert!(paper.contains(&"┊ b".to_owned()));
}

/// For looking at the screen: `cargo test --bin hermes -- --ignored --nocapture at_a_real_terminal`.
#[test]
#[ignore = "needs a terminal and somebody who looks at it"]
fn the_chat_at_a_real_terminal() {
    let shell = Shell::of_this_process(false, None);
    let mail = mail();
    let approver = Arc::new(ScreenApprover { queue: mail.queue.clone() });
    let talk = Double::new().approver(approver).turn(grand_turn(), TurnStatus::Answered, "");
    let terminal = Terminal::hold(&mail.queue).unwrap();
    let screen = Screen::new(io::stdout(), terminal.size(), true);
    let place = Place { cwd: shell.cwd().to_owned(), user_home: None };
    let outside = Outside { shell: &shell, place, kept: None, of_plugins: Vec::new() };
    let mut chat =
        Chat::new(&talk, &terminal, outside, screen, mail, SETTINGS, vec!["older line".to_owned()]);

    block_on(chat.run()).unwrap();
    let goodbye = chat.goodbye();
    chat.screen.leave(&goodbye).unwrap();
}
