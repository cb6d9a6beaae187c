//! A page as pieces of text that stand in each other, and those pieces as lines.

/// A part of the text.
pub(crate) enum Piece {
    /// Words.
    Text(String),
    /// An element.
    Item(Item),
}

/// An element with what is in it.
pub(crate) struct Item {
    /// Role, name, marks and ref.
    pub(crate) head: String,
    /// What it holds.
    pub(crate) value: String,
    pub(crate) inside: Vec<Piece>,
}

/// The text with every run of spaces and line ends as one space.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The pieces with texts that follow each other as one, and none that is empty.
pub(crate) fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (piece, all.last_mut()) {
            (Piece::Text(more), Some(Piece::Text(text))) => text.push_str(&more),
            (piece, _) => all.push(piece),
        }
    }
    for piece in &mut all {
        if let Piece::Text(text) = piece {
            *text = squeezed(text);
        }
    }
    all.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    all
}

/// The pieces line by line, indented by how deep they stand.
pub(crate) fn text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    lines(pieces, 0, &mut text);
    text
}

fn lines(pieces: &[Piece], depth: usize, into: &mut String) {
    for piece in pieces {
        if !into.is_empty() {
            into.push('\n');
        }
        into.extend(std::iter::repeat_n("  ", depth));
        match piece {
            Piece::Text(text) => {
                into.push_str("- text: ");
                into.push_str(text);
            }
            Piece::Item(item) => {
                into.push_str("- ");
                into.push_str(&item.head);
                match (item.value.as_str(), item.inside.as_slice()) {
                    ("", []) => {}
                    ("", [Piece::Text(text)]) => {
                        into.push_str(": ");
                        into.push_str(text);
                    }
                    (value, inside) => {
                        into.push(':');
                        if !value.is_empty() {
                            into.push(' ');
                            into.push_str(value);
                        }
                        if !inside.is_empty() {
                            lines(inside, depth + 1, into);
                        }
                    }
                }
            }
        }
    }
}
