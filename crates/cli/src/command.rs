//! What a command is, and how it fails.

use std::fmt::Display;

use hermes::core::toolset::{SelectionError, UnknownName};
use hermes::store::StoreError;

use crate::shell::Shell;

/// A command's arguments, and what they do.
pub(crate) trait Run: clap::Args {
    /// Does it.
    fn run(self, shell: &Shell) -> Result<(), Failure>;
}

/// The table entry of a command: one `const` in the command's own file.
pub(crate) struct CommandDef {
    name: &'static str,
    about: &'static str,
    augment: fn(clap::Command) -> clap::Command,
    run: fn(&clap::ArgMatches, &Shell) -> Result<(), Failure>,
}

impl CommandDef {
    /// A command made from the type of its arguments.
    pub(crate) const fn of<R: Run>(name: &'static str, about: &'static str) -> Self {
        let run = |matches: &clap::ArgMatches, shell: &Shell| R::from_arg_matches(matches)?.run(shell);
        Self { name, about, augment: R::augment_args, run }
    }

    /// The word on the command line.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The command as the parser knows it.
    pub(crate) fn clap(&self) -> clap::Command {
        (self.augment)(clap::Command::new(self.name)).about(self.about)
    }

    /// The command without its arguments.
    pub(crate) fn by_name(&self) -> clap::Command {
        clap::Command::new(self.name).about(self.about)
    }

    pub(crate) fn run(&self, matches: &clap::ArgMatches, shell: &Shell) -> Result<(), Failure> {
        (self.run)(matches, shell)
    }
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The words were wrong, or name something that does not exist.
    Usage(String),
    /// It was tried and did not work.
    Failed(String),
    /// It was tried and did not work, for a reason that has a code of its own.
    Coded(u8, String),
    /// It did not work, and everything about it is already on standard output.
    Told(u8),
    /// Whoever read our output has stopped reading.
    OutputClosed,
}

impl Failure {
    /// Exit code when the tool or the action failed.
    pub(crate) const FAILED: u8 = 1;
    /// Exit code for wrong usage and unknown names.
    pub(crate) const USAGE: u8 = 2;
    /// Exit code when what was needed was denied.
    pub(crate) const DENIED: u8 = 3;
    /// Exit code when no model could answer.
    pub(crate) const PROVIDER: u8 = 4;
    /// Exit code when a person stopped it.
    pub(crate) const INTERRUPTED: u8 = 130;

    pub(crate) fn usage(why: impl Display) -> Self {
        Self::Usage(why.to_string())
    }

    pub(crate) fn failed(why: impl Display) -> Self {
        Self::Failed(why.to_string())
    }

    /// What is still to be said about it.
    pub(crate) fn why(&self) -> Option<&str> {
        match self {
            Self::Usage(why) | Self::Failed(why) | Self::Coded(_, why) => Some(why),
            Self::Told(_) | Self::OutputClosed => None,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => Self::USAGE,
            Self::Failed(_) => Self::FAILED,
            Self::Told(code) | Self::Coded(code, _) => *code,
            Self::OutputClosed => 0,
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(wrong: clap::Error) -> Self {
        Self::Usage(wrong.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(wrong: std::io::Error) -> Self {
        match wrong.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::failed(format!("cannot write the output: {wrong}")),
        }
    }
}

impl From<SelectionError> for Failure {
    fn from(wrong: SelectionError) -> Self {
        match wrong {
            SelectionError::Unknown(names) => {
                let told: Vec<String> = names.iter().map(unknown).collect();
                Self::usage(told.join("\n       "))
            }
            other => Self::usage(other),
        }
    }
}

/// That a name means nothing, and what to do about it.
fn unknown(name: &UnknownName) -> String {
    if name.suggestions.is_empty() {
        format!("{name}; `hermes toolsets list` and `hermes tools list` show all names")
    } else {
        name.to_string()
    }
}

impl From<StoreError> for Failure {
    fn from(wrong: StoreError) -> Self {
        match wrong {
            StoreError::NoHome { .. } | StoreError::ProfileName { .. } | StoreError::NoProfile { .. } => {
                Self::usage(wrong)
            }
            other => Self::failed(other),
        }
    }
}
