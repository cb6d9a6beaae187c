//! The part of a line that is shown: all of it, or the part around the match.

/// Most characters of a line that are shown.
const MOST_CHARS: usize = 500;

/// Characters shown in front of a match when the line is cut.
const BEFORE: usize = 120;

/// The line without its end, cut around the byte `at`; a `…` stands where something is left out.
pub(super) fn excerpt(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MOST_CHARS {
        return String::from_utf8_lossy(line).into_owned();
    }
    // Four bytes for each character are enough, so that long lines are not decoded whole.
    let reach = MOST_CHARS * 4;
    let at = at.min(line.len());
    let start = at.saturating_sub(reach);
    let end = at.saturating_add(reach).min(line.len());
    let before = String::from_utf8_lossy(line.get(start..at).unwrap_or_default());
    let after = String::from_utf8_lossy(line.get(at..end).unwrap_or_default());
    let (have_before, have_after) = (before.chars().count(), after.chars().count());
    if start == 0 && end == line.len() && have_before + have_after <= MOST_CHARS {
        return format!("{before}{after}");
    }
    let room = MOST_CHARS - 2;
    let show_before = have_before.min(BEFORE.max(room.saturating_sub(have_after)));
    let show_after = have_after.min(room - show_before);
    let mut text = String::new();
    if start > 0 || show_before < have_before {
        text.push('…');
    }
    text.extend(before.chars().skip(have_before - show_before));
    text.extend(after.chars().take(show_after));
    if end < line.len() || show_after < have_after {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_lines_are_shown_whole_without_their_ends() {
        assert_eq!(excerpt(b"abc\r\n", 1), "abc");
        assert_eq!(excerpt(b"abc", 0), "abc");
        assert_eq!(excerpt(b"caf\xE9\n", 0), "caf\u{FFFD}");
        let umlauts = "ä".repeat(500);
        assert_eq!(excerpt(umlauts.as_bytes(), 10), umlauts);
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}NEEDLE{}", "ä".repeat(3000), "b".repeat(3000));
        let text = excerpt(line.as_bytes(), 6000);
        assert!(text.contains("NEEDLE") && text.starts_with("…ä") && text.ends_with("b…"));
        assert_eq!(text.chars().count(), 500);

        let late = format!("{}NEEDLE\n", "a".repeat(3000));
        let text = excerpt(late.as_bytes(), 3000);
        assert!(text.ends_with("aNEEDLE") && text.starts_with('…'));
        assert_eq!(text.chars().count(), 499);
    }

    proptest! {
        #[test]
        fn an_excerpt_is_bounded_and_holds_what_stands_at_the_place(
            line in "[aä€𝄞]{1,900}",
            place in any::<prop::sample::Index>(),
        ) {
            let starts: Vec<_> = line.char_indices().map(|(at, _)| at).collect();
            let at = starts[place.index(starts.len())];
            let text = excerpt(line.as_bytes(), at);
            prop_assert!(text.chars().count() <= 500);
            prop_assert!(!text.contains(char::REPLACEMENT_CHARACTER));
            prop_assert!(line.contains(text.trim_matches('…')));
        }
    }
}
