//! The right to ask a server: how it is got from a person, kept, and renewed (OAuth 2.1).
//!
//! | file | what |
//! |---|---|
//! | here | [`Authority`]: the right to ask one server |
//! | `challenge.rs` | what a server says when it is not enough |
//! | `discover.rs` | who gives the right, and where |
//! | `client.rs`, `assertion.rs` | who we are to them, and how we sign that |
//! | `flow.rs` | asking the person, and taking what comes back |
//! | `directory.rs` | a company's directory that vouches for the person |
//! | `person.rs` | a person with a browser |
//! | `token.rs` | what is got, kept and renewed |
//! | `web.rs` | the few requests all of this needs |

mod assertion;
mod challenge;
mod client;
mod directory;
mod discover;
mod flow;
mod person;
mod token;
mod web;

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_net::{Http, Url, unix_now};
use tokio::sync::Mutex;

use crate::mcp::client::{Grant, Kept, OAuth, Outside, Remote, Vault};

pub use challenge::Challenge;
pub use person::{Browser, Pasted, Show};
pub use token::Tokens;

/// Why there is no right to ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// What the server or its authority says makes no sense, or is not safe.
    #[error("{0}")]
    Wrong(String),
    /// The authority said no.
    #[error("{0}")]
    Refused(String),
    /// It could not be asked.
    #[error("{0}")]
    Unreachable(String),
    /// A person is needed.
    #[error("a person has to log in")]
    NeedsPerson,
}

/// Takes a person to a page where they can agree, and brings back what came of it.
pub trait Person: Send + Sync {
    /// The address that the answer will come back to.
    fn redirect_uri(&self) -> String;

    /// Shows the page; the whole address that came back, with its query.
    fn visit(&self, page: &str) -> BoxFuture<'_, Result<String, String>>;
}

/// The right to ask one server.
pub struct Authority {
    server: String,
    url: Url,
    config: OAuth,
    http: Http,
    vault: Arc<dyn Vault>,
    person: Option<Arc<dyn Person>>,
    /// One renewal at a time; whoever comes later finds what the first one got.
    turn: Mutex<Option<Tokens>>,
}

impl Authority {
    /// Where the configuration wants one, or something is kept from a login.
    pub(crate) fn of(name: &str, remote: &Remote, outside: &Outside) -> Option<Self> {
        let kept = outside.vault.read(name, Kept::Tokens).and_then(|text| Tokens::read(&text));
        let mut config = match (&remote.oauth, &kept) {
            (Some(config), _) => config.clone(),
            (None, Some(_)) => OAuth::default(),
            (None, None) => return None,
        };
        let resolved = |path: String| outside.place.resolve(&path).to_string_lossy().into_owned();
        config.private_key = config.private_key.map(resolved);
        Some(Self {
            server: name.to_owned(),
            url: Url::parse(&remote.url)?,
            config,
            http: outside.http_to(remote),
            vault: Arc::clone(&outside.vault),
            person: outside.person.clone(),
            turn: Mutex::new(kept),
        })
    }

    /// What is sent along, as far as there is something that still holds.
    pub(crate) async fn bearer(&self) -> Option<String> {
        let mut tokens = self.turn.lock().await;
        let known = tokens.as_ref()?;
        if !known.is_over(unix_now()) {
            return Some(known.access.clone());
        }
        match self.refreshed(known).await {
            Ok(fresh) => {
                let access = fresh.access.clone();
                *tokens = Some(fresh);
                Some(access)
            }
            // The server decides whether what there is still holds.
            Err(_) => Some(known.access.clone()),
        }
    }

    /// Something better than what was just used; nothing when there is none without a person.
    pub(crate) async fn renew(
        &self,
        used: Option<&str>,
        challenge: &Challenge,
    ) -> Result<Option<String>, OAuthError> {
        let mut tokens = self.turn.lock().await;
        // Somebody may have logged in meanwhile, here or in another process.
        let kept = self.vault.read(&self.server, Kept::Tokens).and_then(|text| Tokens::read(&text));
        for known in [tokens.clone(), kept].into_iter().flatten() {
            if Some(known.access.as_str()) != used {
                let access = known.access.clone();
                *tokens = Some(known);
                return Ok(Some(access));
            }
        }
        if !challenge.wants_more()
            && let Some(known) = tokens.as_ref()
            && let Ok(fresh) = self.refreshed(known).await
            && Some(fresh.access.as_str()) != used
        {
            let access = fresh.access.clone();
            *tokens = Some(fresh);
            return Ok(Some(access));
        }
        let fresh = match (&self.config.grant, &self.person) {
            (Grant::OwnName, _) => self.in_own_name(challenge).await?,
            (Grant::Directory(directory), _) => self.vouched_for(directory, challenge).await?,
            (Grant::Person, None) => return Ok(None),
            (Grant::Person, Some(person)) => {
                let before = tokens.as_ref().and_then(|known| known.scope.clone());
                self.log_in(person.as_ref(), challenge, before.as_deref()).await?
            }
        };
        let access = fresh.access.clone();
        *tokens = Some(fresh);
        Ok(Some(access))
    }

    /// A new right in place of one that is over, without a person.
    async fn refreshed(&self, known: &Tokens) -> Result<Tokens, OAuthError> {
        let fresh = token::refresh(&self.http, known).await?;
        self.keep(&fresh)?;
        Ok(fresh)
    }

    fn keep(&self, tokens: &Tokens) -> Result<(), OAuthError> {
        let failed = |why: String| OAuthError::Wrong(format!("what was got could not be kept: {why}"));
        self.vault.write(&self.server, Kept::Tokens, &tokens.text()).map_err(failed)
    }
}

/// Logs a person in to a server and keeps what comes of it.
pub async fn log_in(name: &str, remote: &Remote, outside: &Outside) -> Result<(), OAuthError> {
    let wanted = Remote { oauth: Some(remote.oauth.clone().unwrap_or_default()), ..remote.clone() };
    let wrong = || OAuthError::Wrong("its address is no address".to_owned());
    let authority = Authority::of(name, &wanted, outside).ok_or_else(wrong)?;
    let person = outside.person.clone().ok_or(OAuthError::NeedsPerson)?;
    let challenge = web::challenge_of(&authority.http, &authority.url, &remote.headers).await?;
    authority.log_in(person.as_ref(), &challenge, None).await.map(drop)
}
