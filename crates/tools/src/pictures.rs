//! How large a picture is, from its first bytes.
//!
//! Only the kinds that models take are known. Nothing is decoded, so nothing in a picture can do
//! harm here.

/// Whether models that see take pictures of this media type.
pub(crate) fn can_be_shown(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Width and height in dots, if the picture says so.
pub(crate) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1A\n") {
        return Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?));
    }
    if bytes.starts_with(b"RIFF") {
        return webp(bytes);
    }
    if bytes.starts_with(b"\xFF\xD8") { jpeg(bytes) } else { None }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let both = little(bytes, 21, 4)?;
            Some(((both & 0x3FFF) + 1, (both >> 14 & 0x3FFF) + 1))
        }
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
        _ => None,
    }
}

/// Goes from section to section until one says how large the picture is.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let kind = match bytes.get(at..at + 2)? {
            [0xFF, 0xFF] => {
                at += 1;
                continue;
            }
            [0xFF, kind] => *kind,
            _ => return None,
        };
        match kind {
            // A frame; the other numbers in this range are tables.
            0xC0..=0xCF if !matches!(kind, 0xC4 | 0xC8 | 0xCC) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            0x01 | 0xD0..=0xD8 => at += 2,
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?.max(2),
        }
    }
}

fn big(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_says_how_large_it_is() {
        let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xE0\x08\x06";
        let gif = b"GIF89a\x0A\0\x14\0\x80";
        let jpeg = b"\xFF\xD8\xFF\xE0\0\x04ab\xFF\xFF\xC0\0\x11\x08\x01\xE0\x02\x80\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x7F\x02\0\xDF\x01\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x7F\xC2\x77\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9D\x01\x2A\x80\x02\xE0\x01";

        assert_eq!(size(png), Some((640, 480)));
        assert_eq!(size(gif), Some((10, 20)));
        for bytes in [&jpeg[..], extended, lossless, lossy] {
            assert_eq!(size(bytes), Some((640, 480)), "{bytes:?}");
        }
        assert_eq!(size(b"GIF8"), None);
        assert_eq!(size(b""), None);
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_an_answer(
            head in prop::sample::select(vec![&b"\xFF\xD8"[..], b"RIFF\0\0\0\0WEBPVP8X", b"GIF89a", b"\x89PNG\r\n\x1A\n"]),
            rest in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            size(&[head, &rest].concat());
        }
    }
}
