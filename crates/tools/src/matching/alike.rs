//! The last resort of finding a block: nearly all of it is there, and what differs cannot matter.
//!
//! At least half of the lines must be the file's own, and no line may be another one: a line that
//! differs is a remark in other words, or code with the same numbers, strings, operators and
//! keywords that is spelled a little differently. So a value that changed meanwhile, or a block
//! that merely has the same shape, is never taken for the one that was meant. Only the place of a
//! block is found this way, and only when there is no second one like it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::find::Reading;
use super::fold::Fold;
use super::lines::Line;

/// Fewer lines with words on them are too little to go by.
const LEAST: usize = 3;

/// Longest line that is compared letter by letter, in characters.
const LONGEST: usize = 400;

/// Places that are looked at more closely.
const CANDIDATES: usize = 16;

/// How much of a line of code must agree, in percent.
const CODE: usize = 80;

/// How much of a remark must agree, in percent.
const REMARK: usize = 50;

/// Words that turn the meaning of a line around.
const DECISIVE: [&str; 16] = [
    "not", "and", "or", "if", "elif", "else", "unless", "while", "true", "false", "none", "null", "nil",
    "return", "break", "continue",
];

/// The only place of the file where nearly all of a block is, by its first line.
pub fn find_alike(file: &[Line<'_>], block: &[&str]) -> Option<usize> {
    let spoken = block.iter().filter(|line| !line.trim().is_empty()).count();
    if spoken < LEAST {
        return None;
    }
    let mut alike = candidates(file, block, spoken).into_iter().filter(|first| {
        let there = file.iter().skip(*first).take(block.len());
        there.len() == block.len() && there.zip(block).all(|(line, wanted)| line_alike(line.text, wanted))
    });
    let only = alike.next()?;
    alike.next().is_none().then_some(only)
}

/// Whether two lines say the same but for blanks and typography.
pub fn same(one: &str, other: &str) -> bool {
    let key = Reading::Runs(Fold::Plain);
    key.key(one) == key.key(other)
}

/// Places where at least half of the lines are the block's.
fn candidates(file: &[Line<'_>], block: &[&str], spoken: usize) -> Vec<usize> {
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, line) in block.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        known.entry(key(line)).or_default().push(at);
    }
    let mut shared = vec![0_usize; file.len()];
    for (at, line) in file.iter().enumerate() {
        for place in known.get(&key(line.text)).map(Vec::as_slice).unwrap_or_default() {
            if let Some(count) = at.checked_sub(*place).and_then(|first| shared.get_mut(first)) {
                *count += 1;
            }
        }
    }
    let enough = spoken.div_ceil(2).max(2);
    let places = shared.iter().enumerate().filter(|(_, count)| **count >= enough);
    places.map(|(at, _)| at).take(CANDIDATES).collect()
}

/// A line without its outer blanks and typography, with one kind of quotes.
fn key(line: &str) -> Cow<'_, str> {
    match Reading::Typography(Fold::Plain).key(line) {
        line if line.contains('"') => Cow::Owned(line.replace('"', "'")),
        line => line,
    }
}

fn line_alike(file: &str, wanted: &str) -> bool {
    if same(file, wanted) {
        return true;
    }
    let (file, wanted) = (Fold::Plain.text(file.trim()), Fold::Plain.text(wanted.trim()));
    if file.is_empty() || wanted.is_empty() {
        return false;
    }
    match (remark(&file), remark(&wanted)) {
        (Some(one), Some(other)) => numbers(one).eq(numbers(other)) && agreement(one, other) >= REMARK,
        (None, None) => decisive(&file) == decisive(&wanted) && agreement(&file, &wanted) >= CODE,
        _ => false,
    }
}

/// The words of a line that is a remark and nothing else.
fn remark(line: &str) -> Option<&str> {
    let begins = ["#", "//", "/*", "*", "--", ";", "<!--", "\"\"\"", "'''"];
    let rest = begins.iter().find_map(|sign| line.strip_prefix(sign))?;
    // `#include`, `*pointer` and `--count` are none.
    let code = line.starts_with(['#', '*', '-', ';']) && !rest.starts_with([' ', '#', '!', '*', '-', ';']);
    (!code && !rest.trim().is_empty()).then_some(rest)
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty())
}

