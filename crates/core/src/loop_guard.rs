//! Notices when a turn goes in circles.
//!
//! One guard lives for one turn. It remembers, per tool and arguments, how often a call failed
//! and whether a read-only call keeps giving the same result. It warns early; refusing is off
//! unless asked for. What counts as read-only and as a failure is told by the caller, who knows
//! the tool's declaration and the typed outcome; nothing is guessed from names or text.
//!
//! A success ends the count of failures of that call and of that tool. A successful call that
//! is not read-only also ends every count of unchanged reads: the world may have changed, so
//! looking again is not a circle.

mod finding;
mod settings;

pub use finding::{Action, Circle, Finding};
pub use settings::{Settings, Thresholds};

pub use crate::digest::digest;
use crate::digest::{digest_pair, digest_text};

/// Most different calls, and most different tools, remembered in one turn. The one not seen for the
/// longest time makes room.
const REMEMBERED: usize = 128;

/// The memory of one turn.
#[derive(Debug)]
pub struct LoopGuard {
    settings: Settings,
    calls: Memory<Call>,
    tools: Memory<u32>,
    /// Goes up when the world may have changed; older reads no longer count.
    epoch: u64,
}

/// What is remembered about one tool with one set of arguments.
#[derive(Debug, Default, Clone)]
struct Call {
    failures: u32,
    reads: u32,
    result: u64,
    epoch: u64,
}

impl LoopGuard {
    /// A guard for one turn.
    pub fn new(settings: Settings) -> Self {
        Self { settings, calls: Memory::default(), tools: Memory::default(), epoch: 0 }
    }

    /// Forgets what happened before: a new turn begins.
    pub fn new_turn(&mut self) {
        *self = Self::new(self.settings.clone());
    }

    /// Asked before a call runs: whether it should not.
    pub fn before(&mut self, tool: &str, args_digest: u64) -> Option<Finding> {
        if !self.settings.hard_stop_enabled {
            return None;
        }
        let limits = self.settings.hard_stop_after;
        let tool_key = digest_text(tool);
        let call = self.calls.find(digest_pair(tool_key, args_digest)).cloned().unwrap_or_default();
        let reads = if call.epoch == self.epoch { call.reads } else { 0 };
        let tool_failures = self.tools.find(tool_key).copied().unwrap_or_default();
        let found = |action, circle, count| {
            Some(Finding { action, circle, tool: tool.to_owned(), count, args_digest })
        };
        if reached(tool_failures, limits.same_tool_failure) {
            return found(Action::Halt, Circle::SameToolFailure, tool_failures);
        }
        if reached(call.failures, limits.exact_failure) {
            return found(Action::Block, Circle::ExactFailure, call.failures);
        }
        if reached(reads, limits.idempotent_no_progress) {
            return found(Action::Block, Circle::NoProgress, reads);
        }
        None
    }

    /// Told after a call ran: whether to remark on it.
    pub fn after(
        &mut self,
        tool: &str,
        args_digest: u64,
        read_only: bool,
        ok: bool,
        result_digest: u64,
    ) -> Option<Finding> {
        let (circle, count) = if ok {
            let reads = self.succeeded(tool, args_digest, read_only, result_digest);
            let warn = reached(reads, self.settings.warn_after.idempotent_no_progress);
            (warn.then_some(Circle::NoProgress)?, reads)
        } else {
            self.failed(tool, args_digest)?
        };
        let limit = self.settings.hard_stop_after.same_tool_failure;
        let halt =
            self.settings.hard_stop_enabled && circle == Circle::SameToolFailure && reached(count, limit);
        let action = if halt { Action::Halt } else { Action::Warn };
        let wanted = halt || self.settings.warnings_enabled;
        wanted.then(|| Finding { action, circle, tool: tool.to_owned(), count, args_digest })
    }

    /// Counts a success; answers how often this read has given this result.
    fn succeeded(&mut self, tool: &str, args_digest: u64, read_only: bool, result_digest: u64) -> u32 {
        let epoch = self.epoch;
        let tool_key = digest_text(tool);
        self.tools.take(tool_key);
        if !read_only {
            self.epoch += 1;
            self.calls.take(digest_pair(tool_key, args_digest));
            return 0;
        }
        self.calls.update(digest_pair(tool_key, args_digest), |call| {
            let same = call.reads > 0 && call.result == result_digest && call.epoch == epoch;
            let reads = if same { call.reads.saturating_add(1) } else { 1 };
            *call = Call { failures: 0, reads, result: result_digest, epoch };
            reads
        })
    }

    /// Counts a failure; answers what is worth a remark.
    fn failed(&mut self, tool: &str, args_digest: u64) -> Option<(Circle, u32)> {
        let warn = self.settings.warn_after;
        let tool_key = digest_text(tool);
        let exact = self.calls.update(digest_pair(tool_key, args_digest), |call| {
            *call = Call { failures: call.failures.saturating_add(1), ..Call::default() };
            call.failures
        });
        let of_tool = self.tools.update(tool_key, |failures| {
            *failures = failures.saturating_add(1);
            *failures
        });
        // A halt outranks the milder remark on the same call.
        let halt = self.settings.hard_stop_enabled
            && reached(of_tool, self.settings.hard_stop_after.same_tool_failure);
        if reached(exact, warn.exact_failure) && !halt {
            return Some((Circle::ExactFailure, exact));
        }
        (halt || reached(of_tool, warn.same_tool_failure)).then_some((Circle::SameToolFailure, of_tool))
    }
}

