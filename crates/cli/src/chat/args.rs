//! The words of `hermes chat`, and what they ask for.

use std::io::IsTerminal;

use hermes::core::model::Part;

use crate::chat::files::Place;
use crate::chat::terminal;
use crate::command::Failure;
use crate::input;
use crate::shell::Shell;

/// Below the options.
const AFTER_HELP: &str = "\
Examples:
  hermes chat
  hermes chat -q 'What does this project do?'
  git diff | hermes chat -q - -Q > review.md
  hermes chat -c
  hermes chat -q 'Fix the failing test' --output-format stream-json

Exit codes: 0 there is an answer, 1 it failed, 2 wrong usage, 3 what it needed was denied, \
4 no model could answer, 130 stopped by Ctrl-C.";

/// How a single answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// The answer alone
    #[default]
    Text,
    /// One JSON document
    Json,
    /// One JSON document a line for everything that happens
    StreamJson,
}

/// The options of `hermes chat`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct ChatArgs {
    /// Ask once and print the answer; `-` reads the question from standard input
    #[arg(short, long, value_name = "PROMPT")]
    pub(crate) query: Option<String>,
    /// The same, and nothing else is printed at all
    #[arg(short = 'z', long, value_name = "PROMPT", conflicts_with = "query")]
    pub(crate) oneshot: Option<String>,
    /// How a single answer is written
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) output_format: Option<Format>,
    /// The model to ask
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The provider to ask
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Work in this environment instead of the default one
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Option<String>,
    /// Only these toolsets or tools
    #[arg(short, long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Not these toolsets or tools
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) disable: Vec<String>,
    /// Go on with this session: its id, the beginning of it, or its title
    #[arg(short, long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Go on with the last session, or with the one of this name
    #[arg(short = 'c', long = "continue", value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "resume")]
    pub(crate) go_on: Option<String>,
    /// Most answers of the model in a turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Run without asking; what is never allowed stays so
    #[arg(long)]
    pub(crate) yolo: bool,
    /// Run shell hooks that nobody has accepted
    #[arg(long)]
    pub(crate) accept_hooks: bool,
    /// Print the answer and the session's id only
    #[arg(short = 'Q', long)]
    pub(crate) quiet: bool,
    /// Show arguments and results of tools
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Send a picture along: a file or a URL
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<String>,
    /// Keep what files held before they are changed
    #[arg(long)]
    pub(crate) checkpoints: bool,
    /// What the session is recorded as coming from
    #[arg(long, value_name = "TAG")]
    pub(crate) source: Option<String>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A person talks.
    Talk,
    /// This is asked, once.
    Ask(String),
}

impl ChatArgs {
    /// What is asked for; reads standard input where the question comes from there.
    pub(crate) fn wanted(&self, shell: &Shell) -> Result<Wanted, Failure> {
        let given = self.query.as_deref().or(self.oneshot.as_deref());
        let asked = match given {
            Some("-") => input::text("-", shell.cwd())?,
            Some(text) => text.to_owned(),
            None if !std::io::stdin().is_terminal() => input::text("-", shell.cwd())?,
            None => return self.talk(shell),
        };
        if asked.trim().is_empty() && self.image.is_empty() {
            return Err(Failure::usage("there is no question: give one with -q, or on standard input"));
        }
        Ok(Wanted::Ask(asked))
    }

    /// A person can talk only where there is something to type and to draw on.
    fn talk(&self, shell: &Shell) -> Result<Wanted, Failure> {
        if !terminal::is_there() {
            return Err(Failure::usage("standard output is not a terminal: ask with -q PROMPT"));
        }
        if self.format(shell) != Format::Text {
            return Err(Failure::usage("a chat cannot be written as JSON: ask with -q PROMPT"));
        }
        if shell.variable("TERM").is_some_and(|term| term == "dumb") {
            return Err(Failure::usage("this terminal cannot show the chat: ask with -q PROMPT"));
        }
        Ok(Wanted::Talk)
    }

    pub(crate) fn format(&self, shell: &Shell) -> Format {
        let usual = if shell.out.wants_json() { Format::Json } else { Format::Text };
        self.output_format.unwrap_or(usual)
    }

    /// The pictures to send along.
    pub(crate) fn images(&self, place: &Place) -> Result<Vec<Part>, Failure> {
        self.image.iter().map(|named| place.image(named).map_err(Failure::usage)).collect()
    }
}
