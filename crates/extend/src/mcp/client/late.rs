//! A server that is put together when it is first needed: of most servers a start only has to know what they
//! offer.

use std::sync::{Arc, OnceLock};

use super::server::Server;

/// A server, or how to make it. Clones are the same one.
#[derive(Clone)]
pub struct Late(Arc<Inner>);

struct Inner {
    made: OnceLock<Server>,
    make: Box<dyn Fn() -> Server + Send + Sync>,
}

impl Late {
    /// One that is made when somebody first asks for it.
    pub fn new(make: impl Fn() -> Server + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { made: OnceLock::new(), make: Box::new(make) }))
    }

    /// The server.
    pub fn get(&self) -> &Server {
        self.0.made.get_or_init(&self.0.make)
    }

    /// The server, if somebody has asked for it: nothing ever happened to any other.
    pub fn made(&self) -> Option<&Server> {
        self.0.made.get()
    }
}

impl From<Server> for Late {
    fn from(server: Server) -> Self {
        let again = server.clone();
        Self(Arc::new(Inner { made: OnceLock::from(server), make: Box::new(move || again.clone()) }))
    }
}
