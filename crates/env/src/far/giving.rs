//! What a place is given of this machine: skills and credential files, below `.hermes` in the home there.
//!
//! A place that mounts the mirror of it sees every change by itself. To any other, files are sent over the
//! door that programs go through: only those that changed, when somebody begins something there. What was
//! changed there comes back when the place is let go of, into a folder of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::host::{Host, blocking};

use crate::far::facts::Facts;
use crate::far::files::LIMIT;
use crate::far::place::Opened;
use crate::far::talk::Talk;
use crate::far::{Far, Reach};
use crate::shelf::{self, Arrived, Entry, Listing, Manifest, SENT, Shelf};

/// Most bytes of files that travel at once.
const AT_ONCE: u64 = 8 * 1024 * 1024;

/// Most that comes back: of one file, of all.
const MAX_BACK: u64 = 64 * 1024 * 1024;
const MAX_ALL_BACK: u64 = 2 * 1024 * 1024 * 1024;

/// How often bringing something back is tried, and the pause before it is tried again.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// Takes an archive apart below `.hermes`. Argument: the owner's part of names. What is listed in the
/// file `.gone-OWNER` of the archive is removed. Where a Hermes lives already, nothing is touched.
const GIVE: &str = r#"umask 077
__h_d=$HOME/.hermes
for __h_f in config.yaml .env hermes.db state.db; do
  if [ -e "$__h_d/$__h_f" ]; then cat >/dev/null; echo taken; exit 0; fi
done
mkdir -p -- "$__h_d" && cd -- "$__h_d" || exit 1
tar -xof - || exit 1
if [ -f ".gone-$1" ]; then
  while IFS= read -r __h_f; do
    rm -f -- "./$__h_f"
    # Folders that are empty now go too.
    rmdir -p -- "${__h_f%/*}" 2>/dev/null
  done <".gone-$1"
  rm -f -- ".gone-$1"
fi
touch -t 200001010000 ".since-$1" && echo given
"#;

/// Lists what is younger than everything that was given: size and path. Argument: as above.
const CHANGED: &str = r#"cd -- "$HOME/.hermes" 2>/dev/null && [ -e ".since-$1" ] || exit 0
find . -type f -newer "./.since-$1" ! -path './.*' -exec sh -c '
for __h_f; do printf "%s %s\n" "$(($(wc -c <"$__h_f")))" "$__h_f"; done' hermes {} +
"#;

/// Sends files. Arguments: their paths.
const SEND: &str = r#"cd -- "$HOME/.hermes" || exit 1
for __h_f; do
  [ -f "$__h_f" ] && [ ! -L "$__h_f" ] || continue
  __h_s=$(($(wc -c <"$__h_f")))
  printf '#%s %s\n' "$__h_s" "$__h_f"
  head -c "$__h_s" <"$__h_f"
done
"#;

/// What a place that is open was given.
pub(super) struct Given {
    /// Whether it mounts the mirror.
    mounted: bool,
    state: futures::lock::Mutex<State>,
}

struct State {
    manifest: Manifest,
    /// When it was last looked at.
    looked: Option<Duration>,
    /// Whether nothing is given there, since a Hermes of somebody's is there.
    taken: bool,
    /// What was told last.
    told: String,
}

/// Whether and how something was given.
enum Outcome {
    Well,
    /// There is a Hermes of somebody's there.
    Taken,
}

impl Given {
    /// As found in a place.
    pub(super) fn found(manifest: Manifest, mounted: bool) -> Self {
        let state = State { manifest, looked: None, taken: false, told: String::new() };
        Self { mounted, state: futures::lock::Mutex::new(state) }
    }
}

impl Shelf {
    /// The name of the manifest there.
    pub(super) fn manifest(owner: &str) -> String {
        format!(".given-{owner}")
    }

    async fn looked(&self, host: &Arc<dyn Host>) -> Option<Listing> {
        let items = Arc::clone(&self.items);
        blocking(host, move || shelf::look(&items())).await.ok()
    }
}

