//! Which tools a hook is for: a pattern that the whole name must match, written as the original's are.
//! Pure.

use fancy_regex::{Regex, RegexBuilder};

/// How far a pattern may go back before it is given up.
const MOST_STEPS: usize = 100_000;

/// The tools that a hook is for.
pub(super) enum Matcher {
    /// All of them.
    All,
    /// Those whose whole name fits.
    Fitting(Box<Regex>),
    /// The one of this name: what is no pattern is a name, as in the original.
    Named(String),
}

impl Matcher {
    /// That of a configuration. A policy hook whose pattern nobody can read is for every tool: it must not
    /// be off without anybody having said so.
    pub(super) fn new(text: Option<&str>, policy: bool) -> Self {
        match text.filter(|text| !text.is_empty()).map(|text| (text, whole(text))) {
            None => Self::All,
            Some((_, Ok(pattern))) => Self::Fitting(Box::new(pattern)),
            Some(_) if policy => Self::All,
            Some((text, Err(_))) => Self::Named(text.to_owned()),
        }
    }

    /// Whether it is for this tool.
    pub(super) fn fits(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            // A pattern that never comes to an end has not said no.
            Self::Fitting(pattern) => pattern.is_match(tool).unwrap_or(true),
            Self::Named(name) => name == tool,
        }
    }
}

fn whole(text: &str) -> Result<Regex, String> {
    let made = |text: &str| {
        let pattern = RegexBuilder::new(text).backtrack_limit(MOST_STEPS).build();
        pattern.map_err(|wrong| wrong.to_string().lines().last().unwrap_or_default().trim().to_owned())
    };
    // By itself first: what closes a bracket of ours is no pattern either.
    made(text)?;
    made(&format!(r"\A(?:{text})\z"))
}

/// What is wrong with a pattern and what it means therefore, in words; nothing when it is one.
pub fn wrong_pattern(text: &str, policy: bool) -> Option<String> {
    let wrong = whole(text).err()?;
    let then = if policy {
        "as a policy it is for every tool"
    } else {
        "it is taken as the name of a tool, letter by letter"
    };
    Some(format!("the matcher `{text}` is not a pattern ({wrong}): {then}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str, tool: &str) -> bool {
        Matcher::new(Some(text), false).fits(tool)
    }

    #[test]
    fn the_whole_name_must_fit() {
        assert!(fits("terminal|write_file", "write_file") && fits("read_.*", "read_file"));
        assert!(!fits("read", "read_file") && !fits("file", "read_file"));
        assert!(Matcher::new(None, false).fits("todo") && fits("", "todo"));
    }

    #[test]
    fn a_pattern_may_look_ahead_and_behind() {
        assert!(!fits("(?!terminal).*", "terminal") && fits("(?!terminal).*", "todo"));
        assert!(!fits("^(?!write_file$).+$", "write_file") && fits("^(?!write_file$).+$", "write_files"));
        assert!(fits("[a-z_]+(?<!_file)", "terminal") && !fits("[a-z_]+(?<!_file)", "read_file"));
    }

    #[test]
    fn what_is_no_pattern_is_a_name_and_for_a_policy_every_name() {
        for text in ["*", "[", "a)(b"] {
            let wrong = wrong_pattern(text, false).unwrap();
            assert!(wrong.contains(&format!("`{text}` is not a pattern")), "{wrong}");
            assert!(fits(text, text) && !fits(text, "terminal"), "{text}");
            assert!(Matcher::new(Some(text), true).fits("terminal"), "{text}");
        }
        assert_eq!(wrong_pattern("(?!x).*", true), None);
    }

    #[test]
    fn a_pattern_that_goes_round_in_circles_has_not_said_no() {
        assert!(fits(r"(?:(a*)*\1)*(?=b)b", &"a".repeat(200)));
    }
}
