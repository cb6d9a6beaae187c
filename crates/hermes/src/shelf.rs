//! What far places are given of the home: skills, credential files, what tools have made.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::session::Place;
use hermes_env::shelf::{Item, Shelf};
use hermes_guard::paths::{Access, PathCx, PathVerdict, judge_path};
use hermes_store::{Home, HomeSkills};

use crate::lasting::external_skills;
use crate::world::World;

/// The setting that names credential files.
const NAMED: &str = "terminal.credential_files";

/// What tools have made and been sent, by folder below `cache`.
const MADE: [&str; 5] = ["images", "audio", "videos", "documents", "screenshots"];

/// The folder below the home for the mirror of it all.
const MIRROR: &str = "secrets/given";

/// How long what was looked at counts.
const FRESH: Duration = Duration::from_secs(5);

/// Where what was changed elsewhere is put, below `cache`.
const RETURNED: &str = "remote-syncs";

/// The credential files that the configuration names, relative to the home.
pub(crate) fn named(world: &World) -> Vec<String> {
    let listed = world.config(NAMED);
    let listed = listed.as_ref().and_then(|value| value.as_array());
    let texts = listed.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned));
    texts.filter(|path| !path.is_empty()).collect()
}

/// Whether any skill names credential files that it may have.
pub(crate) fn named_by_skills(home: &Home, skills: &HomeSkills) -> bool {
    skills.needed_files().iter().any(|path| may_be_named_by_a_skill(home.path(), path))
}

/// What far places are given, with what those skills name. The mirror of it lies where no tool may read.
pub(crate) fn shelf(world: &World, home: &Home, place: &Place, skills: Option<&HomeSkills>) -> Shelf {
    let giving = Giving {
        home: home.path().to_path_buf(),
        own: home.skills(),
        folders: external_skills(home, world, place),
        made: MADE.iter().map(|name| ((*name).to_owned(), home.cache().join(name))).collect(),
        named: named(world),
        skills: skills.cloned(),
    };
    Shelf {
        items: Arc::new(move || giving.items()),
        mirror: home.path().join(MIRROR),
        returned: home.cache().join(RETURNED),
        fresh: if forced(world) { Duration::ZERO } else { FRESH },
    }
}

/// Whether files are looked at before everything that is begun elsewhere.
fn forced(world: &World) -> bool {
    let set = world.variable("HERMES_FORCE_FILE_SYNC").map(|value| value.trim().to_lowercase());
    set.is_some_and(|set| !["", "0", "false", "no", "off"].contains(&set.as_str()))
}

struct Giving {
    home: PathBuf,
    own: PathBuf,
    /// Folders with skills beside the home's own.
    folders: Vec<PathBuf>,
    made: Vec<(String, PathBuf)>,
    named: Vec<String>,
    skills: Option<HomeSkills>,
}

impl Giving {
    fn items(&self) -> Vec<Item> {
        let open = |below: String, from: &Path| Item {
            from: from.to_path_buf(),
            below,
            secret: false,
            within: None,
        };
        let own = open("skills".to_owned(), &self.own);
        let others = self.folders.iter().enumerate();
        let others = others.map(|(at, from)| open(format!("external_skills/{}", at + 1), from));
        let made = self.made.iter().map(|(name, from)| open(format!("cache/{name}"), from));
        let wanted = self.skills.as_ref().map(HomeSkills::needed_files).unwrap_or_default();
        // A skill may name what it needs; what holds the agent's own keys, only the person may.
        let wanted = wanted.iter().filter(|path| may_be_named_by_a_skill(&self.home, path));
        let secret = self.named.iter().chain(wanted).map(|path| Item {
            from: self.home.join(path),
            below: path.clone(),
            secret: true,
            within: Some(self.home.clone()),
        });
        std::iter::once(own).chain(others).chain(made).chain(secret).collect()
    }
}

fn may_be_named_by_a_skill(home: &Path, path: &str) -> bool {
    let cx = PathCx::new(Path::new("/"), Path::new("/"), home, Path::new("/"));
    !matches!(judge_path(&home.join(path), Access::Read, &cx), PathVerdict::Deny { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_cannot_have_the_agents_own_keys_sent_away() {
        let home = Path::new("/h/.hermes");

        assert!(may_be_named_by_a_skill(home, "calendar.json"));
        for own in [".env", "auth.json", "mcp-tokens/x", "google_token.json", "../.ssh/id_ed25519"] {
            assert!(!may_be_named_by_a_skill(home, own), "{own}");
        }
    }
}
