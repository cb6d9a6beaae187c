//! The contract for the password of `sudo`: who is asked for it, and how it is held.
//!
//! It goes from the person to `sudo` past everything else: it is no part of a command, of its input,
//! of its variables or of its output.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;

/// How long a person has to type a password.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Longest password that is taken.
const LONGEST: usize = 1024;

/// A password. It never shows itself, and nothing of it is left in memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Vec<u8>);

impl Password {
    /// Takes a password as it was typed. Nothing typed is none, and `sudo` reads no further than a line
    /// end or a NUL.
    pub fn new(typed: impl Into<Vec<u8>>) -> Option<Self> {
        let held = Self(typed.into());
        let sound = !held.0.is_empty()
            && held.0.len() <= LONGEST
            && !held.0.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r'));
        sound.then_some(held)
    }

    /// The password itself, for the one pipe that carries it.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Password {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[password]")
    }
}

/// Overwrites what was typed.
pub fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    // Looked at from outside, as far as the compiler knows: the zeros must really be there.
    std::hint::black_box(bytes);
}

/// Why a password is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SudoQuestion {
    /// What is to run with other rights: the words `sudo` was started with, as the system tells them.
    pub command: String,
    /// What `sudo` itself would have asked.
    pub prompt: String,
    /// Whether the last answer was not accepted.
    pub again: bool,
    /// How long the answer is waited for.
    pub patience: Duration,
}

/// Asks a person for the password of `sudo`.
pub trait SudoAsker: Send + Sync {
    /// Asks without showing what is typed; nothing when the person gives none. Dropping the future takes
    /// the question back.
    fn password(&self, question: SudoQuestion) -> BoxFuture<'_, Option<Password>>;

    /// Tells the person that something asked for the password that should not have.
    fn warn(&self, what: &str);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_does_not_show_itself() {
        let password = Password::new("hunter2 and more").unwrap();

        assert_eq!(format!("{password:?}"), "[password]");
        assert_eq!(password.reveal(), b"hunter2 and more");
    }

    #[test]
    fn what_sudo_would_not_read_whole_is_no_password() {
        assert_eq!(Password::new(""), None);
        assert_eq!(Password::new("two\nlines"), None);
        assert_eq!(Password::new("a\0b"), None);
        assert_eq!(Password::new(vec![b'x'; LONGEST + 1]), None);
    }

    #[test]
    fn wiping_leaves_zeros() {
        let mut typed = b"secret".to_vec();

        wipe(&mut typed);

        assert_eq!(typed, [0; 6]);
    }
}
