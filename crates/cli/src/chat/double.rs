//! An agent that does what a test tells it to.

#![expect(clippy::disallowed_methods, reason = "a scripted pause needs a thread that sleeps")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use hermes::agent::{Event, EventSink, TurnEnd, TurnStatus};
use hermes::core::model::{Message, Part, Usage};
use hermes::core::policy::{Answer, Approver, Nobody};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::chat::record::text_of;
use crate::chat::talk::{PluginLine, SessionLine, Talk, Told, ToolLine, ToolsetLine, Totals};

/// What the agent does next.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Tell(Event),
    Pause(u64),
    /// Waits until it is stopped.
    Hang,
    /// Wants to run a command that is asked about.
    Ask(&'static str),
}

/// A scripted agent.
pub(crate) struct Double {
    turns: Mutex<VecDeque<(Vec<Act>, TurnStatus, &'static str)>>,
    heard: Mutex<Vec<String>>,
    approver: Arc<dyn Approver>,
}

impl Double {
    pub(crate) fn new() -> Self {
        Self { turns: Mutex::default(), heard: Mutex::default(), approver: Arc::new(Nobody) }
    }

    pub(crate) fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// With a turn that goes like this.
    pub(crate) fn turn(self, acts: Vec<Act>, status: TurnStatus, text: &'static str) -> Self {
        self.turns.lock().unwrap().push_back((acts, status, text));
        self
    }

    /// What it was told and asked.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn hears(&self, what: String) {
        self.heard.lock().unwrap().push(what);
    }

    fn told(&self, what: &str) -> BoxFuture<'_, Told> {
        self.hears(what.to_owned());
        let said = format!("done: {what}");
        Box::pin(async move { Ok(said) })
    }
}

pub(crate) fn text(text: &str) -> Act {
    Act::Tell(Event::Text { text: text.to_owned() })
}

pub(crate) fn began(id: &str, tool: &str, arguments: &Value) -> Act {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Act::Tell(Event::CallBegan { id: id.to_owned(), tool: tool.to_owned(), arguments })
}

pub(crate) fn ended(id: &str, tool: &str, status: &'static str, result: &Value) -> Act {
    let (id, tool, result) = (id.to_owned(), tool.to_owned(), result.to_string());
    Act::Tell(Event::CallEnded { id, tool, status, seconds: 0.5, result })
}

impl Talk for Double {
    fn plugin_commands(&self) -> Vec<PluginLine> {
        let (name, usage, about) = ("greet".to_owned(), "NAME".to_owned(), "Greet somebody".to_owned());
        vec![PluginLine { name, usage, about }]
    }

    fn session_id(&self) -> String {
        "20260101_120000_abcdef".to_owned()
    }

    fn model_name(&self) -> String {
        "acme/large".to_owned()
    }

    fn context_tokens(&self) -> Option<u64> {
        Some(200_000)
    }

    fn turn<'a>(
        &'a self,
        prompt: Vec<Part>,
        events: EventSink<'a>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, TurnEnd> {
        self.hears(format!("turn: {}", text_of(&prompt)));
        let next = self.turns.lock().unwrap().pop_front();
        let (acts, status, text) = next.unwrap_or((vec![], TurnStatus::Answered, "Fine."));
        Box::pin(async move {
            let mut end = ended_turn(status, text);
            for act in acts {
                match act {
                    Act::Tell(event) => events(event),
                    Act::Pause(millis) => {
                        let slept = sleep(Duration::from_millis(millis));
                        if let Either::Right(_) = select(slept, Box::pin(cancel.cancelled())).await {
                            end.status = TurnStatus::Interrupted;
                            return end;
                        }
                    }
                    Act::Hang => {
                        cancel.cancelled().await;
                        end.status = TurnStatus::Interrupted;
                        return end;
                    }
                    Act::Ask(command) => {
                        let request = crate::approval::tests::request(command, vec![]);
                        let answer = self.approver.ask(&request).await;
                        self.hears(format!("approved: {}", matches!(answer, Answer::Approved(_))));
                    }
                }
            }
            events(Event::TurnEnded(end.clone()));
            end
        })
    }

    fn steer(&self, text: String) {
        self.hears(format!("steer: {text}"));
    }

    fn compress(&self, topic: Option<String>) -> BoxFuture<'_, Told> {
        self.told(&format!("compress {}", topic.unwrap_or_default()))
    }

    fn undo(&self, turns: usize) -> BoxFuture<'_, Told> {
        self.told(&format!("undo {turns}"))
    }

    fn last_user_message(&self) -> BoxFuture<'_, Option<Vec<Part>>> {
        Box::pin(async { Some(vec![Part::Text { text: "once more".to_owned() }]) })
    }

    fn rename(&self, title: String) -> BoxFuture<'_, Told> {
        self.told(&format!("rename {title}"))
    }

    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<SessionLine>, String>> {
        let line =
            SessionLine { id: "s1".into(), title: Some("First".into()), when: "today".into(), messages: 4 };
        Box::pin(async move { Ok(vec![line]) })
    }

    fn open(&self, name: String) -> BoxFuture<'_, Told> {
        self.told(&format!("open {name}"))
    }

    fn new_session(&self) -> BoxFuture<'_, Told> {
        self.told("new session")
    }

    fn fork(&self, title: Option<String>) -> BoxFuture<'_, Told> {
        self.told(&format!("fork {}", title.unwrap_or_default()))
    }

    fn set_model(&self, name: String) -> BoxFuture<'_, Told> {
        self.told(&format!("model {name}"))
    }

    fn set_effort(&self, effort: Option<String>) {
        self.hears(format!("effort {}", effort.unwrap_or_default()));
    }

    fn usage(&self) -> BoxFuture<'_, Totals> {
        Box::pin(async { Totals::default() })
    }

    fn toolsets(&self) -> Vec<ToolsetLine> {
        vec![ToolsetLine { name: "file".into(), about: "Files".into(), on: true }]
    }

    fn tools(&self) -> Vec<ToolLine> {
        let tool = |name: &str, emoji: &str| ToolLine {
            name: name.to_owned(),
            emoji: emoji.to_owned(),
            toolset: "file".to_owned(),
            about: "Does it".to_owned(),
        };
        vec![tool("terminal", "💻"), tool("read_file", "📖"), tool("patch", "🔧")]
    }

    fn set_yolo(&self, on: bool) {
        self.hears(format!("yolo {on}"));
    }

    fn history(&self) -> BoxFuture<'_, Vec<Message>> {
        Box::pin(async { vec![Message::user("Hi")] })
    }
}

