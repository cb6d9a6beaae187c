//! What a runtime tells about foreign tools, beyond the registry.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use hermes_core::call::ToolCall;
use hermes_core::outcome::Outcome;
use hermes_core::registry::Snapshot;
use hermes_core::wait::wait;
use hermes_extend::mcp::client::{Server, one};
use hermes_extend::plugins::desk::{Calls, Desk, Injected, Reception};
use hermes_extend::plugins::offer::{Offer, OfferedCli, OfferedCommand};
use hermes_extend::plugins::subject::Subject;
use hermes_extend::python::scan::Registration;
use hermes_store::skills::PluginSkill;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::asking::{Pending, Unheard};
use super::mcp_memory::Memory;
use super::plugins::{PluginView, Plugins, skills_of};
use super::tool_files::{SAFE_WORDS, is_safe};
use crate::runtime::{Runtime, WeakRuntime};
use crate::session::Session;

/// A tool file that was tried.
#[derive(Debug, Clone)]
pub struct TriedFile {
    /// The calls of `registry.register` at its top level.
    pub registrations: Vec<Registration>,
    /// What it offers.
    pub offer: Offer,
}

impl Runtime {
    /// What is wrong with foreign tools, in words: files that do not load, things that nobody accepted.
    pub fn foreign_problems(&self) -> Vec<String> {
        self.all_tools();
        self.foreign().problems()
    }

    /// What is wrong with the MCP servers, or that they are left out.
    pub fn mcp_problems(&self) -> Vec<String> {
        self.all_tools();
        self.foreign().mcp_problems()
    }

    /// An MCP server as it would be written into the configuration, to be tried. What it says is kept in
    /// `told` until [`Mcp::adopt`](crate::Mcp::adopt) takes it over.
    pub fn mcp_candidate(&self, name: &str, written: &Value, told: &Arc<Memory>) -> Result<Server, String> {
        let config = self.world(|world| {
            let variable = |name: &str| world.variable(name).map(str::to_owned);
            one(name, written, &variable)
        })?;
        Ok(self.foreign().mcp().candidate(config, told))
    }

    /// Loads a tool file from anywhere and installs its tools, as if it lay in the home. Whoever calls
    /// this answers for running it.
    pub fn try_tool_file(&self, path: &Path) -> Result<TriedFile, String> {
        let files = self.foreign().tool_files().ok_or("there is no home")?;
        let (tried, scope) = self.world(|world| files.try_file(path, world))?;
        self.install(scope).map_err(|refused| refused.to_string())?;
        Ok(tried)
    }

    /// Waits until a tool is there that an MCP server, a file or a plugin may have which was late or failed
    /// before. Each of them is given up on after a while.
    pub fn wait_for_tool(&self, name: &str) {
        if self.tools().tool(name).is_some() {
            return;
        }
        self.mcp().ready_for_blocking(name);
        if self.tools().tool(name).is_some() {
            return;
        }
        let meant = |unheard: &Unheard| *unheard != Unheard::Hung;
        let pending = self.world(|world| self.foreign().ask_for(name, meant, world));
        pending.into_iter().for_each(Pending::wait);
    }

