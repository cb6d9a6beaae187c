//! Databases: SQL given to a client, and the clients' own destructive verbs.

use super::opts::{Spec, parse};
use super::{Handler, filters};
use crate::effect::{Kind, Span};
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "psql" | "pgcli" | "mysql" | "mariadb" | "mycli" | "sqlite3" | "sqlite" | "sqlcmd" | "sqlplus"
        | "clickhouse-client" | "clickhouse" | "duckdb" | "cqlsh" | "bq" | "snowsql" | "usql"
        | "cockroach" | "isql" | "tsql" | "osql" | "litecli" | "presto" | "trino" | "hive" | "beeline"
        | "impala-shell" => sql,
        "dropdb" | "dropuser" => drop_database,
        "mysqladmin" => mysqladmin,
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis,
        "mongo" | "mongosh" => mongo,
        "influx" | "etcdctl" | "consul" | "vault" | "cqlsh-expansion" => keyed,
        "pg_restore" | "mongorestore" | "pg_resetwal" | "pg_dropcluster" => restore,
        "rails" | "rake" | "prisma" | "knex" | "sequelize" | "alembic" | "flyway" | "liquibase"
        | "artisan" | "drizzle-kit" | "typeorm" => migrate,
        "supabase" | "wrangler" => super::cloud::run,
        _ => return None,
    })
}

