//! Models for side jobs, chosen by the settings of the moment.

use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use hermes_core::model::{EventSink, Model, ModelError, ModelReply, ModelRequest, Price};
use hermes_core::side::{SideModels, Sight};
use hermes_llm::select::{self as pick, NamedEndpoint, Sources, Wanted};
use hermes_llm::{Endpoint, HttpModel};
use hermes_net::Http;
use hermes_store::Settings;
use hermes_store::config::ModelSettings;

use crate::chat::models::{completed, endpoint_of, wanted};
use crate::host::Machine;
use crate::inside::Inside;
use crate::world::World;

/// Chooses among the models that the settings know.
pub(crate) struct WorldSideModels {
    world: Arc<RwLock<World>>,
    machine: Arc<Machine>,
}

impl WorldSideModels {
    pub(crate) fn new(world: &Arc<RwLock<World>>, machine: &Arc<Machine>) -> Self {
        Self { world: Arc::clone(world), machine: Arc::clone(machine) }
    }

    fn settings(&self) -> Settings {
        self.world.read().unwrap_or_else(PoisonError::into_inner).settings()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.world.read().unwrap_or_else(PoisonError::into_inner).variable(name).map(str::to_owned)
    }

    fn http(&self) -> Http {
        Http::from_env(|name| self.variable(name))
    }

    /// The endpoint that is wanted; none when only the built-in model is left.
    async fn endpoint(&self, settings: &Settings, flags: &Wanted) -> Result<Option<Endpoint>, String> {
        let env = |name: &str| self.variable(name);
        let named: Vec<NamedEndpoint> = settings.endpoints.iter().map(endpoint_of).collect();
        let config = wanted(&settings.model, &env);
        let sources = Sources { flags, config: &config, named: &named, env: &env };
        let http = self.http();
        let chosen = self.inside(Box::pin(pick::choose(&sources, &http))).await;
        Ok(chosen.map_err(|wrong| wrong.to_string())?.endpoint)
    }

    fn model(&self, endpoint: Endpoint) -> Arc<dyn Model> {
        let model = HttpModel::new(endpoint, self.http());
        Arc::new(Anywhere { model, machine: Arc::clone(&self.machine) })
    }

    async fn inside<T>(&self, work: BoxFuture<'_, T>) -> T {
        match self.machine.handle() {
            Some(runtime) => Inside { runtime, work }.await,
            None => work.await,
        }
    }
}

/// Whether a section says which model, and not only how long to wait for it.
fn names_one(way: &ModelSettings) -> bool {
    way.name.is_some() || way.base_url.is_some() || way.provider.is_some()
}

impl SideModels for WorldSideModels {
    fn is_set(&self, task: &str) -> bool {
        self.settings().auxiliary.get(task).is_some_and(names_one)
    }

    fn for_task<'a>(&'a self, task: &'a str, sight: Sight) -> BoxFuture<'a, Result<Arc<dyn Model>, String>> {
        Box::pin(async move {
            let settings = self.settings();
            let way = settings.auxiliary.get(task).filter(|way| names_one(way));
            if let Some(way) = way {
                let flags = wanted(&completed(way, &settings), &|name: &str| self.variable(name));
                let found = self.endpoint(&settings, &flags).await?;
                let mut endpoint = found.ok_or_else(|| format!("auxiliary.{task} names no model"))?;
                // Who names a model for looking at things knows that it sees.
                endpoint.sees |= sight == Sight::Needed;
                return Ok(self.model(endpoint));
            }
            let set = format!("set auxiliary.{task}.provider and auxiliary.{task}.model");
            let found = self.endpoint(&settings, &Wanted::default()).await;
            let endpoint = found?.ok_or_else(|| format!("no model is configured; {set}"))?;
            if sight == Sight::Needed && !endpoint.sees {
                return Err(format!("{} does not look at pictures; {set} to one that does", endpoint.model));
            }
            Ok(self.model(endpoint))
        })
    }

    fn named<'a>(
        &'a self,
        provider: Option<&'a str>,
        model: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Model>, String>> {
        Box::pin(async move {
            let flags = Wanted {
                provider: provider.map(str::to_owned),
                model: Some(model.to_owned()),
                ..Wanted::default()
            };
            let found = self.endpoint(&self.settings(), &flags).await?;
            Ok(self.model(found.ok_or_else(|| format!("nobody here serves {model}"))?))
        })
    }
}

/// A model that can be asked from anywhere: its sockets belong to our runtime.
struct Anywhere {
    model: HttpModel,
    machine: Arc<Machine>,
}

impl Model for Anywhere {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn context_tokens(&self) -> Option<u64> {
        self.model.context_tokens()
    }

    fn sees(&self) -> bool {
        self.model.sees()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let work = self.model.ask(request, events);
        match self.machine.handle() {
            Some(runtime) => Box::pin(Inside { runtime, work }),
            None => work,
        }
    }
}
