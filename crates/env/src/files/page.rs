//! A page of a text file, or what the file is instead.

use std::io::{self, Read, Seek as _};
use std::path::Path;

use encoding_rs::{CoderResult, Encoding};
use hermes_core::files::{FileError, FilePage, PageRequest, TextPage};

use super::index::{Index, Indexes};
use super::kind::{self, Kind};
use super::lines::Pager;
use super::open::{self, Opened, unreadable};
use super::stop::Stop;

/// Bytes read at a time: large enough to cost few system calls, small enough for the cache.
const CHUNK: usize = 128 * 1024;

/// Reads one page; the memory used depends on the page, not on the file.
pub(crate) fn read_page(
    path: &Path,
    request: PageRequest,
    indexes: &Indexes,
    stop: &Stop,
) -> Result<FilePage, FileError> {
    let opened = open::open(path)?;
    let (size, stamp) = (opened.size, opened.stamp);
    let page = if let Some(index) = indexes.of(stamp) {
        known(opened, &index, request, stop)
    } else {
        let mut index = Indexes::wants(stamp).then(Index::default);
        let page = read(opened.bounded(), size, request, index.as_mut(), stop);
        if let (Ok(_), Some(index)) = (&page, index.filter(|index| index.total_lines > 0)) {
            indexes.keep(stamp, index);
        }
        page
    };
    match page.map_err(|error| unreadable(path, &error.to_string()))? {
        FilePage::Text(page) => Ok(FilePage::Text(TextPage { stamp, ..page })),
        other => Ok(other),
    }
}

/// Reads one page of a file whose lines are known: from the last known place before it to its end.
fn known(mut opened: Opened, index: &Index, request: PageRequest, stop: &Stop) -> io::Result<FilePage> {
    let file_size = opened.size;
    let mark = index.before(request.first);
    if let Some(mark) = mark {
        opened.file.seek(io::SeekFrom::Start(mark.offset))?;
    }
    let left = file_size.saturating_sub(mark.map_or(0, |mark| mark.offset));
    let mut source = opened.file.take(left);
    let mut buffer = vec![0; CHUNK];
    let mut pager = Pager::from_line(request, mark.map_or(1, |mark| mark.line));
    // What a file may begin with is no text of its first line.
    let mut at_start = mark.is_none();
    while pager.wants_more() {
        if stop.cancelled() {
            return Err(io::Error::other("stopped"));
        }
        let chunk = fill(&mut source, &mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        let skipped = match at_start.then(|| kind::of(chunk)) {
            Some(Kind::Text { mark }) => mark,
            _ => 0,
        };
        pager.feed(chunk.get(skipped..).unwrap_or_default());
        at_start = false;
    }
    Ok(FilePage::Text(TextPage { file_size, total_lines: index.total_lines, ..pager.finish() }))
}

/// A page of what a file holds that lies in memory.
pub(super) fn page_of(bytes: &[u8], request: PageRequest, stop: &Stop) -> io::Result<FilePage> {
    read(bytes, len(bytes.len()), request, None, stop)
}

fn read(
    mut source: impl Read,
    size: u64,
    request: PageRequest,
    mut index: Option<&mut Index>,
    stop: &Stop,
) -> io::Result<FilePage> {
    let mut buffer = vec![0; CHUNK];
    let head = fill(&mut source, &mut buffer)?;
    let mut chunks = Chunks { source, read: len(head.len()), stop };
    let kind = kind::of(head);
    let mut replaced = false;
    let mut pager = Pager::new(request);
    match kind {
        Kind::Image(media_type) => {
            return Ok(FilePage::Image { file_size: size.max(chunks.read), media_type });
        }
        Kind::Binary => return Ok(FilePage::Binary { file_size: size.max(chunks.read) }),
        Kind::Text { mark } => {
            let mut offset = len(head.len());
            pager.feed(head.get(mark..).unwrap_or_default());
            chunks.each(&mut buffer, |chunk, _| {
                if let Some(index) = &mut index {
                    index.note(offset, pager.number(), memchr::memchr(b'\n', chunk));
                }
                offset += len(chunk.len());
                pager.feed(chunk);
            })?;
        }
        Kind::Utf16(encoding) => {
            let mut decoder = Utf16::new(encoding);
            decoder.decode(head, false, |text| pager.feed(text));
            chunks.each(&mut buffer, |chunk, last| decoder.decode(chunk, last, |text| pager.feed(text)))?;
            replaced = decoder.replaced;
        }
    }
    let page = pager.finish();
    if let (Kind::Text { .. }, Some(index)) = (kind, index) {
        index.total_lines = page.total_lines;
    }
    let lossy = page.lossy || replaced && page.lines.text().contains('\u{FFFD}');
    Ok(FilePage::Text(TextPage { file_size: size.max(chunks.read), lossy, ..page }))
}

/// What is left of the file, chunk by chunk.
struct Chunks<'a, R> {
    source: R,
    read: u64,
    stop: &'a Stop,
}

