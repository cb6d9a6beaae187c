//! `hermes keep-process`: looks after one background process. The program starts itself with it;
//! people do not.

use hermes::run_as_keeper;

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<KeepProcess>("keep-process", "Look after one background process");

#[derive(clap::Args)]
#[command(hide = true)]
struct KeepProcess {}

impl Run for KeepProcess {
    fn run(self, _: &Shell) -> Result<(), Failure> {
        run_as_keeper().map_err(Failure::failed)
    }
}
