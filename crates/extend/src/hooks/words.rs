//! A command as words, split as a POSIX shell would, without any of its other powers. Pure.

use std::path::Path;

/// Why a command cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadWords {
    /// A quote is not closed.
    #[error("a quote is not closed")]
    Quote,
    /// It ends with a backslash.
    #[error("it ends with a backslash")]
    Backslash,
    /// There is no word in it.
    #[error("there is no command")]
    Empty,
}

/// The words of a command; `~` at the beginning of one stands for the person's home.
pub fn words(command: &str, home: Option<&Path>) -> Result<Vec<String>, BadWords> {
    let mut found: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => found.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or(BadWords::Quote)? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or(BadWords::Quote)? {
                        '"' => break,
                        '\\' => match letters.next().ok_or(BadWords::Quote)? {
                            plain @ ('"' | '\\' | '$' | '`') => word.push(plain),
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next().ok_or(BadWords::Backslash)?),
            '~' if word.is_none() => word = Some("\u{0}~".to_owned()),
            other => word.get_or_insert_default().push(other),
        }
    }
    found.extend(word.take());
    if found.is_empty() {
        return Err(BadWords::Empty);
    }
    Ok(found.into_iter().map(|word| at_home(word, home)).collect())
}

/// An unquoted `~` at the beginning of a word, as the person's home.
fn at_home(word: String, home: Option<&Path>) -> String {
    let Some(rest) = word.strip_prefix("\u{0}~") else { return word };
    match home {
        Some(home) if rest.is_empty() => home.to_string_lossy().into_owned(),
        Some(home) if rest.starts_with('/') => format!("{}{rest}", home.to_string_lossy()),
        _ => format!("~{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(command: &str) -> Result<Vec<String>, BadWords> {
        words(command, Some(Path::new("/home/ann")))
    }

    #[test]
    fn words_are_split_as_a_shell_would() {
        assert_eq!(split("a  b\tc").unwrap(), ["a", "b", "c"]);
        assert_eq!(split(r#"a 'b c' "d \"e\" \x" f\ g"#).unwrap(), ["a", "b c", r#"d "e" \x"#, "f g"]);
        assert_eq!(split("'' x").unwrap(), ["", "x"]);
        assert_eq!(split("~/hooks/a.sh '~' a~ ~").unwrap(), ["/home/ann/hooks/a.sh", "~", "a~", "/home/ann"]);
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        assert_eq!(split("a 'b"), Err(BadWords::Quote));
        assert_eq!(split("a \"b"), Err(BadWords::Quote));
        assert_eq!(split("a \\"), Err(BadWords::Backslash));
        assert_eq!(split("  "), Err(BadWords::Empty));
    }

    proptest! {
        #[test]
        fn a_quoted_text_comes_back_as_it_was(text in "[^'\u{0}]{0,40}") {
            prop_assert_eq!(split(&format!("x '{text}'")).unwrap(), vec!["x".to_owned(), text]);
        }
    }
}
