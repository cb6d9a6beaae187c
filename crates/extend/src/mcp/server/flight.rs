//! Which requests of a client are under way, by their ids.
//!
//! Two with the same id cannot be told apart when they are answered, so the second is refused while
//! the first is at work. So is one more than there may be at once.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

/// Requests of one client that may be at work at once.
const MOST: usize = 1024;

/// The requests of one client that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Flight(Mutex<HashSet<RequestId>>);

impl Flight {
    /// Notes that a request begins, or says why it does not: one with its id is under way, or too many are.
    pub(super) fn begins(&self, id: &RequestId) -> Result<(), ErrorData> {
        let mut ids = self.ids();
        if ids.contains(id) {
            return Err(same_id(id));
        }
        if ids.len() >= MOST {
            return Err(too_many());
        }
        ids.insert(id.clone());
        Ok(())
    }

    /// Notes that it is over.
    pub(super) fn ends(&self, id: &RequestId) {
        self.ids().remove(id);
    }

    /// Notes what the client says: a request that it takes back is not answered any more.
    pub(super) fn heard(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.ends(id);
        }
    }

    /// Notes what the client is told.
    pub(super) fn told(&self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.ends(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.ends(id)),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the second of two requests with the same id is told.
fn same_id(id: &RequestId) -> ErrorData {
    ErrorData::invalid_request(
        format!("a request with the id {id} is still at work; this one was not run"),
        None,
    )
}

/// What a request is told that is one too many.
fn too_many() -> ErrorData {
    ErrorData::invalid_request(
        format!("{MOST} requests of this client are at work already; this one was not run"),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_no_more_requests_at_work_than_there_may_be() {
        let flight = Flight::default();
        let ids: Vec<RequestId> = (0..=1024).map(RequestId::Number).collect();
        let begun: Vec<bool> = ids.iter().map(|id| flight.begins(id).is_ok()).collect();

        assert_eq!(begun, [vec![true; 1024], vec![false]].concat());
        flight.ends(&ids[3]);
        assert_eq!(flight.begins(&ids[1024]), Ok(()));
    }
}
