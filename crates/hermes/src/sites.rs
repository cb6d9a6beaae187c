//! Sites that are closed to the agent (`security.website_blocklist`): those of the settings, and those of
//! files that people share.
//!
//! A file is looked at whenever an address is judged, and read again when it has changed. One that cannot
//! be read, or has a line that nobody understands, closes everything: what it was to block is not known.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_guard::urls::{HostList, HostRule, Place, UrlPolicy};
use hermes_store::site_lists::{self, Stamp};
use serde_json::Value;

use crate::world::World;

const ENABLED: &str = "security.website_blocklist.enabled";
const DOMAINS: &str = "security.website_blocklist.domains";
const FILES: &str = "security.website_blocklist.shared_files";

/// What was read, and the stamps that the files had then.
type Kept = (Vec<Option<Stamp>>, Result<HostList, String>);

/// The list of one view of the world, read when it is first asked for.
#[derive(Default)]
pub(crate) struct Sites(Mutex<Option<Kept>>);

impl Sites {
    /// What is blocked now, or why nobody can say.
    pub(crate) fn blocked(&self, world: &World) -> Result<HostList, String> {
        if world.config(ENABLED).and_then(|on| on.as_bool()) == Some(false) {
            return Ok(HostList::default());
        }
        let files = texts(world, FILES)?;
        let paths: Vec<PathBuf> = files.iter().map(|file| resolved(world, file)).collect();
        // Before they are read: what changes meanwhile is read again the next time.
        let stamps: Vec<Option<Stamp>> = paths.iter().map(|path| site_lists::stamp(path)).collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, list)) = kept.as_ref()
            && *known == stamps
        {
            return list.clone();
        }
        let list = read(&texts(world, DOMAINS)?, &files, &paths);
        *kept = Some((stamps, list.clone()));
        list
    }
}

/// What the configuration says about addresses.
pub(crate) fn url_policy(world: &World) -> UrlPolicy {
    let mut policy = UrlPolicy::default();
    policy.allow_private =
        world.config("security.allow_private_urls").as_ref().and_then(Value::as_bool).unwrap_or_default();
    match world.sites().blocked(world) {
        Ok(blocked) => policy.blocked = blocked,
        Err(why) => policy.closed = Some(why),
    }
    policy
}

fn read(domains: &[String], files: &[String], paths: &[PathBuf]) -> Result<HostList, String> {
    let mut list = HostList::default();
    for domain in domains {
        let rule =
            HostRule::parse(domain).ok_or_else(|| format!("{DOMAINS} has {domain:?}, which is no host"))?;
        list.insert(rule, Place { name: DOMAINS.into(), line: None });
    }
    for (file, path) in files.iter().zip(paths) {
        let name: Arc<str> = file.as_str().into();
        let wrong = |why: String| format!("{file} of {FILES} cannot be used: {why}");
        let text = site_lists::text(path).map_err(|why| wrong(why.to_string()))?;
        let text = text.ok_or_else(|| wrong(format!("there is no {}", path.display())))?;
        list.insert_text(&text, &name).map_err(|why| wrong(why.to_string()))?;
    }
    Ok(list)
}

/// Where a file is: as it stands, below the person's own folder, or below the home.
fn resolved(world: &World, file: &str) -> PathBuf {
    let own = file.strip_prefix("~/").and_then(|rest| Some(Path::new(world.variable("HOME")?).join(rest)));
    own.unwrap_or_else(|| match world.home() {
        Some(home) => home.path().join(file),
        None => PathBuf::from(file),
    })
}

/// A list of texts; a single text is a list of one.
fn texts(world: &World, key: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{key} is no list of texts");
    match world.config(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}
