//! `hermes tools enable|disable NAME…`: switches toolsets or tools for a platform, in `config.yaml`.

use hermes::Runtime;
use hermes::store::Change;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::output;
use crate::shell::Shell;
use crate::tools::of_server;
use crate::tools::switches::{self, Switch};

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
    /// Toolsets or tools; `SERVER:TOOL` is one tool of an MCP server, switched for every platform
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The platform it is switched for
    #[arg(long, default_value = "cli", value_name = "NAME")]
    platform: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Run for Enable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let change = self.what.switch(shell, &runtime, true)?;
        if !self.what.dry_run {
            self.what.warn_of_what_stays_out(&runtime)?;
        }
        self.what.report(shell, &runtime, &change, "enabled")
    }
}

impl Run for Disable {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let change = self.what.switch(shell, &runtime, false)?;
        self.what.report(shell, &runtime, &change, "disabled")
    }
}

impl What {
    fn switch(&self, shell: &Shell, runtime: &Runtime, on: bool) -> Result<Change, Failure> {
        let switches: Vec<Switch> = self.names.iter().map(|name| Switch { name: name.clone(), on }).collect();
        let turn = if self.dry_run { switches::tried } else { switches::saved };
        turn(&shell.home()?, runtime, &self.platform, &switches)
    }

    /// Switching something on may not be enough: another setting can keep it out.
    fn warn_of_what_stays_out(&self, runtime: &Runtime) -> Result<(), Failure> {
        runtime.refresh()?;
        let snapshot = runtime.tools();
        let explanation = runtime.platform(&self.platform)?.explain(snapshot.catalog())?;
        for name in self.names.iter().filter(|name| !of_server::is_meant(runtime, name)) {
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

    fn report(&self, shell: &Shell, runtime: &Runtime, change: &Change, done: &str) -> Result<(), Failure> {
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
        let everywhere = self.names.iter().all(|name| of_server::is_meant(runtime, name));
        let platform = if everywhere { "every platform" } else { &self.platform };
        shell.out.line(&format!("{} {verb} {done} for {platform}{again}", names.join(", ")))
    }
}
