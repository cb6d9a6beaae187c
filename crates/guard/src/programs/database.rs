//! Databases: SQL given to a client, and the clients' own destructive verbs.

use super::opts::{Spec, parse};
use super::{Handler, sql, sql_rows, verbs};
use crate::effect::Kind;
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "psql" | "pgcli" | "mysql" | "mariadb" | "mycli" | "mysqlsh" | "sqlite3" | "sqlite" | "sqlcmd"
        | "sqlplus" | "clickhouse-client" | "clickhouse" | "duckdb" | "cqlsh" | "bq" | "snowsql" | "usql"
        | "cockroach" | "isql" | "tsql" | "osql" | "litecli" | "presto" | "trino" | "hive" | "beeline"
        | "impala-shell" | "rman" | "spark-sql" | "questdb" | "surreal" | "dolt" => client,
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mariadb-dump" | "mongodump" | "mongoexport" => dump,
        "flask" => flask,
        "dropdb" | "dropuser" => drop_database,
        "mysqladmin" => mysqladmin,
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis,
        "mongo" | "mongosh" => mongo,
        "cypher-shell" | "hbase" | "arangosh" | "rethinkdb" => graph,
        "influx" | "etcdctl" | "consul" | "vault" | "cqlsh-expansion" => keyed,
        "memcached-tool"
        | "kafka-topics"
        | "kafka-topics.sh"
        | "kafka-delete-records"
        | "kafka-delete-records.sh"
        | "kafka-configs.sh"
        | "kafka-consumer-groups.sh"
        | "kafka-consumer-groups"
        | "kafka-configs"
        | "rpk"
        | "nodetool"
        | "curator"
        | "elasticdump"
        | "solr"
        | "mongoimport"
        | "velero"
        | "restic"
        | "borg"
        | "duplicity"
        | "kopia" => kept,
        "pg_restore" | "mongorestore" | "pg_resetwal" | "pg_dropcluster" => restore,
        "sequelize-cli" | "rails" | "rake" | "prisma" | "knex" | "sequelize" | "alembic" | "flyway"
        | "liquibase" | "artisan" | "drizzle-kit" | "typeorm" | "mix" | "diesel" | "sqlx"
        | "django-admin" | "goose" | "dbmate" => migrate,
        "supabase" | "wrangler" => super::cloud::run,
        _ => return None,
    })
}

