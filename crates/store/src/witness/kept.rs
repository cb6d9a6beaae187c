//! What was found out, kept in one file of the cache with its witnesses: a front with these and with what most want to
//! know, and a body with the rest.

use std::path::Path;
use std::sync::Arc;

use hermes_core::digest::{digest_pair, digest_text};
use hermes_core::packed::{Packer, Unpacker};

use super::{Place, Places, Span, Witness, Witnesses, part, words};
use crate::disk::{self, Below, Stamp};
use crate::error::StoreError;
use crate::home::Home;

/// Most bytes of something that is kept.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes in which the witnesses of many things find room, so that the rest need not be read.
const FRONT_BYTES: u64 = 8 * 1024;

/// Dates of files come in steps, and a file that changed twice within one looks as if it had not. This is
/// longer than any step.
const STEP_NANOS: i128 = 50_000_000;

/// Changes with how things are written.
const VERSION: u64 = 2;

/// Something that was found out, and what from. The head is read together with the witnesses; the body is
/// for whoever wants to know more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// What it was found out from.
    pub witnesses: Witnesses,
    /// What was found out, in short.
    pub head: String,
    /// The rest of it.
    pub body: String,
}

impl Kept {
    /// What was kept in the home's cache under this name, if it still holds.
    pub fn read(home: &Home, name: &str) -> Option<Self> {
        let (mut text, stamp) = stored(home, name, MAX_BYTES)?;
        let parts = Parts::of(&text)?;
        let Front { head, dates, base, places, near } = parts.front(&text)?;
        let (head, base) = (head.to_owned(), base.into());
        let body = text.split_off(parts.end);
        if digest_text(&body) != parts.body {
            return None;
        }
        let all = Arc::new(Places { base, text });
        let mut seen = Vec::with_capacity(places.len());
        let now = look(&all.base, &all.text, &places, stamp, |span, stamp| {
            seen.push(Witness { place: Place::Kept(Arc::clone(&all), span), stamp });
        });
        (now == Some(dates)).then(|| {
            let far = seen.split_off(near);
            Self { witnesses: Witnesses { near: seen, far }, head, body }
        })
    }

    /// Only the head of it, for whoever wants to know no more. The body is not even read.
    pub fn head(home: &Home, name: &str) -> Option<String> {
        Self::head_if(home, name, |front, text, stamp| {
            look(Path::new(front.base), text, &front.places, stamp, |_, _| {}) == Some(front.dates)
        })
    }

    /// The head as it was when it was kept, for what may be a little out of date: no place is looked at, which
    /// with many of them takes longer than all the rest.
    pub fn last_head(home: &Home, name: &str) -> Option<String> {
        Self::head_if(home, name, |_, _, _| true)
    }

    fn head_if(
        home: &Home,
        name: &str,
        holds: impl FnOnce(&Front<'_>, &str, Stamp) -> bool,
    ) -> Option<String> {
        let (mut text, mut stamp) = stored(home, name, FRONT_BYTES)?;
        let mut parts = Parts::of(&text)?;
        if parts.end > text.len() {
            (text, stamp) = stored(home, name, MAX_BYTES)?;
            parts = Parts::of(&text)?;
        }
        let front = parts.front(&text)?;
        holds(&front, &text, stamp).then(|| front.head.to_owned())
    }
}

/// The beginning of what was kept under this name, and when.
fn stored(home: &Home, name: &str, most: u64) -> Option<(String, Stamp)> {
    disk::read_beginning(&home.cache().join(name), most)
}

/// Where the front is, and whether it and the body behind it are whole.
struct Parts {
    /// Fingerprints of both.
    front: u64,
    body: u64,
    begin: usize,
    end: usize,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let mut packed = Unpacker::new(text);
        if packed.number()? != VERSION {
            return None;
        }
        let (length, front, body) = (packed.number()?, packed.number()?, packed.number()?);
        let begin = text.len() - packed.rest().len();
        Some(Self { front, body, begin, end: begin.checked_add(usize::try_from(length).ok()?)? })
    }

    /// The front of this text.
    fn front<'t>(&self, text: &'t str) -> Option<Front<'t>> {
        let front = text.get(self.begin..self.end).filter(|front| digest_text(front) == self.front)?;
        let mut packed = Unpacker::new(front);
        let (head, dates, base) = (packed.text()?, packed.number()?, packed.text()?);
        let span = |packed: &mut Unpacker<'_>| {
            let length = packed.text()?.len();
            let end = self.end - packed.rest().len();
            Some((u32::try_from(end - length).ok()?, u32::try_from(end).ok()?))
        };
        let mut places = packed.list(span)?;
        let near = places.len();
        places.extend(packed.list(span)?);
        Some(Front { head, dates, base, places, near })
    }
}

