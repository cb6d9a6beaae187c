//! Vercel Sandbox: sandboxes with a name, whose sessions come and go; programs by requests whose
//! answers are lines of JSON.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set |
//! | `account.rs` | whose sandboxes: a token with team and project, or one that tells both |
//! | `sandbox.rs` | the one sandbox of a place: found again, made, resumed, let go of |
//! | `programs.rs` | programs |
//! | `terminals.rs` | programs in a terminal |

mod account;
mod programs;
mod sandbox;
mod settings;
mod terminals;

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Streams};

use crate::backends::Opening;
use crate::clouds::api::Fault;
use crate::clouds::cloud::{Cloud, Vendor};
use crate::clouds::conversation::Spoken;
use crate::clouds::vercel::sandbox::Sandbox;
use crate::far::{Claims, Close, Reach, Ready};

pub(crate) use settings::VercelSettings;

/// Gets ready to reach the sandbox of a place.
fn open(settings: VercelSettings, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
    let (name, host) = (with.around.name.clone(), Arc::clone(&with.host));
    Ok(Cloud::reached(name, host, Sandbox::new(settings, with)?))
}

impl Vendor for Sandbox {
    fn ready(self: Arc<Self>) -> BoxFuture<'static, Result<Ready, Fault>> {
        Box::pin(async move { self.readied().await })
    }

    fn speak(self: Arc<Self>, streams: Streams, spoken: Spoken) -> BoxFuture<'static, Result<End, Fault>> {
        Box::pin(async move {
            let session = self.session()?;
            match streams {
                Streams::Terminal(size) => terminals::run(session, spoken, size).await,
                Streams::Merged | Streams::Separate => programs::run(session, spoken).await,
            }
        })
    }

    fn claims(&self) -> Option<Claims> {
        self.shared()
    }

    fn close(self: Arc<Self>, how: Close) -> BoxFuture<'static, Result<(), Fault>> {
        Box::pin(async move { self.let_go(how).await })
    }
}
