//! Work handed to child agents: what they may do, how they run, and what comes back.
//!
//! | file | what |
//! |---|---|
//! | `plan` | who gets which task and which tools |
//! | `run` | all of them at once, and every result comes back |
//! | `report` | the result in the shape the model reads |
//! | `trace` | which tools a child called |

mod plan;
mod report;
mod run;
mod trace;

pub use plan::{ChildTask, Limits, Role, TaskSpec, child_tools, plan};
pub use report::{ChildReport, ChildStatus, Delegated};
pub use run::{Child, Children, delegate};
pub use trace::{Trace, Traced};
