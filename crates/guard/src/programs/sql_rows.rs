//! What the rows of a query look like: statements are often made by one query and run by another client.

use super::sql::words;
use crate::walk::HOLE;

/// Most words of a query that are looked at.
const MOST: usize = 2_000;

/// Functions that put their arguments together, or leave them as they are.
const JOINS: [&str; 12] = [
    "concat",
    "concat_ws",
    "format",
    "string_agg",
    "group_concat",
    "listagg",
    "upper",
    "lower",
    "printf",
    "array_to_string",
    "array_agg",
    "trim",
];

/// A row of the answer: its constants, with holes for what is in the tables. `None` when nothing is put
/// together of constants.
pub(super) fn shape(text: &str) -> Option<String> {
    if !text.contains(['\'', '"']) || !contains(text, "select") {
        return None;
    }
    let list = words(text);
    let start = list.iter().position(|word| word == "select")? + 1;
    let mut row = Row::default();
    let mut rest = list.get(start..).unwrap_or_default();
    rest = rest.get(..rest.len().min(MOST)).unwrap_or_default();
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.as_str() {
            "from" | "where" | "union" | ";" | "\\" | "order" | "into" if row.depth == 0 => break,
            "distinct" | "all" | "as" | "separator" => {}
            "chr" | "char" if after.first().is_some_and(|next| next == "(") => {
                rest = row.letters(after.get(1..).unwrap_or_default());
            }
            joins if JOINS.contains(&joins) => {}
            "(" => row.depth += 1,
            ")" => row.depth = row.depth.saturating_sub(1),
            "|" | "+" => {}
            "," if row.depth > 0 => {}
            "," => row.text.push('\t'),
            other => row.value(other),
        }
    }
    row.constants.then(|| row.text + "\n")
}

#[derive(Default)]
struct Row {
    text: String,
    depth: usize,
    constants: bool,
}

impl Row {
    fn value(&mut self, word: &str) {
        let quoted = |quote: char| word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        match quoted('\'').or_else(|| quoted('"')) {
            Some(constant) => {
                self.text.push_str(constant);
                self.constants |= !constant.trim().is_empty();
            }
            None if self.text.ends_with(HOLE) => {}
            None => self.text.push(HOLE),
        }
    }

    /// `(68, 82)` as letters; answers what follows.
    fn letters<'w>(&mut self, list: &'w [String]) -> &'w [String] {
        let end = list.iter().position(|word| word == ")").unwrap_or(list.len());
        let (inside, after) = list.split_at(end);
        for word in inside.iter().filter(|word| *word != ",") {
            match word.parse().ok().and_then(char::from_u32) {
                Some(letter) => self.text.push(letter),
                None => self.value(word),
            }
        }
        after.get(1..).unwrap_or_default()
    }
}

fn contains(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_its_constants_with_holes_between_them() {
        let shape = |text: &str| shape(text).map(|row| row.replace(HOLE, "?"));
        for (query, row) in [
            ("SELECT 'DROP '||'TABLE '||t||' CASCADE;' FROM pg_tables", "DROP TABLE ? CASCADE;\n"),
            ("select concat('DROP TABLE ', t, ';') from x where y = 'z'", "DROP TABLE ?;\n"),
            ("select chr(68)||'ROP TABLE '||t from x", "DROP TABLE ?\n"),
            ("select group_concat('drop table ', t separator ';') from x", "drop table ?;\n"),
        ] {
            assert_eq!(shape(query).as_deref(), Some(row), "{query}");
        }
    }

    #[test]
    fn a_query_without_constants_tells_nothing() {
        for query in ["select a, b from t", "select a from t where b = 'DROP TABLE x'", "delete from t", "''"]
        {
            assert_eq!(shape(query), None, "{query}");
        }
    }
}
