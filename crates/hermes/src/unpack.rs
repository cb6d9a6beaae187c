//! Answers that come packed, unpacked no further than they may grow: a few bytes can stand for gigabytes.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What was packed, as far as `most` bytes of it, and whether there is more. Nothing when the answer is not
/// packed.
pub(crate) fn unpacked(encoding: &str, body: &[u8], most: usize) -> Result<Option<(Vec<u8>, bool)>, String> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(None),
        "gzip" | "x-gzip" => bounded(MultiGzDecoder::new(body), most).map(Some),
        // Some servers leave out the frame that this word means.
        "deflate" => bounded(ZlibDecoder::new(body), most)
            .or_else(|_| bounded(DeflateDecoder::new(body), most))
            .map(Some),
        other => Err(format!("the answer is packed as `{other}`, which nobody asked for")),
    }
}

fn bounded(packed: impl Read, most: usize) -> Result<(Vec<u8>, bool), String> {
    let mut whole = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = packed.take(limit).read_to_end(&mut whole);
    // What was cut off, or broken off, is of use as far as it goes.
    if let (Err(wrong), true) = (read, whole.is_empty()) {
        return Err(format!("the answer cannot be unpacked: {wrong}"));
    }
    let more = whole.len() > most;
    whole.truncate(most);
    Ok((whole, more))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn what_is_packed_comes_out_whole() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"words").unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(b"words").unwrap();
        let whole = Ok(Some((b"words".to_vec(), false)));

        assert_eq!(unpacked("gzip", &gzip(b"words"), 100), whole);
        assert_eq!(unpacked(" X-GZip", &[gzip(b"wo"), gzip(b"rds")].concat(), 5), whole);
        assert_eq!(unpacked("deflate", &zlib.finish().unwrap(), 100), whole);
        assert_eq!(unpacked("deflate", &bare.finish().unwrap(), 100), whole);
        assert_eq!(unpacked("", b"words", 3), Ok(None));
        assert!(unpacked("br", b"words", 3).unwrap_err().contains("`br`"));
        assert!(unpacked("gzip", b"words", 3).unwrap_err().contains("cannot be unpacked"));
    }

    #[test]
    fn a_few_bytes_do_not_become_more_than_is_wanted() {
        let bomb = gzip(&vec![b'a'; 10_000_000]);
        assert!(bomb.len() < 12_000, "{}", bomb.len());

        let (whole, more) = unpacked("gzip", &bomb, 1_000).unwrap().unwrap();

        assert_eq!((whole.len(), more), (1_000, true));
        assert!(whole.capacity() < 100_000);
    }
}
