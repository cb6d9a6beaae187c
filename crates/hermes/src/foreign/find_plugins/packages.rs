//! Plugins among installed Python packages: entry points of our group, in the folders that tell about packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hermes_extend::plugins::manifest::Manifest;
use hermes_extend::plugins::start::Code;
use hermes_store::foreign;
use hermes_store::witness::Witnesses;

use super::{Found, Origin, editable};

/// The group of entry points that are plugins.
const GROUP: &str = "hermes_agent.plugins";

/// The plugins among the packages in these places. Of a package that is in two of them the first counts, as
/// it does for Python.
pub(crate) fn in_packages(places: &[PathBuf], witnesses: &mut Witnesses) -> Vec<Found> {
    let is_about =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "dist-info" || end == "egg-info");
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for place in places {
        for folder in folders_of(place, witnesses).into_iter().filter(is_about) {
            let plugins = package(&folder, witnesses);
            if plugins.is_empty() || !known.insert(name_of(&folder)) {
                continue;
            }
            witnesses.see(&entry_points_of(&folder));
            found.extend(plugins);
        }
    }
    found
}

/// The folders in a place, and behind them those in the folders that its links lead to.
fn folders_of(place: &Path, witnesses: &mut Witnesses) -> Vec<PathBuf> {
    witnesses.see(place);
    let mut found = foreign::folders(place);
    for linked in editable::linked(place, witnesses) {
        witnesses.see(&linked);
        found.extend(foreign::folders(&linked));
    }
    found
}

fn entry_points_of(package: &Path) -> PathBuf {
    package.join("entry_points.txt")
}

/// Name and version, as the folder that tells about a package is called.
fn called(folder: &Path) -> (String, String) {
    let stem = folder.file_stem().unwrap_or_default().to_string_lossy();
    let (name, version) = stem.split_once('-').unwrap_or((&stem, ""));
    (name.to_owned(), version.to_owned())
}

/// The name of a package, however it is spelled.
fn name_of(folder: &Path) -> String {
    called(folder).0.to_lowercase().replace(['.', '-'], "_")
}

fn package(folder: &Path, witnesses: &mut Witnesses) -> Vec<Found> {
    let Ok(Some(text)) = foreign::text(&entry_points_of(folder)) else { return Vec::new() };
    let (package, version) = called(folder);
    let mut found = |(name, target): (String, String)| {
        let (place, odd) = code_of(&target, folder, witnesses);
        Found {
            key: name.clone(),
            origin: Origin::Package,
            place,
            code: Code::EntryPoint(target),
            manifest: Ok(Manifest {
                name,
                version: version.clone(),
                description: format!("from the Python package {package}"),
                odd: odd.into_iter().collect(),
                ..Manifest::default()
            }),
        }
    };
    entry_points(&text).into_iter().map(&mut found).collect()
}

/// The module of `module.inner:attribute`: beside the folder that tells about its package, or where the package
/// was installed in place; and what is odd about it.
fn code_of(target: &str, about: &Path, witnesses: &mut Witnesses) -> (Option<PathBuf>, Option<String>) {
    let module = target.split(':').next().unwrap_or_default().trim();
    let Some(site) = about.parent() else { return (None, None) };
    let found = editable::in_folder(site, module).or_else(|| editable::place_of(module, about, witnesses));
    if found.is_some() {
        return (found, None);
    }
    let odd = editable::is_in_place(about).then(|| {
        format!(
            "its package is installed in place, and where its module `{module}` lies cannot be told without \
             running it: changes of it are noticed when the package is installed again"
        )
    });
    // Should it come to lie there after all, that is noticed.
    let first = module.split('.').next().filter(|name| !name.is_empty());
    (first.map(|name| site.join(format!("{name}.py"))), odd)
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
#[expect(clippy::disallowed_methods, reason = "the tests write packages")]
mod tests {
    use super::*;

    #[test]
    fn only_entry_points_of_our_group_are_plugins() {
        let text = "[console_scripts]\nx = a:b\n\n[hermes_agent.plugins]\ncalc = calc_plugin:register [extra]\n\
                    other=other\n[more]\ny = z\n";

        let expected = [("calc", "calc_plugin:register"), ("other", "other")];
        assert_eq!(entry_points(text), expected.map(|(name, target)| (name.to_owned(), target.to_owned())));
    }

    #[test]
    fn of_a_package_in_two_places_the_first_counts_and_code_that_is_nowhere_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (site, work) = (dir.path().join("site"), dir.path().join("work"));
        for about in [site.join("my_pack-1.0.dist-info"), work.join("my.pack.egg-info")] {
            std::fs::create_dir_all(&about).unwrap();
            std::fs::write(entry_points_of(&about), format!("[{GROUP}]\npack = pack_plugin:register\n"))
                .unwrap();
        }
        let url = format!("{{\"url\": \"file://{}\", \"dir_info\": {{\"editable\": true}}}}", work.display());
        std::fs::write(site.join("my_pack-1.0.dist-info/direct_url.json"), url).unwrap();
        let found = || in_packages(&[site.clone(), work.clone()], &mut Witnesses::default());

        let lost = found();
        std::fs::write(work.join("pack_plugin.py"), "").unwrap();
        let there = found();

        assert_eq!((lost.len(), there.len()), (1, 1));
        let odd = |found: &Found| found.manifest.clone().unwrap().odd;
        assert!(odd(&lost[0]).concat().contains("`pack_plugin`"), "{lost:?}");
        assert_eq!((there[0].place.clone(), odd(&there[0])), (Some(work.join("pack_plugin.py")), Vec::new()));
    }
}
