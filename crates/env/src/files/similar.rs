//! Names that may have been meant when a path does not exist.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

/// Most names suggested.
const MOST: usize = 5;

/// Most entries of a directory looked at.
const LOOKED_AT: usize = 20_000;

/// Least likeness, of 1000, for a name to be suggested.
const LIKE: u32 = 600;

/// Up to five suggestions, the likeliest first.
///
/// Names of the same directory when that exists; whole paths when the directory itself is missing:
/// the same path in a directory with a similar name, or else that directory.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    if parent.is_dir() {
        return ranked(&name.to_string_lossy(), parent);
    }
    let Some(missing) = path.ancestors().skip(1).find(|above| above.parent().is_some_and(Path::exists))
    else {
        return Vec::new();
    };
    if missing.exists() {
        // A file stands where a directory was expected.
        return vec![missing.to_string_lossy().into_owned()];
    }
    let (Some(above), Some(wrong)) = (missing.parent(), missing.file_name()) else {
        return Vec::new();
    };
    let rest = path.strip_prefix(missing).unwrap_or(Path::new(""));
    let near = ranked(&wrong.to_string_lossy(), above).into_iter().map(|name| above.join(name));
    let mut paths: Vec<_> = near
        .filter(|directory| directory.is_dir())
        .map(|directory| Some(directory.join(rest)).filter(|path| path.exists()).unwrap_or(directory))
        .collect();
    paths.sort_by_key(|path| !path.ends_with(rest));
    paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

fn ranked(wanted: &str, directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names =
        entries.take(LOOKED_AT).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    best(wanted, names)
}

pub(super) fn best(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut scored: Vec<_> = names
        .filter(|name| name != wanted)
        .map(|name| (Reverse(likeness(wanted, &name)), name))
        .filter(|(Reverse(score), _)| *score >= LIKE)
        .collect();
    scored.sort();
    scored.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// How likely `name` was meant by `wanted`, of 1000.
fn likeness(wanted: &str, name: &str) -> u32 {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    if wanted == name {
        return 1000;
    }
    let plain = |text: &str| text.replace(['-', '_', ' ', '.'], "");
    if plain(&wanted) == plain(&name) {
        return 950;
    }
    let ((wanted_stem, wanted_end), (stem, end)) = (split(&wanted), split(&name));
    let edits = per_mille(strsim::normalized_damerau_levenshtein(&wanted, &name));
    if wanted_stem == stem {
        return edits.max(900);
    }
    let within =
        wanted_stem.len().min(stem.len()) >= 3 && (stem.contains(wanted_stem) || wanted_stem.contains(stem));
    let stems = per_mille(strsim::normalized_damerau_levenshtein(wanted_stem, stem));
    match (within, wanted_end == end) {
        (true, true) => stems.max(750),
        (false, true) => stems,
        (true, false) => stems.min(edits).max(650),
        (false, false) => stems.min(edits),
    }
}

fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, ""))
}

/// A share between 0 and 1 as whole thousandths, so that it can be sorted.
fn per_mille(share: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
    let whole = (share * 1000.0).clamp(0.0, 1000.0) as u32;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best_of(wanted: &str, names: &[&str]) -> Vec<String> {
        best(wanted, names.iter().map(|name| (*name).to_owned()))
    }

    #[test]
    fn the_likeliest_name_comes_first_and_strangers_do_not_come() {
        let names = ["main.rs", "main_test.rs", "Main.py", "lib.rs", "README.md", "mian.rs", "min.txt"];
        assert_eq!(best_of("Main.rs", &names)[0], "main.rs");
        assert_eq!(best_of("mainn.rs", &names)[0], "main.rs");
        assert_eq!(best_of("readme.txt", &names), ["README.md"]);
        assert_eq!(best_of("main-test.rs", &names)[0], "main_test.rs");
        assert_eq!(best_of("zzzz.rs", &names), [""; 0]);
        assert_eq!(best_of("x.rs", &names), [""; 0]);
    }

    #[test]
    fn there_are_never_more_than_five() {
        let names: Vec<_> = (0..50).map(|n| format!("test_{n}.py")).collect();
        let best = best("test.py", names.into_iter());
        assert_eq!(best.len(), 5);
        assert!(best.is_sorted());
    }

    #[test]
    fn a_missing_directory_is_mended_where_one_looks_like_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (directory, file) in [("src/tools", "main.rs"), ("srcs_old", "other.rs")] {
            fs::create_dir_all(at(directory)).unwrap();
            fs::write(at(directory).join(file), "").unwrap();
        }
        let path = |name: &str| at(name).to_string_lossy().into_owned();

        assert_eq!(names(&at("srcs/tools/main.rs"))[0], path("src/tools/main.rs"));
        assert_eq!(names(&at("src/tool/main.rs")), [path("src/tools/main.rs")]);
        assert_eq!(names(&at("src/tool/none.rs")), [path("src/tools")]);
        assert_eq!(names(&at("src/tools/main.rs/x")), [path("src/tools/main.rs")]);
        assert_eq!(names(&at("src/tools/main.py")), ["main.rs"]);
        assert_eq!(names(&at("qqq/www/main.rs")), [""; 0]);
    }
}
