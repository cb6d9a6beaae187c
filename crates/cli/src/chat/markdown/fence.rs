//! Code between fences: the only block that is drawn line by line, because it may be long.

use crate::chat::text::{Line, Style, clean};
use crate::chat::wrap::hard_wrap;

/// Before each line of code.
const GUTTER: &str = "│ ";

/// Before what did not fit on the line above.
const GOES_ON: &str = "┆ ";

/// An open code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: String,
}

/// What a line means to an open code block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Code(&'a str),
    Close,
}

impl Fence {
    /// Reads the first line of a block; none if it does not open a fence after all.
    pub(super) fn open(block: &str) -> Option<Self> {
        let line = block.lines().next()?;
        let body = line.trim_start_matches(' ');
        let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        let language = info.split_whitespace().next().unwrap_or_default().to_owned();
        let indent = line.len() - body.len();
        (length >= 3 && indent <= 3).then_some(Self { mark, length, indent, language })
    }

    pub(super) fn step<'a>(&self, line: &'a str) -> Step<'a> {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let after = body.trim_start_matches(self.mark);
        if indent <= 3 && body.len() - after.len() >= self.length && after.trim().is_empty() {
            return Step::Close;
        }
        Step::Code(line.get(indent.min(self.indent)..).unwrap_or(body))
    }

    /// The line above the code.
    pub(super) fn head(&self, width: usize) -> Line {
        head(&self.language, width)
    }
}

pub(super) fn head(language: &str, width: usize) -> Line {
    if language.is_empty() {
        Line::faint("╭─")
    } else {
        Line::faint(&format!("╭─ {language}")).cut(width)
    }
}

/// The line below the code.
pub(super) fn foot() -> Line {
    Line::faint("╰─")
}

/// One line of code.
pub(super) fn code(line: &str, width: usize) -> Vec<Line> {
    let rows = hard_wrap(clean(line).trim_end(), width.saturating_sub(2).max(2));
    let gutter = |at: usize| if at == 0 { GUTTER } else { GOES_ON };
    rows.iter().enumerate().map(|(at, row)| Line::faint(gutter(at)).with(row, Style::CYAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_closed_by_as_many_marks_as_opened_it() {
        let fence = Fence::open("````rust ignore\n").unwrap();

        assert_eq!(fence.language, "rust");
        assert_eq!(fence.step("```"), Step::Code("```"));
        assert_eq!(fence.step("````` "), Step::Close);
        assert_eq!(fence.step("    ````"), Step::Code("    ````"));
        assert_eq!(fence.step("~~~~"), Step::Code("~~~~"));
        assert_eq!(fence.step("```` x"), Step::Code("```` x"));
    }

    #[test]
    fn the_indentation_of_the_fence_is_taken_from_the_code() {
        let fence = Fence::open("  ```\n").unwrap();

        assert_eq!(fence.step("   x"), Step::Code(" x"));
        assert_eq!(fence.step(" x"), Step::Code("x"));
    }
}
