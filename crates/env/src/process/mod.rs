//! Processes of this machine: started, listened to, and stopped with everything they started.
//!
//! | file | what |
//! |---|---|
//! | `spawn.rs` | the door: the one place where a process is started |
//! | `running.rs` | a process that was started and is looked after |
//! | `ready.rs` | a shell that was started and waits for its command |
//! | `line.rs` | a private line to a process that calls back |
//! | `pump.rs` | carries bytes between a process and us, and sees it end |
//! | `tree.rs` | finds and stops what a process started |
//! | `tether.rs` | finds it by the pipes it still holds |
//! | `guardian.rs` | does that when we are no longer there to do it |

pub(crate) mod guardian;
pub(crate) mod line;
pub(crate) mod pump;
pub(crate) mod ready;
pub(crate) mod running;
pub(crate) mod spawn;
pub(crate) mod tether;
pub(crate) mod tree;

use hermes_core::hex::hex;

/// The variable by which processes are known as ours, however far from home they are.
pub(crate) const MARK: &str = "_HERMES_RUN";

/// A word nobody can guess.
pub(crate) fn secret_word() -> String {
    let mut bytes = [0_u8; 12];
    // The system's generator does not fail once the machine is up; a shorter word is still a word.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    hex(&bytes)
}
