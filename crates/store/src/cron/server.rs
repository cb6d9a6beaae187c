//! The one scheduler of a home: whoever holds its lock.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::CronHome;
use crate::disk::{self, Lock, Mode};
use crate::error::StoreError;

const LOCK: &str = ".serve.lock";
const WHO: &str = "server.json";
const MAX_BYTES: u64 = 4096;

/// Who the scheduler is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Its process number.
    pub pid: u32,
    /// Since when, in seconds since 1970.
    pub since: i64,
}

/// This process is the scheduler, until it is dropped.
#[derive(Debug)]
pub struct Server {
    home: CronHome,
    _lock: Lock,
}

impl CronHome {
    /// Becomes the scheduler; says who is when somebody else is it already.
    pub fn serve(&self, pid: u32, now: Timestamp) -> Result<Result<Server, Option<Served>>, StoreError> {
        let Some(lock) = disk::try_lock(&self.folder.join(LOCK))? else { return Ok(Err(self.who())) };
        let who = serde_json::json!({ "pid": pid, "since": now.as_second() }).to_string();
        disk::write(&self.folder.join(WHO), &who, Mode::Private)?;
        Ok(Ok(Server { home: self.clone(), _lock: lock }))
    }

    /// The scheduler of this home, if one is alive.
    pub fn served(&self) -> Option<Served> {
        if !disk::is_file(&self.folder.join(LOCK)) {
            return None;
        }
        match disk::try_lock(&self.folder.join(LOCK)) {
            Ok(None) => Some(self.who().unwrap_or(Served { pid: 0, since: 0 })),
            _ => None,
        }
    }

    fn who(&self) -> Option<Served> {
        let text = disk::read(&self.folder.join(WHO), MAX_BYTES).ok().flatten()?;
        serde_json::from_str(&text).ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Who is not there any more is also told by the lock.
        let _ = disk::remove(&self.home.folder.join(WHO));
    }
}
