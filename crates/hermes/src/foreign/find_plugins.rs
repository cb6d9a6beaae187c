//! Where plugins are: folders with a manifest in the home and in the project, and entry points of
//! installed Python packages. Nothing of them is run here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::start::Code;
use hermes_store::KeptManifests;
use hermes_store::foreign::{self, Stamp};

/// The group of entry points that are plugins.
const GROUP: &str = "hermes_agent.plugins";

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
    pub(crate) manifest: Result<Manifest, String>,
}

/// Manifests that were read before.
#[derive(Default)]
pub(crate) struct Manifests {
    /// By this program, with the dates of their files.
    read: BTreeMap<PathBuf, (Stamp, Result<Manifest, String>)>,
    /// By any.
    pub(crate) kept: Option<KeptManifests>,
}

/// The plugins of a folder: `<name>/plugin.yaml`, or `<category>/<name>/plugin.yaml`.
pub(crate) fn in_folder(root: &Path, origin: Origin, known: &mut Manifests) -> Vec<Found> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for folder in foreign::folders(root) {
        if let Some(manifest) = manifest(&folder, &name(&folder), known) {
            let key = manifest.as_ref().map_or_else(|_| name(&folder), |manifest| manifest.name.clone());
            found.push(Found { key, origin, code: Code::Folder(folder), manifest });
            continue;
        }
        for inner in foreign::folders(&folder) {
            if let Some(manifest) = manifest(&inner, &name(&inner), known) {
                let key = format!("{}/{}", name(&folder), name(&inner));
                found.push(Found { key, origin, code: Code::Folder(inner), manifest });
            }
        }
    }
    found
}

/// The manifest of a folder; nothing when it has none.
fn manifest(folder: &Path, name: &str, known: &mut Manifests) -> Option<Result<Manifest, String>> {
    let stamped = |file: &&str| {
        let path = folder.join(file);
        Some((foreign::stamp(&path)?, path))
    };
    let (stamp, path) = ["plugin.yaml", "plugin.yml"].iter().find_map(stamped)?;
    if let Some((_, manifest)) = known.read.get(&path).filter(|(before, _)| *before == stamp) {
        return Some(manifest.clone());
    }
    let said = known.kept.get_or_insert_default().yaml(&path, stamp)?;
    let manifest = said.and_then(|value| Manifest::read(&value, name));
    let manifest = manifest.map_err(|wrong| format!("plugin.yaml: {wrong}"));
    known.read.insert(path, (stamp, manifest.clone()));
    Some(manifest)
}

/// The plugins among the packages in these places.
pub(crate) fn in_packages(places: &[PathBuf]) -> Vec<Found> {
    let is_about =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "dist-info" || end == "egg-info");
    let about = places.iter().flat_map(|place| foreign::folders(place)).filter(is_about);
    about.flat_map(|folder| package(&folder)).collect()
}

fn package(folder: &Path) -> Vec<Found> {
    let Ok(Some(text)) = foreign::text(&folder.join("entry_points.txt")) else { return Vec::new() };
    let stem = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (package, version) = stem.split_once('-').unwrap_or((&stem, ""));
    let found = |(name, target): (String, String)| Found {
        key: name.clone(),
        origin: Origin::Package,
        code: Code::EntryPoint(target),
        manifest: Ok(Manifest {
            name,
            version: version.to_owned(),
            description: format!("from the Python package {package}"),
            ..Manifest::default()
        }),
    };
    entry_points(&text).into_iter().map(found).collect()
}

/// Name and target of every entry point of our group.
fn entry_points(text: &str) -> Vec<(String, String)> {
    let mut ours = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            ours = group.trim() == GROUP;
        } else if let Some((name, target)) = line.split_once('=').filter(|_| ours) {
            // What stands in brackets behind a target are extras of the package.
            let target = target.split('[').next().unwrap_or_default();
            found.push((name.trim().to_owned(), target.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entry_points_of_our_group_are_plugins() {
        let text = "[console_scripts]\nx = a:b\n\n[hermes_agent.plugins]\ncalc = calc_plugin:register [extra]\n\
                    other=other\n[more]\ny = z\n";

        let expected = [("calc", "calc_plugin:register"), ("other", "other")];
        assert_eq!(entry_points(text), expected.map(|(name, target)| (name.to_owned(), target.to_owned())));
    }
}
