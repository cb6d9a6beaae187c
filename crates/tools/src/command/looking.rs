//! Tells commands that only look or wait. Several of them may run at the same time: none changes a
//! file, or the shell that the next command starts with.
//!
//! It decides the order of commands, nothing about safety. A command it does not know waits for its
//! turn, so everything unusual is unknown: variables, substitutions, redirections, patterns.

use crate::command::words::{Join, Simple, simple_commands};

/// Characters that make a command more than words in a row.
const UNUSUAL: &str = "$`<>(){}*?[]!#~\\\n\r=%^";

/// Programs that read, print or wait, whatever their arguments are.
const LOOKING: &str = "basename cat cmp cut df dirname du echo egrep false fgrep grep head id ls md5sum nl \
    nproc printf ps pwd readlink realpath sha1sum sha256sum sleep stat tac tail tr tree true uname uptime wc \
    which whoami";

/// What git does without writing.
const GIT: &[&str] = &["blame", "diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/// How the options begin with which it writes a file or starts another program after all.
const WRITING: &[&str] = &["--ou", "--op", "--ext", "-O"];

/// Whether the command changes nothing, neither on disk nor in the session's shell.
pub(crate) fn only_looks(text: &str) -> bool {
    let commands = simple_commands(text);
    !text.contains(|c| UNUSUAL.contains(c)) && !commands.is_empty() && commands.iter().all(looks)
}

fn looks(command: &Simple) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    command.then != Join::Background
        && match words.as_slice() {
            ["git", verb, options @ ..] => {
                GIT.contains(verb)
                    && !options.iter().any(|word| WRITING.iter().any(|start| word.starts_with(start)))
            }
            // `-o` of `tree` is a file it writes, `-v` of `printf` a variable it sets.
            ["tree" | "printf", options @ ..] => !options.iter().any(|word| word.starts_with('-')),
            [program, ..] => LOOKING.split_whitespace().any(|known| known == *program),
            [] => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_printing_and_waiting_is_looking() {
        for text in [
            "true",
            "sleep 0.5",
            "ls -la /tmp",
            "cat a.txt | grep -n 'one two' | head -5",
            "pwd && git status --short",
            "git log --oneline -5; uname -a",
            "tree src",
        ] {
            assert!(only_looks(text), "{text}");
        }
    }

    #[test]
    fn everything_else_waits_for_its_turn() {
        for text in [
            "",
            "make",
            "cd /tmp",
            "ls > list",
            "cat a >> b",
            "echo $(rm a)",
            "echo `rm a`",
            "X=1",
            "X=1 ls",
            "ls; rm a",
            "ls | tee b",
            "ls | xargs rm",
            "sleep 5 &",
            "printf -v PATH x",
            "tree -o list",
            "git commit -m x",
            "git diff --output a",
            "git grep -O vi x",
            "git -c a.b status",
            "/tmp/ls",
            "cat <<EOF\na\nEOF",
            "ls\nrm a",
            "(ls)",
            "! ls",
        ] {
            assert!(!only_looks(text), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_or_set_is_never_looking(before in "[a-z ]{0,9}", sign in "[$`<>=\\n]", after in "[a-z ]{0,9}") {
            let text = format!("ls {before}{sign}{after}");
            proptest::prop_assert!(!only_looks(&text));
        }
    }
}
