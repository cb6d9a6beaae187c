//! The environments, one file each. A file here is a backend; nothing else lists it.
//!
//! The settings type is the backend before it is opened; the opened one is another type.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Environment};
use hermes_core::host::Host;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fence::Fence;
use crate::shell::variables::ChildVariables;

include!(concat!(env!("OUT_DIR"), "/backends.rs"));

gathered! {
    /// Every backend, sorted by name.
    pub(crate) static BACKENDS: [&BackendDef] = BACKEND;
}

/// The backend of that name.
pub fn find(name: &str) -> Option<&'static BackendDef> {
    BACKENDS.iter().copied().find(|backend| backend.name == name)
}

/// All backends, sorted by name.
pub fn all() -> impl Iterator<Item = &'static BackendDef> {
    BACKENDS.iter().copied()
}

/// The table entry of a backend: one `const` in its file.
#[derive(Clone, Copy)]
pub struct BackendDef {
    name: &'static str,
    open: Open,
}

type Open = fn(Value, Opening) -> BoxFuture<'static, Result<Arc<dyn Environment>, EnvError>>;

/// What a backend is opened with, beside its settings.
#[derive(Clone)]
pub struct Opening {
    /// Clock, timer and threads.
    pub host: Arc<dyn Host>,
    /// Which variables children get.
    pub variables: ChildVariables,
    /// A private folder of this machine that goes when we do.
    pub folder: Option<PathBuf>,
    /// What confines every command, where that is wanted.
    pub fence: Option<Arc<Fence>>,
}

/// Settings that can be opened.
trait Backend: DeserializeOwned + Send + 'static {
    type Env: Environment + 'static;

    fn open(self, with: Opening) -> impl Future<Output = Result<Self::Env, EnvError>> + Send;
}

impl BackendDef {
    const fn of<B: Backend>(name: &'static str) -> Self {
        Self { name, open: open::<B> }
    }

    /// Its name in settings and effects.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Opens it; `settings` is the `terminal` section of `config.yaml`.
    pub async fn open(&self, settings: Value, with: Opening) -> Result<Arc<dyn Environment>, EnvError> {
        (self.open)(settings, with).await
    }
}

fn open<B: Backend>(
    settings: Value,
    with: Opening,
) -> BoxFuture<'static, Result<Arc<dyn Environment>, EnvError>> {
    Box::pin(async move {
        let settings = if settings.is_null() { Value::Object(serde_json::Map::new()) } else { settings };
        let backend: B = serde_json::from_value(settings).map_err(|wrong| EnvError::Start {
            what: "the environment".to_owned(),
            why: wrong.to_string(),
        })?;
        Ok(Arc::new(backend.open(with).await?) as Arc<dyn Environment>)
    })
}
