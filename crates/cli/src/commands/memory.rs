//! `hermes memory`: the notes that new sessions begin with.

use hermes::core::memory::{MemoryError, Notes, Target};
use hermes::store::HomeMemory;
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("memory", "Show or forget the notes that new sessions begin with");

#[derive(clap::Args)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Tell how many notes there are and how much room they take
    Status,
    /// Forget notes; a copy stays beside the file
    Reset(Reset),
}

#[derive(clap::Args)]
struct Reset {
    /// Which notes
    #[arg(long, value_enum, default_value_t)]
    target: Which,
    /// Really do it
    #[arg(long, short)]
    yes: bool,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Which {
    /// Those about the work
    Memory,
    /// Those about the person
    User,
    /// Both
    #[default]
    All,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let memory = runtime.memory().ok_or_else(|| {
            Failure::failed("notes are switched off; set `memory.memory_enabled: true` in config.yaml")
        })?;
        match self.action {
            Action::Status => status(memory, shell),
            Action::Reset(reset) => reset.run(memory, shell),
        }
    }
}

fn status(memory: &HomeMemory, shell: &Shell) -> Result<(), Failure> {
    let looked = Target::ALL.map(|target| (target, memory.notes_now(target)));
    if shell.out.wants_json() {
        let one = |(target, notes): &(Target, Result<Notes, MemoryError>)| told(*target, notes);
        return shell.out.json(&looked.iter().map(one).collect::<Vec<Value>>());
    }
    let rows: Vec<Vec<Cell>> = looked
        .iter()
        .map(|(target, notes)| {
            let (count, room) = match notes {
                Ok(notes) => (notes.entries.len().to_string(), notes.room.to_string()),
                Err(why) => ("-".to_owned(), why.to_string()),
            };
            vec![Cell::new(target.word()).tone(Tone::Strong), Cell::new(count).right(), Cell::new(room)]
        })
        .collect();
    shell.out.table(&["TARGET", "NOTES", "ROOM"], &rows)
}

fn told(target: Target, notes: &Result<Notes, MemoryError>) -> Value {
    match notes {
        Ok(Notes { entries, room }) => json!({
            "target": target.word(), "entries": entries, "used": room.used, "limit": room.limit,
        }),
        Err(why) => json!({ "target": target.word(), "error": why.to_string() }),
    }
}

impl Reset {
    fn run(&self, memory: &HomeMemory, shell: &Shell) -> Result<(), Failure> {
        let targets: &[Target] = match self.target {
            Which::Memory => &[Target::Memory],
            Which::User => &[Target::User],
            Which::All => &Target::ALL,
        };
        if !self.yes {
            let words: Vec<&str> = targets.iter().map(|target| target.word()).collect();
            let words = words.join(" and ");
            return Err(Failure::usage(format!("this would forget the {words} notes; add --yes to do it")));
        }
        let mut done = Vec::new();
        for target in targets {
            let copy = memory.reset(*target).map_err(Failure::failed)?;
            if !shell.out.wants_json() {
                let word = target.word();
                shell.out.line(&match &copy {
                    Some(copy) => format!("{word}: forgotten; a copy is in {copy}"),
                    None => format!("{word}: there were no notes"),
                })?;
            }
            done.push(json!({ "target": target.word(), "backup": copy }));
        }
        if shell.out.wants_json() { shell.out.json(&done) } else { Ok(()) }
    }
}
