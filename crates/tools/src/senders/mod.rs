//! Who carries messages to people: platforms, one file each in `platforms/`.
//!
//! | file | what |
//! |---|---|
//! | here | [`Post`]: every platform behind one [`Deliver`]; [`Carriers`]: with whoever is connected before them |
//! | [`sender`] | what a platform is, and what it may use |
//! | `platforms/` | the platforms |
//! | `mail/` | how a mail is written, and the conversation with a mail server |
//!
//! A sender reaches the world through a [`Courier`] only: that of a tool call has the permits of that
//! call, that of the program none of its own to ask for.

mod mail;
mod platforms;
pub(crate) mod sender;

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::deliver::{Deliver, DeliverError, Destination, Letter, Sent, Target};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use hermes_core::web::{Dial, WebError, WebReply, WebRequest, Wire};

use platforms::SENDERS;
use sender::{Posting, Sender};

/// The name under which platforms are declared as an effect: which one it is, only the settings know.
pub const SERVICE: &str = "the configured messaging service";

/// What senders reach the world through.
pub trait Courier: Send + Sync {
    /// Keys and settings of the person.
    fn keys(&self) -> &dyn Keys;

    /// Asks a server, and reads the whole answer.
    fn fetch(&self, request: WebRequest) -> BoxFuture<'_, Result<WebReply, WebError>>;

    /// Opens a connection.
    fn connect(&self, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>>;
}

/// All platforms, over one courier.
pub struct Post<C>(pub C);

impl<C: Courier> Deliver for Post<C> {
    fn destinations(&self) -> Vec<Destination> {
        SENDERS.iter().flat_map(|sender| sender.destinations(self.0.keys())).collect()
    }

    fn resolve(&self, target: &Target) -> Result<Target, DeliverError> {
        find(&target.platform)?.resolve(target, self.0.keys())
    }

    fn send<'a>(
        &'a self,
        target: &'a Target,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>> {
        Box::pin(async move {
            let sender = find(&target.platform)?;
            let target = sender.resolve(target, self.0.keys())?;
            sender.send(&Posting { sender, courier: &self.0, target: &target }, letter).await
        })
    }
}

/// Somebody who is connected to platforms, where there is one, before the platforms that the settings know:
/// whoever is connected knows more of its chats.
pub struct Carriers<C> {
    live: Option<Arc<dyn Deliver>>,
    post: Post<C>,
}

impl<C: Courier> Carriers<C> {
    /// These two.
    pub fn new(live: Option<Arc<dyn Deliver>>, courier: C) -> Self {
        Self { live, post: Post(courier) }
    }

    /// Who carries messages to this target.
    fn for_target(&self, target: &Target) -> &dyn Deliver {
        match &self.live {
            Some(live) if live.resolve(target).is_ok() => live.as_ref(),
            _ => &self.post,
        }
    }
}

impl<C: Courier> Deliver for Carriers<C> {
    fn destinations(&self) -> Vec<Destination> {
        let mut all = self.live.as_ref().map(|live| live.destinations()).unwrap_or_default();
        let known: Vec<String> = all.iter().map(|it| it.target.platform.clone()).collect();
        all.extend(self.post.destinations().into_iter().filter(|it| !known.contains(&it.target.platform)));
        all.sort_by(|one, other| one.target.platform.cmp(&other.target.platform));
        all
    }

    fn resolve(&self, target: &Target) -> Result<Target, DeliverError> {
        self.for_target(target).resolve(target)
    }

    fn send<'a>(
        &'a self,
        target: &'a Target,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>> {
        self.for_target(target).send(target, letter)
    }
}

fn find(platform: &str) -> Result<&'static Sender, DeliverError> {
    let known = || SENDERS.iter().map(|sender| sender.name().to_owned()).collect();
    let unknown = || DeliverError::UnknownPlatform { platform: platform.to_owned(), known: known() };
    SENDERS.iter().find(|sender| sender.name() == platform).copied().ok_or_else(unknown)
}

/// The variables of all platforms.
pub(crate) fn variables() -> Vec<&'static str> {
    SENDERS.iter().flat_map(|sender| sender.variables()).collect()
}

/// Opens when messages can go anywhere at all.
pub(crate) fn gate() -> Gate {
    let connected = Gate::given::<Arc<dyn Deliver>>("somebody who is connected to platforms");
    Gate::Any([connected].into_iter().chain(SENDERS.iter().map(|sender| sender.gate())).collect())
}
