//! A machine as gates see it, made up by the test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes_core::gate::Probe;
use serde_json::Value;

use crate::{Latch, lock};

/// What gates look at, and how often they looked.
#[derive(Default)]
pub struct FakeProbe(Mutex<State>);

#[derive(Default)]
struct State {
    there: BTreeSet<String>,
    config: BTreeMap<String, Value>,
    services: BTreeMap<String, Service>,
    asked: BTreeMap<String, usize>,
}

/// How a service answers.
#[derive(Clone)]
pub enum Service {
    /// At once.
    Up,
    /// Never.
    Hangs,
    /// When the latch is opened.
    Slow(Arc<Latch>),
    /// The question itself goes wrong.
    Panics,
}

impl FakeProbe {
    /// Nothing is there.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Puts a variable, program or file there, or takes it away.
    pub fn set(&self, name: &str, there: bool) {
        let mut state = lock(&self.0);
        if there {
            state.there.insert(name.to_owned());
        } else {
            state.there.remove(name);
        }
    }

    /// Sets a value of the configuration.
    pub fn set_config(&self, key: &str, value: Value) {
        lock(&self.0).config.insert(key.to_owned(), value);
    }

    /// Decides how a service answers; one that is not named is down.
    pub fn set_service(&self, address: &str, service: Service) {
        lock(&self.0).services.insert(address.to_owned(), service);
    }

    /// How often this was looked at.
    pub fn asked(&self, name: &str) -> usize {
        lock(&self.0).asked.get(name).copied().unwrap_or_default()
    }

    fn look<R>(&self, name: &str, look: impl FnOnce(&State) -> R) -> R {
        let mut state = lock(&self.0);
        *state.asked.entry(name.to_owned()).or_default() += 1;
        look(&state)
    }
}

impl Probe for FakeProbe {
    fn env(&self, name: &str) -> bool {
        self.look(name, |state| state.there.contains(name))
    }

    fn program(&self, name: &str) -> bool {
        self.look(name, |state| state.there.contains(name))
    }

    fn file(&self, path: &str) -> bool {
        self.look(path, |state| state.there.contains(path))
    }

    fn config(&self, key: &str) -> Option<Value> {
        self.look(key, |state| state.config.get(key).cloned())
    }

    #[expect(clippy::panic, reason = "a probe that breaks is one of the things to be tested")]
    fn service(&self, address: &str) -> BoxFuture<'static, bool> {
        match self.look(address, |state| state.services.get(address).cloned()) {
            None => Box::pin(std::future::ready(false)),
            Some(Service::Up) => Box::pin(std::future::ready(true)),
            Some(Service::Hangs) => Box::pin(std::future::pending()),
            Some(Service::Slow(latch)) => Box::pin(async move {
                latch.wait().await;
                true
            }),
            Some(Service::Panics) => panic!("the probe broke"),
        }
    }
}
