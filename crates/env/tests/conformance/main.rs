//! What every environment must do, as one suite run on each backend.
//!
//! A backend is added to the table below and nothing else: the promises are the same for all.

#![expect(clippy::disallowed_methods, reason = "tests look at real files, processes and the clock")]
#![expect(clippy::unwrap_used, reason = "the helpers here are part of the tests")]
#![expect(clippy::print_stderr, reason = "what cannot be tried on this machine is said loudly")]

mod apptainer;
mod background;
mod bench;
mod clouds;
mod containers;
mod cost;
mod dockerd;
mod doubles;
mod given;
mod inside;
mod nested;
mod processes;
mod ssh;
mod sshd;
#[cfg(target_os = "linux")]
mod sudo;
mod suite;
mod together;

use bench::Bench;

/// The promises that are tried in a place which is opened once for each: all of them, or the one that
/// `HERMES_TEST_PROMISE` names. Those that take minutes there are for when everything is wanted.
pub(crate) fn tried(long: &[&str]) -> impl Iterator<Item = &'static (&'static str, fn(&Bench))> {
    let only = std::env::var("HERMES_TEST_PROMISE").ok();
    let all = std::env::var("HERMES_TEST_FULL").is_ok();
    let wanted = move |name: &str| only.as_ref().is_none_or(|only| only == name);
    let long: Vec<String> = long.iter().map(|&name| name.to_owned()).collect();
    PROMISES.iter().filter(move |(name, _)| wanted(name) && (all || !long.iter().any(|long| long == name)))
}

/// It goes on for a thousand calls, each of which takes a tenth of a second in some places.
pub(crate) const LONG: &[&str] = &["a_thousand_calls_leave_nothing_behind"];

/// Runs the suite on a backend, one test per promise, in the open and behind each fence.
macro_rules! conforms {
    ($backend:ident: $promises:tt) => {
        mod $backend {
            promised!($backend, Off, in_the_open, $promises);
            #[cfg(target_os = "linux")]
            promised!($backend, Workspace, behind_a_fence, $promises);
            #[cfg(target_os = "linux")]
            promised!($backend, Strict, behind_a_strict_fence, $promises);
        }
    };
}

macro_rules! promised {
    ($backend:ident, $level:ident, $where:ident, { $($promise:ident),* $(,)? }) => {
        mod $where {
            use hermes_env::fence::Level;

            $(#[test] fn $promise() {
                crate::suite::$promise(&crate::Bench::behind(stringify!($backend), Level::$level));
            })*
        }
    };
}

/// Every promise there is, by name, for places that are too dear to be opened once for each.
macro_rules! promises {
    ($($promise:ident),* $(,)?) => {
        pub(crate) const PROMISES: &[(&str, fn(&Bench))] =
            &[$((stringify!($promise), crate::suite::$promise as fn(&Bench))),*];

        conforms! { local: { $($promise),* } }
    };
}

promises! {
    the_code_of_a_command_is_reported,
    a_signal_is_reported_as_one,
    both_outputs_are_merged_in_the_order_they_were_written,
    outputs_can_be_kept_apart,
    input_is_read_to_its_end,
    more_input_than_a_pipe_holds_does_not_block,
    binary_output_arrives_unchanged,
    huge_output_is_taken_whole,
    a_timeout_kills_the_whole_tree,
    endless_output_ends_with_its_time,
    a_fork_bomb_ends_with_its_time,
    a_fork_bomb_without_end_stays_in_its_limits,
    a_cancelled_command_is_gone_in_time,
    an_abandoned_command_is_gone_in_time,
    the_directory_stays_for_the_next_command,
    variables_functions_and_aliases_stay_as_documented,
    output_cannot_pose_as_state,
    a_child_that_holds_the_pipe_does_not_hold_the_call,
    a_terminal_is_one_and_can_be_resized,
    a_command_that_follows_others_is_as_alone_as_the_first,
    a_thousand_calls_leave_nothing_behind,
    what_a_command_inherits_is_what_it_should,
    a_job_goes_on_after_the_call_and_is_written_to_and_read,
    a_job_has_what_the_sessions_shell_knew,
    a_killed_job_is_gone_with_everything_it_started,
    the_end_of_a_job_and_what_is_watched_for_are_told_once,
    a_job_in_a_terminal_has_one,
    a_long_log_is_bounded_and_read_by_lines,
    jobs_are_their_sessions_own,
    a_job_in_a_directory_that_is_not_there_is_a_clear_error,
}
