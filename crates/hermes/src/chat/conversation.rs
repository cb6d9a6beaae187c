//! The conversation of one session, in the home's store or, without a home, in memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use hermes_core::conversation::{Conversation, Floor, Spent};
use hermes_core::model::Message;
use hermes_core::road::Spill;
use hermes_store::sessions::{NewSession, SessionError, SessionStore, Sessions, Spender, Tokens};

use super::wording::{from_store, to_store};

/// A conversation in the store. The session is made with the first thing that is written, so that
/// one in which nothing was said leaves nothing behind.
pub(crate) struct StoredConversation {
    store: SessionStore,
    id: String,
    spill: Arc<dyn Spill>,
    /// What the session is made from, until it is made.
    new: Mutex<Option<NewSession>>,
    /// What was used and is not written down yet: it goes with the answer it was used for.
    used: Mutex<Vec<(Spender, Tokens)>>,
    pages: AtomicU64,
}

impl StoredConversation {
    /// A conversation that is new, or (without `new`) one that is there already.
    pub(crate) fn new(
        store: SessionStore,
        id: String,
        new: Option<NewSession>,
        spill: Arc<dyn Spill>,
    ) -> Self {
        Self { store, id, spill, new: Mutex::new(new), used: Mutex::default(), pages: AtomicU64::new(0) }
    }

    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Sessions, &str) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, String> {
        let id = self.id.clone();
        let new = self.new.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_new = new.is_some();
        let used = std::mem::take(&mut *self.used());
        let more = used.clone();
        let changed = self.store.change(move |sessions| {
            match new.map(|new| sessions.create(&new)) {
                // Two first things may be written at once.
                None | Some(Ok(_) | Err(SessionError::Exists { .. })) => {}
                Some(Err(wrong)) => return Err(wrong),
            }
            let done = work(sessions, &id)?;
            for (spender, tokens) in &more {
                sessions.add_usage(&id, spender, tokens)?;
            }
            Ok(done)
        });
        let done = changed.await.map_err(|wrong| {
            self.used().extend(used);
            told(wrong)
        })?;
        if is_new {
            *self.new.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Ok(done)
    }

    fn used(&self) -> MutexGuard<'_, Vec<(Spender, Tokens)>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_new(&self) -> bool {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    async fn look<T: Send + Default + 'static>(
        &self,
        work: impl FnOnce(&Sessions, &str) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, String> {
        if self.is_new() {
            return Ok(T::default());
        }
        let id = self.id.clone();
        self.store.look(move |sessions| work(sessions, &id)).await.map_err(told)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used to map errors")]
fn told(wrong: SessionError) -> String {
    wrong.to_string()
}

impl Conversation for StoredConversation {
    fn floor(&self) -> BoxFuture<'_, Result<Option<Floor>, String>> {
        Box::pin(async {
            let Some(floor) = self.store.floor(&self.id).map_err(told)? else { return Ok(None) };
            if !self.is_new() {
                let id = self.id.clone();
                self.store.change(move |sessions| sessions.mend(&id)).await.map_err(told)?;
            }
            Ok(Some(Box::new(floor) as Floor))
        })
    }

    fn append<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        let kept: Vec<_> = messages.iter().map(to_store).collect();
        Box::pin(self.change(move |sessions, id| sessions.append(id, &kept).map(drop)))
    }

    fn messages(&self) -> BoxFuture<'_, Result<Vec<Message>, String>> {
        Box::pin(self.look(|sessions, id| {
            let kept = sessions.messages(id)?;
            Ok(kept.into_iter().filter_map(|stored| from_store(stored.message)).collect())
        }))
    }

    fn replace<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        let kept: Vec<_> = messages.iter().map(to_store).collect();
        Box::pin(self.change(move |sessions, id| sessions.compact(id, &kept).map(drop)))
    }

    fn page_out<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let page = format!("page-{}", self.pages.fetch_add(1, Ordering::Relaxed) + 1);
            let path: PathBuf = self.spill.keep(&self.id, &page, text.to_owned()).await?;
            Ok(path.display().to_string())
        })
    }

    fn system_prompt(&self) -> BoxFuture<'_, Result<Option<String>, String>> {
        Box::pin(self.look(Sessions::system_prompt))
    }

    fn set_system_prompt<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<(), String>> {
        // A session that is still to be made is made with it.
        if let Some(new) = &mut *self.new.lock().unwrap_or_else(PoisonError::into_inner) {
            new.system_prompt = Some(prompt.to_owned());
            return Box::pin(std::future::ready(Ok(())));
        }
        let prompt = prompt.to_owned();
        Box::pin(self.change(move |sessions, id| sessions.set_system_prompt(id, &prompt)))
    }

    fn spent<'a>(&'a self, spent: &'a Spent) -> BoxFuture<'a, Result<(), String>> {
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let spender = Spender {
            model: spent.model.clone(),
            provider: spent.provider.clone(),
            task: spent.task.to_owned(),
        };
        let tokens = Tokens {
            api_calls: 1,
            input_tokens: count(spent.usage.input),
            output_tokens: count(spent.usage.output),
            cache_read_tokens: count(spent.usage.cache_read),
            cache_write_tokens: count(spent.usage.cache_write),
            reasoning_tokens: count(spent.usage.reasoning),
            cost_usd: spent.cost_usd.unwrap_or_default(),
        };
        self.used().push((spender, tokens));
        Box::pin(std::future::ready(Ok(())))
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            let used = !self.used().is_empty();
            if used {
                self.change(|_, _| Ok(())).await?;
            }
            if self.is_new() {
                return Ok(());
            }
            self.store.sync().await.map_err(told)
        })
    }
}

/// A conversation nobody keeps.
#[derive(Default)]
pub(crate) struct PassingConversation(Mutex<Passing>);

#[derive(Default)]
struct Passing {
    messages: Vec<Message>,
    system: Option<String>,
}

impl PassingConversation {
    fn with<T>(&self, use_it: impl FnOnce(&mut Passing) -> T) -> BoxFuture<'_, Result<T, String>>
    where
        T: Send + 'static,
    {
        let done = use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(std::future::ready(Ok(done)))
    }
}

impl Conversation for PassingConversation {
    fn floor(&self) -> BoxFuture<'_, Result<Option<Floor>, String>> {
        // Nobody else can see it.
        self.with(|_| Some(Box::new(()) as Floor))
    }

    fn append<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        self.with(|passing| passing.messages.extend_from_slice(messages))
    }

    fn messages(&self) -> BoxFuture<'_, Result<Vec<Message>, String>> {
        self.with(|passing| passing.messages.clone())
    }

    fn replace<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>> {
        self.with(|passing| passing.messages = messages.to_vec())
    }

    fn page_out<'a>(&'a self, _text: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("there is no home to keep it in".to_owned())))
    }

    fn system_prompt(&self) -> BoxFuture<'_, Result<Option<String>, String>> {
        self.with(|passing| passing.system.clone())
    }

    fn set_system_prompt<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<(), String>> {
        self.with(|passing| passing.system = Some(prompt.to_owned()))
    }

    fn spent<'a>(&'a self, _spent: &'a Spent) -> BoxFuture<'a, Result<(), String>> {
        self.with(|_| ())
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), String>> {
        self.with(|_| ())
    }
}
