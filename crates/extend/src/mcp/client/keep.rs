//! What is known of a server, shared with every other program that knows it: a change is made to what is
//! written down at that moment, and what others changed is noticed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::config::{ServerConfig, Transport};
use super::known::{Known, LastTrouble};
use super::login::Grant;
use super::server::{Inner, Server, Status, Trouble};
use super::told::Told;
use super::{Kept, Mark, Outside, Vault};

/// What is known, and the file that it was read from or written to last.
#[derive(Default)]
pub(super) struct Noted {
    known: Arc<Known>,
    mark: Option<Mark>,
}

impl Noted {
    /// What is written down of a server.
    pub(super) fn read(vault: &dyn Vault, server: &str) -> Self {
        // Looked at first: what is written in between is then read once more.
        let mark = vault.mark(server, Kept::Known);
        let text = mark.and_then(|_| vault.read(server, Kept::Known));
        let known = text.as_deref().and_then(Known::read).unwrap_or_default();
        Self { known: Arc::new(known), mark: mark.filter(|_| text.is_some()) }
    }
}

impl Server {
    /// One of which the registry was told what it offers by what had this mark. If something else is written down
    /// by now, it has to be told again.
    pub fn expected(config: ServerConfig, outside: Arc<Outside>, mark: Option<Mark>) -> Self {
        let server = Self::new(config, outside);
        if server.inner.noted().mark != mark {
            server.inner.generation.fetch_add(1, Ordering::Release);
        }
        server
    }

    /// What it offers and what is wrong with that, in words, as long as nothing else is written down: the next start
    /// may go by it. Nothing where that depends on more, because it does not work or somebody has to log in.
    pub fn brief(&self) -> Option<(Told, Vec<String>)> {
        let is_plain = self.trouble().is_none() && self.is_known() && !wants_person(&self.inner.config);
        is_plain.then(|| self.told())
    }

    /// Takes over what others have written down of it since; cheap where nobody has.
    pub fn look_again(&self) {
        self.inner.look_again();
    }

    /// How it stands as far as can be told without starting it: what went wrong the last time counts until
    /// it has answered.
    pub fn standing(&self) -> Status {
        match self.status() {
            status @ (Status::Ready | Status::New) => self.remembered().unwrap_or(status),
            status => status,
        }
    }

    fn remembered(&self) -> Option<Status> {
        let (inner, known) = (&self.inner, self.known());
        let last = known.trouble.as_ref().filter(|last| last.identity == inner.identity);
        if let Some(LastTrouble { login, why, .. }) = last {
            let why = why.clone();
            return Some(if *login { Status::NeedsLogin(why) } else { Status::Failed(why) });
        }
        let missing = wants_person(&inner.config)
            && inner.outside.vault.mark(&inner.config.name, Kept::Tokens).is_none();
        missing.then(|| Status::NeedsLogin("nobody has logged in yet".to_owned()))
    }

    /// A person has looked at these tools, or at all of them, and agrees to those that have changed; how
    /// many these were.
    pub fn accept(&self, only: &[String]) -> Result<usize, String> {
        // What was shown is agreed to, whatever the server may say by now.
        let changed = self.inner.known().to_agree(only);
        self.inner.change(|known| known.agree(only, &changed))?;
        Ok(changed.len())
    }
}

/// Whether it is configured so that a person has to log in.
fn wants_person(config: &ServerConfig) -> bool {
    match &config.transport {
        Transport::Stdio(_) => false,
        Transport::Http(remote) | Transport::Sse(remote) => {
            remote.oauth.as_ref().is_some_and(|oauth| oauth.grant == Grant::Person)
        }
    }
}

impl Inner {
    pub(super) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.noted().known)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tool is held back, also after a look at what was agreed to elsewhere.
    pub(super) fn holds_back(&self, tool: &str) -> bool {
        self.known().holds_back(tool) && {
            self.look_again();
            self.known().holds_back(tool)
        }
    }

    /// Writes down what it said of itself, and tells that it changed.
    pub(super) fn keep(&self, learnt: &Known) -> Result<(), String> {
        self.change(|known| {
            *known = learnt.clone().with_agreements_of(known);
            known.trouble = None;
        })
    }

    /// Remembers that there is no use in waiting for it at a start.
    pub(super) fn late(&self) {
        // Where it cannot be written down, it is waited for again; that is all.
        let _ = self.change(|known| known.tried.clone_from(&self.identity));
    }

    /// Remembers why it cannot be asked, or that it can.
    pub(super) fn remember(&self, trouble: Option<&Trouble>) {
        let last = trouble.map(|trouble| LastTrouble {
            identity: self.identity.clone(),
            login: matches!(trouble, Trouble::Login(_)),
            why: trouble.to_string(),
        });
        // Where it cannot be written down, only this program knows.
        let _ = self.change(|known| {
            if last.is_some() && known.identity != self.identity {
                known.tried.clone_from(&self.identity);
            }
            known.trouble.clone_from(&last);
        });
    }

    /// Changes what is known, here and as it is written down.
    fn change(&self, with: impl Fn(&mut Known)) -> Result<(), String> {
        let (vault, name) = (&self.outside.vault, &self.config.name);
        let busy = self.is_busy();
        let mut noted = self.noted();
        let mut here = Known::clone(&noted.known);
        with(&mut here);
        if here == *noted.known && vault.mark(name, Kept::Known) == noted.mark {
            return Ok(());
        }
        let written = vault.update(name, Kept::Known, &mut |text| {
            let kept = text.as_deref().and_then(Known::read);
            here = match &kept {
                Some(kept) => self.joined(&noted.known, kept, busy),
                None => Known::clone(&noted.known),
            };
            with(&mut here);
            (kept.as_ref() != Some(&here)).then(|| here.text())
        });
        if let Ok(mark) = &written {
            noted.mark = *mark;
        }
        self.replace(&mut noted, here);
        written.map(drop)
    }

    fn look_again(&self) {
        let (vault, name) = (&self.outside.vault, &self.config.name);
        let busy = self.is_busy();
        let mut noted = self.noted();
        let mark = vault.mark(name, Kept::Known);
        if mark.is_none() || mark == noted.mark {
            return;
        }
        noted.mark = mark;
        if let Some(kept) = vault.read(name, Kept::Known).and_then(|text| Known::read(&text)) {
            let joined = self.joined(&noted.known, &kept, busy);
            self.replace(&mut noted, joined);
        }
    }

    /// What is known here, with what is written down. The tools of a connection are the ones that it lists:
    /// another one may have listed others.
    fn joined(&self, here: &Known, kept: &Known, busy: bool) -> Known {
        if kept.identity == self.identity && (!busy || here.identity != self.identity) {
            return kept.clone();
        }
        let mut joined = here.clone().with_agreements_of(kept);
        joined.trouble.clone_from(&kept.trouble);
        joined
    }

    fn replace(&self, noted: &mut Noted, known: Known) {
        let before = &noted.known;
        let offers_the_same = before.identity == known.identity && before.same_offer(&known);
        noted.known = Arc::new(known);
        if !offers_the_same {
            self.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether there is a connection, or one is being made.
    fn is_busy(&self) -> bool {
        let state = self.life();
        state.live.is_some() || state.starting.is_some()
    }
}
