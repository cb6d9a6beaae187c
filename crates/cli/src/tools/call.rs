//! `hermes tools call NAME 'JSON'`: one call on the road, under the same rules as a model's.
//!
//! Standard output always gets exactly one JSON document, also when the call fails.

use std::sync::Arc;
use std::time::Duration;

use hermes::core::clarify::Asker;
use hermes::core::toolset::Selection;
use hermes::store::sessions::{NewSession, SessionError};
use hermes::{Outcome, Runtime, SessionBuilder, Status, ToolCall};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::approval::{OwnWords, TerminalAsker};
use crate::command::{Failure, Run};
use crate::interrupt::Interrupt;
use crate::shell::Shell;
use crate::{input, output};

/// Below the options.
const AFTER_HELP: &str = "\
Examples:
  hermes tools call read_file '{\"path\": \"README.md\"}'
  hermes tools call search_files @query.json
  echo '{\"pattern\": \"TODO\"}' | hermes tools call search_files -

One JSON document is printed, whatever happens. Exit codes: 0 the tool did it, 1 it did not, or its result is withheld \
(the document says why), 2 there is no such tool, 130 stopped by Ctrl-C.";

/// How long hooks that nobody waits for get before the program ends.
pub(crate) const HOOKS_AT_THE_END: Duration = Duration::from_secs(2);

/// How long MCP servers over the network get to hear that the program ends.
pub(crate) const SERVERS_AT_THE_END: Duration = Duration::from_millis(500);

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Call {
    /// Name of the tool
    name: String,
    /// Its arguments as JSON; `@FILE` reads them from a file, `-` from standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    /// Only these toolsets or tools can be called
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    toolsets: Option<Vec<String>>,
    /// Record the call in this session, which is made if there is none
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Run shell hooks that nobody has accepted
    #[arg(long)]
    accept_hooks: bool,
}

impl Run for Call {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let arguments = input::text(&self.arguments, shell.cwd())?;
        let id = self.session.as_ref().map(|name| recorded_in(name, shell)).transpose()?;
        // Toolsets may be those of foreign tools.
        let only = self.toolsets.is_none().then_some(self.name.as_str());
        let stop = CancellationToken::new();
        let runtime = shell.runtime_for_call(only, id.is_some())?;
        if self.accept_hooks {
            runtime.set_env("HERMES_ACCEPT_HOOKS", Some("1"));
        }
        runtime.wait_for_tool(&self.name);
        let selection = match &self.toolsets {
            Some(names) => Selection::of(super::words(names)),
            None => Selection::everything(),
        };
        let mut session = session(&runtime, shell).select(selection);
        if let Some(tool) = only {
            session = session.only(tool);
        }
        if let Some(id) = id {
            session = session.id(id);
        }
        let session = session.open()?;
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        let outcome = session.call_until_blocking(ToolCall::new(&self.name, arguments), &stop);
        for note in &outcome.notes {
            output::warn(note);
        }
        if shell.out.wants_json() {
            shell.out.json(&described(&outcome))?;
        } else {
            shell.out.json_text(&outcome.body)?;
        }
        for wrong in runtime.settle(HOOKS_AT_THE_END) {
            output::warn(&wrong);
        }
        runtime.end_servers_blocking(SERVERS_AT_THE_END);
        if outcome.status == Status::Unknown && !self.is_there(&runtime) {
            for why in runtime.why_missing(&self.name) {
                output::warn(&why);
            }
        }
        match outcome.status {
            Status::Ok => Ok(()),
            Status::Unknown if !self.is_there(&runtime) => Err(Failure::Told(Failure::USAGE)),
            Status::Cancelled => {
                let code = interrupt.as_ref().and_then(Interrupt::exit_code);
                Err(Failure::Told(code.unwrap_or(Failure::FAILED)))
            }
            _ => Err(Failure::Told(Failure::FAILED)),
        }
    }
}

impl Call {
    /// Whether the tool exists and was not left out: then it is unavailable, not unknown.
    fn is_there(&self, runtime: &Runtime) -> bool {
        self.toolsets.is_none() && runtime.tools().tool(&self.name).is_some()
    }
}

/// A session in which the person at the terminal is asked, by policy and by servers.
fn session(runtime: &Runtime, shell: &Shell) -> SessionBuilder {
    // Nothing is left out for room: no model is told of these tools.
    let definitions = super::whole_definitions(runtime);
    let session = runtime.session().definitions(definitions).model_for_servers();
    let asked = shell.approver(runtime);
    if shell.is_of_an_agent() {
        return session.approver(asked);
    }
    let session = session.approver(Arc::new(OwnWords(asked)));
    if !shell.has_person() {
        return session;
    }
    let asker: Arc<dyn Asker> = Arc::new(TerminalAsker::default());
    session.extension(asker)
}

/// The id of the session that is meant, which is made if there is none.
fn recorded_in(name: &str, shell: &Shell) -> Result<String, Failure> {
    let store = hermes::open_sessions(&shell.home()?)?;
    match store.find(name) {
        Ok(session) => Ok(session.id),
        Err(SessionError::Unknown { .. }) => {
            let cwd = shell.cwd().to_string_lossy().into_owned();
            let new = NewSession { id: Some(name.to_owned()), cwd: Some(cwd), ..NewSession::from("cli") };
            Ok(store.create(&new)?)
        }
        Err(wrong) => Err(wrong.into()),
    }
}

fn described(outcome: &Outcome) -> Value {
    json!({
        "id": outcome.id.as_str(),
        "tool": outcome.tool.as_ref(),
        "status": outcome.status.word(),
        "duration_ms": outcome.took.as_secs_f64() * 1000.0,
        "saved_to": outcome.spilled,
        "result": serde_json::from_str::<Value>(&outcome.body).unwrap_or_else(|_| json!(outcome.body)),
    })
}
