//! Daytona: sandboxes by its REST API, programs by the toolbox that runs in each.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set |
//! | `sandbox.rs` | the one sandbox of a place: found again, made, started, let go of |
//! | `programs.rs` | programs, by sessions and the logs they leave |
//! | `terminals.rs` | programs in a terminal |

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
use crate::clouds::daytona::sandbox::Sandbox;
use crate::far::{Claims, Close, Reach, Ready};

pub(crate) use settings::DaytonaSettings;

/// Gets ready to reach the sandbox of a place.
fn open(settings: DaytonaSettings, with: Opening) -> Result<Arc<dyn Reach>, EnvError> {
    let (name, host) = (with.around.name.clone(), Arc::clone(&with.host));
    Ok(Cloud::reached(name, host, Sandbox::new(settings, with)?))
}

impl Vendor for Sandbox {
    fn ready(self: Arc<Self>) -> BoxFuture<'static, Result<Ready, Fault>> {
        Box::pin(async move { self.readied().await })
    }

    fn speak(self: Arc<Self>, streams: Streams, spoken: Spoken) -> BoxFuture<'static, Result<End, Fault>> {
        Box::pin(async move {
            let toolbox = self.toolbox()?;
            match streams {
                Streams::Terminal(size) => terminals::run(toolbox, spoken, size).await,
                Streams::Merged | Streams::Separate => programs::run(toolbox, spoken).await,
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
