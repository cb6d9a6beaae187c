//! Finding messages by what they say.
//!
//! What is found is exactly what a scan of all text would find: a term of three characters or more
//! anywhere in the text, without regard to case and to marks on Latin letters; one or two
//! characters of a script without spaces, or signs, anywhere too; a word of one or two letters as a
//! whole word. The index of pieces finds; the index of words ranks: whole words come first.

use std::fmt::Write as _;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use super::db::Sessions;
use super::error::SessionError;
use super::lineage::FAMILY;
use super::moment::Moment;
use super::query::{Query, Term, parse};
use super::record::number;
use super::snippet::snippet;

/// Most pieces a short term may stand for; beyond that the text itself is scanned.
const MAX_PIECES: usize = 1000;

/// The order of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Best first: whole words before parts of words.
    #[default]
    Best,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct Search {
    /// The words.
    pub text: String,
    /// Only messages of these roles; none means all.
    pub roles: Vec<String>,
    /// Only sessions that came in by these doors; none means all.
    pub sources: Vec<String>,
    /// Not sessions that came in by these doors.
    pub not_sources: Vec<String>,
    /// Only this session and those that share an ancestor with it.
    pub family_of: Option<String>,
    /// Not this session nor those that share an ancestor with it.
    pub not_family_of: Option<String>,
    /// Only messages from this moment on.
    pub since: Option<Moment>,
    /// Only messages before this moment.
    pub until: Option<Moment>,
    /// Also messages that were taken back.
    pub taken_back: bool,
    /// The order.
    pub order: Order,
    /// Most messages to give.
    pub limit: u32,
    /// How many to leave out at the beginning.
    pub offset: u32,
}

impl Search {
    /// The best 20 messages with these words.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            roles: Vec::new(),
            sources: Vec::new(),
            not_sources: Vec::new(),
            family_of: None,
            not_family_of: None,
            since: None,
            until: None,
            taken_back: false,
            order: Order::Best,
            limit: 20,
            offset: 0,
        }
    }
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The session's id.
    pub session_id: String,
    /// The session's title.
    pub title: Option<String>,
    /// The door it came in by.
    pub source: String,
    /// The message's number.
    pub message_id: i64,
    /// When it was written.
    #[serde(rename = "timestamp")]
    pub at: Moment,
    /// Who wrote it.
    pub role: String,
    /// The tool that answered.
    pub tool_name: Option<String>,
    /// The text around the find, with `>>>` and `<<<` around it.
    pub snippet: String,
}

/// A condition in SQL with its values.
#[derive(Default)]
struct Conditions {
    sql: String,
    values: Vec<Sql>,
}

impl Conditions {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Sql>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }

    fn one_of(&mut self, sql: &str, values: &[String]) {
        if !values.is_empty() {
            let marks = vec!["?"; values.len()].join(", ");
            self.and(&format!("{sql} ({marks})"), values.iter().cloned().map(Sql::Text));
        }
    }

    fn one_of_sources(&mut self, relation: &str, sources: &[String]) {
        if !sources.is_empty() {
            let marks = vec!["?"; sources.len()].join(", ");
            let sql = format!("m.session IN (SELECT n FROM sessions WHERE source {relation} ({marks}))");
            self.and(&sql, sources.iter().cloned().map(Sql::Text));
        }
    }
}

impl Sessions {
    /// Finds messages. A search without words finds nothing.
    pub fn search(&self, search: &Search) -> Result<Vec<Hit>, SessionError> {
        let query = parse(&search.text);
        if query.all.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        self.index_waiting()?;
        self.read(|db| {
            let found = match search.order {
                Order::Best => best(db, search, &query)?,
                Order::Newest => matching(db, search, &query, "m.at DESC, m.id DESC", &[])?,
                Order::Oldest => matching(db, search, &query, "m.at, m.id", &[])?,
            };
            let wanted = found.into_iter().skip(as_usize(search.offset)).take(as_usize(search.limit));
            wanted.map(|id| hit(db, id, &query)).collect()
        })
    }
}

