//! `hermes tools` alone: every toolset with its tools, what it costs and what is missing, to be switched.
//!
//! | file | what |
//! |---|---|
//! | here | what is there, and the keys and the screen of the person |
//! | `board.rs` | what is shown and switched; pure |
//! | `view.rs` | the same for a screen, for a pipe and for a program; pure |

mod board;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use futures::StreamExt as _;
use futures::channel::mpsc::unbounded;
use futures::executor::block_on;
use hermes::Runtime;
use hermes::core::definitions::{Offered, Toolbox, definition_tokens};
use hermes::core::registry::{Snapshot, Source};
use hermes::core::toolset::{PlatformLists, Selection};

use crate::chat::happening::{Desk as _, Happening};
use crate::chat::keys::Key;
use crate::chat::screen::Screen;
use crate::chat::terminal::{self, Terminal};
use crate::command::{Failure, Run};
use crate::output;
use crate::shell::Shell;
use crate::tools::switches::{self, Switch};
use crate::tools::{first_sentence, source_word, whole_toolbox};
use board::{Board, Group, Item, Step};

/// The platform that is meant where none is named.
const USUAL: &str = "cli";

#[derive(clap::Args)]
pub(crate) struct Pick {
    /// The platform whose tools are shown and switched; `cli` unless said
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
}

impl Pick {
    /// The option belongs to the picker; commands have one of their own.
    pub(crate) fn stands_alone(&self) -> Result<(), Failure> {
        match &self.platform {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!("write `--platform {name}` behind the command"))),
        }
    }
}

impl Run for Pick {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        runtime.mcp().ready_to_look_blocking();
        let platform = self.platform.as_deref().unwrap_or(USUAL);
        let (snapshot, before) = (runtime.tools(), runtime.platform_lists(platform));
        let judge = |switches: &[Switch]| {
            let lists = switches::applied(&before, snapshot.catalog(), platform, switches)?;
            let plan = runtime.selected(platform, &lists)?.plan(snapshot.catalog())?;
            Ok(plan.tools().iter().map(ToString::to_string).collect::<BTreeSet<String>>())
        };
        let all = whole_toolbox(&runtime, &Selection::everything())?;
        let mut board = Board::new(platform, groups(&runtime, &snapshot, &all, platform), &judge)?;
        for problem in runtime.foreign_problems() {
            output::warn(&problem);
        }
        if shell.out.wants_json() {
            return shell.out.json(&view::json(&board));
        }
        if !terminal::is_there() {
            let (head, rows) = view::table(&board);
            shell.out.text(&head)?;
            return shell.out.table(&["", "TOOLSET", "TOKENS", "WHAT FOR"], &rows);
        }
        let wanted = on_screen(shell, &mut board)?;
        told(shell, &runtime, platform, &before, wanted)
    }
}

/// What there is for a platform, sorted by name.
fn groups(runtime: &Runtime, snapshot: &Snapshot, all: &Toolbox, platform: &str) -> Vec<Group> {
    let dialect = runtime.definition_settings().dialect;
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for tool in snapshot.tools() {
        let (name, toolset) = (tool.name(), tool.toolset());
        let fixed = snapshot.catalog().built_in(toolset);
        if fixed.is_some_and(|fixed| !fixed.works_on(platform)) {
            continue;
        }
        let closed = all.unavailable().iter().find(|closed| closed.name == *name);
        let offered = all.offered().iter().find(|offered| offered.name() == name);
        let item = Item {
            name: name.to_string(),
            about: first_sentence(&tool.definition().description).to_owned(),
            tokens: offered.map_or_else(|| definition_tokens(tool, dialect), Offered::tokens),
            missing: closed.map(|closed| closed.why.to_string()),
            on: false,
        };
        let about = || match (fixed, snapshot.source(name)) {
            (Some(fixed), _) => fixed.description.to_owned(),
            (None, None | Some(Source::BuiltIn)) => String::new(),
            (None, source) => source_word(source),
        };
        let group = groups.entry(toolset.to_string());
        group.or_insert_with(|| Group::new(toolset, &about())).tools.push(item);
    }
    groups.into_values().map(Group::named_by_its_tools).collect()
}

/// Lets the person switch; what they want to keep of it.
fn on_screen(shell: &Shell, board: &mut Board<'_>) -> Result<Option<Vec<Switch>>, Failure> {
    let (queue, mut inbox) = unbounded();
    let terminal = Terminal::hold(&queue)
        .map_err(|wrong| Failure::failed(format!("the terminal cannot be used: {wrong}")))?;
    let mut screen = Screen::new(io::stdout(), terminal.size(), shell.colour());
    let end = loop {
        screen.draw(&[], view::area(board, screen.width(), screen.rows()))?;
        match block_on(inbox.next()) {
            Some(Happening::Key(Key::Ctrl('z'))) => {
                screen.leave(&[])?;
                terminal.suspend()?;
                screen.resize(terminal.size());
            }
            Some(Happening::Key(key)) => match board.key(&key) {
                Step::On => {}
                Step::Save => break Ok(Some(board.switches().to_vec())),
                Step::Leave => break Ok(None),
            },
            Some(Happening::Resized) => screen.resize(terminal.size()),
            Some(Happening::Signal(code)) => break Err(Failure::Told(code)),
            Some(Happening::Closed) | None => break Ok(None),
            Some(_) => {}
        }
    };
    screen.leave(&[])?;
    drop(terminal);
    end
}

/// Writes what was wanted, and tells what came of it.
fn told(
    shell: &Shell,
    runtime: &Runtime,
    platform: &str,
    before: &PlatformLists,
    wanted: Option<Vec<Switch>>,
) -> Result<(), Failure> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
        return shell.out.line("nothing was changed");
    };
    let change = switches::saved(&shell.home()?, runtime, platform, &wanted)?;
    if change.is_empty() {
        return shell.out.line("nothing was changed");
    }
    runtime.refresh()?;
    let on = |lists: &PlatformLists| -> Result<BTreeSet<String>, Failure> {
        let plan = runtime.selected(platform, lists)?.plan(runtime.tools().catalog())?;
        Ok(plan.tools().iter().map(ToString::to_string).collect())
    };
    let (then, now) = (on(before)?, on(&runtime.platform_lists(platform))?);
    for (word, names) in [("on", now.difference(&then)), ("off", then.difference(&now))] {
        let names: Vec<&str> = names.map(String::as_str).collect();
        if !names.is_empty() {
            shell.out.text(&format!("{word} for {platform}: {}", names.join(", ")))?;
        }
    }
    shell.out.text(&format!("saved in {}", change.path.display()))
}
