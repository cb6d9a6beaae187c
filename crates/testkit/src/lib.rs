//! Helpers for tests: stand-ins for the outside world that a test can see into and steer.
//!
//! | what | where |
//! |---|---|
//! | clock, timer, threads | [`FakeHost`]: time stands still until a test moves it |
//! | environment, programs, services | [`FakeProbe`] |
//! | files and links | [`FakeFiles`] |
//! | people | [`ScriptedApprover`] |
//! | record, spilled results | [`MemoryJournal`], [`MemorySpill`] |
//! | hooks | [`RecordingHook`] |
//! | policies | [`judged`] |
//! | models | [`ScriptedModel`] |
//! | tools | [`tool`], [`echo`], [`stuck`] |
//! | all of it together, with a session | [`Rig`] |
//! | a language model, over HTTP | [`ModelServer`] |
//! | waiting without sleeping | [`Latch`] |
//! | a folder that goes away by itself | [`TempHome`] |

mod approver;
mod files;
mod home;
mod hook;
mod host;
mod journal;
mod latch;
mod model_server;
mod policy;
mod probe;
mod rig;
mod scripted_model;
mod spill;
mod tools;

pub use approver::ScriptedApprover;
pub use files::FakeFiles;
pub use home::TempHome;
pub use hook::RecordingHook;
pub use host::FakeHost;
pub use journal::{MemoryJournal, Record};
pub use latch::Latch;
pub use model_server::{Answer, ModelServer, SeenRequest};
pub use policy::{Judged, allow, judged};
pub use probe::{FakeProbe, Service};
pub use rig::{Rig, RigBuilder};
pub use scripted_model::{Line, ScriptedModel};
pub use spill::MemorySpill;
pub use tools::{any_object, echo, object, stuck, tool};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever a panicking test left behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
