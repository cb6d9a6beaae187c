//! The bytes of a text file as text, and back: what an edit does not touch comes back byte by byte.

use encoding_rs::WINDOWS_1252;

/// How a file's bytes stand for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, perhaps with a mark in front.
    Utf8 { mark: bool },
    /// UTF-16 with a mark in front.
    Utf16 { big: bool },
    /// One byte per character.
    SingleByte,
    /// UTF-8 with bytes in it that are not; each of them is a character from the very end of Unicode.
    Broken,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A byte that is no text, as a character: this and the byte.
const ESCAPE: u32 = 0x0010_FF00;

/// A file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
}

impl TextFile {
    /// Reads bytes as text; `None` when they are none.
    pub(crate) fn decode(bytes: Vec<u8>) -> Option<Self> {
        if let Some(big) = utf16_mark(&bytes) {
            return Some(Self { text: utf16(&bytes, big)?, encoding: Encoding::Utf16 { big } });
        }
        if memchr::memchr(0, &bytes).is_some() {
            return None;
        }
        match String::from_utf8(bytes) {
            Ok(mut text) => {
                let mark = text.as_bytes().starts_with(MARK);
                if mark {
                    text.drain(..MARK.len());
                }
                Some(Self { text, encoding: Encoding::Utf8 { mark } })
            }
            Err(error) => Some(not_utf8(error.as_bytes())),
        }
    }

    /// The bytes of another text in the same encoding, or the first character it cannot hold.
    pub(crate) fn encode(encoding: Encoding, text: &str) -> Result<Vec<u8>, char> {
        match encoding {
            Encoding::Utf8 { mark: false } => Ok(text.as_bytes().to_vec()),
            Encoding::Utf8 { mark: true } => Ok([MARK, text.as_bytes()].concat()),
            Encoding::Utf16 { big } => {
                let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
                Ok(units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect())
            }
            Encoding::SingleByte => single_bytes(text),
            Encoding::Broken => Ok(unescaped(text)),
        }
    }
}

impl Encoding {
    /// Whether new characters beyond ASCII are written in a way that had to be guessed.
    pub(crate) fn is_guess(self) -> bool {
        matches!(self, Self::SingleByte | Self::Broken)
    }
}

fn utf16_mark(bytes: &[u8]) -> Option<bool> {
    match bytes {
        // This is how UTF-32 begins as well.
        [0xFF, 0xFE, 0, 0, ..] => None,
        [0xFF, 0xFE, ..] => Some(false),
        [0xFE, 0xFF, ..] => Some(true),
        _ => None,
    }
}

/// UTF-16 without its mark, if all of it is well-formed.
fn utf16(bytes: &[u8], big: bool) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let text: Result<String, _> = char::decode_utf16(units.iter().skip(1).map(unit)).collect();
    text.ok().filter(|text| rest.is_empty() && !text.contains('\0'))
}

fn not_utf8(bytes: &[u8]) -> TextFile {
    if bytes.utf8_chunks().all(|chunk| chunk.valid().is_ascii()) {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
        return TextFile { text: text.into_owned(), encoding: Encoding::SingleByte };
    }
    let mut text = String::with_capacity(bytes.len());
    let escape = |byte: &u8| char::from_u32(ESCAPE + u32::from(*byte)).unwrap_or('\u{FFFD}');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match escaped_byte(c) {
                None => text.push(c),
                // The file really has this character: its bytes are kept like bytes that are no text.
                Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).as_bytes().iter().map(escape)),
            }
        }
        text.extend(chunk.invalid().iter().map(escape));
    }
    TextFile { text, encoding: Encoding::Broken }
}

fn escaped_byte(c: char) -> Option<u8> {
    let byte = u32::from(c).checked_sub(ESCAPE).and_then(|byte| u8::try_from(byte).ok())?;
    (byte >= 0x80).then_some(byte)
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match escaped_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn single_bytes(text: &str) -> Result<Vec<u8>, char> {
    let (bytes, _, unmapped) = WINDOWS_1252.encode(text);
    if !unmapped {
        return Ok(bytes.into_owned());
    }
    let holds = |c: &char| !WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2;
    Err(text.chars().find(|c| !holds(c)).unwrap_or('\u{FFFD}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(bytes: &[u8]) -> Option<Vec<u8>> {
        let file = TextFile::decode(bytes.to_vec())?;
        Some(TextFile::encode(file.encoding, &file.text).unwrap())
    }

    #[test]
    fn encodings_are_known_by_their_bytes() {
        let encoding = |bytes: &[u8]| TextFile::decode(bytes.to_vec()).map(|file| (file.text, file.encoding));
        let known = |text: &str, encoding| Some((text.to_owned(), encoding));

        assert_eq!(encoding(b"a"), known("a", Encoding::Utf8 { mark: false }));
        assert_eq!(encoding(b"\xEF\xBB\xBFa"), known("a", Encoding::Utf8 { mark: true }));
        assert_eq!(encoding(b"\xFF\xFEa\0"), known("a", Encoding::Utf16 { big: false }));
        assert_eq!(encoding(b"\xFE\xFF\0a"), known("a", Encoding::Utf16 { big: true }));
        assert_eq!(encoding(b"caf\xE9"), known("café", Encoding::SingleByte));
        assert_eq!(encoding("ä\u{10FFE9}".as_bytes()), known("ä\u{10FFE9}", Encoding::Utf8 { mark: false }));
        assert_eq!(encoding(b"\xC3\xA4\xE9"), known("ä\u{10FFE9}", Encoding::Broken));
        assert_eq!(encoding(b"a\0b"), None);
        assert_eq!(encoding(b"\xFF\xFEa"), None);
    }

    #[test]
    fn a_character_the_encoding_cannot_hold_is_named() {
        assert_eq!(TextFile::encode(Encoding::SingleByte, "a→b"), Err('→'));
        assert_eq!(TextFile::encode(Encoding::SingleByte, "é€"), Ok(vec![0xE9, 0x80]));
    }

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (1..=255).collect();

        assert_eq!(there_and_back(&all), Some(all));
    }

    proptest! {
        #[test]
        fn any_bytes_that_are_text_come_back(bytes in proptest::collection::vec(1_u8.., 0..60)) {
            if let Some(back) = there_and_back(&bytes) {
                prop_assert_eq!(back, bytes);
            }
        }

        #[test]
        fn text_with_broken_bytes_comes_back(text in "[äöa\u{10FFE9}\u{10FFFF}]{0,9}", byte in 0x80_u8..) {
            let bytes = [text.as_bytes(), &[byte]].concat();
            prop_assert_eq!(there_and_back(&bytes), Some(bytes));
        }
    }
}
