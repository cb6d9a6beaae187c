//! The jobs of a home, for the tool that plans them.

use std::sync::{Arc, RwLock};

use futures::future::BoxFuture;
use hermes_core::cron::{Draft, Here, Job, JobBook, JobError, Step};
use hermes_core::deliver::Deliver;
use hermes_core::host::Host;
use hermes_store::CronHome;
use hermes_store::sessions::Clock;

use super::deliver::undeliverable;
use super::{chance, here, looked, on_disk, zone};
use crate::world::World;

/// The jobs of a home.
pub(super) struct HomeBook {
    pub(super) home: CronHome,
    pub(super) world: Arc<RwLock<World>>,
    pub(super) host: Arc<dyn Host>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) deliver: Arc<dyn Deliver>,
}

impl HomeBook {
    fn here(&self) -> Result<Here, JobError> {
        here(self.clock.as_ref(), &looked(&self.world, zone::of)?)
    }

    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CronHome, &Here) -> Result<T, JobError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, JobError>> {
        match self.here() {
            Ok(here) => on_disk(&self.host, &self.home, move |home| work(home, &here)),
            Err(wrong) => Box::pin(std::future::ready(Err(wrong))),
        }
    }
}

impl JobBook for HomeBook {
    fn all(&self) -> BoxFuture<'_, Result<Vec<Job>, JobError>> {
        self.with(|home, _| home.jobs().map_err(|wrong| JobError::Store(wrong.to_string())))
    }

    fn create(&self, draft: Draft) -> BoxFuture<'_, Result<Job, JobError>> {
        self.with(move |home, here| home.create(draft, here, chance()))
    }

    fn change<'a>(&'a self, name: &'a str, step: Step) -> BoxFuture<'a, Result<Job, JobError>> {
        let name = name.to_owned();
        self.with(move |home, here| home.change(&name, step, here))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Job, JobError>> {
        let name = name.to_owned();
        self.with(move |home, here| home.remove(&name, here))
    }

    fn is_served(&self) -> bool {
        self.home.served().is_some()
    }

    fn undeliverable(&self, job: &Job) -> Option<String> {
        undeliverable(job, self.deliver.as_ref())
    }
}
