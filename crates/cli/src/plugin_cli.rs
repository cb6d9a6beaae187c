//! Commands that plugins add to the command line: asked for only when none of ours has the word.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::error::ErrorKind;

use crate::command::Failure;
use crate::commands::COMMANDS;
use crate::shell::Shell;

/// Runs the command that the words mean to a plugin; nothing when no plugin has it, and then what the
/// parser said stands.
pub(crate) fn run(words: &[OsString], told: &clap::Error) -> Option<Result<(), Failure>> {
    if told.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Words { json, profile, name, rest } = Words::of(words)?;
    let shell = Shell::of_this_process(json, profile);
    let runtime = shell.runtime().ok()?;
    // What it calls is called as if the person had typed it.
    let session = Arc::new(runtime.session().approver(shell.approver(&runtime)).open().ok()?);
    let said = match runtime.run_plugin_cli(&name, &rest, piped().as_deref(), session)? {
        Ok(said) => said,
        Err(why) => return Some(Err(Failure::failed(why))),
    };
    // Whoever closed our output does not want to hear more.
    let _ = std::io::stdout().write_all(said.out.as_bytes());
    let _ = std::io::stderr().write_all(said.err.as_bytes());
    Some(if said.code == 0 { Ok(()) } else { Err(Failure::Told(said.code)) })
}

/// Where another process finds what is piped to this one. It is opened there, and read only by a command that
/// reads: one that does not never waits for it. A terminal stays ours.
fn piped() -> Option<PathBuf> {
    let terminal = std::io::stdin().is_terminal();
    (!terminal).then(|| PathBuf::from(format!("/proc/{}/fd/0", std::process::id())))
}

/// The commands of plugins, for the help that names all commands.
pub(crate) fn help(words: &[OsString], told: &clap::Error) -> Option<String> {
    let asked = [ErrorKind::DisplayHelp, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
    let for_all = words.iter().skip(1).all(|word| ["--help", "-h", "help"].iter().any(|it| word == it));
    if !asked.contains(&told.kind()) || !for_all {
        return None;
    }
    let mut commands = Shell::of_this_process(false, None).plugin_cli().ok()?;
    commands.retain(|it| !is_ours(&it.name));
    let lines: Vec<String> = commands.iter().map(|it| format!("  {:<12}  {}", it.name, it.help)).collect();
    (!lines.is_empty()).then(|| format!("\nCommands of plugins:\n{}\n", lines.join("\n")))
}

/// Whether a command of ours has this name: it is the one that counts.
pub(crate) fn is_ours(name: &str) -> bool {
    name == "help" || COMMANDS.iter().any(|it| it.name() == name)
}

/// What was typed: our options, the command, and what is the command's own.
#[derive(Debug, Default, PartialEq)]
struct Words {
    json: bool,
    profile: Option<String>,
    name: String,
    rest: Vec<String>,
}

impl Words {
    fn of(words: &[OsString]) -> Option<Self> {
        let mut found = Self::default();
        let mut words = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
        loop {
            let word = words.next()?;
            match word.as_str() {
                "--json" => found.json = true,
                "-p" | "--profile" => found.profile = words.next(),
                other => match other.strip_prefix("--profile=") {
                    Some(profile) => found.profile = Some(profile.to_owned()),
                    None => break found.name = word,
                },
            }
        }
        found.rest = words.collect();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_stand_before_the_command_and_its_own_behind() {
        let words = ["hermes", "--json", "-p", "work", "greet", "--json", "x"].map(OsString::from);

        let expected = Words {
            json: true,
            profile: Some("work".to_owned()),
            name: "greet".to_owned(),
            rest: vec!["--json".to_owned(), "x".to_owned()],
        };
        assert_eq!(Words::of(&words), Some(expected));
        assert_eq!(Words::of(&["hermes".into()]), None);
    }
}
