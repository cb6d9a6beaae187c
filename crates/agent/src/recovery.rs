//! What to do when a model does not answer: one table, and nothing else decides.
//!
//! A row says, for one class of failure, what is tried first, how often the same model is asked
//! again with and without another model to go to, and how long the waits are. Waits double, carry
//! up to half of themselves as jitter so that many sessions do not come back at once, and give way
//! to what the provider asked for. With another model at hand nobody waits long: fail-over is a
//! matter of seconds.

use std::time::Duration;

use hermes_core::model::ModelErrorClass as Class;

/// What a turn does about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Ask the same model again after this long.
    RetryAfter(Duration),
    /// Go on with the next model.
    NextModel,
    /// Shorten the conversation, then ask again.
    Compact,
    /// Ask for a shorter answer.
    ShrinkOutput,
    /// Give up.
    Fail,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The class of failure.
    pub class: Class,
    /// What is tried first, one per failure, before the same request is made again.
    pub first: &'static [Action],
    /// How often the same model is asked again when there is another one.
    pub retries: u32,
    /// How often it is asked again when there is none.
    pub alone: u32,
    /// The first wait; each further one is twice as long.
    pub wait: Duration,
    /// Whether it may be over by itself, so that a model left for it is worth going back to.
    pub passing: bool,
}

const SQUEEZE: &[Action] = &[Action::Compact, Action::ShrinkOutput, Action::Compact];
const NONE: Duration = Duration::ZERO;
const HALF: Duration = Duration::from_millis(500);
const ONE: Duration = Duration::from_secs(1);
const TWO: Duration = Duration::from_secs(2);

/// The whole table. A class that is not in it is treated as [`Class::Server`].
///
/// | class | first | again, with fallback | again, alone | first wait |
/// |---|---|---|---|---|
/// | auth, billing, model not found, policy, bad request | – | 0 | 0 | – |
/// | rate limit | – | 0 (1 when the provider says "soon") | 4 | 2 s |
/// | overloaded | – | 1 | 4 | 2 s |
/// | server | – | 1 | 4 | 1 s |
/// | timeout | – | 0 | 2 | 0.5 s |
/// | network | – | 1 | 4 | 0.5 s |
/// | context overflow, payload too large | compact, shrink output, compact | 0 | 0 | – |
/// | bad answer | – | 1 | 3 | 0.5 s |
pub const TABLE: &[Rule] = &[
    Rule { class: Class::Auth, first: &[], retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::Billing, first: &[], retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::RateLimit, first: &[], retries: 0, alone: 4, wait: TWO, passing: true },
    Rule { class: Class::Overloaded, first: &[], retries: 1, alone: 4, wait: TWO, passing: true },
    Rule { class: Class::Server, first: &[], retries: 1, alone: 4, wait: ONE, passing: true },
    Rule { class: Class::Timeout, first: &[], retries: 0, alone: 2, wait: HALF, passing: true },
    Rule { class: Class::Network, first: &[], retries: 1, alone: 4, wait: HALF, passing: true },
    Rule { class: Class::ContextOverflow, first: SQUEEZE, retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::PayloadTooLarge, first: SQUEEZE, retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::ModelNotFound, first: &[], retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::Policy, first: &[], retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::BadRequest, first: &[], retries: 0, alone: 0, wait: NONE, passing: false },
    Rule { class: Class::BadAnswer, first: &[], retries: 1, alone: 3, wait: HALF, passing: true },
];

const UNLISTED: Rule =
    Rule { class: Class::Server, first: &[], retries: 1, alone: 4, wait: ONE, passing: true };

/// No wait of ours is longer.
const LONGEST: Duration = Duration::from_mins(1);
/// A provider may ask for this long when there is nobody else to ask.
const LONGEST_ASKED: Duration = Duration::from_mins(10);
/// What a provider asks for is waited out, even with another model at hand, up to this long.
const SOON: Duration = Duration::from_secs(3);

/// The row for a class.
pub fn rule(class: Class) -> &'static Rule {
    TABLE.iter().find(|rule| rule.class == class).unwrap_or(&UNLISTED)
}