/// What stands before the body.
struct Front<'t> {
    head: &'t str,
    /// Fingerprint of the dates of all places.
    dates: u64,
    base: &'t str,
    /// The near ones first.
    places: Vec<Span>,
    near: usize,
}

/// Fingerprint of what is at these places now, each of which is told; nothing where any of it changed so shortly
/// before `kept` was written that it may have changed once more since without showing it.
fn look(
    base: &Path,
    text: &str,
    places: &[Span],
    kept: Stamp,
    mut tell: impl FnMut(Span, Option<Stamp>),
) -> Option<u64> {
    let below = Below::of(base);
    let before = |stamp: Stamp| kept.written_nanos().saturating_sub(stamp.touched_nanos());
    places.iter().try_fold(0, |dates, place| {
        let stamp = below.any_stamp(part(text, *place)?);
        if stamp.is_some_and(|stamp| before(stamp) <= STEP_NANOS) {
            return None;
        }
        tell(*place, stamp);
        Some(words(stamp).into_iter().fold(dates, digest_pair))
    })
}

impl Kept {
    /// Keeps it for programs that start later. After a power cut it may have to be found out again.
    pub fn keep(&self, home: &Home, name: &str) -> Result<(), StoreError> {
        // A name that is no text cannot be written: this is found out anew each time.
        let Some(text) = self.text() else { return Ok(()) };
        disk::make_private_folder(&home.cache())?;
        disk::write_lightly(&home.cache().join(name), text.as_bytes())
    }

    /// As it is written. A start pays for every letter of it, and for every folder on the way to what it looks at:
    /// paths begin at the folder that most of them are in, and of the dates there is only a fingerprint. Those of both
    /// parts of the text tell whether they are whole.
    fn text(&self) -> Option<String> {
        let Witnesses { near, far } = &self.witnesses;
        let base = self.witnesses.base();
        let short = |seen: &[Witness]| -> Option<Vec<String>> {
            let short = |witness: &Witness| {
                let path = witness.path();
                // What is elsewhere is written whole.
                Some(path.strip_prefix(&base).unwrap_or(&path).to_str()?.to_owned())
            };
            seen.iter().map(short).collect()
        };
        let (near, far) = (short(near)?, short(far)?);
        let mut packer = Packer::default();
        packer.text(&self.head).number(self.witnesses.dates()).text(base.to_str()?);
        for paths in [near, far] {
            packer.list(paths.iter(), |packer, path| {
                packer.text(path);
            });
        }
        let front = packer.packed();
        let mut begin = Packer::default();
        begin.number(VERSION).number(front.len() as u64);
        begin.number(digest_text(&front)).number(digest_text(&self.body));
        Some(begin.packed() + &front + &self.body)
    }
}

/// Whether anything was kept under this name.
pub fn is_kept(home: &Home, name: &str) -> bool {
    disk::any_stamp(&home.cache().join(name)).is_some()
}