impl Far {
    /// Brings the mirror up to date, for a place that mounts it; the mark it is known by.
    pub(super) async fn mirrored(&self) -> Option<String> {
        let shelf = self.shelf.as_ref().filter(|_| self.reach.mounts())?;
        let (items, folder) = (Arc::clone(&shelf.items), shelf.mirror.clone());
        let name = Shelf::manifest(&self.settings.owner);
        let made = blocking(&self.host, move || shelf::mirror(&folder, &name, &shelf::look(&items()))).await;
        made.ok()?.ok()
    }

    /// Gives what is new, if it has been a while. A place that cannot be given anything works all the
    /// same, and says so once.
    pub(super) async fn give(&self, given: &Given, facts: &Facts, notes: &Mutex<Vec<String>>) {
        let Some(shelf) = &self.shelf else { return };
        let mut state = given.state.lock().await;
        let now = self.host.now();
        if state.taken || state.looked.is_some_and(|looked| now.saturating_sub(looked) < shelf.fresh) {
            return;
        }
        state.looked = Some(now);
        if given.mounted {
            self.mirrored().await;
            return;
        }
        let Some(listing) = shelf.looked(&self.host).await else { return };
        let wrong = match self.sent(&mut state.manifest, listing, facts).await {
            Ok(Outcome::Well) => return,
            Ok(Outcome::Taken) => {
                state.taken = true;
                "there is a Hermes home there already: no skills and credential files were copied".to_owned()
            }
            Err(why) => format!("skills and credential files could not be copied: {why}"),
        };
        if state.told != wrong {
            state.told.clone_from(&wrong);
            notes.lock().unwrap_or_else(PoisonError::into_inner).push(wrong);
        }
    }

    /// Sends what a place does not have yet. What it has is known only when all of it has arrived.
    async fn sent(&self, has: &mut Manifest, listing: Listing, facts: &Facts) -> Result<Outcome, String> {
        let mut wanted = Manifest::of(SENT, &listing);
        let difference = has.to(&wanted);
        if difference.changed.is_empty() && difference.gone.is_empty() {
            return Ok(Outcome::Well);
        }
        if !facts.tar {
            return Err("there is no `tar` there".to_owned());
        }
        let owner = &self.settings.owner;
        let listing = Arc::new(listing);
        let mut left = difference.changed.into_iter().peekable();
        loop {
            let (mut batch, mut size) = (Vec::new(), 0);
            while size < AT_ONCE
                && let Some(path) = left.next()
            {
                size += listing.files.get(&path).map_or(0, |file| file.size);
                batch.push(path);
            }
            let mut entries = self.entries(&listing, batch, &mut wanted).await?;
            let last = left.peek().is_none();
            if last {
                let text = |path: String, text: String| Entry { path, mode: 0o600, bytes: text.into_bytes() };
                if !difference.gone.is_empty() {
                    entries.push(text(format!(".gone-{owner}"), difference.gone.join("\n") + "\n"));
                }
                entries.push(text(Shelf::manifest(owner), wanted.text()));
            }
            let words = ["sh", "-c", GIVE, "hermes", owner].map(str::to_owned).to_vec();
            let reach = self.reach.as_ref();
            let talk = Talk::ask(reach, &self.host, words, shelf::archive(&entries), LIMIT).await;
            let talk = talk.map_err(|wrong| wrong.to_string())?;
            match String::from_utf8_lossy(&talk.out).trim() {
                "given" => {}
                "taken" => return Ok(Outcome::Taken),
                _ => return Err(talk.complaint("it failed without a word")),
            }
            if last {
                *has = wanted;
                return Ok(Outcome::Well);
            }
        }
    }

