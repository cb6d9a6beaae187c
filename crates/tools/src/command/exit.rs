//! What a command's code means, where the number alone would mislead.

use crate::command::words::simple_commands;

/// A note on the code, if there is something to know.
pub(crate) fn meaning(command: &str, code: i32) -> Option<&'static str> {
    if code == 0 {
        return None;
    }
    by_program(command, code).or(match code {
        126 => Some("found, but it cannot be run (not executable, or a directory)"),
        127 => Some("command not found"),
        130 => Some("interrupted (SIGINT)"),
        134 => Some("aborted (SIGABRT)"),
        137 => Some("killed (SIGKILL); often because memory ran out"),
        139 => Some("crashed: it touched memory it may not (SIGSEGV)"),
        141 => Some("its output was no longer read (SIGPIPE); usually harmless in a pipeline"),
        143 => Some("terminated (SIGTERM)"),
        _ => None,
    })
}

/// By the last program of the text: its code is the one that is reported.
fn by_program(command: &str, code: i32) -> Option<&'static str> {
    let commands = simple_commands(command);
    let is_assignment = |word: &&String| word.contains('=');
    let word = commands.last()?.words.iter().find(|word| !is_assignment(word))?;
    match (word.rsplit('/').next().unwrap_or(word), code) {
        ("grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack", 1) => {
            Some("nothing matched (not an error)")
        }
        ("diff" | "colordiff" | "cmp", 1) => Some("the files differ (not an error)"),
        ("find", 1) => Some("some directories could not be searched; the rest is complete"),
        ("test" | "[" | "[[", 1) => Some("the condition is false (not an error)"),
        ("git", 1) => Some("often not an error: for example `git diff --exit-code` found differences"),
        ("timeout", 124) => Some("`timeout` stopped the command"),
        ("curl", 6) => Some("the host name could not be resolved"),
        ("curl", 7) => Some("the connection was refused"),
        ("curl", 22) => Some("the server answered with an HTTP error"),
        ("curl", 28) => Some("the transfer took too long"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn the_last_program_decides() {
        assert_eq!(meaning("cat x | grep y", 1), Some("nothing matched (not an error)"));
        assert_eq!(meaning("grep y x | wc -l", 1), None);
        assert_eq!(meaning("LC_ALL=C /usr/bin/diff a b", 1), Some("the files differ (not an error)"));
        assert_eq!(meaning("[ -f x ]", 1), Some("the condition is false (not an error)"));
        assert_eq!(meaning("echo 'a; grep x'", 1), None);
        assert_eq!(meaning("grep x y", 2), None);
        assert_eq!(meaning("grep x y", 0), None);
        assert_eq!(meaning("nosuch", 127), Some("command not found"));
    }
}
