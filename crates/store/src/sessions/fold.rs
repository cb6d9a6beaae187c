//! Text as search compares it: without case, and Latin letters without their marks.
//!
//! The database does the comparing; this is the same for the few places that look at text beside
//! it: very short words, and the marks in a snippet.

/// The letters from U+00C0 to U+017F, small and without their marks.
const LATIN: &str = "aaaaaaæceeeeiiiiðnooooo×øuuuuyþßaaaaaaæceeeeiiiiðnooooo÷øuuuuyþyaaaaaaccccccccddđđeeeeeeeeeegggg\
     gggghhħħiiiiiiiiiıĳĳjjkkĸllllllŀŀłłnnnnnnŉŋŋooooooœœrrrrrrssssssssttttŧŧuuuuuuuuuuuuwwyyyzzzzzzſ";

/// One character as search compares it; `None` for a mark on another character.
pub(super) fn fold(c: char) -> Option<char> {
    match c {
        '\u{300}'..='\u{36f}' => None,
        '\u{c0}'..='\u{17f}' => LATIN.chars().nth(c as usize - 0xc0),
        c if c.is_ascii() => Some(c.to_ascii_lowercase()),
        c => {
            let mut small = c.to_lowercase();
            // A letter that becomes two stays as it is, as in the database.
            match (small.next(), small.next()) {
                (Some(one), None) => Some(one),
                _ => Some(c),
            }
        }
    }
}

/// A text as search compares it.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter_map(fold).collect()
}

/// Whether the character belongs to a script that writes words without spaces between them.
pub(super) fn is_spaceless(c: char) -> bool {
    matches!(c as u32,
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x2e80..=0x9fff | 0xa960..=0xa97f
        | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xffdc | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_marks_do_not_count() {
        assert_eq!(LATIN.chars().count(), 0x180 - 0xc0);
        assert_eq!(folded("Ünïcödé ČŽ ø cafe\u{301} ΑΒΓ 中文 🎉"), "unicode cz ø cafe αβγ 中文 🎉");
    }
}
