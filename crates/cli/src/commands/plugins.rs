//! `hermes plugins`: what plugins there are, switching them on and off, accepting those of a project.

use std::path::PathBuf;

use hermes::core::approval_words::visible;
use hermes::core::suggest::suggest;
use hermes::extend::plugins::offer::{Offer, OfferedCommand};
use hermes::store::config::KeyPath;
use hermes::store::{Config, ConfigFile, Home};
use hermes::{PluginState, PluginView};
use serde_json::{Value, json};

use crate::chat::slash;
use crate::command::{CommandDef, Failure, Run};
use crate::output;
use crate::plugin_cli;
use crate::plugin_trust::{accept, accepted, revoke};
use crate::shell::Shell;
use crate::table::{Cell, Tone, on_one_line};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("plugins", "List, switch and accept plugins, and tool files of a project");

#[derive(clap::Args)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List every plugin, and what became of it
    List,
    /// Show everything about one plugin
    Info {
        /// Its name or key
        name: String,
    },
    /// Switch plugins on
    Enable {
        /// Their names or keys
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Switch plugins off
    Disable {
        /// Their names or keys
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Accept a tool file or plugin of a project exactly as it is now
    Trust {
        /// The Python file, or the folder of the plugin; without one, all that is accepted is listed
        path: Option<PathBuf>,
        /// Take it back instead
        #[arg(long, requires = "path")]
        revoke: bool,
    },
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::List => list(shell),
            Action::Info { name } => info(shell, &name),
            Action::Enable { names } => switch(shell, &names, true),
            Action::Disable { names } => switch(shell, &names, false),
            Action::Trust { path: None, .. } => accepted(shell),
            Action::Trust { path: Some(path), revoke: false } => accept(shell, &path),
            Action::Trust { path: Some(path), revoke: true } => revoke(shell, &path),
        }
    }
}

fn list(shell: &Shell) -> Result<(), Failure> {
    let views = shell.runtime()?.plugins();
    if shell.out.wants_json() {
        return shell.out.json(&views.iter().map(described).collect::<Vec<_>>());
    }
    let is_there = |name: &String| views.iter().any(|it| it.key == *name || it.manifest.name == *name);
    for name in enabled(&shell.home()?).iter().filter(|name| !is_there(name)) {
        output::warn(&format!(
            "plugin {name} is switched on, and is not there; `hermes plugins disable {name}` switches it off"
        ));
    }
    let rows: Vec<Vec<Cell>> = views.iter().map(row).collect();
    if rows.is_empty() {
        let folder = shell.home()?.path().join("plugins");
        return shell.out.nothing(&format!(
            "There are no plugins; put one into {} and switch it on with `hermes plugins enable NAME`.",
            folder.display()
        ));
    }
    shell.out.table(&["PLUGIN", "VERSION", "FROM", "STATE", "WHAT FOR"], &rows)
}

fn row(view: &PluginView) -> Vec<Cell> {
    let (word, tone) = word(&view.state);
    let what = match &view.state {
        PluginState::Failed(why) | PluginState::Late(why) => why.clone(),
        PluginState::On if !view.runs() => view.notes.join("; "),
        _ => view.manifest.description.clone(),
    };
    vec![
        Cell::new(&view.key).tone(Tone::Strong),
        Cell::new(&view.manifest.version),
        Cell::new(view.origin.word()),
        Cell::new(word).tone(tone),
        Cell::new(what),
    ]
}

fn word(state: &PluginState) -> (&'static str, Tone) {
    match state {
        PluginState::On => ("on", Tone::Good),
        PluginState::Off => ("off", Tone::Faint),
        PluginState::NotAccepted => ("not accepted", Tone::Bad),
        PluginState::Late(_) => ("late", Tone::Bad),
        PluginState::Failed(_) => ("failed", Tone::Bad),
    }
}

fn described(view: &PluginView) -> Value {
    let offer = view.offer.clone().unwrap_or_default();
    let error = match &view.state {
        PluginState::Failed(why) | PluginState::Late(why) => Some(why),
        _ => None,
    };
    json!({
        "key": view.key,
        "name": view.manifest.name,
        "version": view.manifest.version,
        "description": view.manifest.description,
        "author": view.manifest.author,
        "source": view.origin.word(),
        "path": view.folder.as_ref().map(|folder| folder.display().to_string()),
        "executable": !view.manifest.run.is_empty(),
        "state": word(&view.state).0,
        "enabled": matches!(view.state, PluginState::On | PluginState::Late(_) | PluginState::Failed(_)),
        "error": error,
        "notes": notes(view),
        "requires_env": view.manifest.requires_env,
        "tools": offer.tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        "hooks": offer.hooks,
        "commands": offer.commands.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        "cli": offer.cli.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        "skills": offer.skills.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
    })
}

