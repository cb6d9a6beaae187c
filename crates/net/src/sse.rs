//! Server-sent events, decoded byte by byte as they come.
//!
//! However the bytes are cut into pieces, the events are the same. A line has a limit; one that is
//! longer is an error, not memory.

/// Longest line, and longest event. The last event of a responses stream carries the whole answer.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Its type; empty when the server gave none.
    pub event: String,
    /// Its data, lines joined.
    pub data: String,
    /// What to name when the stream is asked for again from here on.
    pub id: Option<String>,
    /// How long to wait before that, in milliseconds.
    pub retry: Option<u64>,
}

/// A line or an event was longer than anything a model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {MAX_EVENT} bytes")]
pub struct Overlong;

/// Decodes a stream.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed belongs to it.
    after_return: bool,
    /// The first line has been seen, so a byte order mark is no longer expected.
    begun: bool,
    event: String,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    retry: Option<u64>,
}

impl SseDecoder {
    /// Takes the next bytes and hands every event that is complete to `each`.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(SseEvent)) -> Result<(), Overlong> {
        if self.after_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_return = false;
        }
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
            if self.line.is_empty() {
                self.end_of_line(line, &mut each)?;
            } else {
                self.grow(line)?;
                let whole = std::mem::take(&mut self.line);
                self.end_of_line(&whole, &mut each)?;
                self.line = whole;
                self.line.clear();
            }
            self.after_return = rest == b"\r";
            let ending = if rest.starts_with(b"\r\n") { 2 } else { 1 };
            bytes = rest.get(ending..).unwrap_or_default();
        }
        self.grow(bytes)
    }

    /// The stream is over: an event that only lacks its blank line still counts, since servers
    /// forget it.
    pub fn end(mut self, mut each: impl FnMut(SseEvent)) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.end_of_line(&line, &mut each).is_err() {
            return;
        }
        self.dispatch(&mut each);
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), Overlong> {
        if self.line.len() + bytes.len() > MAX_EVENT {
            return Err(Overlong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_of_line(&mut self, mut line: &[u8], each: &mut impl FnMut(SseEvent)) -> Result<(), Overlong> {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(each);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() >= MAX_EVENT {
                    return Err(Overlong);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => {
                self.retry = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
            }
            // Comments say nothing.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, each: &mut impl FnMut(SseEvent)) {
        let event = std::mem::take(&mut self.event);
        if std::mem::replace(&mut self.has_data, false) {
            let data = String::from_utf8_lossy(&self.data).into_owned();
            self.data.clear();
            // The name and the pause of an event without data hold for the next one.
            each(SseEvent { event, data, id: self.id.take(), retry: self.retry.take() });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_EVENT, Overlong, SseDecoder, SseEvent};

    fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut found = Vec::new();
        let mut decoder = SseDecoder::default();
        for piece in pieces {
            decoder.push(piece, |event| found.push(event)).unwrap();
        }
        decoder.end(|event| found.push(event));
        found
    }

    fn event(event: &str, data: &str) -> SseEvent {
        SseEvent { event: event.into(), data: data.into(), ..SseEvent::default() }
    }

    #[test]
    fn ids_and_pauses_come_with_the_event_they_stand_before() {
        let found = events(&[b"id: 7\nretry: 500\ndata:\n\ndata: x\n\nid: 8\n\ndata: y\n\n"]);

        let told: Vec<_> = found.iter().map(|event| (event.id.as_deref(), event.retry)).collect();
        assert_eq!(told, [(Some("7"), Some(500)), (None, None), (Some("8"), None)]);
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        for text in [
            "event: a\ndata: 1\n\ndata:2\n\n",
            "event: a\r\ndata: 1\r\n\r\ndata:2\r\n\r\n",
            "event: a\rdata: 1\r\rdata:2\r\r",
        ] {
            assert_eq!(events(&[text.as_bytes()]), [event("a", "1"), event("", "2")], "{text:?}");
        }
    }

    #[test]
    fn comments_and_empty_events_are_left_out_and_lines_of_data_joined() {
        let text =
            ": ping\n\nevent: x\n\n\u{feff}data: no mark in the middle\ndata: b\n\nid: 3\nretry: 1\n\n";

        assert_eq!(events(&[text.as_bytes()]), [event("", "b")]);
        assert_eq!(events(&["\u{feff}data: a\ndata: b\n\n".as_bytes()]), [event("", "a\nb")]);
    }

    #[test]
    fn an_event_without_its_blank_line_counts() {
        assert_eq!(events(&[b"data: [DONE]"]), [event("", "[DONE]")]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = SseDecoder::default();
        let piece = vec![b'x'; 1024 * 1024];

        let refused = (0..=MAX_EVENT / piece.len()).any(|_| decoder.push(&piece, |_| {}) == Err(Overlong));

        assert!(refused);
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(
            lines in prop::collection::vec("(data: ?|event: ?|:|id:|)[a-zé ]{0,6}(\n|\r|\r\n|\n\n|\r\n\r\n)", 0..12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let text = lines.concat();
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();

            prop_assert_eq!(events(&pieces), events(&[bytes]));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            events(&[&bytes]);
        }
    }
}
