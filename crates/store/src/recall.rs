//! Earlier conversations of a home, and of its other profiles, for tools that ask for them.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::host::{Host, blocking};
use hermes_core::recall::{
    Conversation, Discovered, Passage, Recall, RecallError, SessionRow, Standpoint, Wanted,
};

use crate::disk;
use crate::home::Home;
use crate::sessions::{Clock, Durability, SessionError, SessionStore, Sessions};

/// Looks into the store of sessions of a home. Nothing is opened before it is used, and nothing made.
#[derive(Clone)]
pub struct HomeRecall {
    home: Home,
    store: SessionStore,
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
}

impl HomeRecall {
    /// The conversations in `store`, which is that of `home`.
    pub fn new(
        home: &Home,
        store: &SessionStore,
        host: &Arc<dyn Host>,
        clock: &Arc<dyn Clock>,
    ) -> HomeRecall {
        HomeRecall {
            home: home.clone(),
            store: store.clone(),
            host: Arc::clone(host),
            clock: Arc::clone(clock),
        }
    }

    /// Looks at the store of the profile that is meant; `empty` where it has none.
    async fn look<T: Send + 'static>(
        &self,
        from: Standpoint<'_>,
        empty: Result<T, RecallError>,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, RecallError> {
        let home = match from.profile {
            Some(name) => {
                self.home.with_profile(name).map_err(|why| RecallError::Unknown(why.to_string()))?
            }
            None => self.home.clone(),
        };
        let path = home.sessions_db();
        let (folder, file) = (home.path().to_owned(), path.clone());
        let there = blocking(&self.host, move || (disk::is_folder(&folder), disk::is_file(&file))).await;
        match there.map_err(|lost| RecallError::Store(lost.to_string()))? {
            (false, _) if home != self.home => {
                let name = from.profile.unwrap_or_default();
                return Err(RecallError::Unknown(format!("there is no profile `{name}`")));
            }
            (_, false) => return empty,
            _ => {}
        }
        let store = if home == self.home {
            self.store.clone()
        } else {
            SessionStore::new(&path, &self.host, &self.clock, Durability::default())
        };
        store.look(work).await.map_err(told)
    }
}

impl Recall for HomeRecall {
    fn browse<'a>(
        &'a self,
        from: Standpoint<'a>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<SessionRow>, RecallError>> {
        let own = from.session.to_owned();
        Box::pin(self.look(from, Ok(Vec::new()), move |store| store.browse(&own, limit)))
    }

    fn discover<'a>(
        &'a self,
        from: Standpoint<'a>,
        wanted: Wanted,
    ) -> BoxFuture<'a, Result<Discovered, RecallError>> {
        let own = from.session.to_owned();
        Box::pin(self.look(from, Ok(Discovered::default()), move |store| store.discover(&own, &wanted)))
    }

    fn read<'a>(
        &'a self,
        from: Standpoint<'a>,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Conversation, RecallError>> {
        let (name, empty) = (session.to_owned(), Err(no_session(session)));
        Box::pin(self.look(from, empty, move |store| store.read_through(&name)))
    }

    fn scroll<'a>(
        &'a self,
        from: Standpoint<'a>,
        session: &'a str,
        message: i64,
        each_way: u32,
    ) -> BoxFuture<'a, Result<Passage, RecallError>> {
        let (name, empty) = (session.to_owned(), Err(no_session(session)));
        Box::pin(self.look(from, empty, move |store| store.scroll(&name, message, each_way)))
    }
}

fn no_session(name: &str) -> RecallError {
    RecallError::Unknown(format!("there is no session `{name}`"))
}

fn told(wrong: SessionError) -> RecallError {
    match wrong {
        SessionError::Unknown { name } => no_session(&name),
        SessionError::Ambiguous { .. } | SessionError::NoMessage { .. } => {
            RecallError::Unknown(wrong.to_string())
        }
        other => RecallError::Store(other.to_string()),
    }
}