fn info(shell: &Shell, name: &str) -> Result<(), Failure> {
    let views = shell.runtime()?.plugins();
    let view = find(&views, name)?;
    if shell.out.wants_json() {
        return shell.out.json(&described(view));
    }
    let (word, tone) = word(&view.state);
    let mut lines = vec![("state", shell.out.paint(word, tone))];
    // Whatever a plugin says of itself stays on its line.
    let mut say = |label: &'static str, text: String| {
        if !text.trim().is_empty() {
            lines.push((label, on_one_line(text.trim())));
        }
    };
    if let PluginState::Failed(why) | PluginState::Late(why) = &view.state {
        say("why", why.clone());
    }
    say("version", view.manifest.version.clone());
    say("what for", view.manifest.description.clone());
    say("author", view.manifest.author.clone());
    say("from", view.origin.word().to_owned());
    say("folder", view.folder.as_ref().map(|path| visible(&path.display().to_string())).unwrap_or_default());
    say("runs", visible(&view.manifest.run.join(" ")));
    say("needs", joined(view.manifest.requires_env.iter().cloned()));
    let Offer { tools, hooks, commands, cli, skills, .. } = view.offer.clone().unwrap_or_default();
    say("tools", joined(tools.iter().map(|it| it.name.clone())));
    say("hooks", joined(hooks.into_iter()));
    say("commands", joined(commands.iter().map(|it| format!("/{}", it.name))));
    say("cli", joined(cli.iter().map(|it| format!("hermes {}", it.name))));
    say("skills", joined(skills.iter().map(|it| format!("{}:{}", view.manifest.name, it.name))));
    for note in notes(view) {
        say("note", note);
    }
    shell.out.line(&visible(&view.key))?;
    lines.iter().try_for_each(|(label, text)| shell.out.line(&format!("  {label:<9} {text}")))
}

/// What is odd about a plugin: also names of commands that it does not get.
fn notes(view: &PluginView) -> Vec<String> {
    let offer = view.offer.iter();
    let cli = offer.clone().flat_map(|offer| &offer.cli).filter(|it| plugin_cli::is_ours(&it.name));
    let cli = cli.map(|it| format!("`hermes {}` is a command of Hermes, which counts", it.name));
    let is_ours = |it: &&OfferedCommand| slash::named(&it.name.to_lowercase()).is_some();
    let commands = offer.flat_map(|offer| &offer.commands).filter(is_ours);
    let commands = commands.map(|it| format!("`/{}` is a command of Hermes, which counts", it.name));
    view.notes.iter().cloned().chain(commands).chain(cli).collect()
}

/// Names, with what would not show in them written out.
fn joined(names: impl Iterator<Item = String>) -> String {
    names.map(|name| visible(&name)).collect::<Vec<_>>().join(", ")
}

/// The plugin that is meant, by key or name; of several the one that runs.
fn find<'a>(views: &'a [PluginView], name: &str) -> Result<&'a PluginView, Failure> {
    let same = || views.iter().filter(|view| view.key == name);
    let found = same().find(|view| view.runs()).or_else(|| same().next());
    found.or_else(|| views.iter().find(|view| view.manifest.name == name)).ok_or_else(|| {
        let near = suggest(name, views.iter().map(|view| view.key.as_str()), 3);
        Failure::usage(match near.as_slice() {
            [] => format!("there is no plugin `{name}`; `hermes plugins list` shows all"),
            near => format!("there is no plugin `{name}`; did you mean `{}`?", near.join("` or `")),
        })
    })
}

fn switch(shell: &Shell, names: &[String], on: bool) -> Result<(), Failure> {
    let (home, views) = (shell.home()?, shell.runtime()?.plugins());
    let named = |name: &String| match find(&views, name) {
        Ok(view) => Ok(view.key.clone()),
        // What is not there any more can still be taken from the list.
        Err(_) if !on && enabled(&home).contains(name) => Ok(name.clone()),
        Err(unknown) => Err(unknown),
    };
    let keys: Vec<String> = names.iter().map(named).collect::<Result<_, _>>()?;
    let list = |name: &str| KeyPath::new(["plugins", name]).ok_or_else(|| Failure::failed("no such key"));
    let (to, from) = if on { ("enabled", "disabled") } else { ("disabled", "enabled") };
    let (to, from) = (list(to)?, list(from)?);
    ConfigFile::update(&home, |file| {
        keys.iter().try_for_each(|key| {
            // Another spelling of the same plugin must not keep it on or off.
            let spelled =
                views.iter().filter(|view| view.key == *key).map(|view| view.manifest.name.as_str());
            for name in spelled.chain([key.as_str()]) {
                file.remove_from_list(&from, name)?;
            }
            if on {
                file.add_to_list(&to, key)?;
            }
            Ok(())
        })
    })?;
    let runtime = shell.runtime()?;
    if on {
        runtime.try_plugins(&keys);
    }
    let after = runtime.plugins();
    let changed: Vec<&PluginView> = after.iter().filter(|view| keys.contains(&view.key)).collect();
    let failed = on && changed.iter().any(|view| matches!(view.state, PluginState::Failed(_)));
    if shell.out.wants_json() {
        shell.out.json(&changed.iter().map(|view| described(view)).collect::<Vec<_>>())?;
    } else {
        for view in &changed {
            shell.out.line(&format!("{}: {}", visible(&view.key), word(&view.state).0))?;
            tell_what_is_missing(view, on);
        }
        for gone in keys.iter().filter(|key| !changed.iter().any(|view| view.key == **key)) {
            shell.out.text(&format!("{gone}: off, and not there"))?;
        }
    }
    if failed { Err(Failure::Told(Failure::FAILED)) } else { Ok(()) }
}

/// What the configuration names as switched on.
fn enabled(home: &Home) -> Vec<String> {
    let list = KeyPath::new(["plugins", "enabled"]);
    let config = Config::read(home, &|_| None).ok();
    let value = list.zip(config).and_then(|(list, config)| config.get(&list));
    let items = match value {
        Some(Value::Array(items)) => items,
        other => other.into_iter().collect(),
    };
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn tell_what_is_missing(view: &PluginView, on: bool) {
    match (&view.state, &view.folder) {
        (PluginState::Failed(why), _) => output::complain(why),
        (PluginState::NotAccepted, Some(folder)) if on => output::warn(&format!(
            "it came with the project; `hermes plugins trust {}` accepts it as it is now",
            folder.display()
        )),
        _ => {}
    }
}