/// Whole words by rank, then parts of words, newest first.
fn best(db: &Connection, search: &Search, query: &Query) -> Result<Vec<i64>, SessionError> {
    let wanted = as_usize(search.offset) + as_usize(search.limit);
    let mut found = by_rank(db, search, query)?;
    if found.len() < wanted {
        let ranked = found.clone();
        found.extend(matching(db, search, query, "m.at DESC, m.id DESC", &ranked)?);
    }
    Ok(found)
}

/// The messages that have the terms as whole words, best first.
fn by_rank(db: &Connection, search: &Search, query: &Query) -> Result<Vec<i64>, SessionError> {
    let has_words = |term: &Term| term.text().chars().any(char::is_alphanumeric);
    if !query.all.iter().flatten().all(has_words) {
        return Ok(Vec::new());
    }
    let groups: Vec<String> = query.all.iter().map(|any| either(any.iter().map(Term::text))).collect();
    let mut conditions = filters(db, search)?;
    let mut values = vec![Sql::Text(groups.join(" AND "))];
    // A phrase of words also matches other signs between them: the pieces decide.
    if query.all.iter().flatten().any(|term| !term.is_one_word()) || !query.none.is_empty() {
        terms(db, query, &mut conditions)?;
    }
    values.append(&mut conditions.values);
    values.push(Sql::Integer(i64::from(search.offset) + i64::from(search.limit)));
    let sql = format!(
        "SELECT m.id FROM message_words JOIN messages m INDEXED BY messages_marks ON m.id = message_words.rowid \
         WHERE message_words MATCH ?{} ORDER BY message_words.rank LIMIT ?",
        conditions.sql
    );
    numbers(db, &sql, values)
}

/// The messages that have the terms, but for some that are known already.
fn matching(
    db: &Connection,
    search: &Search,
    query: &Query,
    order: &str,
    known: &[i64],
) -> Result<Vec<i64>, SessionError> {
    let mut conditions = filters(db, search)?;
    terms(db, query, &mut conditions)?;
    if !known.is_empty() {
        let list: Vec<String> = known.iter().map(i64::to_string).collect();
        conditions.and(&format!("m.id NOT IN ({})", list.join(", ")), []);
    }
    let mut values = conditions.values;
    values.push(Sql::Integer(i64::from(search.offset) + i64::from(search.limit)));
    let sql = format!(
        "SELECT m.id FROM messages m INDEXED BY messages_marks WHERE true{} ORDER BY {order} LIMIT ?",
        conditions.sql
    );
    numbers(db, &sql, values)
}

/// The conditions that the terms make.
fn terms(db: &Connection, query: &Query, conditions: &mut Conditions) -> Result<(), SessionError> {
    let mut together = Vec::new();
    for any in &query.all {
        if any.iter().all(|term| matches!(term, Term::Anywhere(_))) {
            together.push(either(any.iter().map(Term::text)));
        } else {
            one_of_terms(db, any, "IN", conditions)?;
        }
    }
    if !together.is_empty() {
        let sql = "m.id IN (SELECT rowid FROM message_pieces WHERE message_pieces MATCH ?)";
        conditions.and(sql, [Sql::Text(together.join(" AND "))]);
    }
    if !query.none.is_empty() {
        one_of_terms(db, &query.none, "NOT IN", conditions)?;
    }
    Ok(())
}

/// That a message has, or has not, one of the terms.
fn one_of_terms(
    db: &Connection,
    any: &[Term],
    relation: &str,
    conditions: &mut Conditions,
) -> Result<(), SessionError> {
    let mut sets = Vec::new();
    let mut values = Vec::new();
    for term in any {
        let (set, value) = match term {
            Term::Anywhere(text) => ("message_pieces WHERE message_pieces MATCH ?", quoted(text)),
            Term::Word(text) => ("message_words WHERE message_words MATCH ?", quoted(text)),
            Term::Short(text) => match pieces_with(db, text)? {
                Some(pieces) => {
                    ("message_pieces WHERE message_pieces MATCH ?", either(pieces.iter().map(String::as_str)))
                }
                None => (
                    "messages WHERE id IN (SELECT id FROM message_text WHERE instr(lower(text), ?))",
                    text.clone(),
                ),
            },
        };
        // No piece has it: an empty set, which the index cannot be asked for.
        if value.is_empty() {
            sets.push("SELECT NULL WHERE false".to_owned());
        } else {
            sets.push(format!("SELECT rowid FROM {set}"));
            values.push(Sql::Text(value));
        }
    }
    conditions.and(&format!("m.id {relation} ({})", sets.join(" UNION ")), values);
    Ok(())
}

