//! Who carries messages to people: platforms, one file each in `platforms/`.
//!
//! | file | what |
//! |---|---|
//! | here | [`Post`]: every platform behind one [`Deliver`] |
//! | [`sender`] | what a platform is, and what it may use |
//! | `platforms/` | the platforms |
//! | `mail/` | how a mail is written, and the conversation with a mail server |
//!
//! A sender reaches the world through a [`Courier`] only: that of a tool call has the permits of that
//! call, that of the program none of its own to ask for.

mod mail;
mod platforms;
pub(crate) mod sender;

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
    Gate::Any(SENDERS.iter().map(|sender| sender.gate()).collect())
}