/// What of a line of code must be the same: numbers, strings, operators, and words that decide.
fn decisive(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = line.trim_end_matches([',', ';']).trim_end();
    while let Some(c) = rest.chars().next() {
        let end = if matches!(c, '"' | '\'' | '`') {
            let inner = rest.get(1..).unwrap_or_default();
            inner.find(c).map_or(rest.len(), |end| end + 2)
        } else if c.is_alphanumeric() || c == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        let (part, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        match c {
            '"' | '\'' | '`' => parts.push(part.trim_matches(c).to_owned()),
            c if c.is_whitespace() => {}
            c if c.is_alphanumeric() || c == '_' => {
                let word = part.to_ascii_lowercase();
                let digits: String = part.chars().filter(char::is_ascii_digit).collect();
                if DECISIVE.contains(&word.as_str()) {
                    parts.push(word);
                } else if !digits.is_empty() {
                    parts.push(digits);
                }
            }
            _ => parts.push(part.to_owned()),
        }
        rest = behind;
    }
    parts
}

/// How much two texts have in common, in percent of both.
fn agreement(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().max(other.len()) > LONGEST {
        return 0;
    }
    // The longest common subsequence, one row at a time.
    let mut row = vec![0_usize; other.len() + 1];
    for a in &one {
        let mut before = 0;
        let mut left = 0;
        for (b, cell) in other.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            *cell = if a == b { before + 1 } else { above.max(left) };
            (before, left) = (above, *cell);
        }
    }
    row.last().copied().unwrap_or_default() * 200 / (one.len() + other.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    #[test]
    fn remarks_may_be_in_other_words() {
        assert!(line_alike("# sum up the prices of all the items", "# add up the prices of all items"));
        assert!(line_alike("\"\"\"Keeps values by name.\"\"\"", "\"\"\"Stores values by name.\"\"\""));
        assert!(!line_alike("# wait 30 seconds", "# wait 60 seconds"));
        assert_eq!((remark("#include <a.h>"), remark("--count;"), remark("*p = 1;")), (None, None, None));
        assert!(!line_alike("# open the file", "# count every word twice"));
    }

    #[test]
    fn code_may_be_misspelled_but_not_mean_something_else() {
        assert!(line_alike("    for item in data:", "for x in data:"));
        assert!(line_alike("gamma,", "gamma"));
        assert!(line_alike("name = \"x\"", "name = 'x'"));
        assert!(line_alike("recieve_data(buffer)", "receive_data(buffer)"));
        for (one, other) in [
            ("return a + b;", "return a - b;"),
            ("timeout = 30", "timeout = 60"),
            ("mode = 'read'", "mode = 'write'"),
            ("if not done:", "if done:"),
            ("debug = True", "debug = False"),
            ("one(a)", "uno(a)"),
            ("version_1(x)", "version_2(x)"),
            ("", "x"),
        ] {
            assert!(!line_alike(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn a_block_needs_lines_to_go_by_and_one_place_only() {
        let file = lines("a = f(x)\n# the remark here\nb = g(y)\nc = h(z)\n");
        let twice = lines("a = f(x)\n# remark one\nb = g(y)\na = f(x)\n# remark two\nb = g(y)\n");

        assert_eq!(find_alike(&file, &["a = f(x)", "# a remark here", "b = g(y)"]), Some(0));
        assert_eq!(find_alike(&file, &["# a remark here", "b = g(y)"]), None);
        assert_eq!(find_alike(&file, &["# a remark here", "b = g(yy)", "cc = h(z)"]), None);
        assert_eq!(find_alike(&twice, &["a = f(x)", "# remark", "b = g(y)"]), None);
    }

    #[test]
    fn agreement_is_in_percent_of_both() {
        assert_eq!(agreement("abcd", "abcd"), 100);
        assert_eq!(agreement("abcd", "abxd"), 75);
        assert_eq!(agreement("", "a"), 0);
        assert_eq!(agreement("", ""), 0);
    }
}
