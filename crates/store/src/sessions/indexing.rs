//! When words get into the search indexes.
//!
//! Indexing one message costs several times what writing it does, and nearly the same as indexing
//! fifty together. So messages wait: whoever writes the hundredth that waits indexes them all, and
//! whoever searches does so first. A search therefore finds everything, as if nothing ever waited.

use rusqlite::Connection;

use super::db::Sessions;
use super::error::SessionError;

/// How many messages wait before the one who writes the next indexes them.
const MAX_WAITING: i64 = 100;

impl Sessions {
    /// Indexes what waits. Inside of a transaction nothing is done: whoever opened it did so before.
    pub(super) fn index_waiting(&self) -> Result<(), SessionError> {
        if !self.connection.is_autocommit() || self.read(waiting)? == 0 {
            return Ok(());
        }
        self.write(index)
    }
}

/// Indexes what waits, if it is enough to be worth it.
pub(super) fn keep_up(db: &Connection) -> Result<(), SessionError> {
    if waiting(db)? >= MAX_WAITING { index(db) } else { Ok(()) }
}

/// Indexes what waits.
pub(super) fn index(db: &Connection) -> Result<(), SessionError> {
    for table in ["message_words", "message_pieces"] {
        db.prepare_cached(&format!(
            "INSERT INTO {table} (rowid, text)
             SELECT id, text FROM message_text WHERE id > (SELECT up_to FROM search_index) ORDER BY id"
        ))?
        .execute([])?;
    }
    db.prepare_cached(
        "UPDATE search_index SET up_to = max(up_to, (SELECT ifnull(max(id), 0) FROM messages))",
    )?
    .execute([])?;
    Ok(())
}

/// About how many messages wait; some of the numbers may belong to messages that are gone.
fn waiting(db: &Connection) -> Result<i64, SessionError> {
    let mut newest =
        db.prepare_cached("SELECT (SELECT ifnull(max(id), 0) FROM messages) - up_to FROM search_index")?;
    Ok(newest.query_row([], |row| row.get::<_, i64>(0))?.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::testing;
    use crate::sessions::{Message, Search};

    fn say(store: &Sessions, count: usize) {
        for _ in 0..count {
            store.append("s", &[Message::text("user", "buy milk")]).unwrap();
        }
    }

    fn found(store: &Sessions) -> usize {
        store.search(&Search { limit: 1000, ..Search::text("milk") }).unwrap().len()
    }

    #[test]
    fn messages_wait_for_the_hundredth_or_for_a_search() {
        let (_dir, store) = testing::store();
        testing::session(&store, "s");

        say(&store, 99);
        assert_eq!(store.read(waiting).unwrap(), 99);
        say(&store, 1);
        assert_eq!(store.read(waiting).unwrap(), 0);
        say(&store, 3);
        assert_eq!(found(&store), 103);
        assert_eq!(store.read(waiting).unwrap(), 0);
    }

    #[test]
    fn what_is_deleted_before_it_is_indexed_leaves_no_trace() {
        let (_dir, store) = testing::store();
        testing::session(&store, "s");
        say(&store, 2);
        assert_eq!(found(&store), 2);
        say(&store, 2);

        store.delete("s").unwrap();
        testing::session(&store, "s");
        say(&store, 1);

        assert_eq!(found(&store), 1);
        // The indexes agree with the messages they are made from.
        for table in ["message_words", "message_pieces"] {
            let sql = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
            store.write(|db| Ok(db.execute_batch(&sql)?)).unwrap();
        }
    }
}
