//! The MCP server: the whole tool runtime, or any part of it, for any MCP client.
//!
//! | file | what |
//! |---|---|
//! | `seat.rs` | what is served: a [`Workshop`] opens a [`Bench`] for every client |
//! | `pipe.rs` | standard input and output: a message is a line |
//! | `message.rs`, `requests.rs` | a message that cannot be served: what is wrong, and who is told |
//! | `flight.rs` | which requests of a client are under way |
//! | `handler.rs` | the requests of a client |
//! | `connection.rs` | a client and its session, with the calls that wait for an answer |
//! | `calls.rs`, `wire.rs` | a running call, and the open request it serves |
//! | `aside.rs` | what belongs to a request and is said on the stream that answers it |
//! | `client.rs` | what a running call may want from the client |
//! | `approval.rs` | the approval card as a form |
//! | `listing.rs`, `content.rs` | tools and results as the protocol writes them |
//! | `shelf.rs` | resources and prompts of an embedder |
//! | `http/` | streamable HTTP: who may come in, and how many |
//!
//! One connection is one session. Clients of the newest protocol have no connection over HTTP: they
//! share one session, which belongs to whoever holds the token.

mod approval;
mod aside;
mod calls;
mod client;
mod connection;
mod content;
mod flight;
mod handler;
mod http;
mod listing;
mod message;
mod pipe;
mod requests;
mod seat;
mod shelf;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use hermes_core::host::Host;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

pub use client::{Client, Filled, Level, NoAnswer, Progress};
pub use http::{Access, HttpSettings, SHORTEST as SHORTEST_TOKEN, Token, TokenError, serve_http};
pub use rmcp::model;
pub use seat::{Bench, Visitor, Workshop};
pub use shelf::Shelf;

use handler::{Door, Hub, Server};
use pipe::Pipe;

/// How long calls may take to wind up when the server ends.
const WIND_UP: Duration = Duration::from_secs(5);

/// Why a server could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol says.
    #[error("the client did not begin as the protocol says: {0}")]
    Handshake(String),
    /// The server broke.
    #[error("the server broke: {0}")]
    Broken(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// Which one.
        address: String,
        /// Why.
        why: String,
    },
}

/// Serves the one client at the other end of standard input and output, until it closes them or
/// `stop` fires. Must be called inside of an async runtime.
pub async fn serve_stdio(workshop: Arc<dyn Workshop>, stop: CancellationToken) -> Result<(), ServeError> {
    let host = workshop.host();
    let hub = Arc::new(Hub::new(Arc::clone(&workshop)));
    let server = Server::new(Arc::clone(&hub), Door::Pipe);
    let pipe = Pipe::new(stdio_pipes(), hub.tasks.clone(), workshop);
    let ended = match server.serve_with_ct(pipe, stop).await {
        Ok(running) => {
            running.waiting().await.map(drop).map_err(|wrong| ServeError::Broken(wrong.to_string()))
        }
        // A client that leaves before it has begun, or a person who stops us, is no failure.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(wrong) => Err(ServeError::Handshake(wrong.to_string())),
    };
    wind_up(&hub, &host).await;
    ended
}

/// Waits for what still runs, but not forever.
async fn wind_up(hub: &Hub, host: &Arc<dyn Host>) {
    hub.close();
    hub.tasks.close();
    tokio::select! {
        () = hub.tasks.wait() => {}
        () = host.sleep(WIND_UP) => {}
    }
}
