//! `hermes tools enable|disable NAME…`: switches toolsets or tools for a platform, in `config.yaml`.

use hermes::Runtime;
use hermes::core::toolset::{Catalog, PlatformLists, SelectionError};
use hermes::store::config::KeyPath;
use hermes::store::{Change, ConfigFile, Settings, StoreError};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output;
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

type Switch = fn(&PlatformLists, &Catalog, &str, &str) -> Result<PlatformLists, SelectionError>;

impl Run for Enable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let change = self.what.switch(shell, &runtime, PlatformLists::with)?;
        if !self.what.dry_run {
            self.what.warn_of_what_stays_out(&runtime)?;
        }
        self.what.report(shell, &change, "enabled")
    }
}

impl Run for Disable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let change = self.what.switch(shell, &shell.runtime()?, PlatformLists::without)?;
        self.what.report(shell, &change, "disabled")
    }
}

impl What {
    fn switch(&self, shell: &Shell, runtime: &Runtime, switch: Switch) -> Result<Change, Failure> {
        let home = shell.home()?;
        // A name that is wrong is told before anything is locked or made.
        self.wanted(runtime, switch)?;
        if self.dry_run {
            let mut file = ConfigFile::open(&home)?;
            let (before, after) = self.wanted(runtime, switch)?;
            write(&mut file, &self.platform, &before, &after)?;
            return Ok(file.change());
        }
        let mut refused = None;
        let change = ConfigFile::update(&home, |file| {
            // Somebody else may have switched something since we looked: look again, now that
            // nobody can.
            runtime.refresh()?;
            match self.wanted(runtime, switch) {
                Ok((before, after)) => write(file, &self.platform, &before, &after),
                Err(wrong) => {
                    refused = Some(wrong);
                    Ok(())
                }
            }
        })?;
        match refused {
            Some(wrong) => Err(wrong.into()),
            None => Ok(change),
        }
    }

    /// The lists as they are and as they are to be.
    fn wanted(
        &self,
        runtime: &Runtime,
        switch: Switch,
    ) -> Result<(PlatformLists, PlatformLists), SelectionError> {
        let snapshot = runtime.tools();
        let before = lists(&runtime.settings(), &self.platform);
        let mut after = before.clone();
        for name in &self.names {
            after = switch(&after, snapshot.catalog(), &self.platform, name)?;
        }
        Ok((before, after))
    }

    /// Switching something on may not be enough: another setting can keep it out.
    fn warn_of_what_stays_out(&self, runtime: &Runtime) -> Result<(), Failure> {
        runtime.refresh()?;
        let snapshot = runtime.tools();
        let explanation = runtime.platform(&self.platform)?.explain(snapshot.catalog())?;
        for name in &self.names {
            let members = snapshot.catalog().resolve(name)?;
            if members.tools.is_empty() {
                output::warn(&format!("nothing in `{name}` is built yet, so nothing changes for now"));
            }
            let stories = members.tools.iter().filter_map(|member| explanation.of(&member.tool).ok());
            for story in stories.filter(|story| !story.verdict.is_in()) {
                output::warn(&story.to_string());
            }
        }
        Ok(())
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
        if self.dry_run && changed {
            return shell.out.line(change.after.trim_end());
        }
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let verb = if self.names.len() == 1 { "is" } else { "are" };
        let again = if changed { "" } else { ", as before" };
        shell.out.line(&format!("{} {verb} {done} for {}{again}", names.join(", "), self.platform))
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