fn client(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut texts: Vec<String> = Vec::new();
    let spec = match call.name {
        "psql" | "pgcli" => Spec {
            short: "cdfhpULovFRPT",
            long: &["command", "dbname", "file", "host", "port", "username", "output", "variable", "set"],
            stops: false,
        },
        "mysql" | "mariadb" | "mycli" | "mysqlsh" => Spec {
            short: "ehuPDS",
            long: &["execute", "host", "user", "port", "database", "init-command", "socket"],
            stops: false,
        },
        "sqlite3" | "sqlite" | "duckdb" | "litecli" => Spec { short: "", long: &[], stops: false },
        _ => Spec {
            short: "qQesiSUPdcChupfl",
            long: &["query", "command", "execute", "host", "port", "user", "database", "password"],
            stops: false,
        },
    };
    let parsed = parse(call.args, spec);
    if matches!(call.name, "sqlite3" | "sqlite" | "duckdb")
        && let Some(file) = parsed.operand(0)
    {
        let path = file.text.strip_prefix("file:").unwrap_or(&file.text);
        let path = path.split('?').next().unwrap_or(path);
        if walk.target(path).place == crate::place::Place::Credential {
            walk.read_file(path, file.span);
        }
    }
    for flag in &parsed.flags {
        let runs = match call.name {
            "psql" | "pgcli" => flag.is("c", "command"),
            "mysql" | "mariadb" | "mycli" | "mysqlsh" => {
                flag.is("e", "execute") || flag.is("", "init-command")
            }
            _ => {
                flag.is("q", "query")
                    || flag.is("Q", "")
                    || flag.is("e", "execute")
                    || flag.is("c", "command")
            }
        };
        if runs && let Some(value) = flag.value {
            texts.push(value.to_owned());
        }
        if flag.is("f", "file")
            && call.name == "psql"
            && let Some(file) = flag.value
        {
            texts.push(walk.read_file(file, flag.span).seen().to_owned());
        }
    }
    if matches!(call.name, "sqlite3" | "sqlite" | "duckdb" | "litecli") {
        texts.extend(parsed.rest().skip(1).map(|arg| arg.text.to_string()));
        for (at, arg) in call.args.iter().enumerate() {
            if matches!(&*arg.text, "-cmd" | "-c" | "-init")
                && let Some(next) = call.args.get(at + 1)
            {
                texts.push(next.text.to_string());
            }
        }
    } else if matches!(call.name, "bq") {
        texts.extend(parsed.rest().map(|arg| arg.text.to_string()));
        if parsed.text(0) == "rm" {
            walk.emit(Kind::Database, "deletes a table or dataset", call.span);
        }
    }
    if call.stdin.present() {
        texts.push(call.stdin.seen().to_owned());
    }
    let unseen =
        texts.iter().any(|text| text.contains(HOLE) && text.chars().all(|c| c == HOLE || c.is_whitespace()));
    let loss = call.stdin.origin.doomed
        || call.args.iter().any(|arg| arg.text.ends_with(".sql") && crate::places::named_for_loss(&arg.text));
    let remade = call.stdin.origin.remade;
    if unseen && (remade || call.args.iter().any(|arg| production(&arg.text))) || loss {
        walk.emit(Kind::Database, "runs statements nobody has seen", call.span);
    }
    let before = walk.effects.len();
    let rows = texts.iter().find_map(|text| sql_rows::shape(text));
    let variables: Vec<(&str, &str)> = parsed
        .flags
        .iter()
        .filter(|flag| matches!(call.name, "psql") && (flag.is("v", "variable") || flag.is("", "set")))
        .filter_map(|flag| flag.value?.split_once('='))
        .collect();
    for text in texts {
        sql::judge(walk, &filled(text, &variables), call.span);
    }
    if matches!(call.name, "sqlite3" | "sqlite" | "duckdb") && scratch(walk, parsed.operand(0)) {
        // Nothing is kept there; only what its shell runs counts.
        let found = walk.effects.drain(before.min(walk.effects.len())..).collect::<Vec<_>>();
        walk.effects.extend(found.into_iter().filter(|effect| effect.kind != Kind::Database));
    }
    let origin = Origin { local: true, ..Origin::default() };
    rows.map_or_else(|| Flow::unknown(origin), |rows| Flow { text: Some(rows.into()), origin })
}

/// A text in which psql has put its variables: `:name`, `:'name'`, `:"name"`.
fn filled(text: String, variables: &[(&str, &str)]) -> String {
    variables.iter().take(16).fold(text, |text, (name, value)| {
        [format!(":{name}"), format!(":'{name}'"), format!(":\"{name}\"")]
            .iter()
            .fold(text, |text, form| if text.contains(form) { text.replace(form, value) } else { text })
    })
}

/// Whether a database lives in memory or in a temporary file.
fn scratch(walk: &Walk<'_>, file: Option<&crate::walk::Arg<'_>>) -> bool {
    file.is_some_and(|file| {
        &*file.text == ":memory:"
            || matches!(walk.target(&file.text).place, crate::place::Place::Temp | crate::place::Place::Made)
    })
}

/// A copy of a whole database, on its way to wherever its output goes.
fn dump(_: &mut Walk<'_>, _: Call<'_>) -> Flow {
    Flow::unknown(Origin { whole: true, local: true, ..Origin::default() })
}

/// Whether a host, database or account is named as the one people work with.
pub(super) fn production(word: &str) -> bool {
    word.to_ascii_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| matches!(part, "prod" | "production" | "live"))
}

fn drop_database(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if !call.args.iter().any(|arg| matches!(&*arg.text, "--help" | "--version")) {
        walk.emit(Kind::Database, "drops a database", call.span);
    }
    Flow::none()
}

fn mysqladmin(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| matches!(&*arg.text, "drop" | "shutdown" | "kill" | "password")) {
        walk.emit(Kind::Database, "drops or stops a database", call.span);
    }
    Flow::none()
}

