//! Modal: sandboxes by its gRPC services; programs by the one that runs beside each sandbox.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set |
//! | `written.rs` | the token that Modal's own program has written down |
//! | `wire.rs` | messages, as the protocol writes them |
//! | `grpc.rs` | calls |
//! | `kept.rs` | which image holds the files of a place |
//! | `sandbox.rs` | the one sandbox of a place: found again, made, let go of |
//! | `programs.rs` | programs |

mod grpc;
mod kept;
mod programs;
mod sandbox;
mod settings;
mod wire;
mod written;

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Streams};

use crate::backends::Opening;
use crate::clouds::api::Fault;
use crate::clouds::carrier::Carrier;
use crate::clouds::cloud::{Cloud, Vendor};
use crate::clouds::conversation::Spoken;
use crate::clouds::modal::sandbox::Sandbox;
use crate::far::{Claims, Close, Reach, Ready};

pub(crate) use settings::ModalSettings;
pub(crate) use written::written;

/// Gets ready to reach the sandbox of a place.
fn open(settings: ModalSettings, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
    let (name, host) = (with.around.name.clone(), Arc::clone(&with.host));
    let carrier = Arc::new(Carrier::new(Arc::clone(&host)));
    let sandbox = Sandbox::new(settings, with, Arc::clone(&carrier))?;
    Ok(Cloud::carried(name, host, carrier, sandbox))
}

impl Vendor for Sandbox {
    fn ready(self: Arc<Self>) -> BoxFuture<'static, Result<Ready, Fault>> {
        Box::pin(async move { self.readied().await })
    }

    fn speak(self: Arc<Self>, streams: Streams, spoken: Spoken) -> BoxFuture<'static, Result<End, Fault>> {
        Box::pin(async move {
            let router = self.router()?;
            let size = match streams {
                Streams::Terminal(size) => Some(size),
                Streams::Merged | Streams::Separate => None,
            };
            programs::run(&router, spoken, size).await
        })
    }

    fn claims(&self) -> Option<Claims> {
        self.shared()
    }

    fn close(self: Arc<Self>, how: Close) -> BoxFuture<'static, Result<(), Fault>> {
        Box::pin(async move { self.let_go(how).await })
    }
}
