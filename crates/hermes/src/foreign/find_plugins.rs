//! Where plugins are: folders with a manifest in the home and in the project, and entry points of
//! installed Python packages. Nothing of them is run here.
//!
//! | file | what |
//! |---|---|
//! | `packages.rs` | those of installed packages |
//! | `editable.rs` | where the code of a package lies that was installed in place |

mod editable;
mod packages;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::start::Code;
use hermes_store::foreign::{self, Stamp};
use hermes_store::witness::Witnesses;
use serde::{Deserialize, Serialize};

pub(crate) use packages::in_packages;

/// What a manifest may be called.
const MANIFESTS: [&str; 2] = ["plugin.yaml", "plugin.yml"];

/// The files of a plugin that a program keeps an eye on while it runs.
pub(crate) const FRONT: [&str; 3] = ["plugin.yaml", "plugin.yml", "__init__.py"];

/// Where a plugin comes from; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The person's own home.
    User,
    /// The project the program stands in.
    Project,
    /// An installed Python package.
    Package,
}

impl Origin {
    /// One word for lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Package => "package",
        }
    }
}

/// A plugin that is there.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) key: String,
    pub(crate) origin: Origin,
    pub(crate) code: Code,
    /// Where the module of an installed package lies, as far as that can be told.
    pub(crate) place: Option<PathBuf>,
    pub(crate) manifest: Result<Manifest, Broken>,
}

/// Why a plugin cannot even be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Broken {
    /// In words.
    pub(crate) why: String,
    /// Whether it is meant to have a say in what may run, so that nothing runs without it.
    pub(crate) policy: bool,
    /// What it calls itself, as far as that can be told.
    pub(crate) name: Option<String>,
}

impl Found {
    /// The variables that its manifest asks for.
    pub(crate) fn requires_env(&self) -> impl Iterator<Item = &String> {
        self.manifest.iter().flat_map(|manifest| manifest.requires_env.iter())
    }

    /// Whether it has a say in what may run, or is meant to.
    pub(crate) fn is_policy(&self) -> bool {
        self.manifest.as_ref().map_or_else(|broken| broken.policy, |manifest| manifest.policy)
    }

    /// Where it is, for people.
    pub(crate) fn whereabouts(&self) -> String {
        match &self.code {
            Code::Folder(folder) => folder.display().to_string(),
            Code::EntryPoint(target) => format!("the package of `{target}`"),
        }
    }

    /// The last word of where it is.
    pub(crate) fn last(&self) -> Cow<'_, str> {
        match &self.code {
            Code::Folder(folder) => folder.file_name().unwrap_or_default().to_string_lossy(),
            Code::EntryPoint(target) => target.into(),
        }
    }
}

/// Manifests that were read before, with the dates of their files.
pub(crate) type Manifests = BTreeMap<PathBuf, (Stamp, Result<Manifest, Broken>)>;

/// The plugins of a folder: `<name>/plugin.yaml`, or `<category>/<name>/plugin.yaml`.
pub(crate) fn in_folder(
    root: &Path,
    origin: Origin,
    known: &mut Manifests,
    witnesses: &mut Witnesses,
) -> Vec<Found> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut found = Vec::new();
    witnesses.see(root);
    for folder in foreign::folders(root) {
        // What a folder is depends on the names in it.
        witnesses.see(&folder);
        if let Some(manifest) = manifest(&folder, &name(&folder), known, witnesses) {
            let named = |broken: &Broken| broken.name.clone().unwrap_or_else(|| name(&folder));
            let key = manifest.as_ref().map_or_else(named, |manifest| manifest.name.clone());
            found.push(Found { key, origin, code: Code::Folder(folder), place: None, manifest });
            continue;
        }
        for inner in foreign::folders(&folder) {
            witnesses.see(&inner);
            if let Some(manifest) = manifest(&inner, &name(&inner), known, witnesses) {
                let key = in_category(&inner);
                found.push(Found { key, origin, code: Code::Folder(inner), place: None, manifest });
            }
        }
    }
    found
}

/// What a plugin in a category goes by.
fn in_category(folder: &Path) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("{}/{}", folder.parent().map(name).unwrap_or_default(), name(folder))
}

/// What a plugin of a project goes by that lies in this folder and calls itself so.
pub fn plugin_key(folder: &Path, name: &str) -> String {
    let is_top = folder.parent().is_some_and(|root| root.ends_with(".hermes/plugins"));
    if is_top { name.to_owned() } else { in_category(folder) }
}

/// The manifest of a folder; nothing when it has none.
fn manifest(
    folder: &Path,
    name: &str,
    known: &mut Manifests,
    witnesses: &mut Witnesses,
) -> Option<Result<Manifest, Broken>> {
    let stamped = |file: &&str| {
        let path = folder.join(file);
        Some((foreign::stamp(&path)?, path))
    };
    let (stamp, path) = MANIFESTS.iter().find_map(stamped)?;
    witnesses.see(&path);
    if let Some((_, manifest)) = known.get(&path).filter(|(before, _)| *before == stamp) {
        return Some(manifest.clone());
    }
    let text = foreign::text(&path).transpose()?;
    let said = text.map_err(|wrong| wrong.to_string()).and_then(|text| foreign::yaml(&text));
    let manifest = said.and_then(|value| Manifest::read(&value, name));
    let manifest = manifest.map_err(|wrong| broken(&path, &wrong));
    known.insert(path, (stamp, manifest.clone()));
    Some(manifest)
}

/// What can be told of a manifest that cannot be read. Of one that nobody can look into the worst is
/// assumed: that it has a say in what may run.
fn broken(path: &Path, wrong: &str) -> Broken {
    let text = foreign::text_of_any(path);
    Broken {
        why: format!("plugin.yaml: {wrong}"),
        policy: text.as_deref().is_none_or(Manifest::claims_policy),
        name: text.as_deref().and_then(Manifest::claimed_name).map(str::to_owned),
    }
}
