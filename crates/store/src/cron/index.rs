//! Where each job stands in `jobs.json`, and when it is due: kept beside it.
//!
//! A look mostly finds that it is not time yet, or that a few of many jobs are due. It then reads this small
//! table and those jobs, and not all of them. The table names the state of `jobs.json` that it is true for;
//! after any other change it only helps to find what is still the same. It can always be made again, so it is
//! not brought to the disk with care: a sum tells whether it is whole.

use std::ops::Range;

use jiff::Timestamp;

use super::CronHome;
use super::scan::When;
use crate::disk::{self, Stamp};

/// The file beside the jobs.
const NAME: &str = ".index";
/// How it begins; another way of writing it has another word.
const WORD: [u8; 8] = *b"hermes-2";
/// More is not ours.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of a row.
const ROW: usize = 32;

/// One job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// What its id comes to; another id may come to the same.
    key: u64,
    pub(super) when: When,
    /// What its text comes to.
    sum: u64,
    start: u32,
    bytes: u32,
}

impl Row {
    /// A job that stands there in a text. No text is so long that this could not be told.
    pub(super) fn new(id: &str, when: When, span: &Range<usize>, text: &str) -> Self {
        let [start, bytes] = [span.start, span.len()].map(|place| u32::try_from(place).unwrap_or(u32::MAX));
        let sum = sum(text.as_bytes().get(span.clone()).unwrap_or_default());
        Self { key: sum_of(id), when, sum, start, bytes }
    }

    /// The same job in another text, if it stands there now and reads as it did.
    pub(super) fn again(self, text: &str, start: usize) -> Option<Self> {
        let there = text.as_bytes().get(start..start.checked_add(self.bytes as usize)?)?;
        (sum(there) == self.sum).then_some(Self { start: u32::try_from(start).ok()?, ..self })
    }

    /// Whether it is the job that another row is about.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Where it stands.
    pub(super) fn span(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.bytes as usize
    }

    fn bytes(self) -> [u8; ROW] {
        let when = match self.when {
            When::Now => i64::MIN,
            When::At(second) => second,
            When::Never => i64::MAX,
        };
        let mut bytes = [0; ROW];
        let parts =
            self.key.to_le_bytes().into_iter().chain(when.to_le_bytes()).chain(self.sum.to_le_bytes());
        let parts = parts.chain(self.start.to_le_bytes()).chain(self.bytes.to_le_bytes());
        bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk()?;
        let (when, rest) = rest.split_first_chunk()?;
        let (sum, rest) = rest.split_first_chunk()?;
        let (start, rest) = rest.split_first_chunk()?;
        let when = match i64::from_le_bytes(*when) {
            i64::MIN => When::Now,
            i64::MAX => When::Never,
            second => When::At(second),
        };
        let [key, sum] = [key, sum].map(|word| u64::from_le_bytes(*word));
        let (start, bytes) = (u32::from_le_bytes(*start), u32::from_le_bytes(*rest.first_chunk()?));
        Some(Self { key, when, sum, start, bytes })
    }
}

/// All jobs, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) rows: Vec<Row>,
}

impl FromIterator<Row> for Index {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        Self { rows: rows.into_iter().collect() }
    }
}

impl Index {
    /// When the first of the waiting jobs is due; one whose time is in doubt is due to be looked at.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        match self.rows.iter().map(|row| row.when).min() {
            None | Some(When::Never) => None,
            Some(When::Now) => Some(Timestamp::MIN),
            Some(When::At(second)) => Some(Timestamp::from_second(second).unwrap_or(Timestamp::MIN)),
        }
    }

    /// Where jobs may be that have this id.
    pub(super) fn places(&self, id: &str) -> impl Iterator<Item = usize> + '_ {
        let wanted = sum_of(id);
        self.rows.iter().enumerate().filter(move |(_, row)| row.key == wanted).map(|(at, _)| at)
    }

    /// Keeps it for that file. It can be found out again, so that a failure costs time alone.
    pub(super) fn keep(&self, home: &CronHome, of: Stamp) {
        let rows: Vec<u8> = self.rows.iter().flat_map(|row| row.bytes()).collect();
        let head = head(of.words(), &rows);
        let _ = disk::write_lightly(&home.folder.join(NAME), &[head.as_slice(), &rows].concat());
    }

    /// What is known about that file.
    pub(super) fn known(home: &CronHome, of: Stamp) -> Option<Self> {
        Self::last(home).filter(|(_, words)| *words == of.words()).map(|(index, _)| index)
    }

    /// What is known about the file as it was at some time, and when that was.
    pub(super) fn last(home: &CronHome) -> Option<(Self, [u64; 6])> {
        let bytes = disk::read_bytes(&home.folder.join(NAME), MAX_BYTES).ok().flatten()?;
        let (found, rows) = bytes.split_at_checked(HEAD)?;
        let (words, _) = found.get(WORD.len()..)?.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let words = *words.first_chunk::<6>()?;
        if found != head(words, rows) || rows.len() % ROW != 0 {
            return None;
        }
        let rows = rows.chunks_exact(ROW).map(Row::read).collect::<Option<Vec<_>>>()?;
        Some((Self { rows }, words))
    }
}

/// Bytes before the rows.
const HEAD: usize = 64;

/// What stands before the rows: a word, the file they are about, and their sum.
fn head(of: [u64; 6], rows: &[u8]) -> Vec<u8> {
    let words = of.into_iter().chain([sum(rows)]);
    WORD.into_iter().chain(words.flat_map(u64::to_le_bytes)).collect()
}

/// A sum of bytes that changes when they do. Four sums side by side are made as quickly as one.
fn sum(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut sums = [bytes.len() as u64, 1, 2, 3];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = mixed(*sum, u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    sums.into_iter().chain(rest).fold(0, mixed)
}

fn mixed(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// What an id comes to.
fn sum_of(id: &str) -> u64 {
    sum(id.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;

    #[test]
    fn it_is_known_for_the_file_that_it_was_made_for_and_while_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let home = CronHome::of(&Home::at(dir.path()));
        disk::write(&home.jobs_file(), "[]", disk::Mode::Private).unwrap();
        let stamp = home.stamp().unwrap();
        let when = [When::Now, When::At(-5), When::Never];
        let index: Index = when
            .into_iter()
            .zip(0..)
            .map(|(when, n)| Row::new("id", when, &(n..n + 7), "0123456789"))
            .collect();
        assert_eq!(Index::known(&home, stamp), None);

        index.keep(&home, stamp);

        assert_eq!(Index::known(&home, stamp), Some(index.clone()));
        assert_eq!((index.earliest(), index.places("id").count()), (Some(Timestamp::MIN), 3));
        disk::write(&home.jobs_file(), "[ ]", disk::Mode::Private).unwrap();
        assert_eq!(Index::known(&home, home.stamp().unwrap()), None);
        let file = home.folder.join(NAME);
        let mut bytes = disk::read_bytes(&file, MAX_BYTES).unwrap().unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        disk::write_lightly(&file, &bytes).unwrap();
        assert_eq!(Index::known(&home, stamp), None);
    }
}
