//! What bytes are, by looking at them. What a name or a server says about them is never taken for it.

/// The media type of a picture, a sound, a film or a document, if it is one that is known.
pub(crate) fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    picture(bytes)
        .or_else(|| container(bytes))
        .or_else(|| sound(bytes))
        .or_else(|| film(bytes))
        .or_else(|| text(bytes))
}

fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'I', b'I', 0x2A, 0, ..] | [b'M', b'M', 0, 0x2A, ..] => Some("image/tiff"),
        // The four bytes after the size are kept free.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("image/bmp"),
        _ => None,
    }
}

/// What stands in one of the two boxes that hold many kinds of things.
fn container(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, kind @ ..] => match kind {
            [b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            [b'W', b'A', b'V', b'E', ..] => Some("audio/wav"),
            [b'A', b'V', b'I', b' ', ..] => Some("video/x-msvideo"),
            _ => None,
        },
        [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => Some(match brand {
            [b'M', b'4', b'A', ..] => "audio/mp4",
            [b'q', b't', b' ', b' ', ..] => "video/quicktime",
            [b'a', b'v', b'i', b'f', ..] => "image/avif",
            [b'h', b'e', b'i', b'c' | b'x', ..] => "image/heic",
            _ => "video/mp4",
        }),
        _ => None,
    }
}

fn sound(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'I', b'D', b'3', ..] => Some("audio/mpeg"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        [b'f', b'L', b'a', b'C', ..] => Some("audio/flac"),
        // A frame begins with eleven set bits; the layer tells the formats apart, and text that says
        // in which order its bytes come from both.
        [0xFF, second, ..] if second & 0xF6 == 0xF0 => Some("audio/aac"),
        [0xFF, second, ..] if second & 0xE0 == 0xE0 && matches!(second & 0x06, 2 | 4) => Some("audio/mpeg"),
        _ => None,
    }
}

fn film(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x1A, 0x45, 0xDF, 0xA3, rest @ ..] => {
            let head = rest.get(..64.min(rest.len())).unwrap_or_default();
            let is_webm = head.windows(4).any(|word| word == b"webm");
            Some(if is_webm { "video/webm" } else { "video/x-matroska" })
        }
        [0, 0, 1, 0xBA | 0xB3, ..] => Some("video/mpeg"),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"%PDF-") {
        return Some("application/pdf");
    }
    let head = String::from_utf8_lossy(bytes.get(..512.min(bytes.len())).unwrap_or_default()).to_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let is_picture = head.starts_with("<svg") || (head.starts_with("<?xml") && head.contains("<svg"));
    is_picture.then_some("image/svg+xml")
}

/// How a file of this kind ends.
pub(crate) fn ending(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/wav" => "wav",
        "audio/flac" => "flac",
        "audio/aac" => "aac",
        "audio/mp4" => "m4a",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        "video/quicktime" => "mov",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn things_are_known_by_their_first_bytes() {
        let known: [(&[u8], &str); 16] = [
            (b"\x89PNG\r\n\x1A\n....", "image/png"),
            (b"\xFF\xD8\xFF\xE0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
            (b"RIFF\0\0\0\0AVI LIST", "video/x-msvideo"),
            (b"\0\0\0\x20ftypisom", "video/mp4"),
            (b"\0\0\0\x20ftypqt  ", "video/quicktime"),
            (b"\0\0\0\x20ftypM4A ", "audio/mp4"),
            (b"ID3\x04", "audio/mpeg"),
            (b"\xFF\xFB\x90\x64", "audio/mpeg"),
            (b"\xFF\xF1\x50\x80", "audio/aac"),
            (b"OggS\0", "audio/ogg"),
            (b"\x1A\x45\xDF\xA3\x01\0\x42\x82\x84webm", "video/webm"),
            (b"\0\0\x01\xBA", "video/mpeg"),
            (b"<?xml version=\"1.0\"?>\n<svg xmlns", "image/svg+xml"),
        ];

        for (bytes, kind) in known {
            assert_eq!(kind_of(bytes), Some(kind), "{bytes:?}");
        }
        for bytes in [&b""[..], b"hello", b"<html><svg>", b"BMW", b"\xFF\xFE"] {
            assert_eq!(kind_of(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(kind) = kind_of(&bytes) {
                prop_assert!(kind.contains('/'));
            }
        }
    }
}
