//! Which answer `sudo` gets: what is known, a question to the person, or a refusal.
//!
//! Nobody tells us whether a password was right. But the same `sudo` that asks the same thing again did
//! not like the last answer.

use std::collections::VecDeque;

use hermes_core::sudo::Password;

use super::Asks;
use super::origin::{From, Identity};

/// Wrong passwords for one command.
const MOST_WRONG: u8 = 3;

/// Processes that are remembered; the oldest are forgotten.
const REMEMBERED: usize = 256;

/// How to do without a person.
const HOW: &str = "put SUDO_PASSWORD into the .env file of the Hermes home, or let sudoers run this command \
                   without a password";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This password.
    Give(Password, Source),
    /// The person has to be asked.
    Ask {
        /// Whether the last answer was wrong.
        again: bool,
    },
    /// None, and why.
    Refuse(String),
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Configured,
    /// The person, now or before.
    Person,
}

/// What is known and what has happened.
#[derive(Default)]
pub(super) struct Answers {
    configured: Option<Password>,
    /// What the person typed, and nothing speaks against.
    held: Option<Password>,
    /// Whether there is a person.
    pub(super) person: bool,
    given: VecDeque<Given>,
    commands: VecDeque<Command>,
}

/// The last answer a `sudo` got.
struct Given {
    sudo: Identity,
    prompt: Vec<u8>,
    password: Password,
    source: Source,
}

/// What one command has done.
struct Command {
    process: Identity,
    wrong: u8,
    declined: bool,
}

impl Answers {
    pub(super) fn new(configured: Option<Password>, person: bool) -> Self {
        Self { configured, person, ..Self::default() }
    }

    /// A helper came: when its `sudo` asks the same again, the last answer was wrong.
    pub(super) fn asked(&mut self, from: From, prompt: &[u8]) {
        let Some(at) = self.given.iter().position(|given| given.sudo == from.sudo && given.prompt == prompt)
        else {
            return;
        };
        let Some(last) = self.given.remove(at) else { return };
        match last.source {
            // Wrong once is wrong every time, and accounts are locked after some.
            Source::Configured => self.configured = None,
            Source::Person if self.held.as_ref() == Some(&last.password) => self.held = None,
            Source::Person => {}
        }
        let command = self.command(from.command);
        command.wrong = command.wrong.saturating_add(1);
    }

    /// What to do now.
    pub(super) fn next(&mut self, from: From, asks: Asks) -> Next {
        let (person, other) = (self.person, self.is_other(from));
        let &mut Command { wrong, declined, .. } = self.command(from.command);
        if wrong >= MOST_WRONG {
            return Next::Refuse(format!("{wrong} wrong passwords are enough for one command"));
        }
        if declined {
            return Next::Refuse("no password was given for this command".to_owned());
        }
        match (&self.configured, &self.held) {
            (Some(password), _) if !other => Next::Give(password.clone(), Source::Configured),
            (None, Some(password)) if !other => Next::Give(password.clone(), Source::Person),
            _ if person && asks == Asks::ThePerson => Next::Ask { again: wrong > 0 },
            _ if person => Next::Refuse(format!(
                "sudo needs a password, and nobody is asked for one in the background; run a command with \
                 sudo in the foreground first, or {HOW}"
            )),
            _ if wrong > 0 => Next::Refuse("the password was not accepted".to_owned()),
            _ => Next::Refuse(format!("sudo needs a password, and nobody is here to type it; {HOW}")),
        }
    }

    /// A password was given to `sudo`.
    pub(super) fn gave(&mut self, from: From, prompt: &[u8], password: &Password, source: Source) {
        let other = self.is_other(from);
        // After the last try nobody says any more whether it was right.
        let last = self.command(from.command).wrong + 1 >= MOST_WRONG;
        if source == Source::Person && !other && !last {
            self.held = Some(password.clone());
        }
        let given = Given { sudo: from.sudo, prompt: prompt.to_vec(), password: password.clone(), source };
        remember(&mut self.given, given);
    }

    /// The person did not want to.
    pub(super) fn declined(&mut self, from: From) {
        self.command(from.command).declined = true;
    }

    /// Whether this `sudo` has a password already and now asks for something else, as for a second factor.
    fn is_other(&self, from: From) -> bool {
        self.given.iter().any(|given| given.sudo == from.sudo)
    }

