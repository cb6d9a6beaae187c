//! Asks files and plugins that nobody knows yet what they offer, without holding up a start.
//!
//! Asking runs them, so it goes on beside everything else: whoever looks waits a moment and takes what
//! was said by then. What came of it is remembered under the digest of the content, a failure as well,
//! so that the next start asks nobody.
//!
//! | standing | asked again |
//! |---|---|
//! | it said what it offers | when its content changes |
//! | late: silent after a moment | beside the next conversation, or when a call names its tool |
//! | failed: it cannot, and says why | the same; what was missing may be there by then |
//! | hung: silent after 15 s | when its content changes, or a person asks for it |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, JoinAll, join_all, select};
use hermes_core::host::Host;
use hermes_extend::plugins::offer::Offer;
use hermes_extend::plugins::subject::{Fault, Subject, Unsaid};
use hermes_extend::worker::Doors;
use hermes_store::Home;

use super::learnt::Learnt;
use crate::host::wait_aside;

/// How long a start waits for all that is new: as long as nobody notices.
pub(crate) const MOMENT: Duration = Duration::from_millis(250);

/// On a machine that is busy a moment is longer: what a process takes beyond the usual to be there at all
/// says nothing about what is to live in it, and counts so many times.
const USUAL: Duration = Duration::from_millis(60);
const TIMES: u32 = 8;

/// But no longer than this.
const LONGEST: Duration = Duration::from_secs(4);

/// How often it is looked whether processes are there.
const STEP: Duration = Duration::from_millis(20);

/// How long anything may take to say what it offers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// How long it may take in a process that it shares, where another one may be in its way.
const SHARED: Duration = Duration::from_secs(5);

/// Why it is not known what something offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unheard {
    /// It had not said it after a moment.
    Late,
    /// It cannot, and says why.
    Failed(String),
    /// It never said it.
    Hung,
}

impl Unheard {
    /// In words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Late => "it takes its time to say what it offers, and is there once it has".to_owned(),
            Self::Failed(why) => why.clone(),
            Self::Hung => format!(
                "it did not say within {} s what it offers, and is not asked again before it changes",
                PATIENCE.as_secs()
            ),
        }
    }
}

/// What is known of something that was asked.
pub(crate) type Standing = Result<Arc<Offer>, Unheard>;

/// Something that can be asked.
pub(crate) struct Thing {
    /// What it is remembered by.
    pub(crate) digest: String,
    /// Where it is asked.
    pub(crate) subject: Arc<Subject>,
    /// The same in a process of its own, when it shares the first one.
    pub(crate) alone: Option<Arc<Subject>>,
}

/// Asks the things of one kind. Clones are the same.
#[derive(Clone)]
pub(crate) struct Asking(Arc<Inner>);

struct Inner {
    home: Home,
    /// Where what was learnt is kept.
    kept: &'static str,
    doors: Doors,
    at_once: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    learnt: Option<Learnt>,
    /// What is known from elsewhere, so that what was learnt need not be read.
    remembered: BTreeMap<String, Arc<Offer>>,
    /// What says more about this machine than about the thing, and is not kept.
    passing: BTreeMap<String, Unheard>,
    queue: VecDeque<Thing>,
    busy: usize,
    /// Whoever waits for an answer, by what is being asked or queued.
    under_way: BTreeMap<String, Vec<oneshot::Sender<()>>>,
    /// What was heard since this program began.
    lately: BTreeSet<String>,
    /// Counts what was heard.
    heard: u64,
    /// What is heard now is written down together, later.
    gathering: bool,
}

/// Answers that somebody waits for.
pub(crate) struct Pending {
    asking: Asking,
    things: Vec<(String, Arc<Subject>)>,
    answers: JoinAll<oneshot::Receiver<()>>,
}

impl Asking {
    /// Nothing is read or asked yet.
    pub(crate) fn new(home: Home, kept: &'static str, doors: Doors, at_once: usize) -> Self {
        Self(Arc::new(Inner { home, kept, doors, at_once, state: Mutex::default() }))
    }

