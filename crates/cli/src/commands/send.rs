//! `hermes send`: one message to a person, without any model.
//!
//! It is the person's own command, so nobody is asked about it. A command of an agent is not, and sends
//! nothing.

use hermes::core::deliver::{DeliverError, Destination, Letter, Sent, Target};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::input;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("send", "Send one message, without any model");

/// Below the options.
const AFTER_HELP: &str = "\
Examples:
  hermes send --list
  hermes send --to telegram 'The build is done'
  make 2>&1 | hermes send --to email:ann@example.org --subject 'Build'

Exit codes: 0 it was sent, 1 it was not, 2 the words were wrong or something has to be set first, \
3 an agent's command wanted to send.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Command {
    /// The message; without one it is read from standard input
    message: Option<String>,
    /// Where to: platform, platform:chat or platform:chat:thread
    #[arg(long, short, value_name = "TARGET", required_unless_present = "list")]
    to: Option<String>,
    /// Read the message from this file (`-` for standard input)
    #[arg(long, short, value_name = "FILE", conflicts_with = "message")]
    file: Option<String>,
    /// A heading, where the platform has one
    #[arg(long, short, value_name = "TEXT")]
    subject: Option<String>,
    /// Show where messages can go
    #[arg(long, short)]
    list: bool,
    /// Say nothing when it was sent
    #[arg(long, short)]
    quiet: bool,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let deliver = runtime.deliver();
        if self.list {
            return list(shell, &deliver.destinations());
        }
        let target: Target = self.to.as_deref().unwrap_or_default().parse().map_err(Failure::usage)?;
        deliver.resolve(&target).map_err(Failure::usage)?;
        let text = match (&self.message, &self.file) {
            (Some(message), _) => message.clone(),
            (None, Some(file)) if file != "-" => input::text(&format!("@{file}"), shell.cwd())?,
            (None, _) => input::text("-", shell.cwd())?,
        };
        if text.trim().is_empty() {
            return Err(Failure::usage("there is nothing to send"));
        }
        if shell.is_of_an_agent() {
            let why = "a command of an agent cannot send; the tool `send_message` can, where a person agrees";
            return Err(Failure::Coded(Failure::DENIED, why.to_owned()));
        }
        let letter = Letter { text, subject: self.subject, files: Vec::new() };
        match runtime.send_blocking(&target, &letter) {
            Ok(_) if self.quiet => Ok(()),
            Ok(sent) if shell.out.wants_json() => shell.out.json(&told(&sent)),
            Ok(sent) => {
                let parts = if sent.parts > 1 { format!(", in {} parts", sent.parts) } else { String::new() };
                shell.out.line(&format!("sent to {}:{}{parts}", sent.platform, sent.chat_id))
            }
            Err(wrong @ DeliverError::NotConfigured { .. }) => Err(Failure::usage(wrong)),
            Err(wrong) => Err(Failure::failed(wrong)),
        }
    }
}

fn told(sent: &Sent) -> Value {
    json!({
        "success": true, "platform": sent.platform, "chat_id": sent.chat_id, "message_id": sent.message_id,
        "parts": sent.parts,
    })
}

fn list(shell: &Shell, all: &[Destination]) -> Result<(), Failure> {
    if shell.out.wants_json() {
        let row = |it: &Destination| {
            json!({
                "target": it.target.to_string(), "platform": it.target.platform, "name": it.name,
                "home": it.is_home, "available": it.missing.is_none(), "missing": it.missing,
            })
        };
        return shell.out.json(&all.iter().map(row).collect::<Vec<Value>>());
    }
    let row = |it: &Destination| {
        let note = match (&it.missing, it.is_home) {
            (Some(missing), _) => Cell::new(missing).tone(Tone::Faint),
            (None, true) => Cell::new("home"),
            (None, false) => Cell::new(""),
        };
        vec![
            Cell::new(it.target.to_string()).tone(Tone::Strong),
            Cell::new(it.name.clone().unwrap_or_default()),
            note,
        ]
    };
    shell.out.table(&["TARGET", "NAME", ""], &all.iter().map(row).collect::<Vec<_>>())
}
