//! A program and its words as one line for whatever shell is at the other end.
//!
//! The protocol carries one text, which the user's login shell there reads. POSIX shells read quotes
//! alike; others (`fish`, `csh`) do not, and get a line in which nothing has two meanings.

use std::fmt::Write as _;

use crate::far::quote::quoted;

/// How the shell there is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    /// As POSIX says.
    Plain,
    /// For shells that read quotes otherwise.
    Careful,
}

/// Longest line that can be one argument of a program, there and here, with room to spare.
const LONGEST: usize = 100_000;

/// A line, and what the program has to be given to read before anything else.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    pub(super) line: String,
    pub(super) first: Vec<u8>,
}

impl Speech {
    /// The words as a line. The shell there is replaced by the program.
    pub(super) fn of(self, words: &[String]) -> Spoken {
        // A bash that finds itself first on a connection reads start-up files each time; the login shell
        // has done that, and the one of a command is the second.
        let plain = format!("exec env SHLVL=1 {}", line(words));
        let said = match self {
            Self::Plain => plain.clone(),
            Self::Careful => careful(&plain),
        };
        if said.len() <= LONGEST {
            return Spoken { line: said, first: Vec::new() };
        }
        // Byte for byte, so that what comes after it is left for the program.
        let line = format!(r#"exec sh -c 'eval "$(dd bs=1 count={} 2>/dev/null)"'"#, plain.len());
        Spoken { line, first: plain.into_bytes() }
    }
}

/// Words as a line for a POSIX shell.
pub(super) fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn careful(plain: &str) -> String {
    let mut said = String::with_capacity(plain.len() * 2);
    for byte in plain.bytes() {
        match byte {
            b'\'' | b'\\' | b'!' | 0..=31 | 127.. => {
                let _ = write!(said, "\\0{byte:03o}");
            }
            _ => said.push(char::from(byte)),
        }
    }
    format!(r#"exec sh -c 'eval "$(printf %b "$0")"' '{said}'"#)
}

/// Words that only arrive unchanged where the speech is understood.
pub(super) const ODD: &str = "it's \\\\ \\n $HOME `id` !! %s\n*~é";

/// Prints an argument behind a sign, and by what a restart of the machine is known.
const LOOK: &str = r#"printf '#there %s#' "$1"; cat /proc/sys/kernel/random/boot_id 2>/dev/null; printf '#'"#;

/// Words that find out whether the speech is understood.
pub(super) fn look() -> Vec<String> {
    ["sh", "-c", LOOK, "hermes", ODD].map(str::to_owned).to_vec()
}

/// By what a restart is known, where the speech was understood.
pub(super) fn understood(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let (_, rest) = said.split_once(&format!("#there {ODD}#"))?;
    Some(rest.split('#').next()?.trim().to_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "whether a line is understood is for a real shell to say")]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    /// What a program gets when a shell is given the line.
    fn arrives(shell: &str, speech: Speech, words: &[String], input: &str) -> String {
        let all: Vec<String> =
            ["sh", "-c", r#"printf '[%s]' "$@"; cat"#, "x"].iter().map(|word| (*word).to_owned()).collect();
        let spoken = speech.of(&[all, words.to_vec()].concat());
        let mut child = Command::new(shell)
            .args(["-c", &spoken.line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut given = child.stdin.take().unwrap();
        given.write_all(&spoken.first).unwrap();
        given.write_all(input.as_bytes()).unwrap();
        drop(given);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn expected(words: &[String], input: &str) -> String {
        words.iter().fold(String::new(), |all, word| all + "[" + word + "]") + input
    }

    /// The shells of this machine that people log in with.
    fn shells() -> Vec<&'static str> {
        let known = ["/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "/bin/csh"];
        known.into_iter().filter(|shell| std::path::Path::new(shell).exists()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn words_arrive_as_they_are(words in prop::collection::vec("[^\0]{0,20}", 1..5)) {
            prop_assert_eq!(arrives("/bin/sh", Speech::Plain, &words, "in\n"), expected(&words, "in\n"));
            for shell in shells() {
                prop_assert_eq!(arrives(shell, Speech::Careful, &words, "in\n"), expected(&words, "in\n"), "{}", shell);
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_read_before_the_input() {
        let words = vec!["'".repeat(50_000), "end".to_owned()];

        for speech in [Speech::Plain, Speech::Careful] {
            assert!(speech.of(&words).line.len() < LONGEST);
            assert_eq!(arrives("/bin/sh", speech, &words, "in\n"), expected(&words, "in\n"));
        }
    }

    #[test]
    fn start_up_files_are_read_by_the_login_shell_alone() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".bashrc"), "echo read >> ~/count\n").unwrap();
        let words = ["sh", "-c", "bash -c true; true"].map(str::to_owned);

        let mut shell = Command::new("bash");
        shell.arg("-c").arg(Speech::Plain.of(&words).line).env_clear();
        shell.env("HOME", home.path()).env("PATH", "/usr/bin:/bin").env("SSH_CLIENT", "127.0.0.1 1 22");
        assert!(shell.status().unwrap().success());

        // Not every bash is made to read them.
        let read = std::fs::read_to_string(home.path().join("count")).unwrap_or_default();
        assert!(read.lines().count() <= 1, "{read}");
    }

    #[test]
    fn speech_is_understood_only_where_it_arrives_unchanged() {
        let said = format!("Welcome\n#there {ODD}#0f-1\n#");
        assert_eq!(understood(said.as_bytes()), Some("0f-1".to_owned()));
        assert_eq!(understood(b"#there it's changed#0f-1\n#"), None);
    }
}
