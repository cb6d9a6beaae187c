//! Writing an edit into lines that were found: what the edit leaves alone stays as the file has it.
//!
//! The block as it was written and the lines in the file correspond one to one. A line the edit
//! keeps is the file's own. A line it changes keeps the file's typography and tabs wherever the
//! words did not change, and stands where the file's line stood.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::alike::same;
use super::find::Reading;
use super::fold::{Token, tokens};
use super::indent::{Indents, indent};
use super::lines::Line;

/// What happens to the lines of a block, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The next line of the block stays.
    Keep,
    /// The next line of the block stays, without the blanks it ends with.
    Trim,
    /// The next line of the block goes.
    Drop,
    /// A new line comes; it may take the place of a line of the block that goes.
    Add(&'a str, Option<usize>),
}

/// The steps from one text to another.
pub fn steps<'a>(old: &[&str], new: &[&'a str]) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    let added = |at: usize, len: usize, from: Option<(usize, usize)>| {
        let lines = new.iter().skip(at).take(len).enumerate();
        let pair = move |n: usize| from.filter(|(_, len)| n < *len).map(|(at, _)| at + n);
        lines.map(move |(n, line)| Step::Add(line, pair(n))).collect::<Vec<_>>()
    };
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        match op {
            DiffOp::Equal { len, .. } => steps.extend(std::iter::repeat_n(Step::Keep, len)),
            DiffOp::Delete { old_len, .. } => steps.extend(std::iter::repeat_n(Step::Drop, old_len)),
            DiffOp::Insert { new_index, new_len, .. } => steps.extend(added(new_index, new_len, None)),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                steps.extend(std::iter::repeat_n(Step::Drop, old_len));
                steps.extend(added(new_index, new_len, Some((old_index, old_len))));
            }
        }
    }
    steps
}

/// A block that was found.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// The block as it was written.
    pub block: &'a [&'a str],
    /// The lines of the file.
    pub file: &'a [Line<'a>],
    /// How it was found.
    pub reading: Reading,
    /// How a new line ends.
    pub end: &'a str,
    /// How the last line ends afterwards.
    pub last: &'a str,
}

impl<'a> Found<'a> {
    /// The text of the lines after a replacement by `new`, whose steps are `plan`.
    ///
    /// New text says how its lines end in blanks, and how a line reads that was found although it
    /// is spelled differently.
    pub fn replaced(&self, plan: &[Step<'a>], new: &[&'a str]) -> String {
        if self.stands_already(new) {
            let reading = Reading::LineEnds;
            let all: Vec<_> = new.iter().map(|line| Step::Add(line, None)).collect();
            let text = Found { reading, ..*self }.rewritten(&all);
            let there: String = self.file.iter().flat_map(|line| [line.text, line.end]).collect();
            if text != there {
                return text;
            }
        }
        let mut steps = Vec::with_capacity(plan.len());
        let mut at = 0;
        for step in plan {
            let (written, file) = (self.block.get(at).copied(), self.file.get(at).map(|line| line.text));
            match (step, written, file) {
                (Step::Keep, Some(written), Some(file)) if self.misspelled(written, file) => {
                    steps.extend([Step::Drop, Step::Add(written, Some(at))]);
                }
                (Step::Keep, Some(written), Some(file)) if ends_blank(file) && !ends_blank(written) => {
                    steps.push(Step::Trim);
                }
                _ => steps.push(*step),
            }
            at += usize::from(!matches!(step, Step::Add(..)));
        }
        self.rewritten(&steps)
    }

    fn misspelled(&self, written: &str, file: &str) -> bool {
        self.reading == Reading::Alike && !same(written, file)
    }

    /// Whether new lines stand where the file's lines stand although the old ones do not.
    fn stands_already(&self, new: &[&str]) -> bool {
        let spoken = |line: &&&str| !line.trim().is_empty();
        let first = self.block.iter().zip(self.file).find(|(line, _)| spoken(line));
        let (Some((old, file)), Some(new_first)) = (first, new.iter().find(spoken)) else { return false };
        let stands = indent(file.text);
        indent(new_first) == stands
            && indent(old) != stands
            && new.iter().filter(spoken).all(|line| line.starts_with(stands))
    }

