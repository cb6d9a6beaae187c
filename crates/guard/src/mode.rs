//! The modes, and what they make of a judgement.

use serde::{Deserialize, Serialize};

use crate::grants::Grants;
use crate::judge::{Judgement, Verdict};

/// How questions are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A person is asked.
    #[default]
    Manual,
    /// A model may approve what carries little risk; in doubt a person is asked.
    Smart,
    /// Nothing is asked; only the never list and denials hold.
    Off,
    /// Nobody is there: only what is granted runs.
    Deny,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Run,
    /// It runs because of a grant. The caller spends a `once` if that was it.
    Granted,
    /// A person decides.
    Ask,
    /// A model is asked first; its doubt or failure means [`Decision::Ask`].
    AskModel,
    /// It does not run, and why.
    Refuse(String),
}

/// Decides. The never list and denials hold in every mode; grants come before questions.
pub fn decide(mode: Mode, text: &str, judgement: &Judgement, grants: &Grants) -> Decision {
    if judgement.never {
        return Decision::Refuse(format!("never allowed: {}", judgement.why));
    }
    match judgement.verdict {
        Verdict::Allow => Decision::Run,
        Verdict::Deny => Decision::Refuse(judgement.why.clone()),
        // Nobody has seen all of it: what is never allowed may be in the rest.
        Verdict::Ask if mode == Mode::Off && judgement.is_unread() => {
            Decision::Refuse(format!("never allowed without being asked about: {}", judgement.why))
        }
        Verdict::Ask if mode == Mode::Off => Decision::Run,
        Verdict::Ask if grants.covers(text, judgement) => Decision::Granted,
        Verdict::Ask => match mode {
            Mode::Smart => Decision::AskModel,
            Mode::Deny => Decision::Refuse(format!("nobody is there to ask: {}", judgement.why)),
            Mode::Manual | Mode::Off => Decision::Ask,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grants::Grant;
    use crate::judge::{Context, judge};

    fn decided(mode: Mode, text: &str, grants: &Grants) -> Decision {
        decide(mode, text, &judge(text, &Context::new("/work/project", "/home/me")), grants)
    }

    #[test]
    fn each_mode_answers_in_its_own_way() {
        let none = Grants::default();

        assert_eq!(decided(Mode::Manual, "git push -f", &none), Decision::Ask);
        assert_eq!(decided(Mode::Smart, "git push -f", &none), Decision::AskModel);
        assert_eq!(decided(Mode::Off, "git push -f", &none), Decision::Run);
        assert!(matches!(decided(Mode::Deny, "git push -f", &none), Decision::Refuse(_)));
        assert_eq!(decided(Mode::Deny, "ls", &none), Decision::Run);
    }

    #[test]
    fn the_never_list_holds_in_every_mode() {
        let mut grants = Grants::default();
        grants.add(Grant::Exact("rm -rf /".into()));

        for mode in [Mode::Manual, Mode::Smart, Mode::Off, Mode::Deny] {
            assert!(matches!(decided(mode, "rm -rf /", &grants), Decision::Refuse(_)), "{mode:?}");
        }
    }

    #[test]
    fn what_cannot_be_looked_through_does_not_carry_something_past_the_never_list() {
        let padded = format!("{}rm -rf /", "echo a; ".repeat(60_000));

        assert!(matches!(decided(Mode::Off, &padded, &Grants::default()), Decision::Refuse(_)));
    }

    #[test]
    fn a_grant_opens_what_it_covers_when_nobody_is_there() {
        let mut grants = Grants::default();
        grants.add(Grant::Exact("git push -f".into()));

        assert_eq!(decided(Mode::Deny, "git push -f", &grants), Decision::Granted);
    }
}
