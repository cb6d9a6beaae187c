//! `/help`: every command and key.

use crate::chat::slash::{Act, Reply, SlashCx, SlashDef};
use crate::chat::talk::PluginLine;
use crate::slash::COMMANDS;
use crate::table::Cell;

pub(crate) const COMMAND: SlashDef = SlashDef::new("help", "", "Show every command and key", Act::Now(run));

/// What the keys do.
const KEYS: &str = "
Enter  send                      Ctrl-C  stop the turn, again leave
Alt-Enter, Ctrl-J  new line      Ctrl-D  leave
Tab    complete                  Ctrl-O  show the last result
Ctrl-R search what was typed     Ctrl-L  clear, Ctrl-Z  suspend";

fn run(cx: &SlashCx<'_>, _words: &str) -> Reply {
    let row = |def: &&SlashDef| {
        let others: Vec<String> = def.aliases().iter().map(|name| format!(", /{name}")).collect();
        let usage = format!("/{}{} {}", def.name(), others.concat(), def.usage());
        vec![Cell::new(usage.trim_end()), Cell::new(def.about())]
    };
    let of_plugin = |command: PluginLine| {
        let usage = format!("/{} {}", command.name, command.usage);
        vec![Cell::new(usage.trim_end()), Cell::new(command.about)]
    };
    let mut rows: Vec<Vec<Cell>> = COMMANDS.iter().map(row).collect();
    rows.extend(cx.talk.plugin_commands().into_iter().map(of_plugin));
    let mut reply = Reply::whole_table(cx, &["COMMAND", "WHAT IT DOES"], &rows);
    reply.lines.extend(Reply::say(KEYS).lines);
    reply
}
