//! What gates look at on this machine: the environment view, the search path, files, the
//! configuration, and whether a service answers.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::effect::lexical;
use hermes_core::gate::Probe;
use hermes_core::host::{self, Host};
use hermes_core::session::Place;
use hermes_env::backends::{self, BackendDef};
use hermes_store::HomeLogins;
use serde_json::Value;

use crate::environments;
use crate::world::World;

/// How long a service has to answer.
const SERVICE: Duration = Duration::from_secs(3);

/// Looks at this machine through the runtime's view of it.
pub(crate) struct MachineProbe {
    pub(crate) world: Arc<RwLock<World>>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) place: Place,
}

impl MachineProbe {
    fn look<R>(&self, look: impl FnOnce(&World) -> R) -> R {
        look(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Probe for MachineProbe {
    fn env(&self, name: &str) -> bool {
        self.look(|world| world.variable(name).is_some_and(|value| !value.is_empty()))
    }

    fn program(&self, name: &str) -> bool {
        let path = self.look(|world| world.variable("PATH").unwrap_or_default().to_owned());
        hermes_env::probe::program_on_path(name, path.as_ref()).is_some()
    }

    fn file(&self, path: &str) -> bool {
        hermes_env::probe::file_exists(&lexical(path, &self.place.cwd, self.place.home.as_deref()))
    }

    fn config(&self, key: &str) -> Option<Value> {
        self.look(|world| world.config(key))
    }

    fn home(&self) -> Option<PathBuf> {
        self.look(|world| world.home().map(|home| home.path().to_path_buf()))
    }

    fn elsewhere(&self) -> bool {
        let far = |name: &str| backends::find(name).is_some_and(BackendDef::is_far);
        self.look(|world| environments::described(world).iter().any(|place| far(&place.backend)))
    }

    fn login(&self, service: &str) -> bool {
        let home = self.look(|world| world.home().cloned());
        home.is_some_and(|home| matches!(HomeLogins::read(&home, service), Ok(Some(_))))
    }

    fn service(&self, address: &str) -> BoxFuture<'static, bool> {
        let (host, address) = (Arc::clone(&self.host), address.to_owned());
        Box::pin(async move {
            host::blocking(&host, move || hermes_env::probe::service_answers(&address, SERVICE))
                .await
                .unwrap_or(false)
        })
    }
}
