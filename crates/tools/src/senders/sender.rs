//! What a platform is: what it needs to know, whom it can reach, how it sends.

use futures::future::BoxFuture;
use hermes_core::deliver::{DeliverError, Destination, Letter, Measure, Sent, Target, pieces};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebError, WebReply, WebRequest};
use serde_json::Value;

use super::{Courier, SERVICE};

/// Longest part of a refusal that is repeated.
const MAX_REFUSAL: usize = 300;

/// A platform, said in its own file.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    name: &'static str,
    /// All of these variables must be set.
    needs: &'static [&'static str],
    /// The variables that may name the home chat, best first.
    home: &'static [&'static str],
    /// Variables it can use besides.
    also: &'static [&'static str],
    /// Most of one message, and how the platform counts.
    limit: (usize, Measure),
    check: fn(&str) -> Result<(), String>,
    gate: Option<fn() -> Gate>,
    others: Option<fn(&dyn Keys) -> Vec<String>>,
    send: Send,
}

/// Sends a letter to a target that was checked.
type Send = for<'a> fn(&'a Posting<'a>, &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>>;

/// One letter on its way.
pub(crate) struct Posting<'a> {
    pub(crate) sender: &'static Sender,
    pub(crate) courier: &'a dyn Courier,
    pub(crate) target: &'a Target,
}

impl Sender {
    pub(crate) const fn new(name: &'static str, needs: &'static [&'static str], send: Send) -> Self {
        let limit = (usize::MAX, Measure::Chars);
        Self { name, needs, home: &[], also: &[], limit, check: |_| Ok(()), gate: None, others: None, send }
    }

    /// The variables that may name the home chat.
    pub(crate) const fn home(mut self, home: &'static [&'static str]) -> Self {
        self.home = home;
        self
    }

    /// Variables it can use besides those that it needs and those of the home chat.
    pub(crate) const fn also(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    /// Every variable it can use.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.needs, self.home, self.also].into_iter().flatten().copied()
    }

    /// Most of one message.
    pub(crate) const fn limit(mut self, most: usize, measure: Measure) -> Self {
        self.limit = (most, measure);
        self
    }

    /// Says what is wrong with the name of a chat.
    pub(crate) const fn check(mut self, check: fn(&str) -> Result<(), String>) -> Self {
        self.check = check;
        self
    }

    /// When it can be used, where that is not a matter of the variables it needs.
    pub(crate) const fn gated(mut self, gate: fn() -> Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Chats that the settings name beside the home.
    pub(crate) const fn others(mut self, others: fn(&dyn Keys) -> Vec<String>) -> Self {
        self.others = Some(others);
        self
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn gate(&self) -> Gate {
        match self.gate {
            Some(gate) => gate(),
            None => Gate::All(self.needs.iter().map(|name| Gate::env(*name)).collect()),
        }
    }

    fn home_chat(&self, keys: &dyn Keys) -> Option<String> {
        let named = self.home.iter().find_map(|name| keys.key(name));
        named.or_else(|| match self.other_chats(keys).as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        })
    }

    fn other_chats(&self, keys: &dyn Keys) -> Vec<String> {
        self.others.map(|others| others(keys)).unwrap_or_default()
    }

    fn missing(&self, keys: &dyn Keys) -> Option<String> {
        let missing: Vec<&str> = self.needs.iter().copied().filter(|name| keys.key(name).is_none()).collect();
        (!missing.is_empty()).then(|| format!("{} must be set", missing.join(" and ")))
    }

    /// Where messages can go; what would be needed first when they cannot.
    pub(super) fn destinations(&self, keys: &dyn Keys) -> Vec<Destination> {
        let missing = self.missing(keys);
        let home = self.home_chat(keys);
        let mut chats: Vec<String> = home.iter().cloned().collect();
        chats.extend(self.other_chats(keys).into_iter().filter(|chat| Some(chat) != home.as_ref()));
        if chats.is_empty() {
            let missing = missing.unwrap_or_else(|| self.no_home());
            let target = Target::home(self.name);
            return vec![Destination { target, name: None, is_home: false, missing: Some(missing) }];
        }
        let name = self.home.iter().find_map(|variable| keys.key(&format!("{variable}_NAME")));
        let row = |chat: String| {
            let is_home = Some(&chat) == home.as_ref();
            let target = Target { chat: Some(chat), ..Target::home(self.name) };
            let name = name.clone().filter(|_| is_home);
            Destination { target, name, is_home, missing: missing.clone() }
        };
        chats.into_iter().map(row).collect()
    }

    fn no_home(&self) -> String {
        match self.home {
            [] => format!("name a chat, as in {}:NAME", self.name),
            home => format!("name a chat, as in {}:CHAT, or set {}", self.name, home.join(" or ")),
        }
    }

    /// The target with its chat, if it can be one.
    pub(super) fn resolve(&self, target: &Target, keys: &dyn Keys) -> Result<Target, DeliverError> {
        let platform = || self.name.to_owned();
        if let Some(missing) = self.missing(keys) {
            return Err(DeliverError::NotConfigured { platform: platform(), missing });
        }
        let Some(chat) = target.chat.clone().or_else(|| self.home_chat(keys)) else {
            return Err(DeliverError::NotConfigured { platform: platform(), missing: self.no_home() });
        };
        (self.check)(&chat).map_err(|why| DeliverError::BadChat { platform: platform(), why })?;
        Ok(Target { platform: platform(), chat: Some(chat), thread: target.thread.clone() })
    }

    pub(super) fn send<'a>(
        &self,
        posting: &'a Posting<'a>,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>> {
        (self.send)(posting, letter)
    }
}

impl Posting<'_> {
    pub(crate) fn keys(&self) -> &dyn Keys {
        self.courier.keys()
    }

