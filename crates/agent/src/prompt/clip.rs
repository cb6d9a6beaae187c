//! Cuts a long text in the middle: its beginning says what it is, its end is often the newest.

use crate::context::{head, tail};

/// The text, or its first 70 % and last 20 % of `most` characters with a word on what is missing.
pub(super) fn clip(text: &str, most: usize, name: &str) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (first, last) = (most / 10 * 7, most / 10 * 2);
    let left_out = count - first - last;
    format!(
        "{}\n[… {left_out} characters of {name} left out here …]\n{}",
        head(text, first),
        tail(text, last)
    )
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn both_ends_stay() {
        let text = format!("{}{}", "a".repeat(500), "z".repeat(500));
        let cut = clip(&text, 100, "AGENTS.md");

        assert!(cut.starts_with(&"a".repeat(70)) && cut.ends_with(&"z".repeat(20)));
        assert!(cut.contains("910 characters of AGENTS.md"));
        assert_eq!(clip("short", 5, "x"), "short");
    }
}