/// The pieces that begin with one or two characters; none when they are too many.
fn pieces_with(db: &Connection, text: &str) -> Result<Option<Vec<String>>, SessionError> {
    let mut list =
        db.prepare_cached("SELECT term FROM message_piece_list WHERE term >= ?1 AND term <= ?2 LIMIT ?3")?;
    let most = i64::try_from(MAX_PIECES + 1).unwrap_or(i64::MAX);
    let rows = list.query_map((text, format!("{text}\u{10ffff}"), most), |row| row.get(0))?;
    let pieces: Vec<String> = rows.collect::<Result<_, _>>()?;
    Ok((pieces.len() <= MAX_PIECES).then_some(pieces))
}

/// The conditions beside the words.
fn filters(db: &Connection, search: &Search) -> Result<Conditions, SessionError> {
    let mut conditions = Conditions::default();
    if !search.taken_back {
        conditions.and("m.active", []);
    }
    conditions.one_of("m.role IN", &search.roles);
    conditions.one_of_sources("IN", &search.sources);
    conditions.one_of_sources("NOT IN", &search.not_sources);
    if let Some(since) = search.since {
        conditions.and("m.at >= ?", [Sql::Integer(since.micros())]);
    }
    if let Some(until) = search.until {
        conditions.and("m.at < ?", [Sql::Integer(until.micros())]);
    }
    for (id, relation) in [(&search.family_of, "IN"), (&search.not_family_of, "NOT IN")] {
        if let Some(id) = id {
            let members = family(db, id)?;
            conditions.and(&format!("m.session {relation} ({members})"), []);
        }
    }
    Ok(conditions)
}

/// The row numbers of a family of sessions, as a list in SQL.
fn family(db: &Connection, id: &str) -> Result<String, SessionError> {
    let mut found = db.prepare_cached(&format!("{FAMILY} SELECT n FROM family"))?;
    let mut rows = found.query((number(db, id)?, 10_000))?;
    let mut list = String::new();
    while let Some(row) = rows.next()? {
        let comma = if list.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(list, "{comma}{}", row.get::<_, i64>(0)?);
    }
    Ok(list)
}

fn numbers(db: &Connection, sql: &str, values: Vec<Sql>) -> Result<Vec<i64>, SessionError> {
    let mut found = db.prepare(sql)?;
    let rows = found.query_map(params_from_iter(values), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn hit(db: &Connection, id: i64, query: &Query) -> Result<Hit, SessionError> {
    let mut found = db.prepare_cached(
        "SELECT s.id, s.title, s.source, m.id, m.at, m.role, m.tool_name,
             coalesce(m.content, ''), coalesce(m.tool_calls, '')
         FROM messages m JOIN sessions s ON s.n = m.session WHERE m.id = ?1",
    )?;
    Ok(found.query_row([id], |row| {
        let (content, calls): (String, String) = (row.get(7)?, row.get(8)?);
        let tool_name: Option<String> = row.get(6)?;
        let text = format!("{content}\n{}\n{calls}", tool_name.as_deref().unwrap_or_default());
        let words = query.all.iter().flatten().map(Term::text);
        Ok(Hit {
            session_id: row.get(0)?,
            title: row.get(1)?,
            source: row.get(2)?,
            message_id: row.get(3)?,
            at: row.get(4)?,
            role: row.get(5)?,
            tool_name,
            snippet: snippet(&text, words),
        })
    })?)
}

/// `("a" OR "b")` in the language of the index; nothing for nothing.
fn either<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.map(quoted).collect();
    if texts.is_empty() { String::new() } else { format!("({})", texts.join(" OR ")) }
}

/// A text that the index takes as it is.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