fn reached(count: u32, threshold: u32) -> bool {
    threshold > 0 && count >= threshold
}

/// A small map, newest entry last, that forgets what was not touched for the longest time. With so
/// few entries a look through all of them is as quick as hashing.
#[derive(Debug)]
struct Memory<T> {
    entries: Vec<(u64, T)>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T: Default> Memory<T> {
    fn find(&self, key: u64) -> Option<&T> {
        self.entries.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    fn take(&mut self, key: u64) -> Option<T> {
        let at = self.entries.iter().position(|(known, _)| *known == key)?;
        Some(self.entries.remove(at).1)
    }

    fn update<R>(&mut self, key: u64, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.take(key).unwrap_or_default();
        if self.entries.len() >= REMEMBERED {
            self.entries.remove(0);
        }
        let answer = change(&mut value);
        self.entries.push((key, value));
        answer
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strict() -> LoopGuard {
        LoopGuard::new(Settings { hard_stop_enabled: true, ..Settings::default() })
    }

    fn brief(finding: Option<Finding>) -> Option<(Action, Circle, u32)> {
        finding.map(|finding| (finding.action, finding.circle, finding.count))
    }

    #[test]
    fn the_second_identical_failure_is_remarked_on() {
        let mut guard = LoopGuard::new(Settings::default());

        assert_eq!(guard.after("patch", 1, false, false, 0), None);
        assert_eq!(
            brief(guard.after("patch", 1, false, false, 0)),
            Some((Action::Warn, Circle::ExactFailure, 2))
        );
    }

    #[test]
    fn the_third_failure_of_a_tool_is_remarked_on_whatever_the_arguments() {
        let mut guard = LoopGuard::new(Settings::default());

        let found: Vec<_> = (1..=3).map(|args| brief(guard.after("patch", args, false, false, 0))).collect();

        assert_eq!(found, [None, None, Some((Action::Warn, Circle::SameToolFailure, 3))]);
    }

    #[test]
    fn a_success_ends_the_count_of_failures() {
        let mut guard = LoopGuard::new(Settings::default());
        guard.after("patch", 1, false, false, 0);
        guard.after("patch", 2, false, false, 0);

        guard.after("patch", 3, false, true, 0);

        assert_eq!(guard.after("patch", 4, false, false, 0), None);
    }

    #[test]
    fn the_same_result_of_a_read_is_remarked_on_and_a_new_one_is_not() {
        let mut guard = LoopGuard::new(Settings::default());

        assert_eq!(guard.after("read_file", 1, true, true, 10), None);
        assert_eq!(guard.after("read_file", 1, true, true, 11), None);
        assert_eq!(
            brief(guard.after("read_file", 1, true, true, 11)),
            Some((Action::Warn, Circle::NoProgress, 2))
        );
        assert_eq!(guard.after("write_file", 1, false, true, 0), None);
        assert_eq!(guard.after("read_file", 1, true, true, 11), None);
    }

    #[test]
    fn nothing_is_refused_unless_asked_for() {
        let mut guard = LoopGuard::new(Settings::default());
        for _ in 0..50 {
            guard.after("patch", 1, false, false, 0);
            assert_eq!(guard.before("patch", 1), None);
        }
    }

    #[test]
    fn hard_stops_refuse_the_call_then_the_tool() {
        let mut guard = strict();
        for _ in 0..5 {
            assert_eq!(guard.before("patch", 1), None);
            guard.after("patch", 1, false, false, 0);
        }
        assert_eq!(brief(guard.before("patch", 1)), Some((Action::Block, Circle::ExactFailure, 5)));
        assert_eq!(guard.before("patch", 2), None);

        for args in 2..=3 {
            guard.after("patch", args, false, false, 0);
        }
        let eighth = guard.after("patch", 4, false, false, 0);

        assert_eq!(brief(eighth), Some((Action::Halt, Circle::SameToolFailure, 8)));
        assert_eq!(brief(guard.before("patch", 5)), Some((Action::Halt, Circle::SameToolFailure, 8)));
        assert_eq!(guard.before("read_file", 1), None);
    }

    #[test]
    fn the_same_read_is_refused_after_five() {
        let mut guard = strict();
        for _ in 0..5 {
            guard.after("read_file", 1, true, true, 7);
        }

        assert_eq!(brief(guard.before("read_file", 1)), Some((Action::Block, Circle::NoProgress, 5)));
        assert_eq!(guard.before("read_file", 2), None);
    }

    #[test]
    fn memory_is_bounded_and_keeps_what_was_used_last() {
        let mut guard = LoopGuard::new(Settings::default());
        guard.after("patch", 0, false, false, 0);
        for args in 1..10_000 {
            guard.after(&format!("tool_{args}"), args, false, false, 0);
        }
        assert_eq!((guard.calls.entries.len(), guard.tools.entries.len()), (REMEMBERED, REMEMBERED));

        let last = guard.after("tool_9999", 9999, false, false, 0);

        assert_eq!(brief(last), Some((Action::Warn, Circle::ExactFailure, 2)));
        assert_eq!(guard.after("patch", 0, false, false, 0), None);
    }

    proptest! {
        #[test]
        fn distinct_successful_calls_never_cause_a_finding(calls in prop::collection::btree_set(any::<u64>(), 0..200)) {
            let mut guard = strict();
            for args in calls {
                prop_assert_eq!(guard.before("read_file", args), None);
                prop_assert_eq!(guard.after("read_file", args, true, true, args), None);
            }
        }
    }
}