    /// What is known of this content.
    pub(crate) fn standing(&self, digest: &str) -> Option<Standing> {
        let mut state = self.lock();
        if let Some(unheard) = state.passing.get(digest) {
            return Some(Err(unheard.clone()));
        }
        if let Some(offer) = state.remembered.get(digest) {
            return Some(Ok(Arc::clone(offer)));
        }
        self.learnt(&mut state).standing(digest)
    }

    /// Whether anything is known of this content.
    pub(crate) fn knows(&self, digest: &str) -> bool {
        let mut state = self.lock();
        state.passing.contains_key(digest)
            || state.remembered.contains_key(digest)
            || self.learnt(&mut state).knows(digest)
    }

    /// What this content is known to offer.
    pub(crate) fn remember(&self, digest: &str, offer: Arc<Offer>) {
        self.lock().remembered.insert(digest.to_owned(), offer);
    }

    /// Whether it is being asked, or about to be.
    pub(crate) fn is_under_way(&self, digest: &str) -> bool {
        self.lock().under_way.contains_key(digest)
    }

    /// Whether it was heard since this program began, and not only by an earlier one.
    pub(crate) fn heard_lately(&self, digest: &str) -> bool {
        self.lock().lately.contains(digest)
    }

    /// Changes whenever something is heard.
    pub(crate) fn heard(&self) -> u64 {
        self.lock().heard
    }

    /// Asks these, beside everything else; what is being asked already is not asked twice.
    pub(crate) fn ask(&self, things: Vec<Thing>) -> Pending {
        let mut state = self.lock();
        let (mut named, mut answers) = (Vec::new(), Vec::new());
        for thing in things {
            let (tell, answer) = oneshot::channel();
            named.push((thing.digest.clone(), Arc::clone(&thing.subject)));
            answers.push(answer);
            if let Some(waiting) = state.under_way.get_mut(&thing.digest) {
                waiting.push(tell);
            } else {
                state.under_way.insert(thing.digest.clone(), vec![tell]);
                state.queue.push_back(thing);
            }
        }
        let idle = self.0.at_once.saturating_sub(state.busy).min(state.queue.len());
        state.busy += idle;
        drop(state);
        for _ in 0..idle {
            let asking = self.clone();
            if !self.0.doors.tasks.start(Box::pin(async move { asking.work().await })) {
                self.give_up();
            }
        }
        Pending { asking: self.clone(), things: named, answers: join_all(answers) }
    }

    /// Asks one after another until nobody is left.
    async fn work(&self) {
        loop {
            let next = {
                let mut state = self.lock();
                let next = state.queue.pop_front();
                if next.is_none() {
                    state.busy = state.busy.saturating_sub(1);
                }
                next
            };
            let Some(thing) = next else { return };
            let (standing, lasting) = self.hear(&thing).await;
            self.record(&thing.digest, &standing, lasting);
        }
    }

    /// What one says, and whether that is to be kept.
    async fn hear(&self, thing: &Thing) -> (Standing, bool) {
        let first = if thing.alone.is_some() { SHARED } else { PATIENCE };
        let said = self.within(&thing.subject, first).await;
        // Whoever shares a process may have been kept from answering by another.
        let said = match (said, &thing.alone) {
            (None | Some(Err(Unsaid { fault: Fault::Ended, .. })), Some(alone)) => {
                self.within(alone, PATIENCE).await
            }
            (said, _) => said,
        };
        match said {
            Some(Ok(offer)) => (Ok(Arc::new(offer)), true),
            Some(Err(Unsaid { why, fault })) => (Err(Unheard::Failed(why)), fault != Fault::Machine),
            None => (Err(Unheard::Hung), true),
        }
    }

    async fn within(&self, subject: &Subject, limit: Duration) -> Option<Result<Offer, Unsaid>> {
        let asked = Box::pin(subject.describe());
        match select(asked, self.0.doors.host.sleep(limit)).await {
            Either::Left((said, _)) => Some(said),
            Either::Right(_) => None,
        }
    }

