//! Where the chat meets the agent.

use std::sync::Arc;

use hermes::core::policy::Approver;

use crate::chat::args::ChatArgs;
use crate::chat::talk::Talk;
use crate::command::Failure;
use crate::shell::Shell;

/// Opens the conversation that was asked for. Risky calls are asked about through `approver`;
/// without one, through the terminal if there is one.
pub(crate) fn open(
    _shell: &Shell,
    _args: &ChatArgs,
    _approver: Option<Arc<dyn Approver>>,
) -> Result<Box<dyn Talk>, Failure> {
    Err(Failure::failed("no agent wired yet"))
}
