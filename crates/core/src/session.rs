//! A session: whose calls these are, where they start, and the state that tools keep for it.
//!
//! A session is a value with one owner. Tools find their state in its slots, so two sessions in
//! one process never see each other.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::effect::lexical;
use crate::extensions::Extensions;
use crate::loop_guard::{self, LoopGuard};
use crate::policy::{Approver, Nobody};

/// Bytes of a dot and the largest number of a call.
const LONGEST_NUMBER: usize = 21;

/// State that one tool keeps in a session.
pub trait Slot: Default + Send + 'static {
    /// Its name in effects and records.
    const NAME: &'static str;
}

/// A running session. Clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    id: Arc<str>,
    workspace: PathBuf,
    place: ArcSwap<Place>,
    /// Where it stands in environments with files of their own.
    elsewhere: Mutex<BTreeMap<String, Arc<Place>>>,
    slots: Option<Mutex<HashMap<TypeId, Box<dyn Any + Send>>>>,
    calls: AtomicU64,
    turns: AtomicU64,
    requests: AtomicU64,
    cancel: CancellationToken,
    approver: Arc<dyn Approver>,
    extensions: Extensions,
    loop_guard: Mutex<LoopGuard>,
}

/// Where a session stands: relative paths start here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Working directory.
    pub cwd: PathBuf,
    /// The user's home, which `~` stands for.
    pub home: Option<PathBuf>,
}

impl Place {
    /// The absolute, clean form of a path as a model writes it.
    pub fn resolve(&self, path: &str) -> PathBuf {
        lexical(path, &self.cwd, self.home.as_deref())
    }
}

/// What a session is made from.
pub struct SessionSpec {
    /// Unique among the sessions that share a state folder.
    pub id: String,
    /// Where it stands.
    pub place: Place,
    /// Who answers when policy asks.
    pub approver: Arc<dyn Approver>,
    /// When repeated calls are warned about or stopped.
    pub loop_guard: loop_guard::Settings,
    /// What its tools find beside the services of the runtime.
    pub extensions: Extensions,
}

impl SessionSpec {
    /// A session where nobody can be asked.
    pub fn new(id: impl Into<String>, place: Place) -> Self {
        Self {
            id: id.into(),
            place,
            approver: Arc::new(Nobody),
            loop_guard: loop_guard::Settings::default(),
            extensions: Extensions::default(),
        }
    }
}

impl Session {
    /// A session with state.
    pub fn new(spec: SessionSpec) -> Self {
        Self::make(spec, Some(Mutex::default()))
    }

    /// No session at all: tools can be called, but none that needs state.
    pub fn detached(spec: SessionSpec) -> Self {
        Self::make(spec, None)
    }

    fn make(spec: SessionSpec, slots: Option<Mutex<HashMap<TypeId, Box<dyn Any + Send>>>>) -> Self {
        Self(Arc::new(Inner {
            id: spec.id.into(),
            workspace: spec.place.cwd.clone(),
            place: ArcSwap::from_pointee(spec.place),
            elsewhere: Mutex::default(),
            slots,
            calls: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            cancel: CancellationToken::new(),
            approver: spec.approver,
            extensions: spec.extensions,
            loop_guard: Mutex::new(LoopGuard::new(spec.loop_guard)),
        }))
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Its id, shared.
    pub(crate) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.0.id)
    }

    /// Where it stands now.
    pub fn place(&self) -> Arc<Place> {
        self.0.place.load_full()
    }

    /// The folder the session is about: where it began, wherever it has gone since. Policy goes by
    /// this one, so that no change of directory makes a system folder look like work.
    pub fn workspace(&self) -> &Path {
        &self.0.workspace
    }

    /// Goes to another directory: what is relative from now on starts there.
    pub fn move_to(&self, cwd: &Path) {
        self.0.place.rcu(|place| Place { cwd: cwd.to_path_buf(), ..Place::clone(place) });
    }

    /// Where it stands in an environment with files of its own; it begins at `first`.
    pub fn place_in(&self, environment: &str, first: &Place) -> Arc<Place> {
        let mut known = self.0.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.entry(environment.to_owned()).or_insert_with(|| Arc::new(first.clone()));
        Arc::clone(place)
    }

    /// Goes to another directory of such an environment.
    pub fn move_in(&self, environment: &str, cwd: &Path) {
        let mut known = self.0.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.get_mut(environment) {
            *place = Arc::new(Place { cwd: cwd.to_path_buf(), ..Place::clone(place) });
        }
    }

    /// Stops every call of the session, now and later.
    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// Fires when the session is stopped.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// A token that ends with the session; cancel it to stop one call or batch.
    pub fn child_token(&self) -> CancellationToken {
        self.0.cancel.child_token()
    }

    /// Who answers when policy asks.
    pub fn approver(&self) -> &Arc<dyn Approver> {
        &self.0.approver
    }

    /// What its owner handed to its tools.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// Uses the state of one tool; nothing when the session keeps none.
    pub fn with_slot<S: Slot, R>(&self, use_it: impl FnOnce(&mut S) -> R) -> Option<R> {
        let mut slots = self.0.slots.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(TypeId::of::<S>()).or_insert_with(|| Box::new(S::default()));
        slot.downcast_mut::<S>().map(use_it)
    }

    /// The runtime's own id for the next call.
    pub(crate) fn next_call_id(&self) -> CallId {
        let number = self.0.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let mut text = String::with_capacity(self.0.id.len() + LONGEST_NUMBER);
        text.push_str(&self.0.id);
        // Writing into a string cannot fail.
        let _ = write!(text, ".{number}");
        CallId::from(text)
    }

    /// Starts a new turn: what was repeated before counts no more.
    pub fn new_turn(&self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
        self.guard(LoopGuard::new_turn);
    }

    /// How many turns there were before this one.
    pub fn turn(&self) -> u64 {
        self.0.turns.load(Ordering::Relaxed)
    }

    /// A model is about to be asked; says how often that was, with this one.
    pub fn new_request(&self) -> u64 {
        self.0.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How often a model was asked.
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Looks at, or adds to, what was repeated in this turn.
    pub(crate) fn guard<R>(&self, use_it: impl FnOnce(&mut LoopGuard) -> R) -> R {
        use_it(&mut self.0.loop_guard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
