//! A unified diff of two texts, as a model or a person reads it.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Beyond this many lines that differ, everything between the first and the last is shown as
/// replaced: finding the smallest difference would take longer than reading it.
const MOST: usize = 4_000;

/// The difference between two texts; empty when there is none. The names are shown as they are.
pub fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let end = a.iter().skip(start).rev().zip(b.iter().skip(start).rev()).take_while(|(a, b)| a == b).count();
    // Only what differs, with its context, has to be compared.
    let first = start.saturating_sub(CONTEXT);
    let keep = end.saturating_sub(CONTEXT);
    let a = a.get(first..a.len() - keep).unwrap_or_default();
    let b = b.get(first..b.len() - keep).unwrap_or_default();
    if a == b {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    for group in group_diff_ops(operations(a, b, start - first, end - keep), CONTEXT) {
        hunk(&mut text, &group, a, b, first);
    }
    text
}

fn operations(a: &[&str], b: &[&str], before: usize, after: usize) -> Vec<DiffOp> {
    if a.len().max(b.len()) <= MOST {
        return capture_diff_slices(Algorithm::Myers, a, b);
    }
    let (old_len, new_len) = (a.len() - before - after, b.len() - before - after);
    vec![
        DiffOp::Equal { old_index: 0, new_index: 0, len: before },
        DiffOp::Replace { old_index: before, old_len, new_index: before, new_len },
        DiffOp::Equal { old_index: before + old_len, new_index: before + new_len, len: after },
    ]
}

fn hunk(text: &mut String, group: &[DiffOp], a: &[&str], b: &[&str], first: usize) {
    let (Some(start), Some(end)) = (group.first(), group.last()) else { return };
    let old = start.old_range().start..end.old_range().end;
    let new = start.new_range().start..end.new_range().end;
    // Writing into a string cannot fail.
    let _ = writeln!(text, "@@ -{} +{} @@", place(&old, first), place(&new, first));
    for op in group {
        if let DiffOp::Equal { .. } = op {
            lines(text, ' ', a, op.old_range());
        } else {
            lines(text, '-', a, op.old_range());
            lines(text, '+', b, op.new_range());
        }
    }
}

/// A range of lines the way hunks name it.
fn place(range: &Range<usize>, first: usize) -> String {
    match range.len() {
        0 => format!("{},0", range.start + first),
        1 => (range.start + first + 1).to_string(),
        len => format!("{},{len}", range.start + first + 1),
    }
}

fn lines(text: &mut String, sign: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old = (1..=9).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        let new = old.replace("line 5\n", "line five\n");

        assert_eq!(
            unified("a/f", "b/f", &old, &new),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
        );
    }

    #[test]
    fn a_missing_end_of_line_is_told() {
        assert_eq!(
            unified("f", "f", "a\nb", "a\nb\n"),
            "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn new_and_removed_files_have_an_empty_side() {
        assert_eq!(unified("/dev/null", "b/f", "", "x\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(unified("a/f", "/dev/null", "x\n", ""), "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
        assert_eq!(unified("a", "b", "x\n", "x\n"), "");
    }

    #[test]
    fn texts_that_differ_everywhere_do_not_take_for_ever() {
        let lines = |word: &str| (0..50_000).map(|n| format!("{word} {n}\n")).collect::<Vec<_>>().concat();

        let diff = unified("a", "b", &format!("x\n{}y\n", lines("old")), &format!("x\n{}y\n", lines("new")));

        assert!(diff.starts_with("--- a\n+++ b\n@@ -1,50002 +1,50002 @@\n x\n-old 0\n"));
    }
}
