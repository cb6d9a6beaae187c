//! The door to the network: every request that the program makes leaves through here, and who wants
//! something from it comes in here.
//!
//! | what | where |
//! |---|---|
//! | asking | [`Http`]: a [`Call`] → a [`Reply`], read as it comes |
//! | addresses | [`Url`]; an [`AddressRule`] is asked about every address before it is connected to |
//! | names | [`Names`]: the machine looks them up, or whoever embeds us |
//! | events of a server | [`SseDecoder`] |
//! | an answer that a browser brings | [`Callback`], on this machine only |
//! | a stream of bytes for other protocols | [`Http::stream`], [`Http::wire`] |
//! | many requests at once, for gRPC | [`Channel`] |
//! | being asked | [`Listener`] |
//! | proof of who we are | [`SigningKey`] |
//! | connections of another program, each one checked | [`Gate`] |
//!
//! Who may be asked what is decided elsewhere; this crate keeps limits, follows no redirect by
//! itself, and never sends a key to a host it was not meant for.

#![expect(clippy::disallowed_methods, reason = "the door to the network, and to the clock that limits it")]

mod callback;
mod channel;
mod connect;
mod exchange;
mod gate;
mod http;
mod listen;
mod names;
mod proxy;
mod random;
mod signing;
mod sse;
mod tls;
mod unverified;
mod url;
mod websocket;
mod wire;

pub use callback::Callback;
pub use channel::{Answer, Channel};
pub use connect::{AddressRule, Duplex, NetStream};
pub use exchange::Reply;
pub use gate::{Gate, GateRule, Refusals};
pub use http::{Call, Http, HttpError, HttpSettings, Limits, random, unix_now, within};
pub use hyper::header::{HeaderName, HeaderValue};
pub use hyper::{HeaderMap, Method, StatusCode};
pub use listen::Listener;
pub use names::Names;
pub use proxy::ProxySettings;
pub use random::{NoRandom, random_bytes, random_hex};
pub use signing::SigningKey;
pub use sse::{MAX_EVENT, Overlong, SseDecoder, SseEvent};
pub use tls::{Identity, TlsSettings};
pub use url::Url;
pub use websocket::{Frame, Socket, SocketReceiver, SocketSender};
pub use wire::Wire;
