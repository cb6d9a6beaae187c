//! Documents that hold text without being text files: notebooks, Word documents, spreadsheets, PDF.
//!
//! Pure functions from bytes to text. Whatever a document claims about itself, the text is
//! bounded, and so is what is unpacked to get it.

mod notebook;
mod pdf;
mod sheet;
mod word;

use std::io::{Cursor, Read as _};
use std::path::Path;

use hermes_core::files::{PageEnd, PageRequest, TextPage};

/// Largest document that is opened, in bytes.
pub(crate) const MAX_DOCUMENT: u64 = 50 * 1024 * 1024;

/// Most bytes of one part of a packed document.
const MAX_PART: u64 = 128 * 1024 * 1024;

/// Most bytes of text that are taken out.
const MAX_TEXT: usize = 8 * 1024 * 1024;

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    Notebook,
    Word,
    Sheet,
    Pdf,
}

/// What came of opening a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extracted {
    /// Its text.
    Text(String),
    /// The file is not what its name says.
    Other,
    /// It is, but cannot be read; why.
    Unreadable(String),
}

impl Document {
    /// The kind, by the name of the file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "ipynb" => Some(Self::Notebook),
            "docx" | "docm" => Some(Self::Word),
            "xlsx" | "xlsm" => Some(Self::Sheet),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// What it is called in answers.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Notebook => "ipynb",
            Self::Word => "docx",
            Self::Sheet => "xlsx",
            Self::Pdf => "pdf",
        }
    }

    /// Its text.
    pub(crate) fn text(self, bytes: Vec<u8>) -> Extracted {
        let text = match self {
            Self::Notebook => notebook::text(&bytes),
            Self::Word => word::text(&bytes),
            Self::Sheet => sheet::text(bytes),
            Self::Pdf if pdf::is_one(&bytes) => match pdf::text(&bytes) {
                Ok(text) => Some(text),
                Err(why) => return Extracted::Unreadable(why),
            },
            Self::Pdf => None,
        };
        text.map_or(Extracted::Other, Extracted::Text)
    }
}

/// A page of a text that is in memory.
pub(crate) fn page(text: &str, request: PageRequest) -> TextPage {
    let mut page = TextPage { total_lines: text.lines().count() as u64, ..TextPage::default() };
    let mut shown = 0;
    let first = usize::try_from(request.first.max(1) - 1).unwrap_or(usize::MAX);
    let count = usize::try_from(request.count).unwrap_or(usize::MAX);
    for line in text.lines().skip(first).take(count) {
        let chars = line.chars().count();
        let kept = chars.min(request.max_line_chars);
        shown += kept + 1;
        if shown > request.max_chars && !page.lines.is_empty() {
            page.ended_by = Some(PageEnd::Chars);
            break;
        }
        let end = line.char_indices().nth(kept).map_or(line.len(), |(at, _)| at);
        page.lines.push(line.get(..end).unwrap_or(line), chars - kept);
    }
    page
}

/// One part of a packed document, if it is no larger than it may be.
fn part(bytes: &[u8], name: &str) -> Option<String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut text = Vec::new();
    archive.by_name(name).ok()?.take(MAX_PART + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MAX_PART).then(|| String::from_utf8_lossy(&text).into_owned())
}

/// What `&name;` stands for; a name that is not known stays as it is written.
pub(crate) fn entity(name: &str) -> String {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let known = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => number.and_then(char::from_u32),
    };
    known.map_or_else(|| format!("&{name};"), String::from)
}

/// Ends a text that got too long.
fn cut_off(text: &mut String) {
    text.push_str("\n[the rest of the document is left out]\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_known_by_their_name() {
        assert_eq!(Document::of(Path::new("/a/B.IPYNB")), Some(Document::Notebook));
        assert_eq!(Document::of(Path::new("b.docx")), Some(Document::Word));
        assert_eq!(Document::of(Path::new("b.txt")), None);
    }

    #[test]
    fn what_is_not_a_document_gives_nothing() {
        for kind in [Document::Notebook, Document::Word, Document::Sheet, Document::Pdf] {
            for bytes in [&b""[..], b"{}", b"PK\x03\x04 broken", b"plain text"] {
                assert_eq!(kind.text(bytes.to_vec()), Extracted::Other, "{kind:?} {bytes:?}");
            }
        }
    }

    #[test]
    fn a_page_of_a_text_is_bounded_in_every_way() {
        let request = PageRequest { first: 2, count: 2, max_line_chars: 3, max_chars: 100 };
        let lines = |request| -> Vec<(String, usize)> {
            let page = page("one\ntwo two\nthree\nfour", request);
            page.lines.iter().map(|it| (it.text.to_owned(), it.cut_chars)).collect()
        };

        assert_eq!(lines(request), [("two".to_owned(), 4), ("thr".to_owned(), 2)]);
        let narrow =
            page("aaaa\nbbbb\ncccc", PageRequest { first: 1, count: 9, max_line_chars: 9, max_chars: 10 });
        assert_eq!((narrow.lines.len(), narrow.ended_by, narrow.total_lines), (2, Some(PageEnd::Chars), 3));
    }
}
