//! Keys and settings for tools, from the runtime's view of the world.

use std::sync::{Arc, PoisonError, RwLock};

use hermes_core::keys::Keys;
use serde_json::Value;

use crate::world::World;

/// Looks things up in the world of this moment.
pub(crate) struct WorldKeys(pub(crate) Arc<RwLock<World>>);

impl Keys for WorldKeys {
    fn key(&self, name: &str) -> Option<String> {
        let world = self.0.read().unwrap_or_else(PoisonError::into_inner);
        world.variable(name).filter(|value| !value.trim().is_empty()).map(str::to_owned)
    }

    fn setting(&self, key: &str) -> Option<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).config(key)
    }
}