impl<R: Read> Chunks<'_, R> {
    /// Hands over every chunk, and at the end an empty one that is marked as the last.
    fn each(&mut self, buffer: &mut [u8], mut take: impl FnMut(&[u8], bool)) -> io::Result<()> {
        loop {
            if self.stop.cancelled() {
                return Err(io::Error::other("stopped"));
            }
            let chunk = fill(&mut self.source, buffer)?;
            self.read += len(chunk.len());
            take(chunk, chunk.is_empty());
            if chunk.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill<'a>(source: &mut impl Read, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match source.read(room) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}

/// Turns UTF-16 into UTF-8 on the way.
struct Utf16 {
    decoder: encoding_rs::Decoder,
    text: Vec<u8>,
    /// Whether anything was not UTF-16 after all.
    replaced: bool,
}

impl Utf16 {
    fn new(encoding: &'static Encoding) -> Self {
        Self { decoder: encoding.new_decoder_with_bom_removal(), text: vec![0; CHUNK], replaced: false }
    }

    fn decode(&mut self, chunk: &[u8], last: bool, mut take: impl FnMut(&[u8])) {
        let mut rest = chunk;
        loop {
            let (result, read, written, replaced) = self.decoder.decode_to_utf8(rest, &mut self.text, last);
            take(self.text.get(..written).unwrap_or_default());
            self.replaced |= replaced;
            rest = rest.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

fn len(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::stop::StopOnDrop;
    use super::super::stop::tests::never;
    use super::*;

    const WIDE: PageRequest = PageRequest { first: 1, count: 2000, max_line_chars: 2000, max_chars: 100_000 };

    fn page_of(bytes: &[u8], request: PageRequest) -> FilePage {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, bytes).unwrap();
        read_page(&path, request, &Indexes::default(), &never()).unwrap()
    }

    fn nth(page: &TextPage, at: usize) -> &str {
        page.lines.iter().nth(at).unwrap().text
    }

    fn text_of(bytes: &[u8], request: PageRequest) -> TextPage {
        match page_of(bytes, request) {
            FilePage::Text(page) => page,
            other => panic!("{other:?}"),
        }
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let unit = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        let page = text_of(b"\xEF\xBB\xBFone\r\ntwo\r\n", WIDE);
        assert_eq!(nth(&page, 0), "one");
        assert_eq!((page.total_lines, page.file_size, page.lossy), (2, 13, false));
    }

    #[test]
    fn pictures_and_binaries_are_named_not_shown() {
        let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";
        assert_eq!(page_of(png, WIDE), FilePage::Image { file_size: 16, media_type: "image/png" });
        assert_eq!(page_of(b"a\0b", WIDE), FilePage::Binary { file_size: 3 });
    }

    #[test]
    fn utf_16_is_read_as_text_also_across_chunks() {
        let line = "grüße 𝄞 und so weiter\r\n";
        let text = line.repeat(10_000);
        for big in [false, true] {
            let page = text_of(&utf16(&text, big), PageRequest { first: 9_999, ..WIDE });
            assert_eq!(page.total_lines, 10_000);
            assert_eq!(nth(&page, 1), line.trim_end());
            assert!(!page.lossy);
        }
        let half = text_of(b"\xFF\xFEa\0\n\0b", WIDE);
        assert_eq!((half.total_lines, nth(&half, 1)), (2, "\u{FFFD}"));
        assert!(half.lossy);
    }

    #[test]
    fn a_far_page_of_a_large_file_is_exact() {
        let lines: Vec<_> = (1..=100_000).map(|n| format!("line {n}\n")).collect();
        let text = lines.concat();
        let page = text_of(text.as_bytes(), PageRequest { first: 98_500, count: 3, ..WIDE });
        let lines: Vec<_> = page.lines.iter().map(|line| line.text).collect();
        assert_eq!(lines, ["line 98500", "line 98501", "line 98502"]);
        assert_eq!((page.total_lines, page.file_size), (100_000, len(text.len())));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_a_size_are_read_too() {
        let FilePage::Text(page) =
            read_page(Path::new("/proc/self/status"), WIDE, &Indexes::default(), &never()).unwrap()
        else {
            panic!("not text");
        };
        assert!(nth(&page, 0).starts_with("Name:"));
        assert!(page.file_size > 100);
    }

    #[test]
    fn reading_ends_when_nobody_waits() {
        let stop = never();
        drop(StopOnDrop::of(&stop));
        assert!(read(io::repeat(b'x'), 0, WIDE, None, &stop).is_err());
    }

    #[test]
    fn a_known_file_is_read_the_same_from_every_line_until_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let lines =
            |word: &str| (0..90_000).map(|n| format!("{word} {n}")).collect::<Vec<_>>().join("\n") + "\n";
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
            fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        };
        let indexes = Indexes::default();
        let read = |first: u64, indexes: &Indexes| {
            read_page(&path, PageRequest { first, count: 3, ..WIDE }, indexes, &never()).unwrap()
        };
        write(&format!("\u{FEFF}{}", lines("one")));

        for first in [1, 2, 40_000, 89_999, 90_000, 90_001, 1, 14_000] {
            assert_eq!(read(first, &indexes), read(first, &Indexes::default()), "{first}");
        }
        let stamp = open::open(&path).unwrap().stamp;
        assert!(indexes.of(stamp).is_some());
        write(&lines("another"));
        assert_eq!(read(50_000, &indexes), read(50_000, &Indexes::default()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_file_read_page_by_page_is_the_whole_file(
            lines in proptest::collection::vec("[ -~äß€]{0,60}", 0..200),
            ended: bool,
            crlf: bool,
            count in 1_u64..50,
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut text = lines.join(end);
            if ended {
                text.push_str(end);
            }
            let wanted: Vec<_> = text.lines().collect();
            let (mut first, mut got) = (1, Vec::new());
            loop {
                let page = text_of(text.as_bytes(), PageRequest { first, count, ..WIDE });
                prop_assert_eq!(page.total_lines, len(wanted.len()));
                if page.lines.is_empty() {
                    break;
                }
                first += len(page.lines.len());
                got.extend(page.lines.iter().map(|line| line.text.to_owned()));
            }
            prop_assert_eq!(got, wanted);
        }
    }
}
