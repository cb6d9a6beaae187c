//! `/verbose`: how much is shown of tools.

use crate::chat::live::Verbosity;
use crate::chat::slash::{Act, After, Reply, SlashCx, SlashDef};

pub(crate) const COMMAND: SlashDef =
    SlashDef::new("verbose", "[off|new|all|verbose]", "Choose how much is shown of tools", Act::Now(run))
        .words(&["off", "new", "all", "verbose"]);

fn run(cx: &SlashCx<'_>, words: &str) -> Reply {
    let chosen = if words.is_empty() { Some(cx.verbosity.next()) } else { Verbosity::named(words) };
    let Some(chosen) = chosen else {
        return Reply::wrong("One of: off, new, all, verbose.");
    };
    let means = match chosen {
        Verbosity::Off => "only calls that failed leave a line",
        Verbosity::New => "a line when another tool is used than before",
        Verbosity::All => "a line for each call",
        Verbosity::Verbose => "a line for each call, with arguments and results",
    };
    Reply::say(format!("verbose {}: {means}", chosen.word())).then(After::Verbosity(chosen))
}