    fn command(&mut self, process: Identity) -> &mut Command {
        let at = self.commands.iter().position(|command| command.process == process);
        let at = at.unwrap_or_else(|| {
            remember(&mut self.commands, Command { process, wrong: 0, declined: false });
            self.commands.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "it was found there, or has just been put at the end")]
        &mut self.commands[at]
    }
}

fn remember<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() >= REMEMBERED {
        all.pop_front();
    }
    all.push_back(one);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &[u8] = b"[sudo] password for ann: ";

    fn from(sudo: i32, command: i32) -> From {
        let process = |pid| Identity { pid, started: 7 };
        From { sudo: process(sudo), command: process(command) }
    }

    fn password(text: &str) -> Password {
        Password::new(text).unwrap()
    }

    fn refused(next: Next) -> String {
        let Next::Refuse(why) = next else { panic!("{next:?}") };
        why
    }

    #[test]
    fn without_a_person_the_refusal_comes_at_once_and_says_what_to_do() {
        let mut answers = Answers::new(None, false);

        let why = refused(answers.next(from(2, 1), Asks::ThePerson));

        assert!(why.contains("SUDO_PASSWORD"), "{why}");
    }

    #[test]
    fn what_was_typed_is_used_again_by_the_next_command_and_in_the_background() {
        let mut answers = Answers::new(None, true);
        assert_eq!(answers.next(from(2, 1), Asks::ThePerson), Next::Ask { again: false });
        answers.gave(from(2, 1), PROMPT, &password("right"), Source::Person);

        answers.asked(from(4, 3), PROMPT);

        assert_eq!(answers.next(from(4, 3), Asks::Nobody), Next::Give(password("right"), Source::Person));
    }

    #[test]
    fn a_wrong_password_is_dropped_and_three_are_enough() {
        let mut answers = Answers::new(Some(password("old")), true);
        let who = from(2, 1);
        assert_eq!(answers.next(who, Asks::ThePerson), Next::Give(password("old"), Source::Configured));
        answers.gave(who, PROMPT, &password("old"), Source::Configured);
        for text in ["first", "second"] {
            answers.asked(who, PROMPT);
            assert_eq!(answers.next(who, Asks::ThePerson), Next::Ask { again: true });
            answers.gave(who, PROMPT, &password(text), Source::Person);
        }
        answers.asked(who, PROMPT);

        assert!(refused(answers.next(who, Asks::ThePerson)).contains("3 wrong"));
        // Another sudo of the same command does not get further, another command does.
        assert!(refused(answers.next(from(5, 1), Asks::ThePerson)).contains("3 wrong"));
        assert_eq!(answers.next(from(7, 6), Asks::ThePerson), Next::Ask { again: false });
    }

    #[test]
    fn the_last_try_is_not_kept_because_nobody_says_whether_it_was_right() {
        let mut answers = Answers::new(None, true);
        let who = from(2, 1);
        for text in ["a", "b", "c"] {
            answers.asked(who, PROMPT);
            answers.gave(who, PROMPT, &password(text), Source::Person);
        }

        assert_eq!(answers.next(from(4, 3), Asks::ThePerson), Next::Ask { again: false });
    }

    #[test]
    fn another_question_of_the_same_sudo_is_never_answered_with_the_password() {
        let mut answers = Answers::new(Some(password("known")), true);
        let who = from(2, 1);
        answers.gave(who, PROMPT, &password("known"), Source::Configured);

        answers.asked(who, b"Verification code: ");

        assert_eq!(answers.next(who, Asks::ThePerson), Next::Ask { again: false });
        answers.gave(who, b"Verification code: ", &password("123456"), Source::Person);
        assert_eq!(
            answers.next(from(4, 3), Asks::ThePerson),
            Next::Give(password("known"), Source::Configured)
        );
    }

    #[test]
    fn somebody_who_said_no_is_not_asked_again_by_the_same_command() {
        let mut answers = Answers::new(None, true);
        answers.declined(from(2, 1));

        assert!(refused(answers.next(from(3, 1), Asks::ThePerson)).contains("no password was given"));
        assert_eq!(answers.next(from(9, 8), Asks::ThePerson), Next::Ask { again: false });
    }

    #[test]
    fn in_the_background_nobody_is_asked() {
        let mut answers = Answers::new(None, true);

        assert!(refused(answers.next(from(2, 1), Asks::Nobody)).contains("background"));
    }
}
