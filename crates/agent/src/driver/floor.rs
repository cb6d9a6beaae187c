//! Waiting for one's turn to speak, where several programs share a conversation.

use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::conversation::Floor;
use tokio_util::sync::CancellationToken;

use super::Driver;
use crate::event::{Event, EventSink};

/// How long another turn is waited for.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long it is waited between two looks: this at first, then ever longer up to the other.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

const WAITING: &str = "another program is in a turn of this session; waiting for its end";

/// Why the floor was not had.
pub(super) enum NoFloor {
    /// A person did not want to wait.
    Cancelled,
    /// In words.
    Failed(String),
}

impl Driver {
    /// The floor of the conversation, waited for while another turn has it.
    pub(super) async fn floor(
        &self,
        events: EventSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Floor, NoFloor> {
        let (began, mut pause) = (self.host.now(), FIRST_PAUSE);
        loop {
            if let Some(floor) = self.log.floor().await.map_err(NoFloor::Failed)? {
                return Ok(floor);
            }
            if pause == FIRST_PAUSE {
                events(Event::Notice { text: WAITING.to_owned() });
            }
            if self.host.now().saturating_sub(began) >= PATIENCE {
                return Err(NoFloor::Failed(format!(
                    "another program has been in a turn of this session for {} minutes: wait for its end, \
                     or begin another session",
                    PATIENCE.as_secs() / 60
                )));
            }
            let cancelled = std::pin::pin!(cancel.cancelled());
            if let Either::Right(_) = select(self.host.sleep(pause), cancelled).await {
                return Err(NoFloor::Cancelled);
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
