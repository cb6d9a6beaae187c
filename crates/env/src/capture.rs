//! Keeps what a command writes: all of it while it is short, then its beginning and its end, and
//! the whole in a file.
//!
//! Memory stays bounded however much is written. Where something is left out, words at the seam
//! are left out whole, so that half a secret never stands where a whole one would be recognised.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::environment::{Kept, Output, Overflow, OverflowFile, Stream};

/// Longest word that is left out whole at the seam.
const MAX_WORD: usize = 4096;

/// Takes the output of one command.
pub(crate) struct Capture {
    inner: Mutex<Inner>,
    overflow: Option<Arc<dyn Overflow>>,
    session: String,
    id: String,
    keep: usize,
}

#[derive(Default)]
struct Inner {
    /// Everything, until it is too much; then the beginning.
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    over: bool,
    file: Option<OverflowFile>,
    saved: u64,
}

impl Capture {
    /// Keeps at most `keep` bytes; `session` and `id` name the file for the rest.
    pub(crate) fn new(keep: usize, overflow: Option<Arc<dyn Overflow>>, session: &str, id: &str) -> Self {
        Self {
            inner: Mutex::default(),
            overflow,
            session: session.to_owned(),
            id: id.to_owned(),
            keep: keep.max(2),
        }
    }

    /// What was kept.
    pub(crate) fn kept(&self) -> Kept {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inner = std::mem::take(&mut *inner);
        if let Some(file) = &mut inner.file {
            // A file that cannot be finished is still the most there is.
            let _ = file.file.flush();
        }
        let (mut head, mut tail) = (inner.head, Vec::from(inner.tail));
        if inner.over && inner.total > len(&head) + len(&tail) {
            head.truncate(word_start(&head));
            tail.drain(..word_end(&tail));
        } else {
            head.append(&mut tail);
        }
        let saved_to = inner.file.map(|file| file.path);
        Kept {
            head,
            tail,
            total: inner.total,
            saved: if saved_to.is_some() { inner.saved } else { 0 },
            saved_to,
        }
    }

    fn head_size(&self) -> usize {
        self.keep * 2 / 5
    }
}

impl Output for Capture {
    fn take(&self, _: Stream, bytes: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.total += len(bytes);
        if !inner.over {
            if inner.head.len() + bytes.len() <= self.keep {
                inner.head.extend_from_slice(bytes);
                return;
            }
            inner.over = true;
            inner.file = self.overflow.as_ref().and_then(|to| to.open(&self.session, &self.id).ok());
            let so_far = std::mem::take(&mut inner.head);
            inner.save(&so_far);
            inner.save(bytes);
            let all = [so_far.as_slice(), bytes].concat();
            let (head, rest) = all.split_at(self.head_size().min(all.len()));
            inner.head = head.to_vec();
            inner.keep_end(rest, self.keep - self.head_size());
            return;
        }
        inner.save(bytes);
        inner.keep_end(bytes, self.keep - self.head_size());
    }
}

impl Inner {
    fn save(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(file.limit.saturating_sub(self.saved)).unwrap_or(usize::MAX);
        let part = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        if part.is_empty() {
            return;
        }
        match file.file.write_all(part) {
            Ok(()) => self.saved += len(part),
            // The disk is full, or gone: what is written stays, and no more is tried.
            Err(_) => file.limit = self.saved,
        }
    }

    fn keep_end(&mut self, bytes: &[u8], size: usize) {
        let last = bytes.get(bytes.len().saturating_sub(size)..).unwrap_or_default();
        let too_many = (self.tail.len() + last.len()).saturating_sub(size);
        self.tail.drain(..too_many.min(self.tail.len()));
        self.tail.extend(last);
    }
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Where the last word begins, if it is not too long; else where the last character does.
fn word_start(head: &[u8]) -> usize {
    let from = head.len().saturating_sub(MAX_WORD);
    let near = head.get(from..).unwrap_or_default();
    if let Some(at) = near.iter().rposition(u8::is_ascii_whitespace) {
        return from + at + 1;
    }
    let begins = head.iter().rposition(|byte| byte & 0xc0 != 0x80);
    begins.filter(|at| head.len() - at < 4).unwrap_or(head.len())
}

/// Where the first word ends, if it is not too long; else where the first whole character begins.
fn word_end(tail: &[u8]) -> usize {
    let near = tail.get(..MAX_WORD.min(tail.len())).unwrap_or_default();
    if let Some(at) = near.iter().position(u8::is_ascii_whitespace) {
        return at;
    }
    tail.iter().take(4).position(|byte| byte & 0xc0 != 0x80).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Overflow for Memory {
        fn open(&self, _: &str, _: &str) -> Result<OverflowFile, String> {
            Ok(OverflowFile { path: "/saved".into(), limit: 300, file: Box::new(self.clone()) })
        }
    }

    fn kept(keep: usize, chunks: &[&[u8]], memory: &Memory) -> Kept {
        let capture = Capture::new(keep, Some(Arc::new(memory.clone())), "s", "c");
        for chunk in chunks {
            capture.take(Stream::Out, chunk);
        }
        capture.kept()
    }

    #[test]
    fn short_output_is_whole_and_makes_no_file() {
        let memory = Memory::default();

        let kept = kept(10, &[b"12345", b"67890"], &memory);

        assert_eq!(kept, Kept { head: b"1234567890".to_vec(), total: 10, ..Kept::default() });
        assert!(memory.0.lock().unwrap().is_empty());
    }

    #[test]
    fn long_output_keeps_both_ends_and_the_file_has_all_of_it() {
        let memory = Memory::default();
        let text = (0..40).map(|n| format!("{n:02} ")).collect::<Vec<_>>().concat();

        let kept = kept(50, &text.as_bytes().chunks(7).collect::<Vec<_>>(), &memory);

        assert_eq!(kept.head, b"00 01 02 03 04 05 ");
        assert_eq!(kept.tail, b" 31 32 33 34 35 36 37 38 39 ");
        assert_eq!(kept.left_out(), 120 - 18 - 28);
        assert_eq!((kept.saved_to, kept.saved), (Some("/saved".into()), 120));
        assert_eq!(*memory.0.lock().unwrap(), text.as_bytes());
    }

    #[test]
    fn the_file_stops_at_its_limit() {
        let memory = Memory::default();

        let kept = kept(10, &[&[b'x'; 1000], &[b'y'; 1000]], &memory);

        assert_eq!(kept.saved, 300);
        assert_eq!(memory.0.lock().unwrap().len(), 300);
        assert_eq!(kept.total, 2000);
    }

    proptest::proptest! {
        #[test]
        fn the_ends_are_the_ends_and_memory_is_bounded(
            chunks in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..60), 0..20),
            keep in 2_usize..100,
        ) {
            let all = chunks.concat();
            let parts: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();

            let kept = kept(keep, &parts, &Memory::default());

            proptest::prop_assert_eq!(kept.total, len(&all));
            proptest::prop_assert!(kept.head.len() + kept.tail.len() <= keep);
            proptest::prop_assert!(all.starts_with(&kept.head) && all.ends_with(&kept.tail));
            if all.len() <= keep {
                proptest::prop_assert_eq!(kept.head, all);
            }
        }
    }
}
