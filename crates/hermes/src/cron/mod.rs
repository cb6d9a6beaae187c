//! Work that the clock starts: the jobs of a home, and what runs them.
//!
//! | file | what |
//! |---|---|
//! | `book.rs` | the jobs, for the tool and for the command line |
//! | `zone.rs` | the time zone that is meant where none is named |
//! | `prompt.rs` | what the agent of a run is asked |
//! | `script.rs` | the script that runs first |
//! | `deliver.rs` | what goes out to people |
//! | `run.rs` | one run, from its claim to its record |
//! | `tick.rs` | one look: what is due is claimed and run |
//! | `serve.rs` | look after look, until somebody says stop |
//!
//! Each run is a session of its own on the road, with nobody to ask. What is due is claimed on the disk
//! before it begins, and however a run ends, its record says so.

mod book;
mod deliver;
mod prompt;
mod run;
mod script;
mod serve;
mod tick;
mod zone;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use futures::future::BoxFuture;
use hermes_core::cron::{Draft, Here, Job, JobBook, JobError, Step};
use hermes_core::deliver::Deliver;
use hermes_core::host::{Host, blocking};
use hermes_core::wait::wait;
use hermes_guard::Mode;
use hermes_store::config::CronMode;
use hermes_store::cron::Runs;
use hermes_store::sessions::Clock;
use hermes_store::{CronHome, Home, Settings};
use hermes_tools::senders::Carriers;
use jiff::Timestamp;

use crate::courier::WorldCourier;
use crate::host::Machine;
use crate::runtime::Runtime;
use crate::web::WorldWeb;
use crate::world::World;
use book::HomeBook;

pub use jiff::tz::TimeZone;
pub use serve::{Happening, ServeError};
pub use tick::Ticked;

/// The jobs of a home, to a tool; `live` is who is connected to platforms.
pub(crate) fn book(
    home: &Home,
    world: &Arc<RwLock<World>>,
    machine: &Arc<Machine>,
    web: &Arc<WorldWeb>,
    live: Option<Arc<dyn Deliver>>,
) -> Arc<dyn JobBook> {
    let deliver = Arc::new(Carriers::new(live, WorldCourier::new(world, web)));
    let host: Arc<dyn Host> = machine.clone();
    let clock: Arc<dyn Clock> = machine.clone();
    Arc::new(HomeBook { home: CronHome::of(home), world: Arc::clone(world), host, clock, deliver })
}

/// What becomes of questions when nobody is there.
pub(crate) fn mode(settings: &Settings) -> Mode {
    match settings.approvals.cron_mode {
        CronMode::Approve => Mode::Off,
        CronMode::Deny => Mode::Deny,
    }
}

/// The jobs of a runtime's home, and what runs them.
#[derive(Clone)]
pub struct Cron {
    runtime: Runtime,
    home: CronHome,
    clock: Arc<dyn Clock>,
    deliver: Arc<dyn Deliver>,
}

impl Runtime {
    /// The jobs of the home, if there is one. A runtime that runs them should be made
    /// [unattended](crate::RuntimeBuilder::unattended).
    pub fn cron(&self) -> Option<Cron> {
        let home = CronHome::of(&self.home()?);
        let deliver = self.deliver();
        Some(Cron { runtime: self.clone(), home, clock: self.machine().clone(), deliver })
    }
}

impl Cron {
    /// The same by another clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The same, with somebody else who carries messages: a program that is connected to platforms.
    pub fn delivered_by(mut self, deliver: Arc<dyn Deliver>) -> Self {
        self.deliver = deliver;
        self
    }

    /// Where the jobs are kept.
    pub fn home(&self) -> &CronHome {
        &self.home
    }

    /// The time it is, and the zone that is meant where none is named.
    pub fn here(&self) -> Result<Here, JobError> {
        here(self.clock.as_ref(), &self.runtime.world(zone::of)?)
    }

    /// Makes a job.
    pub fn create(&self, draft: Draft) -> Result<Job, JobError> {
        self.home.create(draft, &self.here()?, chance())
    }

    /// Changes a job.
    pub fn change(&self, name: &str, step: Step) -> Result<Job, JobError> {
        self.home.change(name, step, &self.here()?)
    }

    /// Takes a job away.
    pub fn remove(&self, name: &str) -> Result<Job, JobError> {
        self.home.remove(name, &self.here()?)
    }

    /// One look, from code that just waits.
    pub fn tick_blocking(&self, stop: &tokio_util::sync::CancellationToken) -> Result<Ticked, JobError> {
        wait(self.tick(stop))
    }

    /// Brings what runs have changed into the file of jobs, where others read it.
    async fn fold(&self) -> Result<(), JobError> {
        let here = self.here()?;
        self.on_disk(move |home| home.fold(&here)).await
    }

    fn now(&self) -> Result<Timestamp, JobError> {
        timestamp(self.clock.now())
    }

    /// Work on files, off the threads that drive the runs.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CronHome) -> Result<T, JobError> + Send + 'static,
    ) -> Result<T, JobError> {
        on_disk(&self.runtime.host(), &self.home, work).await
    }

    /// Work on the record of runs.
    async fn on_record<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Runs) -> Result<T, hermes_store::StoreError> + Send + 'static,
    ) -> Result<T, JobError> {
        let store = |wrong: hermes_store::StoreError| JobError::Store(wrong.to_string());
        self.on_disk(move |home| work(&home.runs().map_err(store)?).map_err(store)).await
    }
}

fn on_disk<'a, T: Send + 'static>(
    host: &'a Arc<dyn Host>,
    home: &CronHome,
    work: impl FnOnce(&CronHome) -> Result<T, JobError> + Send + 'static,
) -> BoxFuture<'a, Result<T, JobError>> {
    let home = home.clone();
    Box::pin(async move {
        let done = blocking(host, move || work(&home)).await;
        done.unwrap_or_else(|lost| Err(JobError::Store(lost.to_string())))
    })
}

fn here(clock: &dyn Clock, zone: &TimeZone) -> Result<Here, JobError> {
    Ok(Here { now: timestamp(clock.now())?, zone: zone.clone() })
}

fn timestamp(time: SystemTime) -> Result<Timestamp, JobError> {
    let read = Timestamp::try_from(time);
    read.map_err(|wrong| JobError::Store(format!("the clock of this machine is wrong: {wrong}")))
}

/// A number that makes an id unlike others.
fn chance() -> u64 {
    u64::from(Machine::chance()) << 32 | u64::from(Machine::chance())
}

/// What lies outside, for as long as it takes to look.
fn looked<R>(world: &RwLock<World>, look: impl FnOnce(&World) -> R) -> R {
    look(&world.read().unwrap_or_else(PoisonError::into_inner))
}
