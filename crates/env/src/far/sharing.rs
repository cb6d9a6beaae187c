//! A place that other programs of this home may use at the same time: made ready by one after the other, and
//! let go of by the last.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use hermes_core::environment::{EnvError, Output as _, Stream};

use crate::far::claims::{Claim, Claims, Door};
use crate::far::facts::Facts;
use crate::far::giving::Given;
use crate::far::{Close, Far, Ready};

/// How long one waits for another program that stands in the door: one that comes, one that leaves.
const COMING: Duration = Duration::from_mins(30);
const LEAVING: Duration = Duration::from_secs(30);

/// How often one looks.
const LOOK: Duration = Duration::from_millis(50);

impl Far {
    /// Makes it ready, alone of all programs of this home, and takes it.
    pub(super) async fn claimed_ready(&self) -> Result<(Ready, Facts, Given), EnvError> {
        let Some(claims) = self.shared() else { return self.made_ready().await };
        let _door = self.door(&claims, COMING).await;
        let ready = self.made_ready().await;
        let taken = if ready.is_ok() { claims.take() } else { Vec::new() };
        *self.claimed() = taken;
        ready
    }

    fn shared(&self) -> Option<Claims> {
        self.reach.claims().filter(Claims::are_shared)
    }

    fn claimed(&self) -> MutexGuard<'_, Vec<Claim>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stands in the door of the place; nothing when others do for too long.
    async fn door(&self, claims: &Claims, limit: Duration) -> Option<Door> {
        let until = self.host.now() + limit;
        let mut told = false;
        loop {
            if let Some(door) = claims.door() {
                return Some(door);
            }
            if self.host.now() >= until {
                return None;
            }
            if !std::mem::replace(&mut told, true) {
                self.waiting.take(Stream::Err, b"waiting for another run of this home\n");
            }
            self.host.sleep(LOOK).await;
        }
    }

    /// Lets go of it. One that others of this home use goes on as it is, unless the person wants it gone.
    pub(super) async fn let_go(&self, how: Close) -> Result<(), EnvError> {
        let Some(claims) = self.shared() else { return self.reach.close(how).await };
        let door = self.door(&claims, LEAVING).await;
        self.claimed().clear();
        // Who stands in the door for so long is about to use it.
        let alone = door.is_some() && !claims.are_taken();
        let how = if alone || how == Close::Remove { how } else { Close::Others };
        let closed = self.reach.close(how).await;
        if alone {
            claims.discard();
        }
        closed
    }
}