    /// The chat; a target that was resolved has one.
    pub(crate) fn chat(&self) -> &str {
        self.target.chat.as_deref().unwrap_or_default()
    }

    /// A variable that is set, since the platform needs it.
    pub(crate) fn key(&self, name: &str) -> String {
        self.keys().key(name).unwrap_or_default()
    }

    /// A variable or else a setting or else the usual, without a slash at its end.
    pub(crate) fn base(&self, variable: &str, setting: &str, usual: &str) -> String {
        let set = self.keys().key(variable).or_else(|| self.keys().text(setting));
        set.unwrap_or_else(|| usual.to_owned()).trim_end_matches('/').to_owned()
    }

    /// The words of a letter as messages of this platform.
    pub(crate) fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let (most, measure) = self.sender.limit;
        pieces(text, most, measure)
    }

    /// Asks the platform; its answer, whatever its status.
    pub(crate) async fn fetch(&self, request: WebRequest) -> Result<WebReply, DeliverError> {
        self.courier.fetch(request).await.map_err(|wrong| self.unreachable(&wrong))
    }

    pub(crate) fn unreachable(&self, wrong: &WebError) -> DeliverError {
        // An address may hold a token.
        let why = match wrong {
            WebError::Refused { why, .. } => why.clone(),
            other => other.to_string(),
        };
        DeliverError::Unreachable { platform: self.sender.name.to_owned(), why }
    }

    pub(crate) fn refused(&self, why: impl Into<String>) -> DeliverError {
        let why: String = why.into();
        let why = why.trim().chars().take(MAX_REFUSAL).collect();
        DeliverError::Refused { platform: self.sender.name.to_owned(), why }
    }

    /// What to answer when `parts` messages went out, the last of them called `message_id`.
    pub(crate) fn sent(&self, message_id: Option<String>, parts: usize) -> Sent {
        let platform = self.sender.name.to_owned();
        Sent { platform, chat_id: self.chat().to_owned(), message_id, parts, note: None }
    }
}

/// A request to a platform.
pub(crate) fn request(url: String, body: &Value) -> WebRequest {
    WebRequest::post_json(url, Reach::Configured(SERVICE), body)
}

/// Why a message that goes out in several parts stopped in the middle.
pub(crate) fn partly(sent: usize, of: usize, cause: DeliverError) -> DeliverError {
    if sent == 0 { cause } else { DeliverError::Partly { sent, of, cause: Box::new(cause) } }
}
