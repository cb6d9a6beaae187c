//! `hermes` without a command means `hermes chat`, where somebody can talk.

use std::ffi::OsString;

/// Options that every command shares, and whether a value follows.
const SHARED: [(&str, bool); 3] = [("--json", false), ("--profile", true), ("-p", true)];

/// Answered before any command.
const ANSWERED: [&str; 5] = ["-h", "--help", "-V", "--version", "--"];

/// The words with `chat` in its place, where only its options were given, or nothing at all to
/// somebody at a terminal.
pub(crate) fn spelled_out(mut words: Vec<OsString>, terminal: bool) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        let Some((_, valued)) = SHARED.iter().find(|(shared, _)| *shared == word) else { break };
        at += if *valued { 2 } else { 1 };
    }
    let chat = match words.get(at).map(|word| word.to_string_lossy()) {
        None => terminal && at <= words.len(),
        Some(word) => word.starts_with('-') && word.len() > 1 && !is_shared(&word),
    };
    if chat {
        words.insert(at, OsString::from("chat"));
    }
    words
}

fn is_shared(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    ANSWERED.contains(&word) || SHARED.iter().any(|(shared, _)| *shared == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(words: &str, terminal: bool) -> String {
        let words = words.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let words: Vec<String> =
            spelled_out(words, terminal).into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn options_alone_are_those_of_chat() {
        assert_eq!(spelled("hermes -z hi", false), "hermes chat -z hi");
        assert_eq!(spelled("hermes -p work -c", true), "hermes -p work chat -c");
        assert_eq!(spelled("hermes --json -q hi", false), "hermes --json chat -q hi");
    }

    #[test]
    fn nothing_at_all_is_a_chat_only_at_a_terminal() {
        assert_eq!(spelled("hermes", true), "hermes chat");
        assert_eq!(spelled("hermes -p work", true), "hermes -p work chat");
        assert_eq!(spelled("hermes", false), "hermes");
    }

    #[test]
    fn commands_help_and_mistakes_stay_as_they_are() {
        for words in [
            "hermes tools list",
            "hermes --help",
            "hermes -V",
            "hermes --profile=x tools list",
            "hermes nonsense",
            "hermes -p",
        ] {
            assert_eq!(spelled(words, true), words);
        }
    }
}
