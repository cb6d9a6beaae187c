//! What is shown of a page: no pictures written out as text, and of a long one the beginning and the end. The
//! whole of it is kept where it can be read on.

/// Three quarters of the room go to the beginning.
const HEAD: (usize, usize) = (3, 4);

/// What is shown of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The text itself, or its beginning and end.
    pub(crate) text: String,
    /// How many characters were left out, and the line of the whole text they begin in.
    pub(crate) left_out: Option<(usize, usize)>,
}

/// No more than `budget` characters of a text.
pub(crate) fn of(text: &str, budget: usize) -> Excerpt {
    let length = text.chars().count();
    if length <= budget {
        return Excerpt { text: text.to_owned(), left_out: None };
    }
    let head = budget * HEAD.0 / HEAD.1;
    let tail = budget - head;
    let head_end = at(text, head);
    let tail_start = at(text, length - tail);
    let (begin, end) = (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default());
    let missing = length - head - tail;
    let line = begin.lines().count().max(1);
    Excerpt {
        text: format!("{begin}\n\n[… {missing} characters left out …]\n\n{end}"),
        left_out: Some((missing, line)),
    }
}

/// The byte at which a character begins.
fn at(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

/// The text without the pictures that are written out in it.
pub(crate) fn without_inline_pictures(text: &str) -> String {
    const BEGIN: &str = "data:image/";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        out.push_str(before);
        out.push_str("[IMAGE]");
        let end = after.find([')', '"', '\'', ' ', '\n', '>', ']']).unwrap_or(after.len());
        rest = after.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{of, without_inline_pictures};

    #[test]
    fn pictures_in_the_text_are_left_out() {
        let text = "a ![x](data:image/png;base64,AAAA) b <img src=\"data:image/gif;base64,R0\"> c";

        assert_eq!(without_inline_pictures(text), "a ![x]([IMAGE]) b <img src=\"[IMAGE]\"> c");
        assert_eq!(without_inline_pictures("no picture"), "no picture");
    }

    #[test]
    fn a_short_text_stays_as_it_is() {
        assert_eq!(of("short", 5).text, "short");
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text = ('a'..='t').fold(String::new(), |all, letter| all + &format!("{letter}é\n"));

        let excerpt = of(&text, 12);

        assert!(
            excerpt.text.starts_with("aé\nbé\ncé\n") && excerpt.text.ends_with("té\n"),
            "{}",
            excerpt.text
        );
        assert_eq!(excerpt.left_out, Some((48, 3)));
    }
}