    /// Waits for whoever may have one of these tools and has not said yet what it offers; nothing when
    /// there is nobody.
    pub(crate) fn late<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<BoxFuture<'static, ()>> {
        let meant = |unheard: &Unheard| *unheard == Unheard::Late;
        let ask = |name| self.world(|world| self.foreign().ask_for(name, meant, world));
        let pending: Vec<Pending> = names.flat_map(ask).collect();
        (!pending.is_empty()).then(|| -> BoxFuture<'static, ()> {
            Box::pin(async { drop(join_all(pending.into_iter().map(Pending::over)).await) })
        })
    }

    /// Asks plugins that are switched on once more what they offer, whatever came of it before, and
    /// waits for them.
    pub fn try_plugins(&self, keys: &[String]) {
        self.all_tools();
        let Some(plugins) = self.foreign().plugins() else { return };
        plugins.asking().ask(plugins.anew(keys)).wait();
    }

    /// Why a tool that nobody knows may be missing: the MCP server it would be of, the file that registers it, or
    /// plugins that were not heard, or that all of them are switched off.
    pub fn why_missing(&self, tool: &str) -> Vec<String> {
        if self.world(is_safe) {
            return vec![SAFE_WORDS.to_owned()];
        }
        self.all_tools();
        let of_server = self.foreign().mcp().why_missing(tool);
        if !of_server.is_empty() {
            return of_server;
        }
        let files = self.foreign().tool_files().map(|files| files.why_missing(tool)).unwrap_or_default();
        if !files.is_empty() {
            return files;
        }
        self.foreign().plugins().map(|plugins| plugins.why_missing()).unwrap_or_default()
    }

    /// Asks those again that were late or failed, beside everything else.
    pub(crate) fn ask_again(&self) {
        self.current();
        self.world(|world| self.foreign().ask_again(world));
    }

    /// Every plugin that is there, switched on or not.
    pub fn plugins(&self) -> Vec<PluginView> {
        self.all_tools();
        self.foreign().plugins().map(|plugins| self.world(|world| plugins.views(world))).unwrap_or_default()
    }

    /// The slash commands of plugins.
    pub fn plugin_commands(&self) -> Vec<OfferedCommand> {
        self.among_plugins(|plugins| plugins.each(|running| Some(running.offer.commands.clone()))).concat()
    }

    /// Runs a slash command of a plugin; nothing when no plugin has it. The calls it makes are calls of
    /// this session.
    pub async fn run_plugin_command(
        &self,
        name: &str,
        words: &str,
        session: Arc<Session>,
    ) -> Option<Result<String, String>> {
        let (subject, desk) = self.owner(|offer| offer.commands.iter().any(|it| it.name == name))?;
        let admitted = desk.admit_person(Arc::new(SessionCalls(session)));
        let asked = json!({ "name": name, "arguments": words, "within": admitted.number() });
        let said = subject.ask("command.run", asked).await;
        Some(match said {
            Ok(said) => Ok(said.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()),
            Err(wrong) => Err(wrong.to_string()),
        })
    }

    /// The commands that plugins add to the command line.
    pub fn plugin_cli(&self) -> Vec<OfferedCli> {
        self.among_plugins(|plugins| plugins.each(|running| Some(running.offer.cli.clone()))).concat()
    }

    /// Runs such a command, and waits for it; nothing when no plugin has it. The calls it makes are calls of
    /// this session. It reads from `input`, or finds nothing there.
    pub fn run_plugin_cli(
        &self,
        name: &str,
        words: &[String],
        input: Option<&Path>,
        session: Arc<Session>,
    ) -> Option<Result<CliSaid, String>> {
        let (subject, desk) = self.owner(|offer| offer.cli.iter().any(|it| it.name == name))?;
        let admitted = desk.admit_person(Arc::new(SessionCalls(session)));
        let asked = json!({ "name": name, "arguments": words, "input": input, "within": admitted.number() });
        let said = wait(subject.ask("cli.run", asked));
        Some(said.map(|said| CliSaid::of(&said)).map_err(|wrong| wrong.to_string()))
    }

    /// The skills of plugins that run at this moment. Nothing is looked for where none is switched on.
    pub fn plugin_skills(&self) -> Vec<PluginSkill> {
        let enabled = self.world(|world| world.config("plugins.enabled"));
        if enabled.as_ref().and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Vec::new();
        }
        self.foreign().widen();
        self.current();
        self.foreign()
            .plugins()
            .map(|plugins| plugins.each(|it| Some(skills_of(it))))
            .unwrap_or_default()
            .concat()
    }

    /// Messages that plugins want to be said in the conversation; each is given out once.
    pub fn injected_messages(&self) -> Vec<Injected> {
        self.foreign().plugins().map(|plugins| plugins.desk().messages()).unwrap_or_default()
    }

    /// All tools at this moment, with foreign ones that have no say in what others do.
    fn all_tools(&self) -> Arc<Snapshot> {
        self.foreign().widen();
        self.tools()
    }

    /// Tells MCP servers over the network that their sessions are over; waits no longer than `limit`. For the
    /// end of a program; servers on this machine read the end of their input with it, and nobody waits for them.
    pub fn end_servers_blocking(&self, limit: Duration) {
        self.foreign().mcp().end_blocking(limit);
    }

    fn among_plugins<R: Default>(&self, look: impl FnOnce(&Plugins) -> R) -> R {
        self.all_tools();
        self.foreign().plugins().map(|plugins| look(plugins)).unwrap_or_default()
    }

    /// The plugin that offers something.
    fn owner(&self, has: impl Fn(&Offer) -> bool) -> Option<(Arc<Subject>, Arc<Desk>)> {
        let owners = self.among_plugins(|plugins| {
            let desk = plugins.desk();
            plugins
                .each(|running| has(&running.offer).then(|| (Arc::clone(&running.subject), Arc::clone(desk))))
        });
        owners.into_iter().next()
    }

    /// Where the last handler of a tool file that raised did so, line by line; given out once.
    pub fn last_trace(&self) -> Option<String> {
        self.foreign().tool_files().and_then(|files| files.desk().trace())
    }

    /// Lets the hooks of plugins make calls.
    pub(crate) fn open_to_hooks(self) -> Self {
        if let Some(plugins) = self.foreign().plugins() {
            plugins.desk().open(Arc::new(Front(self.downgrade())));
        }
        self
    }
}