fn sql(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut texts: Vec<String> = Vec::new();
    let spec = match call.name {
        "psql" | "pgcli" => Spec {
            short: "cdfhpULovFRPT",
            long: &["command", "dbname", "file", "host", "port", "username", "output", "variable", "set"],
            stops: false,
        },
        "mysql" | "mariadb" | "mycli" => Spec {
            short: "ehuPDSB",
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
    for flag in &parsed.flags {
        let runs = match call.name {
            "psql" | "pgcli" => flag.is("c", "command"),
            "mysql" | "mariadb" | "mycli" => flag.is("e", "execute") || flag.is("", "init-command"),
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
    for text in texts {
        if walk.spend(text.len()) {
            judge(walk, &text, call.span);
        }
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Whether a text contains a word that could make it destructive; cheap, to skip the rest.
pub(crate) fn looks_destructive(text: &str) -> bool {
    let start = text.trim_start();
    let head =
        start.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    matches!(head.as_str(), "drop" | "truncate" | "delete" | "alter" | "update")
        && text.split_whitespace().count() >= 2
        && {
            let second = text.split_whitespace().nth(1).unwrap_or_default().to_ascii_lowercase();
            matches!(
                second.as_str(),
                "table" | "database" | "schema" | "from" | "index" | "view" | "user" | "role"
            ) || (head == "truncate" && text.split_whitespace().count() <= 3)
        }
}

/// Judges SQL text, statement by statement; strings and comments are not code.
pub(crate) fn judge(walk: &mut Walk<'_>, text: &str, span: Span) {
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(command) = line
            .strip_prefix("\\!")
            .or_else(|| line.strip_prefix(".shell "))
            .or_else(|| line.strip_prefix(".system "))
            .or_else(|| line.strip_prefix("system "))
        {
            walk.run_text(command.trim(), &Flow::none(), span);
        }
    }
    let lower = text.to_ascii_lowercase();
    if let Some((_, rest)) = lower.split_once(" program ")
        && lower.contains("copy ")
    {
        let start = lower.len() - rest.len();
        let command = text.get(start..).unwrap_or_default().trim_start().trim_matches(['\'', ';']);
        walk.emit(Kind::RunUnseen, "makes the database run a program", span);
        walk.run_text(command, &Flow::none(), span);
    }
    if filters::is_unknown(text) {
        return;
    }
    let mut statement: Vec<String> = Vec::new();
    for word in words(text) {
        if word == ";" || word == "\\g" {
            check(walk, &statement, span);
            statement.clear();
        } else {
            statement.push(word);
        }
    }
    check(walk, &statement, span);
}

fn check(walk: &mut Walk<'_>, words: &[String], span: Span) {
    for start in 0..words.len().min(200) {
        let rest: Vec<&str> = words.iter().skip(start).take(4).map(String::as_str).collect();
        let first_of_statement = start == 0
            || matches!(
                words.get(start - 1).map(String::as_str),
                Some(
                    "begin" | "then" | "do" | "explain" | "analyze" | ")" | "as" | "else" | "(" | "immediate"
                )
            );
        match rest.as_slice() {
            [
                "drop",
                "table" | "database" | "schema" | "tablespace" | "user" | "role" | "view" | "materialized"
                | "keyspace" | "collection" | "owned" | "index" | "function" | "trigger" | "sequence"
                | "type" | "extension" | "policy" | "column",
                ..,
            ] => {
                walk.emit(Kind::Database, "drops part of a database", span);
                return;
            }
            ["truncate", ..] if first_of_statement && words.len() > 1 => {
                walk.emit(Kind::Database, "empties a table", span);
                return;
            }
            ["delete", "from", ..] | ["delete", _, "from", ..]
                if first_of_statement || rest.get(1) == Some(&"from") =>
            {
                if !narrowed(words.get(start..).unwrap_or_default()) {
                    walk.emit(Kind::Database, "deletes every row of a table", span);
                }
                return;
            }
            ["update", _, "set", ..] if first_of_statement => {
                if !narrowed(words.get(start..).unwrap_or_default()) {
                    walk.emit(Kind::Database, "changes every row of a table", span);
                }
                return;
            }
            ["alter", "table", ..] if words.iter().any(|word| word == "drop") => {
                walk.emit(Kind::Database, "drops part of a table", span);
                return;
            }
            ["grant" | "revoke", "all", ..] => {
                walk.emit(Kind::Users, "changes who may use a database", span);
                return;
            }
            ["xp_cmdshell", ..] => {
                walk.emit(Kind::RunUnseen, "makes the database run a program", span);
                return;
            }
            ["flushall" | "flushdb", ..] => {
                walk.emit(Kind::Database, "empties a database", span);
                return;
            }
            _ => {}
        }
    }
}

/// Whether a statement has a condition that leaves something out.
fn narrowed(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| word == "where" || word == "limit" || word == "using") else {
        return false;
    };
    let condition: String = words.iter().skip(at + 1).map(String::as_str).collect();
    !matches!(
        condition.as_str(),
        "1=1"
            | "true"
            | "1"
            | "'1'='1'"
            | "0=0"
            | "2>1"
            | "1<2"
            | "nottrue=false"
            | "1<>0"
            | "''=''"
            | "idisnotnull"
            | "1=1or1=1"
    )
}

/// Words of SQL in lower case; strings become one word, comments vanish.
fn words(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().take(65_536).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at).copied() {
        match letter {
            '-' if letters.get(at + 1) == Some(&'-') => {
                while letters.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            '/' if letters.get(at + 1) == Some(&'*') => {
                // A MySQL version comment is code.
                if letters.get(at + 2) == Some(&'!') {
                    at += 3;
                    while letters.get(at).is_some_and(char::is_ascii_digit) {
                        at += 1;
                    }
                    continue;
                }
                at += 2;
                while at < letters.len()
                    && !(letters.get(at) == Some(&'*') && letters.get(at + 1) == Some(&'/'))
                {
                    at += 1;
                }
                at += 2;
            }
            '\'' => {
                let start = at;
                at += 1;
                while letters.get(at).is_some_and(|c| *c != '\'') {
                    at += 1;
                }
                at += 1;
                out.push(
                    letters.get(start..at.min(letters.len())).unwrap_or_default().iter().collect::<String>(),
                );
            }
            c if c.is_alphanumeric() || c == '_' || c == HOLE => {
                let start = at;
                while letters
                    .get(at)
                    .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.') || *c == HOLE)
                {
                    at += 1;
                }
                out.push(
                    letters.get(start..at).unwrap_or_default().iter().collect::<String>().to_lowercase(),
                );
            }
            c if c.is_whitespace() || matches!(c, '"' | '`') => at += 1,
            '*' if letters.get(at + 1) == Some(&'/') => at += 2,
            other => {
                out.push(other.to_string());
                at += 1;
            }
        }
    }
    out
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
    let bad = words.iter().enumerate().any(|(at, word)| {
        matches!(word.as_str(), "flushall" | "flushdb" | "shutdown")
            || (word == "config" && words.get(at + 1).is_some_and(|next| next == "set"))
            || (word == "del" && words.get(at + 1).is_some_and(|key| key.contains(HOLE) || key.contains('*')))
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
    let bad = [
        "dropDatabase(",
        ".drop(",
        "deleteMany({}",
        "remove({}",
        "dropIndexes(",
        "shutdownServer(",
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

fn keyed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let bad = words.iter().any(|word| {
        matches!(*word, "del" | "delete" | "destroy" | "leave" | "purge" | "seal" | "disable" | "revoke")
    }) || (words.first() == Some(&"kv") && words.contains(&"destroy"));
    if bad {
        walk.emit_names(Kind::Database, "deletes entries of a store", call.span, &words);
    }
    if call.name == "vault" && matches!(words.first(), Some(&"read"))
        || words.windows(2).any(|pair| pair == ["kv", "get"]) && call.name == "vault"
    {
        walk.emit_names(Kind::ReadCredential, "prints secrets", call.span, &words);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
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
        )
    }) || words
        .windows(2)
        .any(|pair| matches!(pair, ["migrate", "reset"] | ["db", "reset"] | ["db", "drop"]))
        || (words.contains(&"push") && words.contains(&"--force-reset"))
        || (call.name == "alembic" && words.windows(2).any(|pair| pair == ["downgrade", "base"]));
    let bad = bad && !(words.contains(&"clean") && !matches!(call.name, "flyway"));
    if bad {
        walk.emit_names(Kind::Database, "drops or resets a database", call.span, &words);
    }
    if matches!(call.name, "rails") && matches!(words.first(), Some(&("runner" | "r"))) {
        super::inline::judge(walk, "ruby", words.get(1).copied().unwrap_or_default(), call.span);
    }
    Flow::none()
}
