//! The sessions of clients over HTTP: how many there may be, and which one makes room for another.
//!
//! A client that forgets its session does not end it. When all places are taken, the one that nothing
//! was heard of for longest goes, if nothing of it is at work and nobody listens to it; its client,
//! should it come back, is told that the session is over and begins another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{Stream, StreamExt as _, future, stream};
use hermes_core::host::Host;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use super::super::aside::{Aside, Beside};
use super::super::flight::Flight;
use super::super::message;
use super::kept::Kept;

/// Sessions at once, unless none of them can go.
pub(super) const MAX_SESSIONS: usize = 64;

/// A session that nothing was heard of for so long is over.
const IDLE: Duration = Duration::from_hours(1);

/// The sessions of a server.
pub(super) struct Sessions {
    local: LocalSessionManager,
    host: Arc<dyn Host>,
    places: Mutex<BTreeMap<SessionId, Arc<Place>>>,
}

/// What is known of a session.
struct Place {
    /// When something of it was last heard.
    heard: Mutex<Duration>,
    flight: Flight,
    /// Answers that may be asked for again.
    kept: Kept,
    /// Held by everybody who listens.
    listening: Arc<()>,
    /// Fires when it ends.
    over: CancellationToken,
}

/// Every session is at work.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Sessions {
    pub(super) fn new(host: Arc<dyn Host>) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        Self { local, host, places: Mutex::default() }
    }

    /// Sees to it that there is a place for one more.
    pub(super) async fn make_room(&self) -> Result<(), Full> {
        let goes = {
            let places = self.places();
            if places.len() < MAX_SESSIONS {
                return Ok(());
            }
            let silent = places.iter().filter(|(_, place)| place.is_silent());
            silent.min_by_key(|(_, place)| place.heard()).map(|(id, _)| id.clone()).ok_or(Full)?
        };
        // Its worker may have ended by itself; the place is free either way.
        let _ = self.close_session(&goes).await;
        Ok(())
    }

    /// Notes that a request of this session begins, or says why it does not.
    pub(super) fn begins(&self, session: &str, id: &RequestId) -> Result<(), ErrorData> {
        self.place(session).map_or(Ok(()), |place| place.flight.begins(id))
    }

    /// Notes that a request is over that never got to its session.
    pub(super) fn ends(&self, session: &str, id: &RequestId) {
        if let Some(place) = self.place(session) {
            place.flight.ends(id);
        }
    }

    /// The place of a session that was heard of just now.
    fn heard(&self, session: &str) -> Option<Arc<Place>> {
        let place = self.place(session)?;
        *place.heard.lock().unwrap_or_else(PoisonError::into_inner) = self.host.now();
        Some(place)
    }

    fn place(&self, session: &str) -> Option<Arc<Place>> {
        self.places().get(session).cloned()
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<Place>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn heard(&self) -> Duration {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody would miss it at this moment.
    fn is_silent(&self) -> bool {
        self.flight.is_empty() && Arc::strong_count(&self.listening) == 1
    }
}

/// The stream, which counts as somebody who listens for as long as it is there, and ends with its session: whoever
/// has said that it goes is told nothing more, also where a call is quicker to end than its stream.
fn listened<T>(
    stream: impl Stream<Item = T> + Send + Sync,
    place: Option<Arc<Place>>,
) -> impl Stream<Item = T> + Send + Sync {
    let over = place.as_ref().map(|place| place.over.clone()).unwrap_or_default();
    let listens = place.map(|place| Arc::clone(&place.listening));
    let stream = stream.map(move |message| {
        // It is held by being here.
        let _ = &listens;
        message
    });
    stream.take_until(over.cancelled_owned())
}

/// The stream of a request, whose answer is not kept any longer once the stream was taken to its end.
fn carried(
    stream: impl Stream<Item = ServerSseMessage> + Send + Sync,
    request: Option<(Arc<Place>, u64)>,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync {
    let ended = request.clone();
    let end = stream::iter([()]).filter_map(move |()| {
        if let Some((place, number)) = &ended {
            place.kept.arrived(*number);
        }
        future::ready(None)
    });
    let carried = stream.inspect(move |event| {
        if let Some((place, number)) = &request {
            place.kept.passes(*number, event);
        }
    });
    carried.chain(end)
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = Watched<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        let place = Arc::new(Place {
            heard: Mutex::new(self.host.now()),
            flight: Flight::default(),
            kept: Kept::default(),
            listening: Arc::default(),
            over: CancellationToken::new(),
        });
        self.places().insert(id.clone(), Arc::clone(&place));
        Ok((id, Watched { transport, place, host: Arc::clone(&self.host) }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        // What runs in it is stopped at once: its client said that it goes.
        if let Some(place) = self.places().remove(id) {
            place.over.cancel();
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let place = self.heard(id);
        let over = place.as_ref().map(|place| place.over.clone()).unwrap_or_default();
        let heard = Aside::open(&mut message, over);
        let number = place.as_ref().zip(message::request_id(&message));
        let number = number.map(|(place, id)| place.kept.begins(id, self.host.now()));
        let stream = self.local.create_stream(id, message).await?;
        let stream = carried(Beside::new(stream, heard), place.clone().zip(number));
        Ok(listened(stream, place))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.heard(id);
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let place = self.heard(id);
        Ok(listened(self.local.create_standalone_stream(id).await?, place))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let place = self.heard(id);
        let number = place.as_ref().and_then(|place| place.kept.number(&last_event_id));
        let request = place.clone().zip(number);
        let kept = request
            .as_ref()
            .and_then(|(place, number)| place.kept.answer(*number, &last_event_id, self.host.now()));
        // What is over was forgotten there together with its answer.
        let stream = match kept {
            Some(answer) => stream::iter([answer]).left_stream(),
            None => self.local.resume(id, last_event_id).await?.right_stream(),
        };
        Ok(listened(carried(stream, request), place))
    }
}

/// What goes to and fro in a session, noted.
pub(super) struct Watched<T> {
    transport: T,
    place: Arc<Place>,
    host: Arc<dyn Host>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.place.flight.told(&message);
        self.place.kept.told(&message, self.host.now());
        let sent = Aside::say(message).map(|message| self.transport.send(message));
        async move {
            match sent {
                Some(sent) => sent.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.transport.receive().await?;
        self.place.flight.heard(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
