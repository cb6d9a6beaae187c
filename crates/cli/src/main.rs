//! The `hermes` command line: reads the process once, hands values down, turns failures into words
//! and exit codes.

mod approval;
mod broken;
mod chat;
mod command;
mod commands;
mod config;
mod cron;
mod doctor;
mod fence;
mod input;
mod interrupt;
mod kanban;
mod mcp;
mod memory;
mod output;
mod person;
mod plugin_cli;
mod plugin_trust;
mod policy;
mod sessions;
mod setup;
mod shell;
mod skills;
mod slash;
mod table;
mod tools;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::command::{CommandDef, Failure};
use crate::shell::Shell;

/// The part of the command line that every command shares.
#[derive(Debug, clap::Args)]
struct Global {
    /// Print machine-readable JSON
    #[arg(long, global = true)]
    json: bool,
    /// Use this profile of the Hermes home
    #[arg(short, long, global = true, value_name = "NAME")]
    profile: Option<String>,
}

/// Below the list of commands.
const AFTER_HELP: &str = "\
Examples:
  hermes chat
  hermes chat -q 'What does this project do?'
  hermes tools list
  hermes tools call read_file '{\"path\": \"README.md\", \"limit\": 20}'
  hermes tools explain search_files

Exit codes: 0 done, 1 the tool or action failed, 2 wrong usage or an unknown name; \
`hermes chat` has more, see its help.";

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    // First of all: a fenced command is started through this program, and should not wait.
    if let Some(code) = shell::launched() {
        return code;
    }
    let words = shell::arguments();
    if asks_for_version(&words) {
        // Nowhere to write to is no reason to fail.
        let _ = writeln!(std::io::stdout(), "hermes {VERSION}");
        return ExitCode::SUCCESS;
    }
    broken::tell_in_one_line();
    memory::in_large_steps();
    let words = chat::entry::spelled_out(words, chat::terminal::is_there());
    let matches = command_line_for(&words).try_get_matches_from(words.clone());
    let work = || match &matches {
        Ok(matches) => Some(run(matches)),
        Err(told) => plugin_cli::run(&words, told),
    };
    let done = match (panic::catch_unwind(AssertUnwindSafe(work)), &matches) {
        (Ok(None), Err(told)) => return told_by_clap(told, &words),
        (Ok(done), _) => Ok(done.unwrap_or(Ok(()))),
        (Err(broken), _) => Err(broken),
    };
    match done {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            if let Some(why) = failure.why() {
                output::complain(why);
                answer_with(why, &words);
            }
            ExitCode::from(failure.exit_code())
        }
        // What broke was told when it broke.
        Err(_) => ExitCode::from(Failure::FAILED),
    }
}

/// Whether the version is all that is asked for. It is answered before there is a command line, which
/// takes time to make, and more with every command.
fn asks_for_version(words: &[OsString]) -> bool {
    matches!(words, [_, word] if word == "--version" || word == "-V")
}

/// Help and version are answers; everything else is wrong usage.
fn told_by_clap(told: &clap::Error, words: &[OsString]) -> ExitCode {
    // Nowhere to write to is no reason to fail differently.
    let _ = told.print();
    if let Some(more) = plugin_cli::help(words, told) {
        let _ = write!(std::io::stdout(), "{more}");
    }
    match told.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ExitCode::from(Failure::USAGE),
        _ => {
            let text = told.to_string();
            answer_with(text.lines().next().unwrap_or_default().trim_start_matches("error: "), words);
            ExitCode::from(Failure::USAGE)
        }
    }
}

/// A failure for a program that asked for JSON: what reads our output finds one document there.
fn answer_with(why: &str, words: &[OsString]) {
    if words.iter().take_while(|word| *word != "--").any(|word| word == "--json") {
        // Whoever does not read it has the exit code.
        let _ = output::Output::new(true, true).json(&serde_json::json!({ "error": why }));
    }
}

/// The whole command line, made from the table of commands.
fn command_line() -> clap::Command {
    made_of(CommandDef::clap)
}

/// As much of it as these words need: a command that is named first is the only one whose arguments
/// are looked at, and describing those of all the others takes time.
fn command_line_for(words: &[OsString]) -> clap::Command {
    let named = words.get(1).and_then(|word| commands::COMMANDS.iter().find(|it| word == it.name()));
    made_of(|command| match named {
        Some(named) if named.name() != command.name() => command.by_name(),
        _ => command.clap(),
    })
}

fn made_of(subcommand: impl Fn(&CommandDef) -> clap::Command) -> clap::Command {
    // The shared options come first: their own description must not become that of the program.
    let base = <Global as clap::Args>::augment_args(clap::Command::new("hermes"))
        .version(VERSION)
        .about("Lets a language model use tools: fast, small, and safe by construction")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(AFTER_HELP);
    commands::COMMANDS.iter().fold(base, |line, command| line.subcommand(subcommand(command)))
}

fn run(matches: &clap::ArgMatches) -> Result<(), Failure> {
    let (name, arguments) = matches.subcommand().ok_or_else(|| Failure::usage("no command given"))?;
    let global = <Global as clap::FromArgMatches>::from_arg_matches(matches)?;
    run_command(name, arguments, &Shell::of_this_process(global.json, global.profile))
}

/// Runs a command of the program with these words, as if they had been typed behind `hermes`.
fn run_words(words: &[String], shell: &Shell) -> Result<(), Failure> {
    let all = std::iter::once("hermes").chain(words.iter().map(String::as_str));
    let matches = command_line().try_get_matches_from(all)?;
    let (name, arguments) = matches.subcommand().ok_or_else(|| Failure::usage("no command given"))?;
    run_command(name, arguments, shell)
}

fn run_command(name: &str, arguments: &clap::ArgMatches, shell: &Shell) -> Result<(), Failure> {
    let command: &CommandDef = commands::COMMANDS
        .iter()
        .find(|command| command.name() == name)
        .ok_or_else(|| Failure::usage(format!("no command `{name}`")))?;
    command.run(arguments, shell)
}
