//! The part of a text around what was found, with the finds marked.

use super::fold::{fold, folded};

/// Marks around a find.
pub const MARKS: (&str, &str) = (">>>", "<<<");
/// Characters shown before the first find, and in all.
const BEFORE: usize = 60;
const LENGTH: usize = 240;

/// Cuts `text` around the first of `terms` it holds, on one line.
pub(super) fn snippet<'a>(text: &str, terms: impl Iterator<Item = &'a str>) -> String {
    let terms: Vec<Vec<char>> = terms.map(|term| folded(term).chars().collect()).collect();
    let chars: Vec<char> = text.trim().chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    // What is compared, and where in the text each character of it stands.
    let (compared, places): (Vec<char>, Vec<usize>) =
        chars.iter().enumerate().filter_map(|(at, c)| Some((fold(*c)?, at))).unzip();
    let finds = finds(&compared, &places, &terms);
    let first = finds.first().map_or(0, |(from, _)| *from);
    let start = first.saturating_sub(BEFORE);
    let end = (start + LENGTH).min(chars.len());

    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    let mut finds = finds.iter().filter(|(from, to)| *from >= start && *to <= end).peekable();
    let mut open_until = None;
    for (at, c) in chars.iter().enumerate().take(end).skip(start) {
        if let Some((_, to)) = finds.next_if(|(from, _)| *from == at) {
            out.push_str(MARKS.0);
            open_until = Some(*to);
        }
        out.push(*c);
        if open_until == Some(at + 1) {
            out.push_str(MARKS.1);
            open_until = None;
        }
    }
    if end < chars.len() {
        out.push('…');
    }
    out
}

/// Where the terms stand, from and to, in order and without overlap.
fn finds(compared: &[char], places: &[usize], terms: &[Vec<char>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = compared.get(at..).filter(|rest| !rest.is_empty()) {
        let longest =
            terms.iter().filter(|term| !term.is_empty() && rest.starts_with(term)).map(Vec::len).max();
        match longest.and_then(|length| Some((length, places.get(at)?, places.get(at + length - 1)?))) {
            Some((length, from, last)) => {
                found.push((*from, last + 1));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_are_marked_without_regard_to_case_and_marks() {
        assert_eq!(
            snippet("Deploy the Café\nnow", ["cafe", "NOW"].into_iter()),
            "Deploy the >>>Café<<< >>>now<<<"
        );
        assert_eq!(snippet("我喜欢中文", ["中文"].into_iter()), "我喜欢>>>中文<<<");
        assert_eq!(snippet("nothing", ["x"].into_iter()), "nothing");
    }

    #[test]
    fn a_long_text_is_cut_on_both_sides() {
        let text = format!("{}needle{}", "a ".repeat(500), " b".repeat(500));

        let cut = snippet(&text, ["needle"].into_iter());

        assert!(cut.starts_with('…') && cut.ends_with('…') && cut.contains(">>>needle<<<"));
        assert_eq!(cut.chars().count(), LENGTH + 2 + 6);
    }

    proptest! {
        #[test]
        fn without_its_marks_it_is_a_part_of_the_text(text in "[a-cé ]{0,400}", term in "[a-c]{1,3}") {
            let cut = snippet(&text, [term.as_str()].into_iter());
            let plain = cut.replace(">>>", "").replace("<<<", "").replace('…', "");
            prop_assert!(text.contains(&plain));
        }
    }
}
