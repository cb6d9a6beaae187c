//! The program's own way to send messages: no call asks for it, so no permit is needed.
//!
//! Only the runtime hands it out ([`Runtime::deliver`](crate::Runtime::deliver)); tools have a courier
//! with the permits of their call.

use std::sync::{Arc, RwLock};

use futures::future::BoxFuture;
use hermes_core::keys::Keys;
use hermes_core::web::{Dial, WebError, WebReply, WebRequest, Wire};
use hermes_tools::senders::Courier;

use crate::keys::WorldKeys;
use crate::web::WorldWeb;
use crate::world::World;

/// Settings and network of this world.
pub(crate) struct WorldCourier {
    keys: WorldKeys,
    web: Arc<WorldWeb>,
}

impl WorldCourier {
    pub(crate) fn new(world: &Arc<RwLock<World>>, web: &Arc<WorldWeb>) -> Self {
        Self { keys: WorldKeys(Arc::clone(world)), web: Arc::clone(web) }
    }
}

impl Courier for WorldCourier {
    fn keys(&self) -> &dyn Keys {
        &self.keys
    }

    fn fetch(&self, request: WebRequest) -> BoxFuture<'_, Result<WebReply, WebError>> {
        self.web.exchange(request)
    }

    fn connect(&self, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        self.web.dial(dial)
    }
}
