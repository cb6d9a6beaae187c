//! `hermes tools enable|disable NAME…`: switches toolsets or tools for a platform, in `config.yaml`.

use hermes::Runtime;
use hermes::core::toolset::{PlatformLists, SelectionError};
use hermes::store::config::KeyPath;
use hermes::store::{Change, ConfigFile, Settings, StoreError};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Enable {
    #[command(flatten)]
    what: What,
}

#[derive(clap::Args)]
pub(crate) struct Disable {
    #[command(flatten)]
    what: What,
}

/// What is switched, and where.
#[derive(clap::Args)]
struct What {
    /// Toolsets or tools
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The platform it is switched for
    #[arg(long, default_value = "cli", value_name = "NAME")]
    platform: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

type Switch =
    fn(&PlatformLists, &hermes::core::toolset::Catalog, &str, &str) -> Result<PlatformLists, SelectionError>;

impl Run for Enable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        self.what.switch(shell, PlatformLists::with, "enabled")
    }
}

impl Run for Disable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        self.what.switch(shell, PlatformLists::without, "disabled")
    }
}

impl What {
    fn switch(&self, shell: &Shell, switch: Switch, done: &str) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let before = lists(&runtime.settings(), &self.platform);
        let after = self.wanted(&runtime, &before, switch)?;
        let home = shell.home()?;
        let change = if self.dry_run {
            let mut file = ConfigFile::open(&home)?;
            write(&mut file, &self.platform, &before, &after)?;
            file.change()
        } else {
            ConfigFile::update(&home, |file| write(file, &self.platform, &before, &after))?
        };
        self.report(shell, &change, done)
    }

    fn wanted(
        &self,
        runtime: &Runtime,
        before: &PlatformLists,
        switch: Switch,
    ) -> Result<PlatformLists, Failure> {
        let snapshot = runtime.tools();
        let mut lists = before.clone();
        for name in &self.names {
            lists = switch(&lists, snapshot.catalog(), &self.platform, name)?;
        }
        Ok(lists)
    }

    fn report(&self, shell: &Shell, change: &Change, done: &str) -> Result<(), Failure> {
        let changed = !change.is_empty();
        if shell.out.wants_json() {
            return shell.out.json(&json!({
                "platform": self.platform,
                done: self.names,
                "changed": changed,
                "written": changed && !self.dry_run,
                "file": change.path,
                "after": if self.dry_run { json!(change.after) } else { Value::Null },
            }));
        }
        let names = self.names.join(", ");
        if self.dry_run && changed {
            return shell.out.line(change.after.trim_end());
        }
        let note = if changed { "" } else { " (it already was)" };
        shell.out.line(&format!("{names}: {done} for {}{note}", self.platform))
    }
}

fn lists(settings: &Settings, platform: &str) -> PlatformLists {
    PlatformLists {
        toolsets: settings.platform_toolsets.get(platform).cloned(),
        disabled_toolsets: settings.agent.disabled_toolsets.clone(),
        disabled_tools: settings.agent.disabled_tools.clone(),
    }
}

/// Writes what is different, line by line, so that comments in the lists stay.
fn write(
    file: &mut ConfigFile,
    platform: &str,
    before: &PlatformLists,
    after: &PlatformLists,
) -> Result<(), StoreError> {
    if let Some(path) = KeyPath::new(["platform_toolsets", platform])
        && let Some(wanted) = &after.toolsets
    {
        match &before.toolsets {
            Some(known) if !known.is_empty() && !wanted.is_empty() => edit(file, &path, known, wanted)?,
            _ => drop(file.set(&path, &json!(wanted))?),
        }
    }
    for (key, known, wanted) in [
        ("disabled_toolsets", &before.disabled_toolsets, &after.disabled_toolsets),
        ("disabled_tools", &before.disabled_tools, &after.disabled_tools),
    ] {
        if let Some(path) = KeyPath::new(["agent", key]) {
            edit(file, &path, known, wanted)?;
        }
    }
    Ok(())
}

fn edit(
    file: &mut ConfigFile,
    path: &KeyPath,
    known: &[String],
    wanted: &[String],
) -> Result<(), StoreError> {
    for gone in known.iter().filter(|name| !wanted.contains(name)) {
        file.remove_from_list(path, gone)?;
    }
    for new in wanted.iter().filter(|name| !known.contains(name)) {
        file.add_to_list(path, new)?;
    }
    Ok(())
}
