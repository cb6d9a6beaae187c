//! A vendor as a place that programs can be started in.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Process, Streams};
use hermes_core::host::Host;
use hermes_core::wait::wait_at_most;

use crate::clouds::api::Fault;
use crate::clouds::carrier::Carrier;
use crate::clouds::conversation::{Conversation, Spoken};
use crate::far::{Call, Claims, Close, Reach, Ready};

/// The sandbox of a place, at one vendor. Everything here runs where sockets can be used.
pub(super) trait Vendor: Send + Sync + 'static {
    /// Makes sure that the sandbox is there and runs.
    fn ready(self: Arc<Self>) -> BoxFuture<'static, Result<Ready, Fault>>;

    /// Runs a program to its end, or until nobody listens.
    fn speak(self: Arc<Self>, streams: Streams, spoken: Spoken) -> BoxFuture<'static, Result<End, Fault>>;

    /// What of it other programs of this home use at the same time.
    fn claims(&self) -> Option<Claims>;

    /// Lets go of the sandbox.
    fn close(self: Arc<Self>, how: Close) -> BoxFuture<'static, Result<(), Fault>>;
}

/// A place at a vendor.
pub(super) struct Cloud<V: Vendor> {
    environment: String,
    host: Arc<dyn Host>,
    carrier: Arc<Carrier>,
    vendor: Arc<V>,
}

/// How long letting go may take at the very end.
const LAST: Duration = Duration::from_secs(30);

impl<V: Vendor> Cloud<V> {
    pub(super) fn reached(environment: String, host: Arc<dyn Host>, vendor: V) -> Arc<dyn Reach> {
        let carrier = Arc::new(Carrier::new(Arc::clone(&host)));
        Self::carried(environment, host, carrier, vendor)
    }

    /// The same, for a vendor that has connections of its own to be carried.
    pub(super) fn carried(
        environment: String,
        host: Arc<dyn Host>,
        carrier: Arc<Carrier>,
        vendor: V,
    ) -> Arc<dyn Reach> {
        Arc::new(Self { environment, host, carrier, vendor: Arc::new(vendor) })
    }

    fn wrong(&self, fault: &Fault) -> EnvError {
        EnvError::Unreachable { environment: self.environment.clone(), why: fault.to_string() }
    }
}

impl<V: Vendor> Drop for Cloud<V> {
    /// A sandbox that was made but never came to be used is let go of too.
    fn drop(&mut self) {
        if self.carrier.runs() {
            let _ = wait_at_most(
                self.carrier.run(Arc::clone(&self.vendor).close(Close::Leave)),
                LAST,
                &self.host,
            );
            self.carrier.end();
        }
    }
}

impl<V: Vendor> Reach for Cloud<V> {
    fn ready(&self) -> BoxFuture<'_, Result<Ready, EnvError>> {
        Box::pin(async move {
            let ready = self.carrier.run(Arc::clone(&self.vendor).ready()).await?;
            ready.map_err(|fault| self.wrong(&fault))
        })
    }

    fn start(&self, call: Call) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        let (vendor, streams) = (Arc::clone(&self.vendor), call.streams);
        let speak = |spoken| async move { vendor.speak(streams, spoken).await.map_err(String::from) };
        let process = Conversation::start(&self.carrier, &self.environment, call, speak);
        Box::pin(std::future::ready(Ok(process)))
    }

    fn close(&self, how: Close) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(async move {
            let closed = self.carrier.run(Arc::clone(&self.vendor).close(how)).await?;
            if how == Close::Leave {
                self.carrier.end();
            }
            closed.map_err(|fault| self.wrong(&fault))
        })
    }

    /// The vendors' own programs do that; they are not needed for anything else.
    fn shell(&self) -> Option<Vec<OsString>> {
        None
    }

    fn claims(&self) -> Option<Claims> {
        self.vendor.claims()
    }

    fn hears_our_end(&self) -> bool {
        false
    }
}