    fn record(&self, digest: &str, standing: &Standing, lasting: bool) {
        let mut state = self.lock();
        state.passing.remove(digest);
        state.remembered.remove(digest);
        match standing {
            Err(unheard) if !lasting => {
                state.passing.insert(digest.to_owned(), unheard.clone());
            }
            _ => self.learnt(&mut state).add(digest, standing),
        }
        if !state.gathering {
            self.learnt(&mut state).keep(&self.0.home, self.0.kept);
        }
        state.lately.insert(digest.to_owned());
        state.heard += 1;
        for tell in state.under_way.remove(digest).into_iter().flatten() {
            // Whoever waited may have gone.
            let _ = tell.send(());
        }
    }

    /// There is nobody who could ask.
    fn give_up(&self) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        let left: Vec<Thing> = state.queue.drain(..).collect();
        drop(state);
        for thing in left {
            let why = Unheard::Failed("this program has no threads to ask it".to_owned());
            self.record(&thing.digest, &Err(why), false);
        }
    }

    fn learnt<'a>(&self, state: &'a mut State) -> &'a mut Learnt {
        state.learnt.get_or_insert_with(|| Learnt::read(&self.0.home, self.0.kept))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Waits for all of them, as long as that takes; each is given up on after a while.
    pub(crate) fn wait(self) {
        wait_aside(self.answers);
    }

    /// The same, for those who wait otherwise.
    pub(crate) async fn over(self) {
        self.answers.await;
    }

    /// Whether nobody was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    fn gather(&self, on: bool) {
        let mut state = self.asking.lock();
        state.gathering = on;
        if !on {
            self.asking.learnt(&mut state).keep(&self.asking.0.home, self.asking.0.kept);
        }
    }

    /// Whoever was asked and has said nothing is late, and not waited for again.
    fn leave_behind(&self) {
        let mut state = self.asking.lock();
        for (digest, _) in &self.things {
            let queued = state.queue.iter().any(|thing| thing.digest == *digest);
            if state.under_way.contains_key(digest) && !queued {
                self.asking.learnt(&mut state).add(digest, &Err(Unheard::Late));
                state.heard += 1;
            }
        }
    }

    /// Whether one of its processes is there by now, or none has to be.
    fn is_up(&self) -> bool {
        let hosted: Vec<_> = self.things.iter().filter(|(_, subject)| subject.has_host()).collect();
        let up =
            |(digest, subject): &(String, Arc<Subject>)| subject.is_up() || !self.asking.is_under_way(digest);
        hosted.is_empty() || hosted.into_iter().any(up)
    }
}

/// Waits a moment for all of these together; who is later joins when ready.
pub(crate) fn wait_a_moment(mut pending: Vec<Pending>, host: &Arc<dyn Host>) {
    for one in &pending {
        one.gather(true);
    }
    wait_aside(moment(&mut pending, host));
    for one in &pending {
        one.leave_behind();
        one.gather(false);
    }
}

async fn moment(pending: &mut [Pending], host: &Arc<dyn Host>) {
    let began = host.now();
    let mut up = None;
    loop {
        if all_within(pending, host, STEP).await {
            return;
        }
        let passed = host.now().saturating_sub(began);
        if up.is_none() && pending.iter().all(Pending::is_up) {
            up = Some(passed);
        }
        let limit = up.map_or(LONGEST, longest_moment);
        if passed >= limit {
            return;
        }
    }
}

/// How long a moment is where a process took so long to be there.
fn longest_moment(took: Duration) -> Duration {
    (MOMENT + took.saturating_sub(USUAL) * TIMES).min(LONGEST)
}

/// Whether all have answered, or do within this time.
async fn all_within(pending: &mut [Pending], host: &Arc<dyn Host>, limit: Duration) -> bool {
    let unanswered =
        pending.iter_mut().filter(|one| one.things.iter().any(|(it, _)| one.asking.is_under_way(it)));
    let all = Box::pin(join_all(unanswered.map(|one| &mut one.answers)));
    matches!(select(all, host.sleep(limit)).await, Either::Left(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_short_where_processes_start_at_once_and_bounded_where_they_do_not() {
        assert_eq!(longest_moment(Duration::from_millis(40)), MOMENT);
        assert_eq!(longest_moment(Duration::from_millis(160)), MOMENT + Duration::from_millis(800));
        assert_eq!(longest_moment(Duration::from_mins(1)), LONGEST);
    }
}