/// Calls as a session makes them.
struct SessionCalls(Arc<Session>);

impl Calls for SessionCalls {
    fn call(&self, call: ToolCall, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let session = Arc::clone(&self.0);
        Box::pin(async move { session.call_until(call, &stop).await })
    }
}

/// How the sessions are called that hooks make calls in: hooks that are told of those calls make none.
const OF_HOOKS: &str = "hook of ";

/// Opens sessions for hooks.
struct Front(WeakRuntime);

impl Reception for Front {
    fn calls(&self, session: &str) -> Option<Arc<dyn Calls>> {
        if session.starts_with(OF_HOOKS) {
            return None;
        }
        let runtime = self.0.upgrade()?;
        let builder = runtime.session().id(format!("{OF_HOOKS}{session}"));
        // Of a session that has been left nobody is there to be asked.
        let builder = match runtime.open_sessions().standpoint(session) {
            Some(around) => builder.standing_at(around),
            None => builder,
        };
        Some(Arc::new(SessionCalls(Arc::new(builder.open().ok()?))))
    }
}

/// What a command of a plugin said, and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CliSaid {
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
    /// Its exit code.
    pub code: u8,
}

impl CliSaid {
    fn of(said: &Value) -> Self {
        let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { out: text("out"), err: text("err"), code: exit_code(said.get("exit_code")) }
    }
}

/// What is no exit code that a program can end with is no success.
fn exit_code(said: Option<&Value>) -> u8 {
    match said {
        None | Some(Value::Null) => 0,
        Some(code) => code.as_i64().and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_command_that_says_nothing_or_zero_has_succeeded() {
        let of = |said| CliSaid::of(&said).code;

        assert_eq!(
            (of(json!({})), of(json!({ "exit_code": null })), of(json!({ "exit_code": 0 }))),
            (0, 0, 0)
        );
        assert_eq!((of(json!({ "exit_code": 3 })), of(json!({ "exit_code": 255 }))), (3, 255));
        for odd in [json!(-1), json!(256), json!(u64::MAX), json!(0.5), json!("0"), json!(false)] {
            assert_eq!(of(json!({ "exit_code": odd })), 1, "{odd}");
        }
    }
}