fn redis(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = call
        .args
        .iter()
        .map(|arg| arg.text.to_ascii_lowercase())
        .chain(call.stdin.seen().split_whitespace().take(256).map(str::to_ascii_lowercase));
    let words: Vec<String> = words.collect();
    let pattern = |at: usize| {
        at.checked_sub(1)
            .and_then(|before| words.get(before))
            .is_some_and(|before| matches!(before.as_str(), "--pattern" | "match" | "keys" | "-a" | "--user"))
    };
    let bad = words.iter().enumerate().any(|(at, word)| {
        matches!(word.as_str(), "flushall" | "flushdb" | "shutdown")
            || !pattern(at) && ["flushall", "flushdb"].iter().any(|verb| word.contains(verb))
            || (word == "config" && words.get(at + 1).is_some_and(|next| next == "set"))
            || (matches!(word.as_str(), "del" | "unlink") && words.len() > at + 1)
            || matches!(word.as_str(), "slaveof" | "replicaof") && words.len() > at + 1
            || (word == "acl" && words.get(at + 1).is_some_and(|next| next == "deluser" || next == "setuser"))
            || (word == "module" && words.get(at + 1).is_some_and(|next| next == "load"))
            || (word == "eval"
                && words.get(at + 1).is_some_and(|next| next.contains("flush") || next.contains("'del'")))
            || (word == "script" && words.get(at + 1).is_some_and(|next| next == "flush"))
            || word == "debug"
    });
    if bad {
        walk.emit(Kind::Database, "empties or stops a database", call.span);
    }
    if words.iter().any(|word| word == "del") && call.args.iter().any(|arg| arg.text.contains(HOLE)) && !bad {
        walk.emit(Kind::Database, "deletes keys that cannot be known", call.span);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

fn mongo(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let text: String =
        call.args.iter().map(|arg| &*arg.text).chain([call.stdin.seen()]).collect::<Vec<_>>().join("\n");
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    // A method can be named by a text, which can be put together.
    let compact = compact.replace("\"+\"", "").replace("'+'", "");
    let compact = compact.replace("[\"", ".").replace("['", ".").replace("\"](", "(").replace("'](", "(");
    let bad = [
        "dropDatabase(",
        ".drop(",
        "deleteMany({}",
        "remove({}",
        "dropIndexes(",
        "shutdownServer(",
        "{shutdown:",
        "dropConnections",
        "rs.stepDown(",
        "rs.remove(",
        "updateMany({},",
        "dropUser(",
        ".deleteMany()",
        "dropAllUsers(",
    ]
    .iter()
    .any(|call| compact.contains(call));
    if bad {
        walk.emit(Kind::Database, "drops or empties collections", call.span);
    }
    super::inline::judge(walk, "node", &text, call.span);
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Stores with a language of their own: the verbs that delete are the same.
fn graph(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let deletes = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "delete"
                    | "drop"
                    | "truncate"
                    | "deleteall"
                    | "drop_all"
                    | "disable_all"
                    | "_drop"
                    | "remove"
            )
        })
    };
    if call.args.iter().any(|arg| deletes(&arg.text)) || deletes(call.stdin.seen()) {
        walk.emit(Kind::Database, "deletes entries of a store", call.span);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

fn keyed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let bad = words.iter().any(|word| {
        matches!(*word, "del" | "delete" | "destroy" | "leave" | "purge" | "seal" | "disable" | "revoke")
    }) || (words.first() == Some(&"kv") && words.contains(&"destroy"));
    let query = words
        .iter()
        .position(|word| matches!(*word, "-execute" | "--execute" | "query"))
        .and_then(|at| words.get(at + 1))
        .copied()
        .unwrap_or_default();
    sql::judge(walk, query, call.span);
    if bad {
        walk.emit_names(Kind::Database, "deletes entries of a store", call.span, &words);
    }
    let prints = words.first() == Some(&"read") || words.windows(2).any(|pair| pair == ["kv", "get"]);
    if call.name == "vault" && prints && !verbs::only_shows(call.args) {
        walk.emit_names(Kind::ReadCredential, "prints secrets", call.span, &words);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Stores of messages, caches and backups, whose verbs and options delete.
fn kept(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let bad = verbs::destroys(call.name, call.args)
        || words.iter().any(|word| {
            matches!(
                *word,
                "--delete"
                    | "flush_all"
                    | "--drop"
                    | "forget"
                    | "prune"
                    | "--delete-offsets"
                    | "--reset-offsets"
                    | "decommission"
                    | "removenode"
                    | "assassinate"
                    | "clearsnapshot"
                    | "remove-older-than"
                    | "remove-all-but-n-full"
                    | "delete_indices"
            ) || word.ends_with("delete-records.sh")
        })
        || call.name.starts_with("kafka-delete");
    if bad && !verbs::only_shows(call.args) {
        walk.emit_names(Kind::Database, "deletes stored data", call.span, &words);
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// `flask db …` is the migration tool by another name.
fn flask(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    match call.args.split_first() {
        Some((first, rest)) if &*first.text == "db" => {
            super::named(walk, "alembic", rest, call.stdin, call.span)
        }
        _ => {
            let met = super::remembered(walk, call.name);
            super::stranger::run(walk, call, met)
        }
    }
}

fn restore(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.iter().any(|arg| matches!(&*arg.text, "-c" | "--clean" | "--drop" | "-f" | "--force"))
        || call.name == "pg_dropcluster"
        || call.name == "pg_resetwal"
    {
        walk.emit(Kind::Database, "replaces what is in a database", call.span);
    }
    Flow::none()
}

fn migrate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let bad = words.iter().any(|word| {
        matches!(
            *word,
            "db:drop"
                | "db:reset"
                | "db:purge"
                | "db:migrate:reset"
                | "migrate:reset"
                | "migrate:fresh"
                | "db:wipe"
                | "db:truncate_all"
                | "clean"
                | "drop-all"
                | "dropAll"
                | "schema:drop"
                | "db:schema:load"
                | "ecto.drop"
                | "ecto.reset"
                | "flush"
                | "reset_db"
                | "sqlflush"
        )
    }) || words.iter().any(|word| {
        word.contains(':')
            && word.split(':').any(|part| matches!(part, "drop" | "wipe" | "replant" | "truncate_all"))
    }) || words.windows(2).any(|pair| {
        matches!(
            pair,
            ["migrate" | "db", "reset"]
                | ["db", "drop"]
                | ["database", "reset" | "drop"]
                | ["migrate:rollback", "--all"]
                | ["down-to", "0"]
                | ["migrate", "zero"]
        )
    }) || words.contains(&"migrate") && words.last() == Some(&"zero")
        || words
            .iter()
            .any(|word| matches!(*word, "db:migrate:undo:all" | "db:rollback:all" | "db:migrate:down:all"))
        || matches!(call.name, "drizzle-kit" | "goose")
            && words.iter().any(|word| matches!(*word, "drop" | "reset"))
        || call.name == "dbmate" && words.contains(&"drop")
        || (words.contains(&"push") && words.contains(&"--force-reset"))
        || words.windows(2).any(|pair| matches!(pair, ["downgrade", "base"] | ["ecto.rollback", "--all"]))
        || call.name == "alembic" && words.contains(&"--purge");
    // Only for flyway does `clean` mean the database.
    let bad = bad && (call.name == "flyway" || !words.contains(&"clean"));
    if bad {
        walk.emit_names(Kind::Database, "drops or resets a database", call.span, &words);
    }
    if matches!(words.first(), Some(&("dbshell" | "db" | "dbconsole"))) && call.stdin.present() {
        sql::judge(walk, call.stdin.seen(), call.span);
    }
    // `manage.py shell -c code`, `artisan tinker --execute=code`.
    if matches!(words.first(), Some(&("shell" | "tinker" | "shell_plus"))) {
        let code = words
            .iter()
            .position(|word| matches!(*word, "-c" | "--command" | "--execute"))
            .and_then(|at| words.get(at + 1))
            .copied()
            .or_else(|| words.iter().find_map(|word| word.strip_prefix("--execute=")));
        let language = if words.first() == Some(&"tinker") { "php" } else { "python" };
        super::inline::judge(walk, language, code.unwrap_or_default(), call.span);
    }
    if matches!(words.first(), Some(&("console" | "c" | "shell" | "tinker"))) && call.stdin.present() {
        super::inline::judge(walk, "ruby", call.stdin.seen(), call.span);
    }
    if matches!(call.name, "rails") && matches!(words.first(), Some(&("runner" | "r"))) {
        super::inline::judge(walk, "ruby", words.get(1).copied().unwrap_or_default(), call.span);
    }
    Flow::none()
}
