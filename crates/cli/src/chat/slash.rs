//! What a slash command is: words after a `/` that are meant for the program, not for the model.
//!
//! The commands themselves are the files of `slash/`. A command looks at the conversation, says
//! something, and tells what is to happen next; it does not touch the screen.

use futures::future::LocalBoxFuture;
use hermes::core::model::Part;
use hermes::core::suggest::suggest;

use crate::chat::live::Verbosity;
use crate::chat::markdown::{self, Canvas};
use crate::chat::talk::{Talk, Told};
use crate::chat::text::{Line, Style};
use crate::shell::Shell;
use crate::slash::COMMANDS;
use crate::table::{Cell, Look};

/// What a command works with.
pub(crate) struct SlashCx<'a> {
    pub(crate) talk: &'a dyn Talk,
    pub(crate) shell: &'a Shell,
    pub(crate) canvas: Canvas,
    pub(crate) verbosity: Verbosity,
    pub(crate) reasoning: bool,
    pub(crate) yolo: bool,
    /// Messages that wait for their turn.
    pub(crate) queued: usize,
}

/// What a command says, and what is to happen next.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) lines: Vec<Line>,
    pub(crate) after: After,
}

/// What is to happen after a command.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum After {
    #[default]
    Nothing,
    /// The chat is left.
    Quit,
    /// The screen is wiped.
    Clear,
    /// This is said to the model, as if it were typed.
    Send(Vec<Part>),
    /// This is said once the turn is over.
    Queue(String),
    /// This is said into the turn that runs.
    Steer(String),
    /// The turn that runs is stopped.
    Stop,
    /// Another session, or another model: what is shown of it begins anew.
    Changed,
    Verbosity(Verbosity),
    Reasoning(bool),
    Yolo(bool),
    /// A command of the program itself is run with these words.
    Run(Vec<String>),
}

impl Reply {
    /// Says a text, line by line.
    pub(crate) fn say(text: impl AsRef<str>) -> Self {
        Self { lines: text.as_ref().lines().map(Line::plain).collect(), after: After::Nothing }
    }

    /// Says what went wrong.
    pub(crate) fn wrong(text: impl AsRef<str>) -> Self {
        Self {
            lines: text.as_ref().lines().map(|line| Line::new(line, Style::RED)).collect(),
            after: After::Nothing,
        }
    }

    /// Says how something went.
    pub(crate) fn told(told: Told) -> Self {
        match told {
            Ok(text) => Self::say(text),
            Err(why) => Self::wrong(why),
        }
    }

    pub(crate) fn lines(lines: Vec<Line>) -> Self {
        Self { lines, after: After::Nothing }
    }

    /// Rows below a heading.
    pub(crate) fn table(cx: &SlashCx<'_>, head: &[&str], rows: &[Vec<Cell>]) -> Self {
        let look = Look { colour: false, columns: Some(cx.canvas.width) };
        Self::below_a_heading(&look.table(head, rows), head)
    }

    /// The same for rows of which nothing may be missing.
    pub(crate) fn whole_table(cx: &SlashCx<'_>, head: &[&str], rows: &[Vec<Cell>]) -> Self {
        let look = Look { colour: false, columns: Some(cx.canvas.width) };
        Self::below_a_heading(&look.whole_table(head, rows), head)
    }

    fn below_a_heading(table: &str, head: &[&str]) -> Self {
        let mut lines: Vec<Line> = table.lines().map(Line::plain).collect();
        if let Some(first) = lines.first_mut().filter(|_| head.iter().any(|cell| !cell.is_empty())) {
            *first = Line::faint(table.lines().next().unwrap_or_default());
        }
        Self::lines(lines)
    }

    pub(crate) fn then(mut self, after: After) -> Self {
        self.after = after;
        self
    }
}

/// What a command does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// At once, also while a turn runs.
    Now(fn(&SlashCx<'_>, &str) -> Reply),
    /// It takes its time, and wants the conversation for itself.
    Wait(for<'a> fn(&'a SlashCx<'a>, &'a str) -> LocalBoxFuture<'a, Reply>),
}

/// The table entry of a slash command: one `const` in the command's own file.
pub(crate) struct SlashDef {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    aliases: &'static [&'static str],
    words: &'static [&'static str],
    act: Act,
}

impl SlashDef {
    /// A command; `usage` shows what may follow its name.
    pub(crate) const fn new(name: &'static str, usage: &'static str, about: &'static str, act: Act) -> Self {
        Self { name, usage, about, aliases: &[], words: &[], act }
    }

    /// Other names it goes by.
    pub(crate) const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Words that may follow it.
    pub(crate) const fn words(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) const fn usage(&self) -> &'static str {
        self.usage
    }

    pub(crate) const fn about(&self) -> &'static str {
        self.about
    }

    pub(crate) const fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    pub(crate) const fn known_words(&self) -> &'static [&'static str] {
        self.words
    }

    pub(crate) const fn act(&self) -> Act {
        self.act
    }
}

/// The command a typed line means, and the words behind it; none if it is no command at all.
pub(crate) fn parse(line: &str) -> Option<Result<(&'static SlashDef, &str), String>> {
    let rest = line.strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path at the beginning of a message is not a command.
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let lower = name.to_lowercase();
    Some(match named(&lower) {
        Some(def) => Ok((def, words.trim())),
        None => Err(unknown(&lower)),
    })
}

/// The command of ours with this name, in small letters.
pub(crate) fn named(name: &str) -> Option<&'static SlashDef> {
    COMMANDS.iter().find(|def| def.name == name || def.aliases.contains(&name)).copied()
}

fn unknown(name: &str) -> String {
    let names = COMMANDS.iter().flat_map(|def| std::iter::once(&def.name).chain(def.aliases)).copied();
    match suggest(name, names, 1).first() {
        Some(near) => format!("There is no command /{name}. Did you mean /{near}? /help lists all."),
        None => format!("There is no command /{name}. /help lists all."),
    }
}

/// A text as markdown, for commands that show some.
pub(crate) fn drawn(text: &str, cx: &SlashCx<'_>) -> Vec<Line> {
    markdown::draw(text, cx.canvas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_by_each_of_its_names() {
        let name = |line| parse(line).map(|found| found.map(|(def, words)| (def.name(), words)));

        assert_eq!(name("/undo 2"), Some(Ok(("undo", "2"))));
        assert_eq!(name("/EXIT"), Some(Ok(("quit", ""))));
        assert_eq!(name("hello"), None);
        assert_eq!(name("/etc/passwd is what?"), None);
    }

    #[test]
    fn a_wrong_name_gets_a_suggestion() {
        let wrong = parse("/modle x").unwrap().err().unwrap();

        assert_eq!(wrong, "There is no command /modle. Did you mean /model? /help lists all.");
    }

    #[test]
    fn no_two_commands_share_a_name() {
        let mut names: Vec<&str> =
            COMMANDS.iter().flat_map(|def| std::iter::once(&def.name).chain(def.aliases)).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();

        assert_eq!(names.len(), count);
    }
}