/// Forgets what was kept under this name.
pub fn forget(home: &Home, name: &str) -> Result<(), StoreError> {
    disk::remove(&home.cache().join(name))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use super::*;

    /// Keeps what was seen, in a home of its own.
    fn kept(dir: &Path, witnesses: Witnesses) -> Home {
        let home = Home::at(&dir.join("home"));
        let kept = Kept { witnesses, head: "a".to_owned(), body: "more\nthan that".to_owned() };
        kept.keep(&home, "kept.json").unwrap();
        home
    }

    fn read(home: &Home) -> Option<Kept> {
        Kept::read(home, "kept.json")
    }

    #[test]
    fn what_is_far_is_asked_only_by_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let far = dir.path().join("far");
        std::fs::write(&far, "a").unwrap();
        let mut seen = Witnesses::default();
        seen.see_far(&far);
        std::thread::sleep(std::time::Duration::from_millis(60));
        let home = kept(dir.path(), seen.clone());
        assert!(read(&home).is_some());

        std::fs::write(&far, "longer").unwrap();

        assert!(seen.hold());
        assert_eq!(read(&home), None);
    }

    #[test]
    fn what_changed_just_before_it_was_kept_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let mut seen = Witnesses::default();
        std::fs::write(&file, "a").unwrap();
        seen.see(&file);
        let home = kept(dir.path(), seen.clone());

        assert!(seen.hold());
        assert_eq!(read(&home), None);
    }

    #[test]
    fn what_was_read_can_be_kept_again_and_of_a_single_file_too() {
        let dir = tempfile::tempdir().unwrap();
        let (file, far) = (dir.path().join("file"), dir.path().join("folder/far"));
        std::fs::write(&file, "a").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
        for more in [None, Some(&far)] {
            let mut seen = Witnesses::default();
            seen.see(&file);
            if let Some(far) = more {
                seen.see_far(far);
            }
            let home = kept(dir.path(), seen.clone());

            let first = read(&home).unwrap();
            first.keep(&home, "kept.json").unwrap();
            let mut again = read(&home).unwrap();

            assert_eq!(first, again);
            again.witnesses.settle();
            assert_eq!(again.witnesses, seen);
            assert!(again.witnesses.hold());
        }
    }

    #[test]
    fn what_lies_elsewhere_than_most_is_noticed_too() {
        let dir = tempfile::tempdir().unwrap();
        let (most, elsewhere) = (dir.path().join("most"), dir.path().join("elsewhere"));
        let paths =
            [most.join("one"), most.join("two/three"), most.join("two"), elsewhere.join("file"), elsewhere];
        for path in &paths {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        std::fs::write(&paths[0], "a").unwrap();
        std::fs::write(&paths[3], "a").unwrap();
        for changed in [&paths[0], &paths[1], &paths[3]] {
            let mut seen = Witnesses::default();
            for path in &paths {
                seen.see(path);
            }
            assert_eq!(seen.base(), most);
            std::thread::sleep(std::time::Duration::from_millis(60));
            let home = kept(dir.path(), seen.clone());
            assert_eq!(read(&home).unwrap().witnesses, seen);

            std::fs::write(changed, "longer").unwrap();

            assert_eq!(read(&home), None, "{}", changed.display());
        }
    }

    #[test]
    fn what_is_kept_is_read_as_long_as_it_holds() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "a").unwrap();
        let mut seen = Witnesses::default();
        seen.see(&file);
        seen.see_far(&dir.path().join("none"));
        std::thread::sleep(std::time::Duration::from_millis(60));
        let home = kept(dir.path(), seen.clone());

        let found = read(&home).unwrap();
        assert_eq!((found.head.as_str(), found.body.as_str()), ("a", "more\nthan that"));
        assert_eq!(found.witnesses, seen);
        assert_eq!(Kept::head(&home, "kept.json").as_deref(), Some("a"));
        assert!(found.witnesses.hold());
        std::fs::write(&file, "longer").unwrap();
        assert!(!found.witnesses.hold());
        assert_eq!((read(&home), Kept::head(&home, "kept.json")), (None, None));
        assert_eq!(Kept::last_head(&home, "kept.json").as_deref(), Some("a"), "it was so");
        forget(&home, "kept.json").unwrap();
        forget(&home, "kept.json").unwrap();
        assert!(!home.cache().join("kept.json").exists());
    }

    #[test]
    fn a_head_is_found_before_a_long_body_and_behind_many_witnesses() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        for (files, letters) in [(1, 0), (1, 100_000), (1000, 0), (1000, 100_000)] {
            let mut witnesses = Witnesses::default();
            for number in 0..files {
                witnesses.see(&dir.path().join(format!("none{number}")));
            }
            // A letter of two bytes may be cut in two where the beginning ends.
            let kept = Kept { witnesses, head: "a".to_owned(), body: "ä".repeat(letters) };
            kept.keep(&home, "kept.json").unwrap();

            assert_eq!(Kept::head(&home, "kept.json").as_deref(), Some("a"), "{files} {letters}");
            assert_eq!(read(&home), Some(kept), "{files} {letters}");
        }
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Witnesses::default();
        seen.see(&dir.path().join("none"));
        let home = kept(dir.path(), seen);
        let file = home.cache().join("kept.json");
        let whole = std::fs::read(&file).unwrap();
        let front = whole.iter().enumerate().filter(|(_, byte)| **byte == b' ').nth(3).unwrap().0 + 1;
        let body = whole.len() - "more\nthan that".len();
        for at in 0..whole.len() {
            let cut = whole[..at].to_vec();
            let mut other = whole.clone();
            other[at] ^= 1;
            for broken in [cut, other] {
                std::fs::write(&file, &broken).unwrap();
                let told = String::from_utf8_lossy(&broken);
                assert_eq!(read(&home), None, "{told}");
                // The head can do without the body.
                if at >= front {
                    assert_eq!(Kept::head(&home, "kept.json").is_some(), at >= body, "{told}");
                    assert_eq!(Kept::last_head(&home, "kept.json").is_some(), at >= body, "{told}");
                }
            }
        }
    }
}
