//! `hermes chat`: talk to the agent, or ask it once.

use crate::chat::args::{ChatArgs, Wanted};
use crate::chat::{interactive, oneshot};
use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<ChatArgs>("chat", "Talk to the agent, or ask it once");

impl Run for ChatArgs {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.wanted(shell)? {
            Wanted::Talk => interactive::run(shell, &self),
            Wanted::Ask(question) => oneshot::run(shell, &self, question),
        }
    }
}
