//! Which words the real `sudo` is started with: those that were given, and `-A` before them where it
//! helps.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// Short options that take a value.
const VALUED: &[u8] = b"CDRTUacghprtu";

/// Long options that take a value, which may be the next word.
const VALUED_LONG: [&str; 13] = [
    "auth-type",
    "chdir",
    "chroot",
    "close-from",
    "command-timeout",
    "group",
    "host",
    "login-class",
    "other-user",
    "prompt",
    "role",
    "type",
    "user",
];

/// The words behind `sudo`.
pub(super) fn with_helper(words: Vec<OsString>) -> Vec<OsString> {
    if chooses_itself(&words) {
        return words;
    }
    std::iter::once(OsString::from("-A")).chain(words).collect()
}

/// Whether the words say already where the password comes from: standard input, or a helper.
fn chooses_itself(words: &[OsString]) -> bool {
    let mut words = words.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        match word {
            b"--" => return false,
            b"--stdin" | b"--askpass" => return true,
            [b'-', b'-', long @ ..] => {
                if VALUED_LONG.iter().any(|name| name.as_bytes() == long) {
                    words.next();
                }
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                for (at, letter) in letters.iter().enumerate() {
                    if matches!(letter, b'S' | b'A') {
                        return true;
                    }
                    if VALUED.contains(letter) {
                        if at + 1 == letters.len() {
                            words.next();
                        }
                        break;
                    }
                }
            }
            // A variable for the command; options may follow.
            _ if word.contains(&b'=') => {}
            _ => return false,
        }
    }
    false
}

/// The text of words, for people.
pub(super) fn shown(words: &[u8]) -> String {
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(|word| OsStr::from_bytes(word).to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(words: &str) -> String {
        let words = words.split(' ').map(OsString::from).collect();
        with_helper(words).join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn the_helper_is_named_before_everything_else() {
        assert_eq!(made("id"), "-A id");
        assert_eq!(made("-u root -n id -S"), "-A -u root -n id -S");
        assert_eq!(made("-uS id"), "-A -uS id");
        assert_eq!(made("--user A --prompt S id"), "-A --user A --prompt S id");
        assert_eq!(made("X=1 id -A"), "-A X=1 id -A");
        assert_eq!(made("-- -S"), "-A -- -S");
    }

    #[test]
    fn words_that_choose_for_themselves_stay_as_they_are() {
        for words in ["-S id", "-kS id", "-u root -S id", "--stdin id", "-A id", "X=1 -S id", "--askpass id"]
        {
            assert_eq!(made(words), words);
        }
    }

    proptest! {
        #[test]
        fn no_word_is_ever_lost_or_changed(words in prop::collection::vec("[-=a-zA ]{0,6}", 0..6)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let made = with_helper(words.clone());
            prop_assert!(made == words || made[1..] == words[..]);
        }
    }
}
