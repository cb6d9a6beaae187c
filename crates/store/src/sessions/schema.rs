//! The schema and its history: each file in `schema/` leads from one version to the next.
//!
//! A step is never edited after a release; a change is a new file. The version is the
//! database's own `user_version`, changed in the same transaction as the tables.

use super::db::Sessions;
use super::error::SessionError;

/// The steps, oldest first.
const STEPS: [&str; 3] =
    [include_str!("schema/1.sql"), include_str!("schema/2.sql"), include_str!("schema/3.sql")];

/// Takes the missing steps, all of them or none.
pub(super) fn bring_up_to_date(store: &Sessions) -> Result<(), SessionError> {
    if store.read(version_of)? == known() {
        return Ok(());
    }
    store.write(|db| {
        // Another process may have taken them while this one waited.
        let found = version_of(db)?;
        let Some(missing) = usize::try_from(found).ok().and_then(|found| STEPS.get(found..)) else {
            return Err(SessionError::Newer { path: store.path().to_owned(), found, known: known() });
        };
        for step in missing {
            db.execute_batch(step)?;
        }
        Ok(db.pragma_update(None, "user_version", known())?)
    })
}

fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

fn version_of(db: &rusqlite::Connection) -> Result<i64, SessionError> {
    Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::testing::{self, clock};
    use crate::sessions::{Durability, Search};

    /// A store as version `version` left it, with one session and one message.
    fn at_version(path: &std::path::Path, version: usize) {
        let db = rusqlite::Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        for step in &STEPS[..version] {
            db.execute_batch(step).unwrap();
        }
        db.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
        if version > 0 {
            db.execute_batch(
                "INSERT INTO sessions (id, source, started_at, active_at) VALUES ('old', 'cli', 1, 1);
                 INSERT INTO messages (session, at, role, content) VALUES (1, 1, 'user', 'buy some milk');",
            )
            .unwrap();
        }
    }

    #[test]
    fn a_store_of_any_older_version_opens_with_everything_in_it() {
        for version in 0..=STEPS.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("hermes.db");
            at_version(&path, version);

            let store = Sessions::open(&path, clock(), Durability::Kill).unwrap();

            assert_eq!(store.read(version_of).unwrap(), known());
            assert_eq!(store.check().unwrap(), Vec::<String>::new());
            if version > 0 {
                assert_eq!(store.messages("old").unwrap().len(), 1);
                assert_eq!(store.search(&Search::text("milk")).unwrap().len(), 1);
            }
        }
    }

    #[test]
    fn a_store_of_a_newer_version_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hermes.db");
        at_version(&path, STEPS.len());
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();

        let error = Sessions::open(&path, clock(), Durability::Kill).unwrap_err();

        assert!(matches!(error, SessionError::Newer { found: 99, .. }));
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_it_began_with() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hermes.db");
        // A table of the same name stands in the way of the second step.
        at_version(&path, 1);
        rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE message_words (x)").unwrap();

        assert!(Sessions::open(&path, clock(), Durability::Kill).is_err());

        let db = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(version_of(&db).unwrap(), 1);
        assert!(db.prepare("SELECT * FROM message_text").is_err());
    }

    #[test]
    fn the_files_are_readable_by_their_owner_only() {
        use std::os::unix::fs::MetadataExt;
        let (dir, store) = testing::store();
        testing::session(&store, "s");

        for file in ["hermes.db", "hermes.db-wal", "hermes.db-shm"] {
            #[expect(clippy::disallowed_methods, reason = "a test looks at the modes of our files")]
            let mode = std::fs::metadata(dir.path().join(file)).unwrap().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }
}
