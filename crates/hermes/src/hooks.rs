//! Shell hooks as people see them: how they stand, whether they may run, and what one would answer.

use std::time::Duration;

use hermes_core::hook::EventKind;
use hermes_extend::hooks::Tried;
use serde_json::Value;

use crate::foreign::HookStanding;
use crate::runtime::Runtime;

impl Runtime {
    /// Every shell hook of the configuration, and how it stands.
    pub fn hooks(&self) -> Vec<HookStanding> {
        self.world(|world| self.foreign().hooks().standing(world))
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

    /// Waits for hooks that nobody waits for, and for word to MCP servers that calls were given up, but
    /// no longer than `limit` each, and says what went wrong with hooks. For the end of a program.
    pub fn settle(&self, limit: Duration) -> Vec<String> {
        self.foreign().mcp().settle(limit);
        let observers = self.foreign().hooks().observers();
        let settled = observers.settle(limit);
        let mut wrong = observers.failures();
        if !settled {
            wrong.push(format!("some hooks were still running after {} s", limit.as_secs_f64()));
        }
        match observers.dropped() {
            0 => {}
            count => wrong.push(format!("{count} hooks were not told: too much was going on")),
        }
        wrong
    }
}
