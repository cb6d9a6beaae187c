//! Who can be asked in the sessions that are open.
//!
//! What is told of something in a session, such as a plugin's hook, knows that session by its id. The calls
//! that it makes ask whoever is asked there, and find what was granted there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hermes_core::policy::Approver;
use hermes_core::session::Session;

use crate::policy::grants_of;

/// The open sessions of a runtime. A session leaves with its last owner.
#[derive(Default)]
pub(crate) struct OpenSessions(Mutex<BTreeMap<String, Open>>);

struct Open {
    approver: Weak<dyn Approver>,
    grants_of: String,
}

/// What calls around a session go by.
pub(crate) struct Standpoint {
    /// Who is asked there.
    pub(crate) approver: Arc<dyn Approver>,
    /// The session whose grants hold there.
    pub(crate) grants_of: String,
}

impl OpenSessions {
    /// From now on this session is found by its id.
    pub(crate) fn add(&self, session: &Session) {
        let open =
            Open { approver: Arc::downgrade(session.approver()), grants_of: grants_of(session).to_owned() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, open| open.approver.strong_count() > 0);
        known.insert(session.id().to_owned(), open);
    }

    /// The session of this id, unless it has been left.
    pub(crate) fn standpoint(&self, id: &str) -> Option<Standpoint> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = known.get(id)?;
        Some(Standpoint { approver: open.approver.upgrade()?, grants_of: open.grants_of.clone() })
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::policy::Nobody;
    use hermes_core::session::{Place, SessionSpec};

    use super::*;

    #[test]
    fn a_session_is_found_by_its_id_as_long_as_somebody_has_it() {
        let open = OpenSessions::default();
        let place = Place { cwd: "/".into(), home: None };
        let session = |id: &str| {
            let approver: Arc<dyn Approver> = Arc::new(Nobody);
            Session::new(SessionSpec { approver, ..SessionSpec::new(id, place.clone()) })
        };
        let (first, second) = (session("first"), session("second"));
        open.add(&first);
        open.add(&second);
        assert_eq!(open.standpoint("first").map(|it| it.grants_of).as_deref(), Some("first"));

        drop(first);

        assert!(open.standpoint("first").is_none() && open.standpoint("none").is_none());
        assert!(open.standpoint("second").is_some());
    }
}
