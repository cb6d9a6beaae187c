//! Shell hooks as people see them: how they stand, whether they may run, and what one would answer.

use std::time::Duration;

use hermes_core::hook::EventKind;
use hermes_extend::hooks::Tried;
use serde_json::Value;

use crate::foreign::{HookStanding, hook_problems};
use crate::runtime::Runtime;

impl Runtime {
    /// Every shell hook of the configuration, and how it stands.
    pub fn hooks(&self) -> Vec<HookStanding> {
        self.world(|world| self.foreign().hooks().standing(world))
    }

    /// Why some of them do not do what they are there for, or do it oddly, in words.
    pub fn hook_problems(&self) -> Vec<String> {
        self.hooks().iter().flat_map(hook_problems).collect()
    }

    /// Agrees to a command as it is now, at each event that it is configured for; gives at how many.
    pub fn accept_hook(&self, command: &str) -> Result<usize, String> {
        self.world(|world| self.foreign().hooks().accept(world, command))
    }

    /// Takes back every consent to a command; gives how many there were.
    pub fn revoke_hook(&self, command: &str) -> Result<usize, String> {
        self.foreign().hooks().revoke(command)
    }

    /// Runs the hooks of an event once with a sample, or with this document, whether or not they were
    /// agreed to. By command, what came of it.
    pub fn try_hooks(
        &self,
        kind: EventKind,
        tool: Option<&str>,
        told: Option<Value>,
    ) -> Vec<(String, Result<Tried, String>)> {
        self.world(|world| self.foreign().hooks().try_out(world, kind, tool, told))
    }

    /// Runs one hook, by its place among [`Runtime::hooks`], with a sample about a tool that it is for, whether
    /// or not it was agreed to; nothing when it is for no tool that is here.
    pub fn try_hook(&self, at: usize) -> Option<Result<Tried, String>> {
        let snapshot = self.tools();
        let names = snapshot.tools().map(|tool| tool.name().as_ref());
        self.world(|world| self.foreign().hooks().try_one(world, at, names))
    }

    /// Keeps what went wrong with a hook for [`Runtime::hook_notes`].
    pub(crate) fn note_of_hook(&self, note: &str) {
        self.foreign().hooks().observers().note(note);
    }

    /// What went wrong with hooks since this was last asked.
    pub fn hook_notes(&self) -> Vec<String> {
        self.foreign().hooks().observers().failures()
    }

    /// Gives hooks that nobody waits for this long, and leaves what went wrong with them to be asked for.
    pub(crate) fn wait_for_hooks(&self, limit: Duration) {
        let _ = self.foreign().hooks().observers().settle(limit);
    }

    /// Waits for hooks that nobody waits for, and for word to MCP servers that calls were given up, but
    /// no longer than `limit` each, and says what went wrong with hooks. For the end of a program.
    pub fn settle(&self, limit: Duration) -> Vec<String> {
        self.foreign().mcp().settle(limit);
        let observers = self.foreign().hooks().observers();
        let settled = observers.settle(limit);
        let mut wrong = observers.failures();
        if !settled {
            let (limit, waiting) = (limit.as_secs_f64(), observers.waiting());
            let untold =
                if waiting > 0 { format!("; events that were not told: {waiting}") } else { String::new() };
            wrong.push(format!("some hooks were still running after {limit} s{untold}"));
        }
        match observers.dropped() {
            0 => {}
            count => wrong.push(format!("{count} hooks were not told: too much was going on")),
        }
        wrong
    }
}
