//! The last lines that a program printed, for whoever wants to know why it ended.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, select};
use hermes_core::host::Host;
use serde_json::Value;
use tokio::sync::Notify;

use crate::rpc::Callee;

/// Lines that are kept.
const LINES: usize = 3;

/// Letters that are kept of each.
const LETTERS: usize = 200;

/// How long it may take until all that a program printed before it ended is read. Something that it started may
/// hold its output open.
const READING: Duration = Duration::from_millis(300);

/// Hands everything on, and keeps the last lines.
pub(crate) struct LastWords {
    callee: Arc<dyn Callee>,
    lines: Mutex<VecDeque<String>>,
    silent: Notify,
}

impl LastWords {
    /// Nothing is printed yet.
    pub(crate) fn before(callee: Arc<dyn Callee>) -> Arc<Self> {
        Arc::new(Self { callee, lines: Mutex::default(), silent: Notify::new() })
    }

    /// It prints nothing any more.
    pub(crate) fn are_said(&self) {
        self.silent.notify_one();
    }

    /// The last lines as one, without what a terminal would obey; nothing where there are none.
    pub(crate) async fn heard(&self, host: &Arc<dyn Host>) -> Option<String> {
        select(Box::pin(self.silent.notified()), host.sleep(READING)).await;
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<&str> = lines.iter().map(String::as_str).collect();
        (!words.is_empty()).then(|| words.join(" / "))
    }

    fn keep(&self, line: &str) {
        let plain: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let plain = plain.trim();
        if plain.is_empty() {
            return;
        }
        let mut short: String = plain.chars().take(LETTERS).collect();
        if short.len() < plain.len() {
            short.push('…');
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(short);
    }
}

impl Callee for LastWords {
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, String>> {
        self.callee.request(method, params)
    }

    fn notified(&self, method: &str, params: Value) {
        self.callee.notified(method, params);
    }

    fn logged(&self, line: &str) -> String {
        let told = self.callee.logged(line);
        self.keep(&told);
        told
    }

    fn cleared(&self, text: &str) -> String {
        self.callee.cleared(text)
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    /// Takes a word out of every line, as a log does with secrets.
    struct Log;

    impl Callee for Log {
        fn request(&self, _: &str, _: Value) -> BoxFuture<'static, Result<Value, String>> {
            Box::pin(std::future::ready(Ok(Value::Null)))
        }

        fn notified(&self, _: &str, _: Value) {}

        fn logged(&self, line: &str) -> String {
            self.cleared(line)
        }

        fn cleared(&self, text: &str) -> String {
            text.replace("hunter2", "***")
        }
    }

    #[test]
    fn the_last_lines_are_told_short_and_as_the_log_has_them() {
        let host: Arc<dyn Host> = hermes_testkit::FakeHost::new();
        let words = LastWords::before(Arc::new(Log));
        let long = "x".repeat(500);

        for line in ["first", "second", "the key hunter2 is \u{1b}[31mwrong", "  ", &long] {
            words.logged(line);
        }
        words.are_said();

        let heard = block_on(words.heard(&host)).unwrap();
        assert_eq!(heard, format!("second / the key *** is  [31mwrong / {}…", "x".repeat(LETTERS)));
    }

    #[test]
    fn somebody_who_said_nothing_has_no_last_words() {
        let host: Arc<dyn Host> = hermes_testkit::FakeHost::new();
        let words = LastWords::before(Arc::new(Log));

        words.are_said();

        assert_eq!(block_on(words.heard(&host)), None);
    }
}
