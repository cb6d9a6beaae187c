//! The contract for asking models beside the one that leads the conversation: to look at a picture, to
//! give a second opinion.
//!
//! The composition root implements [`SideModels`]; whoever owns a session that a model leads puts an
//! [`Answering`] into its extensions.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::model::Model;

/// Models for side jobs.
pub trait SideModels: Send + Sync {
    /// Whether the settings name a model for this job (`auxiliary.TASK`).
    fn is_set(&self, task: &str) -> bool;

    /// The model for a job: the one that the settings name for it, else the one for conversations. For a
    /// job that looks at pictures only one that sees will do. Says in words what has to be set first.
    fn for_task<'a>(&'a self, task: &'a str, sight: Sight) -> BoxFuture<'a, Result<Arc<dyn Model>, String>>;

    /// A model by its name and whoever serves it.
    fn named<'a>(
        &'a self,
        provider: Option<&'a str>,
        model: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn Model>, String>>;
}

/// Whether a job is about something that must be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It is.
    Needed,
    /// Words are enough.
    NotNeeded,
}

/// In the extensions of a session: the model that answers there.
#[derive(Clone)]
pub struct Answering(pub Arc<dyn Model>);
