//! `/policy`: what may run, and why.

use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef = SlashDef::new(
    "policy",
    "[ACTION [COMMAND]]",
    "Show the rules, or `explain` or `check` a command",
    Act::Now(run),
)
.words(&["rules", "explain", "check"]);

fn run(_cx: &SlashCx<'_>, words: &str) -> Reply {
    let (action, command) = words.split_once(' ').unwrap_or((words, ""));
    let action = if action.is_empty() { "rules" } else { action };
    let mut run = vec!["policy".to_owned(), action.to_owned()];
    if !command.is_empty() {
        // Behind `--` nothing is an option: the command is judged as it was typed.
        run.extend(["--".to_owned(), command.trim().to_owned()]);
    }
    Reply::default().then(After::Run(run))
}
