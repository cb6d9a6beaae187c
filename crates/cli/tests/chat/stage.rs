//! A temporary user whose model says what the test wrote down.

use std::ops::Deref;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use hermes::store::sessions::Sessions;
use hermes_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

use crate::home::{Home, Said};

/// Nothing here takes so long, unless it waits for somebody.
const PATIENCE: Duration = Duration::from_mins(1);

/// A user and a model.
pub(crate) struct Stage {
    pub(crate) home: Home,
    pub(crate) server: ModelServer,
}

impl Deref for Stage {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Stage {
    pub(crate) fn saying(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(ModelServer::saying(answers))
    }

    pub(crate) fn with(server: ModelServer) -> Self {
        Self { home: Home::configured(&config(&server.url())), server }
    }

    /// One question to the end.
    pub(crate) fn chat(&self, words: &[&str]) -> Said {
        finished(self.start(words))
    }

    /// A question that is being answered.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(&[&["chat"], words].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// The store of the user's sessions.
    pub(crate) fn store(&self) -> Sessions {
        hermes::open_sessions(&hermes::store::Home::at(&self.state())).unwrap()
    }
}

/// A `config.yaml` whose model is served there. Only a person may say yes: the scripted model has
/// other lines to say.
pub(crate) fn config(url: &str) -> String {
    format!(
        "model:\n  default: m\n  provider: custom\n  base_url: {url}\n  api_key: sk-test\n\
         approvals:\n  mode: manual\n"
    )
}

/// A call of `terminal`.
pub(crate) fn shell(id: &str, command: &str) -> Answer {
    Answer::call(id, "terminal", &json!({ "command": command }))
}

/// What it said when it was over, which must be soon.
pub(crate) fn finished(mut child: Child) -> Said {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it waits: {:?}", lossy(&child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Said::of(child.wait_with_output().unwrap())
}

fn lossy(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Waits until this is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lines of JSON.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|wrong| panic!("{wrong}: {line}"));
    text.lines().map(parse).collect()
}
