//! `hermes sessions show SESSION`: what was said, and what was cut off.

use hermes::store::sessions::CallRecord;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::output;
use crate::sessions::with;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Show {
    /// An id, the beginning of one, or a title
    session: String,
    /// Also messages that were taken back
    #[arg(long)]
    history: bool,
    /// The recorded tool calls instead of the messages
    #[arg(long)]
    calls: bool,
}

impl Run for Show {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let store = with(shell, &self.session)?;
        let session = store.find(&self.session)?;
        if self.calls {
            return calls(shell, &store.calls(&session.id)?);
        }
        let export = store.export(&session.id, self.history)?;
        let interrupted = store.interrupted(Some(&session.id))?;
        if shell.out.wants_json() {
            let mut value = serde_json::to_value(&export).map_err(Failure::failed)?;
            if let Some(fields) = value.as_object_mut() {
                fields.insert("interrupted_calls".to_owned(), json!(interrupted));
            }
            return shell.out.json(&value);
        }
        shell.out.text(export.markdown().trim_end())?;
        for call in &interrupted {
            output::warn(&format!("{} was interrupted; what it had done is not known", described(call)));
        }
        Ok(())
    }
}

fn calls(shell: &Shell, calls: &[CallRecord]) -> Result<(), Failure> {
    if shell.out.wants_json() {
        return shell.out.json(&calls);
    }
    for call in calls {
        let end = call.status.as_deref().unwrap_or(match call.started_at {
            Some(_) if call.ended_at.is_some() => "interrupted",
            _ => "running",
        });
        shell.out.text(&format!("{end:<12} {}", described(call)))?;
    }
    Ok(())
}

fn described(call: &CallRecord) -> String {
    let arguments = call.arguments.as_ref().map(|arguments| json!(arguments).to_string()).unwrap_or_default();
    format!("{} {arguments}", call.tool).trim_end().to_owned()
}
