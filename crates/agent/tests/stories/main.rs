//! Turns from end to end, with scripted models, a record in memory and a clock in the test's hands.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test that cannot go on fails the test")]

mod compaction;
mod driver;
mod support;
