//! The door to the network: every request that the program makes leaves through here, and who wants
//! something from it comes in here.
//!
//! | what | where |
//! |---|---|
//! | asking | [`Http`]: a [`Call`] → a [`Reply`], read as it comes |
//! | addresses | [`Url`]; an [`AddressRule`] is asked about every address before it is connected to |
//! | events of a server | [`SseDecoder`] |
//! | an answer that a browser brings | [`Callback`], on this machine only |
//! | many requests at once, for gRPC | [`Channel`] |
//! | a stream of bytes for other protocols | [`Http::stream`] |
//! | being asked | [`Listener`] |
//!
//! Who may be asked what is decided elsewhere; this crate keeps limits, follows no redirect by
//! itself, and never sends a key to a host it was not meant for.

#![expect(clippy::disallowed_methods, reason = "the door to the network, and to the clock that limits it")]

mod callback;
mod channel;
mod connect;
mod exchange;
mod http;
mod listen;
mod proxy;
mod random;
mod sse;
mod tls;
mod url;
mod websocket;

pub use callback::Callback;
pub use channel::{Answer, Channel};
pub use connect::{AddressRule, Duplex, NetStream};
pub use exchange::Reply;
pub use http::{Call, Http, HttpError, HttpSettings, Limits, random, unix_now, within};
pub use hyper::header::{HeaderName, HeaderValue};
pub use hyper::{HeaderMap, Method, StatusCode};
pub use listen::Listener;
pub use proxy::ProxySettings;
pub use random::{NoRandom, random_bytes, random_hex};
pub use sse::{MAX_EVENT, Overlong, SseDecoder, SseEvent};
pub use url::Url;
pub use websocket::{Frame, Socket, SocketReceiver, SocketSender};
