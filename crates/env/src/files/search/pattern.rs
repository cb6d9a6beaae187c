//! The regular expression of a content search, and what to say when it is none.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use hermes_core::files::FileError;

/// Compiles the pattern for matching line by line; both kinds of line ends are ends for `$`.
pub(super) fn compile(pattern: &str) -> Result<RegexMatcher, FileError> {
    RegexMatcherBuilder::new().multi_line(true).crlf(true).build(pattern).map_err(|error| {
        FileError::Pattern(match error.kind() {
            ErrorKind::NotAllowed(_) => {
                "the search goes line by line, so a pattern cannot hold a line break; \
                 search for one of the lines and ask for context lines"
                    .to_owned()
            }
            _ => format!("{error}\n{}", advice(pattern)),
        })
    })
}

/// What would work instead.
fn advice(pattern: &str) -> String {
    let unsupported = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|part| pattern.contains(part));
    if unsupported {
        return "look-around is not supported; search for the wider text and choose among the results"
            .to_owned();
    }
    format!("to find this text as it stands, search for: {}", regex::escape(pattern))
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher as _;

    use super::*;

    fn words(pattern: &str) -> String {
        compile(pattern).unwrap_err().to_string()
    }

    #[test]
    fn a_pattern_that_is_none_is_answered_with_one_that_works() {
        assert!(words("foo(").contains(r"search for: foo\("));
        assert!(words("a[").contains("unclosed character class"));
        assert!(words("(?=x)y").contains("look-around is not supported"));
        assert!(words("a\nb").contains("line by line"));
        assert!(words(r"a\nb").contains("line by line"));
    }

    #[test]
    fn a_pattern_is_never_an_option() {
        let matcher = compile("--pre=sh").unwrap();
        assert!(matcher.is_match(b"run --pre=sh here").unwrap());
    }

    #[test]
    fn the_end_of_a_line_is_before_either_kind_of_line_end() {
        let matcher = compile("x$").unwrap();
        assert!(matcher.is_match(b"x\r\n").unwrap());
        assert!(matcher.is_match(b"x\n").unwrap());
    }
}
