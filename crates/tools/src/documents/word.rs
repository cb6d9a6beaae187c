//! Word documents: the text of their paragraphs, and of tables row by row.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{MAX_TEXT, cut_off, part};

/// The text of a document.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let xml = part(bytes, "word/document.xml")?;
    let mut reader = Reader::from_str(&xml);
    let mut text = String::new();
    let (mut in_text, mut cells) = (false, 0_u32);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "t" => in_text = true,
                "tc" => cells += 1,
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                "t" => in_text = false,
                // Paragraphs within a cell stay on the line of their row.
                "p" => text.push(if cells > 0 { ' ' } else { '\n' }),
                "tc" => {
                    cells = cells.saturating_sub(1);
                    end_with(&mut text, '\t');
                }
                "tr" => end_with(&mut text, '\n'),
                _ => {}
            },
            Event::Empty(tag) => match tag.local_name().as_ref() {
                "tab" => text.push('\t'),
                "br" | "cr" | "p" if cells == 0 => text.push('\n'),
                "br" | "cr" => text.push(' '),
                "noBreakHyphen" => text.push('-'),
                _ => {}
            },
            Event::Text(words) if in_text => text.push_str(&words),
            Event::CData(words) if in_text => text.push_str(&words),
            Event::GeneralRef(name) if in_text => text.push_str(&super::entity(&name)),
            Event::Eof => break,
            _ => {}
        }
        if text.len() > MAX_TEXT {
            cut_off(&mut text);
            break;
        }
    }
    Some(text)
}

/// Puts a separator in place of the blanks at the end.
fn end_with(text: &mut String, separator: char) {
    text.truncate(text.trim_end_matches([' ', '\t']).len());
    text.push(separator);
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;

    use super::*;

    fn document(body: &str) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
        write!(archive, "<?xml version=\"1.0\"?><w:document><w:body>{body}</w:body></w:document>").unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn paragraphs_become_lines_and_rows_keep_their_cells_together() {
        let cell = |words: &str| format!("<w:tc><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:tc>");
        let body = format!(
            "<w:p><w:r><w:t>One &amp; </w:t><w:t>two</w:t><w:tab/><w:t>&#x263A;</w:t></w:r></w:p><w:p/>\
             <w:tbl><w:tr>{}{}</w:tr></w:tbl><w:p><w:del><w:delText>gone</w:delText></w:del>\
             <w:r><w:t>end</w:t></w:r></w:p>",
            cell("a"),
            cell("b c"),
        );

        assert_eq!(text(&document(&body)).unwrap(), "One & two\t☺\n\na\tb c\nend\n");
    }
}
