//! Where what is learnt of MCP servers is kept: their part of the home.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_extend::mcp::client::{Kept, Mark, Vault};
use hermes_store::foreign::Stamp;
use hermes_store::{Home, McpFile, McpHome, Spill};

use crate::redact::WorldRedact;

/// The servers' part of the home; without a home nothing is kept.
pub(super) struct HomeVault {
    place: Option<(Home, McpHome)>,
    /// What must not get into logs and words that are shown.
    secrets: Arc<WorldRedact>,
}

impl HomeVault {
    pub(super) fn of(home: Option<&Home>, secrets: Arc<WorldRedact>) -> Self {
        Self { place: home.map(|home| (home.clone(), McpHome::of(home))), secrets }
    }

    /// That part, if there is a home.
    pub(super) fn home(&self) -> Option<&McpHome> {
        self.place.as_ref().map(|(_, home)| home)
    }

    /// What must not be shown.
    pub(super) fn secrets(&self) -> Arc<WorldRedact> {
        Arc::clone(&self.secrets)
    }

    /// Changes when something else is known of any server.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.home()?.stamp_of_all(McpFile::Known)
    }
}

fn file(what: Kept) -> McpFile {
    match what {
        Kept::Known => McpFile::Known,
        Kept::Tokens => McpFile::Tokens,
    }
}

impl Vault for HomeVault {
    fn read(&self, server: &str, what: Kept) -> Option<String> {
        self.home()?.read(server, file(what))
    }

    fn write(&self, server: &str, what: Kept, text: &str) -> Result<(), String> {
        let Some(home) = self.home() else { return Ok(()) };
        home.write(server, file(what), text).map_err(|error| error.to_string())
    }

    fn update(
        &self,
        server: &str,
        what: Kept,
        with: &mut dyn FnMut(Option<String>) -> Option<String>,
    ) -> Result<Option<Mark>, String> {
        let Some(home) = self.home() else {
            with(None);
            return Ok(None);
        };
        let stamp = home.update(server, file(what), with).map_err(|error| error.to_string())?;
        Ok(stamp.map(|stamp| stamp.words()))
    }

    fn mark(&self, server: &str, what: Kept) -> Option<Mark> {
        self.home()?.stamp(server, file(what)).map(|stamp| stamp.words())
    }

    fn remove(&self, server: &str, what: Kept) {
        if let Some(home) = self.home() {
            // What cannot be removed is found again and told by whoever reads it.
            let _ = home.remove(server, file(what));
        }
    }

    fn keep_media(&self, session: &str, name: &str, ending: &str, bytes: &[u8]) -> Option<PathBuf> {
        let (home, _) = self.place.as_ref()?;
        Spill::open(home, session).keep_bytes(name, ending, bytes).ok()
    }

    fn log(&self, server: &str, line: &str) {
        if let Some(home) = self.home() {
            home.log(server, &self.secrets.at_once(line));
        }
    }

    fn cleared(&self, words: &str) -> String {
        self.secrets.at_once(words).into_owned()
    }
}
