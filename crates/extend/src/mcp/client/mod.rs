//! The tools of MCP servers.
//!
//! A server is started by the first call that needs it and looked after from then on; what it offers
//! is remembered, so that its tools are there at once the next time, without starting it.
//!
//! | file | what |
//! |---|---|
//! | `config.rs`, `login.rs`, `written.rs` | what the configuration says, and how its values may be written |
//! | `ignored.rs` | what is written there and has no effect |
//! | `known.rs`, `schema.rs` | what was learnt of a server, what a person agreed to, what can be shown |
//! | `keep.rs` | that, as it is written down and shared with other programs |
//! | `names.rs` | what its tools are called here |
//! | `shown.rs` | where it is, for people, without secrets |
//! | `tools.rs`, `utilities.rs` | its tools, resources and prompts, and what is wrong with them |
//! | `told.rs`, `late.rs` | these as entries of the registry, without the server itself if need be |
//! | `promise.rs` | whether an answer is what the tool says that it answers with |
//! | `result.rs`, `media.rs` | its answers as the model reads them, and files for what is no text |
//! | `server.rs`, `mind.rs` | its life: started, watched, let go, started again |
//! | `call.rs` | one call: sent once, taken back when nobody waits any more |
//! | `rounds.rs` | a call that the server answers with questions |
//! | `lane.rs` | the short way of a call to a program on this machine |
//! | `connect.rs` | from a configuration to a connection |
//! | `list.rs` | its tools, as it lists them |
//! | `handler.rs` | what it may ask of us |
//! | `sampling.rs`, `elicit.rs`, `form.rs` | its questions to the model, and to the person |
//! | `pages.rs` | pages that somebody has to visit before it answers |
//! | `plain.rs` | the answers that nearly all are, read quickly |
//! | `message.rs` | messages that could not be read, read again |
//! | `stdio.rs`, `http.rs`, `sse.rs` | the three ways to talk |
//! | `measured.rs` | how much it may ask at once |
//! | `answers.rs` | what comes back over HTTP |
//! | `fault.rs` | what a failed request over the network means |
//! | `output.rs` | what a program says, taken in by whoever is there first |
//! | `log.rs` | what it says beside the protocol |

mod answers;
mod call;
mod config;
mod connect;
mod elicit;
mod fault;
mod form;
mod handler;
mod http;
mod ignored;
mod keep;
mod known;
mod lane;
mod late;
mod list;
mod log;
mod login;
mod measured;
mod media;
mod message;
mod mind;
mod names;
mod output;
mod pages;
mod plain;
mod promise;
mod result;
mod rounds;
mod sampling;
mod schema;
mod server;
mod shown;
mod sse;
mod stdio;
mod told;
mod tools;
mod utilities;
mod written;

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::host::Host;
use hermes_core::session::Place;
use hermes_net::{Http, Identity};
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use crate::launch::Launch;
use crate::mcp::ring::Ring;

pub use config::{
    Filter, LogLevel, Misread, Read, Remote, RemoteTls, Sampling, ServerConfig, Stdio, Transport, absent,
    one, read_servers, server,
};
pub use ignored::{Ignored, ignored};
pub use known::{Changed, Hints, Known, LastTrouble, Listed, Pages};
pub use late::Late;
pub use login::{Directory, Grant, OAuth};
pub use sampling::Asked;
pub use server::{Server, Status};
pub use told::Told;
pub use written::{expanded, names_any};

/// What a server needs of the outside world.
pub struct Outside {
    /// Starts programs.
    pub launcher: Arc<dyn Launch>,
    /// Asks over the network.
    pub http: Http,
    /// Clock and timer.
    pub host: Arc<dyn Host>,
    /// The async runtime, started when it is first asked for.
    pub runtime: Box<dyn Fn() -> Option<Handle> + Send + Sync>,
    /// Where what is learnt is kept.
    pub vault: Arc<dyn Vault>,
    /// Where the work is done; servers are told that this is what they may look at. Paths of the
    /// configuration start here.
    pub place: Place,
    /// Takes the person to a page and brings back what came of it; nobody when there is none.
    pub person: Option<Arc<dyn crate::mcp::oauth::Person>>,
    /// Who we are among those that ask each other.
    pub ring: Arc<Ring>,
    /// How often servers have asked the model.
    pub asked: Arc<Asked>,
}

impl Outside {
    /// The way over the network to this server.
    pub(crate) fn http_to(&self, remote: &Remote) -> Http {
        if remote.tls == RemoteTls::default() {
            return self.http.clone();
        }
        let path = |text: &String| self.place.resolve(text);
        self.http.with_tls(|tls| {
            tls.unverified = remote.tls.unverified;
            if let Some(file) = &remote.tls.ca_file {
                tls.ca_file = Some(path(file));
            }
            let identity = remote.tls.identity.as_ref();
            tls.identity = identity
                .map(|(certificate, key)| Identity { certificate: path(certificate), key: path(key) });
        })
    }
}

/// What is kept of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Its definitions.
    Known,
    /// The right to ask it.
    Tokens,
}

/// Changes when what is kept does.
pub type Mark = [u64; 6];

/// Keeps what is learnt of servers, readable by the owner only.
pub trait Vault: Send + Sync {
    /// What is kept, if anything is.
    fn read(&self, server: &str, what: Kept) -> Option<String>;

    /// Keeps it, in place of what was there.
    fn write(&self, server: &str, what: Kept, text: &str) -> Result<(), String>;

    /// Puts another text in place of what is kept, as `with` wants it, while nobody else does so; nothing is
    /// written where it wants nothing. The mark of what is kept then.
    fn update(
        &self,
        server: &str,
        what: Kept,
        with: &mut dyn FnMut(Option<String>) -> Option<String>,
    ) -> Result<Option<Mark>, String>;

    /// The mark of what is kept, if anything is; quickly told.
    fn mark(&self, server: &str, what: Kept) -> Option<Mark>;

    /// Forgets it.
    fn remove(&self, server: &str, what: Kept);

    /// Keeps what a call has handed over and says where, if it can be kept. `ending` is that of the file.
    fn keep_media(&self, session: &str, name: &str, ending: &str, bytes: &[u8]) -> Option<PathBuf>;

    /// Writes a line of a server into the log, which has a limit.
    fn log(&self, server: &str, line: &str);

    /// Words of a server without the secrets in them, as they may be kept and shown.
    fn cleared(&self, words: &str) -> String;
}

/// Asks the model in the name of a server. The owner of a session puts an `Arc<dyn Sampler>` into its
/// extensions where there is a model to ask.
pub trait Sampler: Send + Sync {
    /// The answer, or why there is none.
    fn sample(&self, request: Sample) -> BoxFuture<'_, Result<Sampled, String>>;
}

/// What a server wants to ask the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// What the model is told first.
    pub system: Option<String>,
    /// What was said so far: `user` or `assistant`, and the words.
    pub messages: Vec<(String, String)>,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// The model that is to answer; the conversation's own when there is no name.
    pub model: Option<String>,
    /// Models that may answer; any when empty.
    pub allowed_models: Vec<String>,
    /// Tools of the server that the model may call; the server carries the calls out.
    pub tools: Vec<SampleTool>,
}

/// A tool of the server, as the model is told about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleTool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
}

/// What the model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Its words.
    pub text: String,
    /// Its name.
    pub model: String,
    /// The tools it wants to be called.
    pub calls: Vec<SampleCall>,
}

/// A call that the model wants the server to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleCall {
    /// By which its result is known.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}
