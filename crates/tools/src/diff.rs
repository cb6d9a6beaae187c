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
    if old == new {
        return String::new();
    }
    // Only what differs, with its context, has to be taken apart into lines and compared.
    let (head, tail) = around(old.as_bytes(), new.as_bytes());
    let from = back(old.as_bytes().get(..head).unwrap_or_default(), CONTEXT);
    let on = forth(old.as_bytes().get(old.len() - tail..).unwrap_or_default(), CONTEXT);
    let part = |text: &str| from..text.len() - tail + on;
    let a: Vec<&str> = old.get(part(old)).unwrap_or_default().split_inclusive('\n').collect();
    let b: Vec<&str> = new.get(part(new)).unwrap_or_default().split_inclusive('\n').collect();
    let count = |range: Range<usize>| lines_in(old.as_bytes().get(range).unwrap_or_default());
    let (first, before) = (count(0..from), count(from..head));
    let after = count(old.len() - tail..old.len() - tail + on);
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    for group in group_diff_ops(operations(&a, &b, before, after), CONTEXT) {
        hunk(&mut text, &group, &a, &b, first);
    }
    text
}

/// How many bytes two texts have in common in whole lines, at the beginning and, after that, at the end.
fn around(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = same_start(old, new);
    let head = memchr::memrchr(b'\n', old.get(..same).unwrap_or_default()).map_or(0, |at| at + 1);
    let (a, b) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let same = same_end(a, b);
    let starts_line = |text: &[u8]| {
        let before = text.len().checked_sub(same + 1).map(|at| text.get(at));
        before.is_none_or(|before| before == Some(&b'\n'))
    };
    if starts_line(a) && starts_line(b) {
        return (head, same);
    }
    let end = a.get(a.len() - same..).unwrap_or_default();
    (head, memchr::memchr(b'\n', end).map_or(0, |at| end.len() - at - 1))
}

/// Bytes that are compared at once.
const CHUNK: usize = 512;

fn same_start(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK)).take_while(|(a, b)| a == b && a.len() == CHUNK).count();
    let at = chunks * CHUNK;
    let (a, b) = (a.get(at..).unwrap_or_default(), b.get(at..).unwrap_or_default());
    at + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn same_end(a: &[u8], b: &[u8]) -> usize {
    let chunks =
        a.rchunks(CHUNK).zip(b.rchunks(CHUNK)).take_while(|(a, b)| a == b && a.len() == CHUNK).count();
    let at = chunks * CHUNK;
    let (a, b) = (a.get(..a.len() - at).unwrap_or_default(), b.get(..b.len() - at).unwrap_or_default());
    at + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Where the last so many lines of a text of whole lines begin.
fn back(text: &[u8], lines: usize) -> usize {
    let ends = memchr::memrchr_iter(b'\n', text).nth(lines);
    ends.map_or(0, |at| at + 1)
}

/// Where the first so many lines of a text end.
fn forth(text: &[u8], lines: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text);
    lines.checked_sub(1).and_then(|last| ends.nth(last)).map_or(text.len(), |at| at + 1)
}

fn lines_in(text: &[u8]) -> usize {
    let open = text.last().is_some_and(|byte| *byte != b'\n');
    memchr::memchr_iter(b'\n', text).count() + usize::from(open)
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

    /// The same by comparing line by line.
    fn slowly(old: &str, new: &str) -> String {
        let (a, b): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let rest = a.iter().skip(start).rev().zip(b.iter().skip(start).rev());
        let end = rest.take_while(|(a, b)| a == b).count();
        let (first, keep) = (start.saturating_sub(CONTEXT), end.saturating_sub(CONTEXT));
        let (a, b) = (&a[first..a.len() - keep], &b[first..b.len() - keep]);
        if a == b {
            return String::new();
        }
        let mut text = "--- a\n+++ b\n".to_owned();
        for group in group_diff_ops(operations(a, b, start - first, end - keep), CONTEXT) {
            hunk(&mut text, &group, a, b, first);
        }
        text
    }

    proptest::proptest! {
        #[test]
        fn what_both_texts_share_is_left_out_without_a_trace(
            head in "([ab]{0,2}\n){0,6}",
            (old, new) in ("[ab\n]{0,8}", "[ab\n]{0,8}"),
            tail in "[ab]{0,1}(\n[ab]{0,2}){0,6}",
        ) {
            for pad in [String::new(), "pad\n".repeat(200)] {
                let whole = |middle: &str| format!("{pad}{head}{middle}{tail}{pad}");
                let (old, new) = (whole(&old), whole(&new));

                proptest::prop_assert_eq!(unified("a", "b", &old, &new), slowly(&old, &new));
            }
        }
    }
}