/// What to do about the `attempt`th failure (counted from 1) of one request to one model.
pub fn action(
    class: Class,
    attempt: u32,
    has_fallback: bool,
    retry_after: Option<Duration>,
    seed: u64,
) -> Action {
    let rule = rule(class);
    let before = attempt.saturating_sub(1);
    if let Some(first) = usize::try_from(before).ok().and_then(|at| rule.first.get(at)) {
        return *first;
    }
    let again = attempt.saturating_sub(u32::try_from(rule.first.len()).unwrap_or(u32::MAX));
    let leave = if has_fallback { Action::NextModel } else { Action::Fail };
    let soon = has_fallback && rule.passing && retry_after.is_some_and(|asked| asked <= SOON);
    let retries = if has_fallback { rule.retries.max(u32::from(soon)) } else { rule.alone };
    if again > retries {
        return leave;
    }
    let longest = if has_fallback { SOON } else { LONGEST_ASKED };
    match retry_after {
        Some(asked) if asked > longest => leave,
        Some(asked) => Action::RetryAfter(asked.saturating_add(jitter(HALF, seed, attempt))),
        None => {
            let wait = rule.wait.saturating_mul(1 << again.saturating_sub(1).min(16)).min(LONGEST);
            Action::RetryAfter(wait.saturating_add(jitter(wait / 2, seed, attempt)))
        }
    }
}

/// Something between nothing and `most`, the same for the same seed and attempt.
fn jitter(most: Duration, seed: u64, attempt: u32) -> Duration {
    let mut mixed = seed.wrapping_add(u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let share = u32::try_from((mixed ^ (mixed >> 31)) % 1000).unwrap_or(0);
    most.saturating_mul(share) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    fn walk(class: Class, has_fallback: bool) -> Vec<&'static str> {
        let mut seen = Vec::new();
        for attempt in 1.. {
            let action = action(class, attempt, has_fallback, None, SEED);
            seen.push(match action {
                Action::RetryAfter(_) => "again",
                Action::NextModel => "next",
                Action::Compact => "compact",
                Action::ShrinkOutput => "shrink",
                Action::Fail => "fail",
            });
            if matches!(action, Action::NextModel | Action::Fail) {
                return seen;
            }
        }
        seen
    }

    #[test]
    fn every_row_leads_where_the_table_says() {
        for rule in TABLE {
            for (has_fallback, retries, last) in [(true, rule.retries, "next"), (false, rule.alone, "fail")] {
                let squeezed =
                    if rule.first.is_empty() { vec![] } else { vec!["compact", "shrink", "compact"] };
                let mut expected = squeezed;
                expected.extend(std::iter::repeat_n("again", retries as usize));
                expected.push(last);

                assert_eq!(walk(rule.class, has_fallback), expected, "{:?} {has_fallback}", rule.class);
            }
        }
    }

    #[test]
    fn every_class_has_one_row() {
        for (at, rule) in TABLE.iter().enumerate() {
            assert_eq!(TABLE.iter().position(|other| other.class == rule.class), Some(at));
        }
        assert_eq!(TABLE.len(), 13);
    }

    #[test]
    fn waits_double_and_carry_at_most_half_of_themselves_as_jitter() {
        for seed in 0..500 {
            for (attempt, base) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
                let Action::RetryAfter(wait) = action(Class::Server, attempt, false, None, seed) else {
                    panic!("no wait")
                };
                let base = Duration::from_secs(base);

                assert!(wait >= base && wait <= base * 3 / 2, "{wait:?}");
            }
        }
        let waits = |seed| action(Class::Server, 3, false, None, seed);
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }

    #[test]
    fn what_the_provider_asks_for_is_waited_out() {
        let asked = Duration::from_secs(45);
        let Action::RetryAfter(wait) = action(Class::RateLimit, 1, false, Some(asked), SEED) else {
            panic!("no wait")
        };

        assert!(wait >= asked && wait <= asked + HALF, "{wait:?}");
    }

    #[test]
    fn nobody_waits_long_when_there_is_another_model() {
        let long = Some(Duration::from_secs(45));
        let soon = Some(Duration::from_secs(1));

        assert_eq!(action(Class::RateLimit, 1, true, long, SEED), Action::NextModel);
        assert_eq!(action(Class::Server, 1, true, long, SEED), Action::NextModel);
        assert!(matches!(action(Class::RateLimit, 1, true, soon, SEED), Action::RetryAfter(_)));
        assert_eq!(action(Class::RateLimit, 2, true, soon, SEED), Action::NextModel);
    }

    #[test]
    fn a_wait_nobody_would_sit_through_is_a_failure() {
        let day = Some(Duration::from_hours(24));

        assert_eq!(action(Class::RateLimit, 1, false, day, SEED), Action::Fail);
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again_however_soon() {
        let soon = Some(Duration::from_secs(1));

        assert_eq!(action(Class::Auth, 1, false, soon, SEED), Action::Fail);
        assert_eq!(action(Class::Billing, 1, true, soon, SEED), Action::NextModel);
    }
}
