//! `database`: SQL and its kin without a way back.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "drops or empties database tables",
    keys: &[
        "sql-drop",
        "sql-delete-all",
        "sql-truncate",
        "SQL DROP",
        "SQL DELETE without WHERE",
        "SQL TRUNCATE",
    ],
    matches,
    catches: &[
        "sed 's/#/trunc&/;s/#/ate /' <<< '#payments;' | mysql billing",
        "perl -pe 's/X/DROP/' <<< 'X TABLE users;' | psql shop",
        "psql -c 'DROP TABLE t'",
        "mysql -e 'delete from users'",
        "echo 'TRUNCATE t;' | psql",
        "sqlite3 a.db 'DELETE FROM t'",
        "redis-cli FLUSHALL",
        "mongosh --eval 'db.dropDatabase()'",
        "psql -c 'DELETE FROM t WHERE 1=1'",
        "dropdb prod",
        "mysql shop -e 'DELETE o.* FROM orders o'",
        "mysql -e 'UPDATE t AS a JOIN u ON u.id=a.id SET a.x=0'",
        "psql -Atc \"select 'drop table '||t from x\" | psql",
        "mysql -Ne 'show tables' | sed 's/.*/DROP TABLE &;/' | mysql",
    ],
    spares: &[
        "perl -pe 's/foo/bar/' dump.sql | mysql app",
        "psql -c 'SELECT 1'",
        "mysql -e 'delete from t where id=1'",
        "echo 'drop table t'",
        "grep -r 'DROP TABLE' .",
        "sqlite3 a.db \"select 'drop table t'\"",
        "mysql -e 'DELETE o.* FROM orders o WHERE o.id=1'",
        "psql -c 'ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b ON DELETE SET NULL'",
        "psql -Atc \"select 'analyze '||t from x\" | psql",
        "pg_dump a | psql b",
    ],
    ..Rule::new("database")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Database
}
