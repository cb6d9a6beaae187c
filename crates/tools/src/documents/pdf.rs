//! PDF: the text of its pages, in the order they draw it.
//!
//! - here: opening a file that may be broken or made to do harm
//! - [`page`]: what a page draws, as lines
//! - [`font`]: codes to letters
//!
//! Whatever the file says, work is bounded: what is unpacked, how many pages are looked at, how
//! many steps all of them take and how deep they nest. The library below may panic on odd files;
//! that ends this document and nothing else.

mod font;
mod page;

use std::fmt::Write as _;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::read::ZlibDecoder;
use lopdf::{Document, Stream};

use super::{MAX_TEXT, cut_off};
use page::Reader;

/// Most pages that are looked at.
const MAX_PAGES: usize = 2_000;

/// Most bytes that one stream unpacks to.
const MAX_STREAM: u64 = 32 * 1024 * 1024;

/// Most bytes that all streams needed to open the file unpack to.
const MAX_OPENED: u64 = 128 * 1024 * 1024;

/// Largest stream in a packing whose result cannot be bounded beforehand.
const MAX_OTHER: usize = 64 * 1024;

/// The text of a PDF, or why it has none.
pub(super) fn text(bytes: &[u8]) -> Result<String, String> {
    opens_within_bounds(bytes, MAX_OPENED)?;
    catch_unwind(AssertUnwindSafe(|| pages(bytes)))
        .unwrap_or_else(|_| Err("the PDF is damaged; its text cannot be taken out".to_owned()))
}

/// Whether this looks like a PDF at all.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes.get(..1024).unwrap_or(bytes), b"%PDF-").is_some()
}

fn pages(bytes: &[u8]) -> Result<String, String> {
    let mut document = Document::load_mem(bytes).map_err(|why| format!("the PDF cannot be opened: {why}"))?;
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err("the PDF is locked with a password".to_owned());
    }
    let pages = document.get_pages();
    let count = pages.len();
    if count == 0 {
        return Err("the PDF is damaged: it has no pages".to_owned());
    }
    let mut reader = Reader::new(&document);
    let mut text = String::new();
    let mut empty = true;
    for (number, id) in pages.into_iter().take(MAX_PAGES) {
        let said = reader.page(id);
        empty &= said.trim().is_empty();
        // Writing into a string cannot fail.
        let _ = write!(text, "[page {number} of {count}]\n{}\n\n", said.trim_end());
        if text.len() > MAX_TEXT || reader.is_exhausted() {
            cut_off(&mut text);
            return Ok(text);
        }
    }
    if empty {
        let pages = if count == 1 { "1 page".to_owned() } else { format!("{count} pages") };
        return Err(format!("the PDF has {pages} but no text that can be read; its pages may be pictures"));
    }
    if count > MAX_PAGES {
        cut_off(&mut text);
    }
    Ok(text)
}

/// The library unpacks what it needs to open a file without looking how large that gets; this
/// looks first.
fn opens_within_bounds(bytes: &[u8], most: u64) -> Result<(), String> {
    let mut total = 0;
    for at in memchr::memmem::find_iter(bytes, b"stream") {
        let before = bytes.get(at.saturating_sub(1024)..at).unwrap_or_default();
        let dictionary = memchr::memmem::rfind(before, b" obj")
            .map_or(before, |obj| before.get(obj..).unwrap_or_default());
        let says = |word: &[u8]| memchr::memmem::find(dictionary, word).is_some();
        if before.ends_with(b"end") || !(says(b"/ObjStm") || says(b"/XRef")) {
            continue;
        }
        if memchr::memmem::find_iter(dictionary, b"Decode").count() > 2 {
            return Err("the PDF is packed more than once over and is not opened".to_owned());
        }
        let packed = bytes.get(at + b"stream".len()..).unwrap_or_default().trim_ascii_start();
        total += unpacked_size(packed, most - total.min(most));
        if total >= most {
            return Err("the PDF unpacks to far more than it may and is not opened".to_owned());
        }
    }
    Ok(())
}

/// How large something gets, up to a limit.
fn unpacked_size(packed: &[u8], limit: u64) -> u64 {
    std::io::copy(&mut ZlibDecoder::new(packed).take(limit), &mut std::io::sink()).unwrap_or_default()
}

