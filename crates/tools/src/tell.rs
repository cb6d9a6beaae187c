//! Words for what was not found, or found too often.

use std::fmt::Write as _;

use crate::matching::near::Section;

/// Line numbers listed at most.
const MOST: usize = 10;

/// `line 4`, `lines 4, 9 and 12`.
pub(crate) fn line_numbers(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(MOST).map(ToString::to_string).collect();
    let more = numbers.len().saturating_sub(MOST);
    match (shown.split_last(), more) {
        (None, _) => String::new(),
        (Some((only, [])), 0) => format!("line {only}"),
        (Some((last, rest)), 0) => format!("lines {} and {last}", rest.join(", ")),
        (Some(_), more) => format!("lines {} and {more} more", shown.join(", ")),
    }
}

/// What was not found, and what comes nearest.
pub(crate) fn nowhere(what: &str, near: &[Section]) -> String {
    let mut text = what.to_owned();
    if near.is_empty() {
        return text;
    }
    text.push_str(if near.len() == 1 { "; this comes nearest:" } else { "; these come nearest:" });
    for section in near {
        for (line, number) in section.lines.iter().zip(section.line..) {
            // Writing into a string cannot fail.
            let _ = write!(text, "\n{number}|{line}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_read_like_a_sentence() {
        assert_eq!(line_numbers(&[4]), "line 4");
        assert_eq!(line_numbers(&[4, 9, 12]), "lines 4, 9 and 12");
        assert_eq!(
            line_numbers(&(1..=13).collect::<Vec<_>>()),
            "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more"
        );
    }

    #[test]
    fn the_nearest_sections_are_shown_with_their_numbers() {
        let near = [Section { line: 7, lines: vec!["a".to_owned(), "b".to_owned()] }];

        assert_eq!(nowhere("not here", &near), "not here; this comes nearest:\n7|a\n8|b");
        assert_eq!(nowhere("not here", &[]), "not here");
    }
}
