//! Notices that `sudo` wanted a password. Nobody can type one into a command, so the answer says what
//! would help instead of leaving `sudo`'s words to be guessed at.

/// What `sudo` says, in English, when it needs a password and cannot ask for one.
const CANNOT_ASK: [&str; 4] = [
    "a password is required",
    "a terminal is required to read the password",
    "no tty present and no askpass program specified",
    "no password was provided",
];

/// What to do about it, for whoever reads the answer.
pub(crate) const HELP: &str = "sudo needs a password, and no password can be typed into a command; ask the user \
                               to run it, or to allow it without one (NOPASSWD)";

/// Whether the output of a command that failed ends with `sudo` in need of a password.
pub(crate) fn wants_password(output: &str, code: i32) -> bool {
    let said = |line: &str| {
        let words = line.strip_prefix("sudo: ");
        words.is_some_and(|words| CANNOT_ASK.iter().any(|known| words.starts_with(known)))
    };
    code != 0 && output.lines().any(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_sudo_says_itself_counts() {
        assert!(wants_password("x\nsudo: a password is required", 1));
        assert!(wants_password("sudo: a terminal is required to read the password; either use…", 1));
        assert!(!wants_password("sudo: a password is required", 0));
        assert!(!wants_password("grep: sudo: a password is required", 1));
        assert!(!wants_password("sudo: nosuch: command not found", 1));
    }
}
