//! What a file is, judged by its first bytes and never by its name.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// How many bytes are looked at.
pub(crate) const SNIFF: usize = 8 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text in UTF-8 or something close to it; the text starts after a mark of this many bytes.
    Text { mark: usize },
    /// UTF-16, known by its byte order mark.
    Utf16(&'static Encoding),
    /// An image of this media type.
    Image(&'static str),
    /// Anything else.
    Binary,
}

/// Judges a file by how it starts.
pub(crate) fn of(head: &[u8]) -> Kind {
    let head = head.get(..SNIFF).unwrap_or(head);
    if let Some(media_type) = image(head) {
        return Kind::Image(media_type);
    }
    if BINARY_MARKS.iter().any(|mark| head.starts_with(mark)) {
        return Kind::Binary;
    }
    for encoding in [UTF_16LE, UTF_16BE] {
        if Encoding::for_bom(head).is_some_and(|(found, _)| found == encoding) {
            let (text, _) = encoding.decode_with_bom_removal(head);
            return if looks_binary(text.as_bytes()) { Kind::Binary } else { Kind::Utf16(encoding) };
        }
    }
    if looks_binary(head) {
        return Kind::Binary;
    }
    Kind::Text { mark: if head.starts_with(UTF8_MARK) { UTF8_MARK.len() } else { 0 } }
}

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Formats that can look like text at their start: PDF, bzip2, gzip, zstd.
const BINARY_MARKS: [&[u8]; 4] = [b"%PDF-", b"BZh", b"\x1F\x8B\x08", b"\x28\xB5\x2F\xFD"];

/// A byte 0, or more than 30 % control characters.
fn looks_binary(head: &[u8]) -> bool {
    if memchr::memchr(0, head).is_some() {
        return true;
    }
    // Tabs, line ends, page ends, backspaces and the escape of terminal colours are found in logs.
    let control = |byte: &&u8| matches!(byte, 0x01..=0x07 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F);
    head.iter().filter(control).count() * 10 > head.len() * 3
}

fn image(head: &[u8]) -> Option<&'static str> {
    let at = |start: usize, mark: &[u8]| head.get(start..).is_some_and(|rest| rest.starts_with(mark));
    Some(match () {
        () if at(0, b"\x89PNG\r\n\x1A\n") => "image/png",
        () if at(0, b"\xFF\xD8\xFF") => "image/jpeg",
        () if at(0, b"GIF87a") || at(0, b"GIF89a") => "image/gif",
        () if at(0, b"RIFF") && at(8, b"WEBP") => "image/webp",
        () if at(0, b"II*\0") || at(0, b"MM\0*") => "image/tiff",
        () if at(0, b"BM") && is_bitmap(head) => "image/bmp",
        () if at(0, b"\0\0\x01\0") && at(5, b"\0") && !at(4, b"\0") => "image/x-icon",
        () if at(4, b"ftyp") => return brand(head.get(8..12)?),
        () => return None,
    })
}

/// Text may start with `BM` as well: the reserved bytes and the size of the next header decide.
fn is_bitmap(head: &[u8]) -> bool {
    let header = head.get(14..18).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    head.get(6..10) == Some(&[0; 4]) && matches!(header, Some(12 | 16 | 40 | 52 | 56 | 64 | 108 | 124))
}

/// Pictures in the container that films use as well.
fn brand(name: &[u8]) -> Option<&'static str> {
    match name {
        b"avif" | b"avis" => Some("image/avif"),
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" => Some("image/heic"),
        b"mif1" | b"msf1" => Some("image/heif"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn images_are_known_by_their_first_bytes() {
        let bitmap = b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0";
        for (head, media_type) in [
            (&b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"[..], "image/png"),
            (b"\xFF\xD8\xFF\xE0\0\x10JFIF", "image/jpeg"),
            (b"GIF89a\x01\0", "image/gif"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            (bitmap, "image/bmp"),
            (b"II*\0\x08\0\0\0", "image/tiff"),
            (b"MM\0*\0\0\0\x08", "image/tiff"),
            (b"\0\0\x01\0\x01\0\x10\x10", "image/x-icon"),
            (b"\0\0\0\x1Cftypavif\0\0\0\0", "image/avif"),
            (b"\0\0\0\x18ftypheic\0\0\0\0", "image/heic"),
            (b"\0\0\0\x18ftypmif1\0\0\0\0", "image/heif"),
        ] {
            assert_eq!(of(head), Kind::Image(media_type), "{head:?}");
        }
    }

    #[test]
    fn text_is_told_from_binary_by_content() {
        let text = Kind::Text { mark: 0 };
        for (head, kind) in [
            (&b""[..], text),
            (b"BMW makes cars, and this is text", text),
            (b"RIFF is a format", text),
            (b"\x1B[31mred\x1B[0m\n\x1B[32mgreen\x1B[0m\n", text),
            (b"caf\xE9 in Latin-1", text),
            (b"\xEF\xBB\xBFmarked", Kind::Text { mark: 3 }),
            (b"\xFF\xFEh\0i\0\n\0", Kind::Utf16(UTF_16LE)),
            (b"\xFE\xFF\0h\0i", Kind::Utf16(UTF_16BE)),
            (b"\xFF\xFE\0\0h\0\0\0", Kind::Binary),
            (b"text with \0 in it", Kind::Binary),
            (b"\x01\x02\x03abcdef", Kind::Binary),
            (b"\x01\x02\x03abcdefg", text),
            (b"%PDF-1.7\n", Kind::Binary),
            (b"\x7FELF\x02\x01\x01\0", Kind::Binary),
            (b"\0\0\0\x18ftypisom\0\0\0\0", Kind::Binary),
        ] {
            assert_eq!(of(head), kind, "{head:?}");
        }
    }

    #[test]
    fn only_the_start_is_looked_at() {
        let mut head = vec![b'a'; SNIFF];
        head.push(0);
        assert_eq!(of(&head), Kind::Text { mark: 0 });
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_kind(head in proptest::collection::vec(any::<u8>(), 0..64)) {
            let zero = head.contains(&0);
            if let Kind::Text { .. } = of(&head) {
                prop_assert!(!zero);
            }
        }
    }
}
