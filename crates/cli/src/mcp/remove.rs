//! `hermes mcp remove NAME`: out of `config.yaml`, with all that is known of it.

use hermes::store::ConfigFile;
use hermes::store::config::KeyPath;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::mcp::{names, no_such};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Remove {
    /// Which server
    name: String,
}

impl Run for Remove {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        if !names(&runtime).contains(&self.name) {
            return Err(no_such(&runtime, &self.name));
        }
        let path =
            KeyPath::new(["mcp_servers", self.name.as_str()]).ok_or_else(|| no_such(&runtime, &self.name))?;
        ConfigFile::update(&shell.home()?, |file| file.unset(&path).map(drop))?;
        runtime.mcp().forget(&self.name);
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "name": self.name, "removed": true }));
        }
        shell.out.text(&format!("MCP server `{}` is removed", self.name))
    }
}