    /// Files with what they hold; those that went meanwhile are not wanted any more.
    async fn entries(
        &self,
        listing: &Arc<Listing>,
        paths: Vec<String>,
        wanted: &mut Manifest,
    ) -> Result<Vec<Entry>, String> {
        let listing = Arc::clone(listing);
        let read = blocking(&self.host, move || {
            let entry = |path: String| {
                let listed = listing.files.get(&path);
                let held = listed.and_then(|listed| Some((listed.mode, shelf::read(listed)?)));
                held.map(|(mode, bytes)| Entry { path: path.clone(), mode, bytes }).ok_or(path)
            };
            paths.into_iter().map(entry).collect::<Vec<_>>()
        });
        let mut entries = Vec::new();
        for entry in read.await.map_err(|lost| lost.to_string())? {
            match entry {
                Ok(entry) => entries.push(entry),
                Err(path) => drop(wanted.files.remove(&path)),
            }
        }
        Ok(entries)
    }

    /// Brings back what was changed in a place that is about to be let go of.
    pub(super) async fn bring_back(&self, opened: &Opened) {
        let Some(shelf) = self.shelf.as_ref().filter(|_| !opened.given.mounted) else { return };
        let state = opened.given.state.lock().await;
        // Where nothing was given nothing is looked for.
        if state.manifest.files.is_empty() {
            return;
        }
        for again in 1..=TRIES {
            if self.brought_back(shelf, &state.manifest).await.is_ok() || again == TRIES {
                return;
            }
            self.host.sleep(PAUSE * again).await;
        }
    }

    async fn brought_back(&self, shelf: &Shelf, manifest: &Manifest) -> Result<(), String> {
        let reach = self.reach.as_ref();
        let words = ["sh", "-c", CHANGED, "hermes", &self.settings.owner].map(str::to_owned).to_vec();
        let mut left = wanted_back(&self.said(reach, words).await?, manifest).into_iter().peekable();
        let folder = shelf.returned.join(self.name.replace(['/', '.'], "_"));
        while left.peek().is_some() {
            let (mut words, mut size) = (["sh", "-c", SEND, "hermes"].map(str::to_owned).to_vec(), 0);
            while size < AT_ONCE
                && words.len() < 200
                && let Some((bytes, path)) = left.next()
            {
                size += bytes;
                words.push(path);
            }
            let asked: Vec<_> = words.iter().skip(4).filter_map(|path| shelf::safe(path)).collect();
            let (said, folder) = (self.said(reach, words).await?, folder.clone());
            let kept = blocking(&self.host, move || {
                // Only what was asked for, whatever else is sent.
                let wanted = |file: &Arrived<'_>| asked.contains(&file.path);
                let mut files = shelf::arrived(&said).into_iter().filter(wanted);
                files.try_for_each(|file| shelf::keep(&folder, &file).map(drop))
            });
            kept.await.map_err(|lost| lost.to_string())?.map_err(|wrong| wrong.to_string())?;
        }
        Ok(())
    }

    async fn said(&self, reach: &dyn Reach, words: Vec<String>) -> Result<Vec<u8>, String> {
        let talk = Talk::ask(reach, &self.host, words, Vec::new(), LIMIT).await;
        let talk = talk.map_err(|wrong| wrong.to_string())?;
        if talk.is_well() { Ok(talk.out) } else { Err(talk.complaint("it failed without a word")) }
    }
}

/// Of lines with a size and a path, those that may come back, with a path that is safe.
fn wanted_back(lines: &[u8], manifest: &Manifest) -> Vec<(u64, String)> {
    let mut all = 0_u64;
    String::from_utf8_lossy(lines)
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(size, path)| Some((size.parse::<u64>().ok()?, path)))
        .filter_map(|(size, path)| {
            let known = shelf::safe(path)?;
            let open = !manifest.is_secret(known.to_str()?);
            let fits = size <= MAX_BACK && all.saturating_add(size) <= MAX_ALL_BACK;
            (open && fits).then(|| {
                all += size;
                (size, path.to_owned())
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_too_large_or_outside_does_not_come_back() {
        let manifest = Manifest::read("#sent\n1 2 400 token.json\n1 2 444 skills/a\n");
        let told = b"5 ./skills/a\n5 ./token.json\n5 ../x\n5 /etc/passwd\n99999999999 ./big\nx ./y\n3 ./new";

        assert_eq!(wanted_back(told, &manifest), [(5, "./skills/a".to_owned()), (3, "./new".to_owned())]);
    }
}
