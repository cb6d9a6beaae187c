//! A short name for a session, from its first exchange, by rule alone: there at once, free, and the
//! same every time. A model may find a better one later.

use crate::context::head;

/// Most characters of a title.
const MOST: usize = 60;
/// Words of the person shorter than this say too little.
const LITTLE: usize = 8;

/// A title for what was said first and answered first; `None` when neither says anything.
pub fn title(asked: &str, answered: &str) -> Option<String> {
    let (asked, answered) = (gist(asked), gist(answered));
    let enough = asked.chars().count() >= LITTLE || answered.is_empty();
    let chosen = if enough { asked } else { answered };
    let mut letters = chosen.chars();
    let first = letters.next()?;
    Some(first.to_uppercase().chain(letters).collect())
}

/// The first sentence that holds words, without marks, cut at a word.
fn gist(text: &str) -> String {
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let plain = plain(line);
        if !in_code && plain.chars().any(char::is_alphanumeric) {
            return cut(first_sentence(&plain));
        }
    }
    String::new()
}

/// The line without Markdown, references and control characters.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '>', '-', '*', ' ']);
    let words =
        line.split_whitespace().filter(|word| !word.starts_with("@file:") && !word.starts_with("@folder:"));
    let clean = |word: &str| -> String {
        word.chars()
            .filter(|c| !c.is_control() && !matches!(c, '`' | '*' | '\u{202A}'..='\u{202E}'))
            .collect()
    };
    words.map(clean).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn first_sentence(text: &str) -> &str {
    let ends = [". ", "? ", "! ", "; "];
    let end = ends.iter().filter_map(|end| text.find(end)).filter(|at| *at >= LITTLE).min();
    let sentence = end.and_then(|at| text.get(..at)).unwrap_or(text);
    sentence.trim_end_matches(['.', '!', '?', ':', ';', ',', ' '])
}

fn cut(text: &str) -> String {
    let short = head(text, MOST);
    if short.len() == text.len() {
        return text.to_owned();
    }
    let whole = short.rfind(' ').filter(|at| *at > MOST / 2).and_then(|at| short.get(..at)).unwrap_or(short);
    format!("{}…", whole.trim_end_matches([',', ':', ';', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(asked: &str, answered: &str) -> String {
        title(asked, answered).unwrap_or_default()
    }

    #[test]
    fn the_question_names_the_session() {
        assert_eq!(of("fix the login bug. It breaks on Mondays.", ""), "Fix the login bug");
        assert_eq!(of("## Why is `ls` slow?", "x"), "Why is ls slow");
        assert_eq!(of("@file:src/main.rs explain this file please", ""), "Explain this file please");
        assert_eq!(of("```\ncode\n```\nwhat does it do", ""), "What does it do");
    }

    #[test]
    fn a_greeting_gives_way_to_the_answer() {
        assert_eq!(of("hi", "Hello there! What shall we do today?"), "Hello there");
        assert_eq!(of("hi", ""), "Hi");
        assert_eq!(title(" \n", "?!"), None);
    }

    #[test]
    fn long_ones_end_at_a_word() {
        let title = of(&"wonderful ".repeat(20), "");

        assert_eq!(title, "Wonderful wonderful wonderful wonderful wonderful wonderful…");
        assert!(of(&"漢".repeat(500), "").chars().count() <= 61);
    }
}