pub(crate) fn ended_turn(status: TurnStatus, text: &str) -> TurnEnd {
    TurnEnd {
        status,
        text: text.to_owned(),
        error: None,
        session: "20260101_120000_abcdef".to_owned(),
        model: "acme/large".to_owned(),
        model_calls: 1,
        tool_calls: 0,
        denied: 0,
        usage: Usage { input: 1_200, output: 40, ..Usage::default() },
        cost_usd: Some(0.0123),
        seconds: 1.5,
    }
}

fn sleep(time: Duration) -> oneshot::Receiver<()> {
    let (done, wait) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        let _ = done.send(());
    });
    wait
}

/// A turn with everything in it, for looking at.
pub(crate) fn grand_turn() -> Vec<Act> {
    let words = "Let me **look** at the project first.\n\n";
    let answer = "# What I found\n\nThe build is *fine*, but `tests/all.rs` fails. The reason is a long sentence that has to be wrapped because no terminal is that wide, and it mentions [the manual](https://example.invalid/manual).\n\n1. First thing\n   - nested\n   - more\n2. Second thing\n\n| file | lines | state |\n|---|--:|---|\n| src/main.rs | 120 | good |\n| tests/all.rs | 7 | broken |\n\n> quoted wisdom\n\n```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\nThat is all.\n";
    let mut acts = vec![Act::Pause(1200)];
    let slowly = |words: &str| -> Vec<Act> {
        let letters: Vec<char> = words.chars().collect();
        letters.chunks(4).flat_map(|part| [text(&part.iter().collect::<String>()), Act::Pause(15)]).collect()
    };
    acts.extend(slowly(words));
    acts.push(Act::Tell(Event::CallWriting { tool: "terminal".to_owned() }));
    acts.push(Act::Pause(800));
    acts.push(began("1", "terminal", &json!({ "command": "cargo test --workspace" })));
    acts.push(began("2", "read_file", &json!({ "path": "crates/cli/src/main.rs" })));
    acts.push(Act::Pause(1500));
    acts.push(ended("2", "read_file", "ok", &json!({ "content": "     1|//! main", "total_lines": 1 })));
    acts.push(Act::Pause(1500));
    acts.push(ended(
        "1",
        "terminal",
        "ok",
        &json!({ "output": "one test failed\nof many", "exit_code": 101 }),
    ));
    acts.push(began("3", "patch", &json!({ "path": "src/main.rs" })));
    acts.push(Act::Pause(300));
    let diff =
        "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,2 +1,2 @@\n fn main() {\n-    old();\n+    new();\n";
    acts.push(ended("3", "patch", "ok", &json!({ "diff": diff })));
    acts.push(Act::Ask("rm -rf /srv/data"));
    let usage = Usage { input: 12_300, output: 456, cache_read: 9_000, ..Usage::default() };
    acts.push(Act::Tell(Event::Answered { model: "acme/large".into(), usage, context_used: Some(0.31) }));
    acts.push(Act::Tell(Event::Notice { text: "the provider was busy; asked again".to_owned() }));
    acts.extend(slowly(answer));
    acts
}
