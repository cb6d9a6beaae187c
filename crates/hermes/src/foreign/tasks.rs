//! The tasks that carry messages to and from foreign programs, on the threads of the host.

#![expect(clippy::disallowed_methods, reason = "the host's tasks, handed to those who talk with programs")]

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_extend::rpc::Tasks;

use crate::host::Machine;

/// Starts tasks on the host's async runtime.
pub(crate) struct MachineTasks(pub(crate) Arc<Machine>);

impl Tasks for MachineTasks {
    fn start(&self, task: BoxFuture<'static, ()>) -> bool {
        let handle = self.0.handle();
        if let Some(handle) = &handle {
            // It ends with the program it talks to.
            drop(handle.spawn(task));
        }
        handle.is_some()
    }
}
