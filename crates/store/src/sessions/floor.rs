//! Whose turn it is in a session: one program speaks at a time.
//!
//! Whoever takes a turn holds the lock on a file named after the session until the turn is over. The
//! operating system gives the lock back when the process ends, however it ends. Without it a second
//! program would take the open turn of the first for one that was cut off, and answer its calls.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::db::Sessions;
use super::error::SessionError;
use crate::disk::{self, Lock};

/// The right to speak in a session, given back when it is dropped.
pub struct Floor {
    file: PathBuf,
    lock: Option<Lock>,
}

impl Drop for Floor {
    fn drop(&mut self) {
        // Removed while it is still held: whoever opened it meanwhile finds it gone and asks again.
        let _ = disk::remove(&self.file);
        self.lock.take();
    }
}

impl Sessions {
    /// The floor of a session, unless somebody else has it. The session need not be there yet.
    pub fn floor(&self, id: &str) -> Result<Option<Floor>, SessionError> {
        take(self.path(), id)
    }
}

/// The floor of a session in the store at this path, which is not opened for it.
pub(super) fn take(database: &Path, id: &str) -> Result<Option<Floor>, SessionError> {
    let file = floor_file(database, id);
    let lock = disk::try_lock(&file)?;
    Ok(lock.map(|lock| Floor { file, lock: Some(lock) }))
}

/// `hermes.db-turns/0123456789abcdef.lock`; ids that were imported may hold anything.
fn floor_file(database: &Path, id: &str) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push("-turns");
    let digest = Sha256::digest(id);
    let short = digest.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
    database.with_file_name(name).join(format!("{short:016x}.lock"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look for the file, and speak from many threads")]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::testing::{clock, store};
    use super::super::{Durability, Sessions};

    fn again(store: &Sessions) -> Sessions {
        Sessions::open(store.path(), clock(), Durability::Kill).unwrap()
    }

    #[test]
    fn one_at_a_time_speaks_in_a_session_and_leaves_nothing_behind() {
        let (_dir, one) = store();
        let other = again(&one);

        let held = one.floor("a").unwrap().unwrap();
        assert!(other.floor("a").unwrap().is_none());
        assert!(other.floor("b").unwrap().is_some());

        let file = held.file.clone();
        drop(held);
        assert!(!file.exists());
        assert!(other.floor("a").unwrap().is_some());
    }

    #[test]
    fn many_who_want_the_floor_never_have_it_together() {
        let (_dir, first) = store();
        let (path, speaking, spoke) = (first.path(), AtomicUsize::new(0), AtomicUsize::new(0));

        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let store = Sessions::open(path, clock(), Durability::Kill).unwrap();
                    while spoke.load(Ordering::SeqCst) < 400 {
                        let Some(_floor) = store.floor("a").unwrap() else { continue };
                        assert_eq!(speaking.fetch_add(1, Ordering::SeqCst), 0);
                        spoke.fetch_add(1, Ordering::SeqCst);
                        speaking.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
