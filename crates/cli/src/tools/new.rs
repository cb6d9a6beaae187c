//! `hermes tools new NAME`: a tool of one's own, in Python, that works as it is.

use hermes::store::foreign;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::shell::Shell;

/// The file, with `NAME` where the tool's name goes.
const TEMPLATE: &str = include_str!("template.py");

/// What files import to register themselves.
const TAKEN: [&str; 1] = ["registry"];

#[derive(clap::Args)]
pub(crate) struct New {
    /// Name of the tool, and of its file
    name: String,
    /// Put it into this project instead of your home; it is then accepted by `hermes plugins trust`
    #[arg(long)]
    project: bool,
}

impl Run for New {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        if TAKEN.contains(&self.name.as_str()) {
            return Err(Failure::usage(format!(
                "a tool file cannot be called {}.py: something else is imported by that name; choose another",
                self.name
            )));
        }
        if !is_name(&self.name) {
            return Err(Failure::usage(format!(
                "`{}` is not a name for a tool: use up to 64 of a-z, 0-9 and `_`, beginning with a letter",
                self.name
            )));
        }
        if let Some(tool) = shell.runtime()?.tools().tool(&self.name) {
            let toolset = tool.toolset();
            return Err(Failure::usage(format!("there is a tool `{}` already, in `{toolset}`", self.name)));
        }
        let folder = if self.project { shell.cwd().join(".hermes/tools") } else { shell.home()?.tools() };
        let path = folder.join(format!("{}.py", self.name));
        if !foreign::create(&path, &TEMPLATE.replace("NAME", &self.name))? {
            return Err(Failure::failed(format!("{} is there already", path.display())));
        }
        if shell.out.wants_json() {
            return shell.out.json(&json!({ "name": self.name, "path": path }));
        }
        shell.out.text(&format!("Wrote {}", path.display()))?;
        if self.project {
            shell.out.remark(&format!("Accept it as it is: hermes plugins trust {}", path.display()))?;
        }
        shell.out.remark(&format!("Try it: hermes tools test {}", path.display()))
    }
}

/// A name that is good for a tool and for a Python module.
fn is_name(name: &str) -> bool {
    !TAKEN.contains(&name)
        && name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_module_and_a_tool_at_once() {
        assert!(is_name("weather") && is_name("a1_b"));
        for bad in ["", "1a", "registry", "a-b", "A", "a.b", "../a", &"a".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