    /// The text of the lines after the steps.
    pub fn rewritten(&self, steps: &[Step<'_>]) -> String {
        let there: Vec<_> = self.file.iter().map(|line| line.text).collect();
        let indents = Indents::learn(self.block, &there);
        let mut out: Vec<(String, &str)> = Vec::new();
        let mut at = 0;
        for step in steps {
            match step {
                Step::Keep => {
                    out.extend(self.file.get(at).map(|line| (line.text.to_owned(), line.end)));
                    at += 1;
                }
                Step::Trim => {
                    out.extend(self.file.get(at).map(|line| (line.text.trim_end().to_owned(), line.end)));
                    at += 1;
                }
                Step::Drop => at += 1,
                Step::Add(new, pair) => {
                    let near = pair.unwrap_or_else(|| at.saturating_sub(1));
                    let end = pair.and_then(|at| self.file.get(at)).map_or(self.end, |line| line.end);
                    let end = if end.is_empty() { self.end } else { end };
                    out.push((self.adapted(new, *pair, near, &indents), end));
                }
            }
        }
        let count = out.len();
        let mut text = String::new();
        for (n, (line, end)) in out.into_iter().enumerate() {
            text.push_str(&line);
            // Only the very last line of a file may end without an end.
            let end = if end.is_empty() { self.end } else { end };
            text.push_str(if n + 1 == count { self.last } else { end });
        }
        text
    }

    fn adapted(&self, new: &str, pair: Option<usize>, near: usize, indents: &Indents<'_>) -> String {
        let old = pair.and_then(|at| Some((*self.block.get(at)?, self.file.get(at)?.text)));
        let new = match old {
            // Blanks at the end that only the writer saw.
            Some((old, file)) if ends_blank(old) && !ends_blank(file) => new.trim_end(),
            _ => new,
        };
        if matches!(self.reading, Reading::Exact | Reading::LineEnds) {
            return new.to_owned();
        }
        let blanks = indent(new);
        let body = new.get(blanks.len()..).unwrap_or_default();
        if body.trim().is_empty() {
            return String::new();
        }
        let blanks = indents.translate(blanks, near);
        match old {
            Some((old, file)) if self.misspelled(old, file) => blanks + body,
            Some((old, file)) => blanks + &keeping(old.trim(), body, file.trim(), self.reading),
            None => blanks + body,
        }
    }
}

fn ends_blank(line: &str) -> bool {
    line.ends_with([' ', '\t'])
}

/// The new text with the file's own typography and tabs wherever it says the same as the old text.
///
/// `old` and `file` are the same under the reading. Of two runs of spaces the shorter one stays.
pub fn keeping(old: &str, new: &str, file: &str, reading: Reading) -> String {
    if old == file {
        return new.to_owned();
    }
    let cut = |text| tokens(text, reading.fold(), reading.runs());
    let (old, new_tokens, file) = (cut(old), cut(new), cut(file));
    if old.len() != file.len() {
        return new.to_owned();
    }
    let texts = |tokens: &[Token<'_>]| tokens.iter().map(|token| token.text.to_owned()).collect::<Vec<_>>();
    let mut text = String::with_capacity(new.len());
    for op in capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&new_tokens)) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                let there = file.iter().skip(old_index).zip(new_tokens.iter().skip(new_index));
                for (file, new) in there.take(len) {
                    let shorter = file.is_spaces() && new.text.len() < file.text.len();
                    text.push_str(if shorter { new.text } else { file.text });
                }
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                new_tokens.iter().skip(new_index).take(new_len).for_each(|token| text.push_str(token.text));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn rewritten(file: &str, old: &[&str], new: &[&str], reading: Reading) -> String {
        let file = lines(file);
        let last = file.last().map_or("", |line| line.end);
        Found { block: old, file: &file, reading, end: "\n", last }.rewritten(&steps(old, new))
    }

    #[test]
    fn lines_the_edit_keeps_are_the_files_own() {
        let text = rewritten("a  \nb\nc", &["a", "b", "c"], &["a", "B", "c"], Reading::LineEnds);

        assert_eq!(text, "a  \nB\nc");
    }

    #[test]
    fn new_lines_stand_where_their_neighbours_stand() {
        let old = ["if x:", "  y()"];
        let new = ["if x:", "  y()", "  if z:", "    w()"];

        let text = rewritten("\tif x:\n\t\ty()\n", &old, &new, Reading::Shifted);

        assert_eq!(text, "\tif x:\n\t\ty()\n\t\tif z:\n\t\t\tw()\n");
    }

    #[test]
    fn changed_lines_keep_the_typography_of_what_did_not_change() {
        let reading = Reading::Typography(super::super::fold::Fold::Plain);

        let text = rewritten("say “hi” – now\n", &["say \"hi\" - now"], &["say \"hi\" - later"], reading);

        assert_eq!(text, "say “hi” – later\n");
    }

    #[test]
    fn a_last_line_without_an_end_stays_without() {
        assert_eq!(rewritten("a\nb", &["a", "b"], &["a", "b", "c"], Reading::Exact), "a\nb\nc");
        assert_eq!(rewritten("a\nb", &["a", "b"], &["a"], Reading::Exact), "a");
        assert_eq!(rewritten("a\n", &["a"], &[], Reading::Exact), "");
    }
}
