//! A process of this machine that was started and is looked after.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use hermes_core::environment::{End, EnvError, Input, Line, Output, Process, Size};
use hermes_core::host::{Host, WorkerLost, blocking};

use crate::process::line::Wire;
use crate::process::pump::{Link, Pump};
use crate::process::spawn::{self, Child, Program};
use crate::process::tree;

/// A process of this machine.
pub(crate) struct Running {
    pid: i32,
    link: Arc<Link>,
    ended: oneshot::Receiver<Result<End, EnvError>>,
    line: Option<Wire>,
    host: Arc<dyn Host>,
}

impl Running {
    /// Starts it with this mark among its variables; what it writes goes to `output`.
    pub(crate) fn start(
        program: &Program<'_>,
        mark: String,
        output: Arc<dyn Output>,
        host: &Arc<dyn Host>,
    ) -> Result<Self, EnvError> {
        Self::of(spawn::spawn(program)?, program.input, mark, output, host)
    }

    /// The same for one that was started with that mark and is still to read `input`.
    pub(crate) fn of(
        mut child: Child,
        input: &Input,
        mark: String,
        output: Arc<dyn Output>,
        host: &Arc<dyn Host>,
    ) -> Result<Self, EnvError> {
        let pid = child.pid.as_raw_nonzero().get();
        let link = Link::new(&child, input, mark)?;
        let wire = child.line.take().map(|end| Wire::new(end, host)).transpose()?;
        let (done, ended) = oneshot::channel();
        let pump = Pump { child, link: Arc::clone(&link), output, host: Arc::clone(host) };
        host.run_blocking(Box::new(move || pump.run(done)));
        Ok(Self { pid, link, ended, line: wire, host: Arc::clone(host) })
    }
}

impl Process for Running {
    fn pid(&self) -> Option<u32> {
        u32::try_from(self.pid).ok()
    }

    fn ended(&mut self) -> BoxFuture<'_, Result<End, EnvError>> {
        Box::pin(async move { (&mut self.ended).await.unwrap_or(Err(EnvError::Lost(WorkerLost))) })
    }

    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()> {
        let (root, host) = (self.link.root(), Arc::clone(&self.host));
        Box::pin(async move {
            // A lost worker means that the host is going, and the guardian will do it.
            let _ = blocking(&self.host, move || tree::stop(&root, grace, &host)).await;
        })
    }

    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError> {
        self.link.write(&bytes)
    }

    fn close_input(&self) {
        self.link.close_input();
    }

    fn resize(&self, size: Size) {
        self.link.resize(size);
    }

    fn line(&mut self) -> Option<Box<dyn Line>> {
        self.line.take().map(|line| Box::new(line) as Box<dyn Line>)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.link.abandon();
    }
}