/// The content of a stream, if it is not larger than it may be.
fn content(stream: &Stream) -> Option<Vec<u8>> {
    let filters = stream.filters().unwrap_or_default();
    match filters.as_slice() {
        [] => Some(stream.content.clone()),
        [b"FlateDecode" | b"Fl"] if !stream.dict.has(b"DecodeParms") => {
            let mut content = Vec::new();
            // What can be read of a damaged stream is better than nothing.
            let _ =
                ZlibDecoder::new(stream.content.as_slice()).take(MAX_STREAM + 1).read_to_end(&mut content);
            (content.len() as u64 <= MAX_STREAM).then_some(content)
        }
        _ if stream.content.len() <= MAX_OTHER => stream.decompressed_content().ok(),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    /// A PDF whose pages draw these things.
    pub(in super::super) fn pdf(pages: &[&str]) -> Vec<u8> {
        let mut objects: Vec<Vec<u8>> = vec![
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            Vec::new(),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 126\
              /Widths[500 500 500]>>"
                .to_vec(),
        ];
        let mut kids = String::new();
        for (at, drawn) in pages.iter().enumerate() {
            let id = 4 + at * 2;
            let _ = write!(kids, "{id} 0 R ");
            objects.push(
                format!(
                    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R/Resources<</Font<</F 3 0 R>>\
                     /XObject<</X {} 0 R>>>>>>",
                    id + 1,
                    id + 1
                )
                .into_bytes(),
            );
            let body = packed(drawn.as_bytes());
            let head = format!(
                "<</Subtype/Form/Resources<</Font<</F 3 0 R>>/XObject<</X {} 0 R>>>>/Filter/FlateDecode/Length {}>>\nstream\n",
                id + 1,
                body.len()
            );
            objects.push([head.as_bytes(), &body, b"\nendstream"].concat());
        }
        objects[1] = format!("<</Type/Pages/Count {}/Kids[{kids}]>>", pages.len()).into_bytes();
        let mut file = b"%PDF-1.5\n".to_vec();
        let mut places = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            places.push(file.len());
            file.extend_from_slice(format!("{} 0 obj\n", at + 1).as_bytes());
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let start = file.len();
        file.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
        for place in places {
            file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
        }
        let end = format!("trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
        file.extend_from_slice(end.as_bytes());
        file
    }

    #[test]
    fn pages_are_shown_one_after_another() {
        let file = pdf(&["BT /F 12 Tf 50 700 Td (Hello) Tj ET", "BT /F 12 Tf 50 700 Td (World) Tj ET"]);

        assert!(is_one(&file));
        assert_eq!(text(&file).unwrap(), "[page 1 of 2]\nHello\n\n[page 2 of 2]\nWorld\n\n");
    }

    #[test]
    fn lines_and_words_are_told_by_where_they_stand() {
        for (drawn, said) in [
            ("50 700 Td (one) Tj 0 -14 Td (two) Tj", "one\ntwo"),
            ("50 700 Td (one) Tj 100 0 Td (two) Tj", "one two"),
            ("14 TL 50 700 Td (one) Tj T* (two) Tj (three) '", "one\ntwo\nthree"),
            ("50 700 Td [(w) 20 (ord) -400 (next)] TJ", "word next"),
            ("1 0 0 1 50 700 Tm (a) Tj 1 0 0 1 50 650 Tm (b) Tj", "a\n\nb"),
            ("50 700 Td (caf\\351 \\(x\\)) Tj", "café (x)"),
            ("50 700 Td <48656C6C6F> Tj", "Hello"),
        ] {
            let file = pdf(&[&format!("BT /F 12 Tf {drawn} ET")]);
            assert_eq!(text(&file).unwrap(), format!("[page 1 of 1]\n{said}\n\n"), "{drawn}");
        }
    }

    #[test]
    fn a_form_that_draws_itself_ends() {
        let file = pdf(&["BT /F 12 Tf 50 700 Td (x) Tj ET /X Do /X Do /X Do /X Do"]);

        assert!(text(&file).unwrap().contains('x'));
    }

    #[test]
    fn what_cannot_be_read_is_said_plainly() {
        let file = pdf(&["BT /F 12 Tf 50 700 Td (Hello) Tj ET"]);
        for (bytes, why) in [
            (pdf(&["0 0 10 10 re f"]), "no text"),
            (b"%PDF-1.4 and nothing else".to_vec(), "cannot be opened"),
            (file[..file.len() / 3].to_vec(), ""),
        ] {
            let wrong = text(&bytes).unwrap_err();
            assert!(wrong.contains(why), "{wrong}");
        }
    }

    #[test]
    fn what_would_unpack_to_too_much_is_not_unpacked() {
        let bomb = packed(&vec![b' '; 1024 * 1024]);
        let head = format!(
            "%PDF-1.5\n1 0 obj\n<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length {}>>\nstream\n",
            bomb.len()
        );

        let file = [head.as_bytes(), &bomb, b"\nendstream\nendobj\n"].concat();

        assert!(opens_within_bounds(&file, 1024).is_err_and(|why| why.contains("far more")));
        assert_eq!(opens_within_bounds(&file, MAX_OPENED), Ok(()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damage_anywhere_ends_in_an_answer(at in 0_usize..1200, byte: u8, cut in 0_usize..1200) {
            let mut file = pdf(&["BT /F 12 Tf 50 700 Td (Hello) Tj 0 -14 Td (there) Tj ET", "BT ET"]);
            if let Some(spot) = file.get_mut(at) {
                *spot = byte;
            }
            let _ = text(&file);
            let _ = text(&file[..cut.min(file.len())]);
        }
    }
}
