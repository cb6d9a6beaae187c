//! SQL, statement by statement: what drops, empties or changes everything.

use super::filters;
use crate::effect::{Kind, Span};
use crate::walk::{Flow, HOLE, Walk};

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

/// What reading statements costs besides their length.
const STATEMENTS: usize = 110;

/// Judges SQL text, statement by statement; strings and comments are not code.
pub(crate) fn judge(walk: &mut Walk<'_>, text: &str, span: Span) {
    if !walk.spend(STATEMENTS + 2 * text.len()) {
        return;
    }
    let text = &*if text.contains("' || '") {
        text.replace("' || '", "'||'").into()
    } else {
        std::borrow::Cow::Borrowed(text)
    };
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
        let file =
            ["source ", "\\. ", "\\i ", "\\ir ", ".read "].iter().find_map(|verb| line.strip_prefix(verb));
        if let Some(file) = file.map(|file| file.trim().trim_end_matches(';').trim_matches(['\'', '"'])) {
            // What the text wrote itself is known; of others the name may tell.
            let flow = walk.read_file(file, span);
            if flow.origin.doomed {
                walk.emit(Kind::Database, "runs statements nobody has seen on data that matters", span);
            }
            if flow.exact().is_some() && walk.down(span) {
                judge(walk, flow.seen(), span);
                walk.up();
            }
        }
    }
    let folded = text.contains("'||'").then(|| text.replace("'||'", ""));
    let text = folded.as_deref().unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    let inner = ["execute '", "execute format('", "do '"].iter().find_map(|verb| lower.split_once(verb));
    if let Some((_, rest)) = inner
        && let Some(inner) = rest.split('\'').next()
        && looks_destructive(inner.strip_prefix("begin ").unwrap_or(inner))
    {
        walk.emit(Kind::Database, "runs a statement that drops or empties tables", span);
    }
    if ["pg_authid", "pg_shadow", "authentication_string"].iter().any(|table| lower.contains(table)) {
        walk.emit(Kind::ReadCredential, "reads the passwords of a database", span);
    }
    if let Some((_, rest)) = lower.split_once(" program ")
        && lower.contains("copy ")
    {
        let start = lower.len() - rest.len();
        let command = text.get(start..).unwrap_or_default().trim_start().trim_matches(['\'', ';']);
        walk.emit(Kind::RunUnseen, "makes the database run a program", span);
        walk.run_text(command, &Flow::none(), span);
    }
    if text.lines().any(|line| line.trim_start().starts_with(".restore ")) {
        walk.emit(Kind::Database, "replaces what is in a database", span);
    }
    files(walk, text, &lower, span);
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

/// Files a statement writes: `COPY … TO 'x'`, `INTO OUTFILE 'x'`, `ATTACH 'x'`, `.output x`.
fn files(walk: &mut Walk<'_>, text: &str, lower: &str, span: Span) {
    for mark in
        [" to '", "outfile '", "dumpfile '", "attach '", "attach database '", "vacuum into '", "backup '"]
    {
        let Some(at) = lower.find(mark) else { continue };
        let path = text.get(at + mark.len()..).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
        if path.contains('/') {
            walk.write_file(
                path,
                Flow::unknown(crate::walk::Origin::default()),
                false,
                "writes a file",
                span,
            );
        }
    }
    for mark in [".output ", ".once ", ".save ", ".backup ", "\\o ", "\\g ", "\\w "] {
        if let Some(rest) = text.trim_start().strip_prefix(mark) {
            let path = rest.lines().next().unwrap_or_default().split_whitespace().last().unwrap_or_default();
            walk.write_file(
                path,
                Flow::unknown(crate::walk::Origin::default()),
                false,
                "writes a file",
                span,
            );
        }
    }
}

