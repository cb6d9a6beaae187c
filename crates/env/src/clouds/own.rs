//! What is remembered about the one sandbox of a place, and by what it is known to be ours.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::backends::Surroundings;
use crate::clouds::api::Fault;
use crate::clouds::settings::{MAKER, OWNER, STAYS, hash, name, owner};
use crate::far::Claims;
use crate::process::secret_word;

/// The sandbox of a place, as far as it is known.
pub(super) struct Own<K> {
    state: Mutex<State<K>>,
}

struct State<K> {
    /// The one in use.
    known: Option<K>,
    swept: bool,
    /// The name of one that is not kept, which must be nobody else's.
    own_name: Option<String>,
}

impl<K: Clone> Own<K> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { known: None, swept: false, own_name: None }) }
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one in use.
    pub(super) fn known(&self) -> Result<K, Fault> {
        self.state().known.clone().ok_or_else(|| Fault::Failed("there is no sandbox".to_owned()))
    }

    /// The one that was in use; none is any more.
    pub(super) fn forget(&self) -> Option<K> {
        self.state().known.take()
    }

    pub(super) fn remember(&self, known: K) {
        self.state().known = Some(known);
    }

    /// Whether what earlier runs left is to be looked for: once.
    pub(super) fn sweeps(&self) -> bool {
        !std::mem::replace(&mut self.state().swept, true)
    }

    /// Its name: one that is kept has always the same.
    pub(super) fn name(&self, around: &Surroundings, kept: bool) -> String {
        if kept {
            return name(around);
        }
        let fresh = || format!("{}-{}", name(around), secret_word().get(..8).unwrap_or_default());
        self.state().own_name.get_or_insert_with(fresh).clone()
    }
}

/// Whether a sandbox with these labels was left by a run of this home that is gone.
pub(super) fn is_left(labels: &BTreeMap<String, String>, around: &Surroundings) -> bool {
    let label = |name: &str| labels.get(name).map_or("", String::as_str);
    label(OWNER) == owner(around) && label(STAYS) == "0" && !crate::jobs::still_runs(label(MAKER))
}

/// What programs of this home share of a place whose sandbox is kept: by its settings, which may be others
/// than ours.
pub(super) fn claims(vendor: &str, around: &Surroundings, kept: bool, recipe: &str) -> Option<Claims> {
    let things = kept.then(|| thing(vendor, around, recipe));
    Claims::new(around, &format!("{vendor}-{}", name(around)), things.into_iter().collect())
}

/// Whether another program of this home uses the sandbox as settings of another recipe made it.
pub(super) fn others_use(vendor: &str, around: &Surroundings, recipe: &str) -> bool {
    let claims = claims(vendor, around, true, recipe);
    claims.is_some_and(|claims| claims.is_taken(&thing(vendor, around, recipe)))
}

fn thing(vendor: &str, around: &Surroundings, recipe: &str) -> String {
    // A label may hold anything; ours is a word.
    format!("{vendor}-{}-{}", name(around), hash(&recipe))
}

/// The sandbox is in use as other settings made it.
pub(super) fn in_use(name: &str) -> Fault {
    Fault::Failed(format!(
        "another run of this home uses the sandbox `{name}` with other settings; end it first, or name this \
         environment otherwise"
    ))
}

/// A sandbox of that name is there, and is not ours.
pub(super) fn not_ours(name: &str) -> Fault {
    Fault::Failed(format!(
        "there is a sandbox `{name}` that is not of this home; remove it, or name the environment otherwise"
    ))
}

/// A name that is taken by nothing.
pub(super) fn taken_by_nothing(name: &str) -> Fault {
    Fault::Failed(format!("the name `{name}` is taken, but there is no such sandbox"))
}

/// What is told when settings changed, and when a sandbox had stopped.
pub(super) const MADE_ANEW: &str = "the settings changed, so the sandbox was made anew";
pub(super) const HAD_STOPPED: &str =
    "the sandbox had stopped and was started again; what ran in it has ended";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clouds::settings::labels;

    #[test]
    fn only_what_a_dead_run_of_this_home_left_is_left() {
        let around = Surroundings { owner: "o".to_owned(), ..Surroundings::default() };
        let mut left = labels(&around, false, "r");
        assert!(!is_left(&left, &around), "we still run");
        left.insert(MAKER.to_owned(), "4000000.1".to_owned());

        assert!(is_left(&left, &around));
        let other = Surroundings { owner: "p".to_owned(), ..Surroundings::default() };
        assert!(!is_left(&left, &other));
        left.insert(STAYS.to_owned(), "1".to_owned());
        assert!(!is_left(&left, &around));
    }

    #[test]
    fn what_is_kept_has_one_name_and_what_is_not_a_name_of_its_own() {
        let around = Surroundings { name: "lab".to_owned(), ..Surroundings::default() };
        let (one, two) = (Own::<()>::new(), Own::<()>::new());

        assert_eq!(one.name(&around, true), two.name(&around, true));
        assert_ne!(one.name(&around, false), two.name(&around, false));
        assert_eq!(one.name(&around, false), one.name(&around, false));
        assert!(one.sweeps() && !one.sweeps());
    }
}
