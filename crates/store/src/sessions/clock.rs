//! The clock the store is handed: it reads no time and waits for nothing by itself.

use std::time::{Duration, SystemTime};

/// Time of day, and waiting.
pub trait Clock: Send + Sync + 'static {
    /// The time of day.
    fn now(&self) -> SystemTime;

    /// Blocks the calling thread for `time`.
    fn pause(&self, time: Duration);
}
