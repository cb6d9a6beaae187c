//! When the program itself breaks: one line, whatever broke and on whichever thread.
//!
//! A tool that panics is answered for by the road, with a result like any other. What is left to
//! do here is not to spill pages of frames over somebody's terminal.

use std::panic::{self, PanicHookInfo};

use crate::output;
use crate::table::on_one_line;

/// Longest message shown, in characters.
const LONGEST: usize = 300;

/// From now on a panic is told in one line.
pub(crate) fn tell_in_one_line() {
    panic::set_hook(Box::new(|broken| output::complain(&line(broken))));
}

fn line(broken: &PanicHookInfo<'_>) -> String {
    let place = broken.location().map(|place| format!("{}:{}", place.file(), place.line()));
    described(broken.payload_as_str(), place.as_deref())
}

fn described(message: Option<&str>, place: Option<&str>) -> String {
    let message = on_one_line(message.unwrap_or("no message"));
    let mut short: String = message.chars().take(LONGEST).collect();
    if short.len() < message.len() {
        short.push('…');
    }
    match place {
        Some(place) => format!("something broke inside hermes: {short} ({place})"),
        None => format!("something broke inside hermes: {short}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line_with_its_place() {
        let line = described(Some("left: 1\n right: 2"), Some("crates/x/src/y.rs:7"));

        assert_eq!(line, "something broke inside hermes: left: 1  right: 2 (crates/x/src/y.rs:7)");
    }

    #[test]
    fn a_panic_without_words_or_with_too_many_is_one_line_too() {
        assert_eq!(described(None, None), "something broke inside hermes: no message");
        assert!(described(Some(&"x".repeat(10_000)), None).chars().count() < 400);
    }
}
