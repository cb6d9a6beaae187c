//! A launcher of the fence and a helper of `sudo`, and nothing else: for the tests of this crate, and for programs that would
//! rather not be their own.

#![expect(clippy::disallowed_methods, reason = "the words this process was started with")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let called = hermes_env::sudo::called(std::env::args_os());
    let launched = called.or_else(|| hermes_env::fence::launched(std::env::args_os()));
    launched.unwrap_or_else(|| ExitCode::from(hermes_env::fence::NOT_RUN))
}