fn check(walk: &mut Walk<'_>, words: &[String], span: Span) {
    for start in 0..words.len().min(200) {
        let mut four = [""; 4];
        let count = (words.len() - start).min(four.len());
        for (slot, word) in four.iter_mut().zip(words.iter().skip(start)) {
            *slot = word;
        }
        let rest = four.get(..count).unwrap_or_default();
        let first_of_statement = start == 0
            || matches!(
                words.get(start - 1).map(String::as_str),
                Some(
                    "begin" | "then" | "do" | "explain" | "analyze" | ")" | "as" | "else" | "(" | "immediate"
                )
            );
        if made_elsewhere(walk, rest, start, span) {
            return;
        }
        match rest {
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
            ["drop", _, ..] if first_of_statement => {
                walk.emit(Kind::Database, "drops part of a database", span);
                return;
            }
            ["alter", "system", ..]
            | ["reset", "master" | "slave" | "replica", ..]
            | ["purge", "binary" | "master", ..]
                if first_of_statement =>
            {
                walk.emit(Kind::Database, "changes how a database keeps its data", span);
                return;
            }
            ["truncate", ..] if first_of_statement && words.len() > 1 => {
                walk.emit(Kind::Database, "empties a table", span);
                return;
            }
            ["delete", second, ..]
                if (first_of_statement || *second == "from")
                    && deletes_rows(words.get(start..).unwrap_or_default(), start == 0) =>
            {
                if !narrowed(words.get(start..).unwrap_or_default()) {
                    walk.emit(Kind::Database, "deletes every row of a table", span);
                }
                return;
            }
            ["update", ..] if first_of_statement && sets(words.get(start..).unwrap_or_default()) => {
                if !narrowed(words.get(start..).unwrap_or_default()) {
                    walk.emit(Kind::Database, "changes every row of a table", span);
                }
                return;
            }
            ["detach", "delete", ..] => {
                walk.emit(Kind::Database, "deletes nodes of a graph", span);
                return;
            }
            ["alter", "table", ..] if drops_part(words) => {
                walk.emit(Kind::Database, "drops part of a table", span);
                return;
            }
            ["grant" | "revoke", "all", ..] => {
                walk.emit(Kind::Users, "changes who may use a database", span);
                return;
            }
            ["alter" | "create", "role" | "user", ..] if first_of_statement => {
                walk.emit(Kind::Users, "changes who may use a database", span);
                return;
            }
            ["shutdown", ..] if start == 0 && words.len() <= 3 => {
                walk.emit(Kind::Database, "stops a database", span);
                return;
            }
            ["explain", ..]
                if start == 0 && !words.iter().any(|word| word == "analyze" || word == "analyse") =>
            {
                return;
            }
            ["delete", "noprompt" | "force" | "backup" | "archivelog" | "obsolete", ..] if start == 0 => {
                walk.emit(Kind::Database, "deletes backups of a database", span);
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

/// How many words may stand between a verb and the word that tells what it is about.
const BETWEEN: usize = 32;

/// Whether a statement that begins with `delete` deletes rows: `delete from t`, `delete quick from t`,
/// `delete a.*, b from t a join t b`. Where a statement begins for certain, `delete t` does so too.
fn deletes_rows(words: &[String], begins: bool) -> bool {
    let rest = words.get(1..).unwrap_or_default();
    let named = |word: &str| {
        word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '`' | '"' | '[') || c == HOLE)
    };
    for (at, word) in rest.iter().take(BETWEEN).enumerate() {
        match word.as_str() {
            "from" => return true,
            "where" | "output" => return begins && at > 0,
            "." | "*" | "," | "(" | ")" | "[" | "]" => {}
            "noprompt" | "force" | "backup" | "archivelog" | "obsolete" | "on" | "or" | "and" | "as"
            | "then" | "set" | "cascade" | "restrict" => return false,
            other if named(other) => {}
            _ => return false,
        }
    }
    begins && rest.len() == 1
}

/// Whether a statement that begins with `update` names tables before it sets something.
fn sets(words: &[String]) -> bool {
    words.iter().take(BETWEEN).position(|word| word == "set").is_some_and(|at| at > 1)
}

/// Whether a change of a table drops part of it; `on delete` only says what happens to others.
fn drops_part(words: &[String]) -> bool {
    let mut before = "";
    words.iter().any(|word| {
        let before = std::mem::replace(&mut before, word);
        word == "drop" || word == "delete" && before != "on"
    })
}

/// Statements that run something which is not a statement written here: a program, or a text put together.
fn made_elsewhere(walk: &mut Walk<'_>, words: &[&str], start: usize, span: Span) -> bool {
    match words {
        ["execute", _, "|" | "+", ..] | ["exec" | "execute", "(", _, "|" | "+"] => {
            put_together(walk, "", span);
        }
        ["prepare", _, "from", text]
        | ["execute" | "exec", "immediate" | "(", text, ..]
        | ["sp_executesql", text, ..] => put_together(walk, text, span),
        ["xp_cmdshell" | "load_extension" | "sys_exec" | "sys_eval", ..] => {
            walk.emit(Kind::RunUnseen, "makes the database run a program", span);
        }
        ["pg_terminate_backend" | "pg_cancel_backend", ..] => {
            walk.emit(Kind::Database, "ends connections of others", span);
        }
        ["kill", id] if start == 0 && id.contains(HOLE) => {
            walk.emit(Kind::Database, "ends connections of others", span);
        }
        ["gexec", ..] if start > 0 => walk.emit(Kind::Database, "runs what a query answers", span),
        _ => return false,
    }
    true
}

/// A statement that another one runs: written there as a string, or put together by the database.
fn put_together(walk: &mut Walk<'_>, text: &str, span: Span) {
    match text.strip_prefix(['\'', '"']) {
        Some(inner) => judge(walk, inner.trim_end_matches(['\'', '"']), span),
        None => walk.emit(Kind::Database, "runs a statement that the database puts together", span),
    }
}

/// Whether a statement has a condition that leaves something out.
fn narrowed(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| word == "where") else { return false };
    let condition: String = words.iter().skip(at + 1).map(String::as_str).collect();
    // `1=1 or …` lets everything through, whatever follows.
    !["or1=1", "ortrue", "or1", "or'1'='1'", "or'a'='a'"].iter().any(|end| condition.ends_with(end))
        && !condition.starts_with("1=1or")
        && !condition.starts_with("trueor")
        && !matches!(
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
        )
}

/// Words of SQL in lower case; strings become one word, comments vanish.
pub(super) fn words(text: &str) -> Vec<String> {
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
            '\'' | '"' | '`' => {
                let start = at;
                at += 1;
                while letters.get(at).is_some_and(|c| *c != letter) {
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
            c if c.is_whitespace() => at += 1,
            '*' if letters.get(at + 1) == Some(&'/') => at += 2,
            other => {
                out.push(other.to_string());
                at += 1;
            }
        }
    }
    out
}
