//! Globs on files below the searched root.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use hermes_core::files::FileError;

/// A glob on names (`*.rs`) or, when it has a slash, on paths below the root (`src/**/*.rs`).
pub(super) struct Glob {
    matcher: GlobMatcher,
    on_path: bool,
    negated: bool,
    spells_out: Hidden,
}

/// Which hidden names a glob spells out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hidden {
    /// None: hidden files are not wanted.
    Nothing,
    /// Some.
    Names,
    /// Even `.git`.
    Git,
}

impl Glob {
    /// Understands a leading `!` as "all but", and absolute globs that start with the root.
    pub(super) fn new(text: &str, root: &Path) -> Result<Self, FileError> {
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let below =
            root.to_str().and_then(|root| text.strip_prefix(root)).filter(|rest| rest.starts_with('/'));
        let text = below.unwrap_or(text);
        let on_path = text.contains('/');
        let text = text.strip_prefix("./").unwrap_or(text).trim_start_matches('/');
        let text = if text.ends_with('/') { format!("{text}**") } else { text.to_owned() };
        let matcher = GlobBuilder::new(&text)
            .literal_separator(true)
            .build()
            .map_err(|error| FileError::Pattern(error.to_string()))?
            .compile_matcher();
        let spelled = |part: &str| part.starts_with('.') && part.len() > 1;
        let spells_out = match () {
            () if negated => Hidden::Nothing,
            () if text.split('/').any(|part| part == ".git") => Hidden::Git,
            () if text.split(['/', '{', ',']).any(spelled) => Hidden::Names,
            () => Hidden::Nothing,
        };
        Ok(Self { matcher, on_path, negated, spells_out })
    }

    /// Whether a file with this path below the root is meant.
    pub(super) fn matches(&self, below: &Path) -> bool {
        let what =
            if self.on_path { below.as_os_str() } else { below.file_name().unwrap_or(below.as_os_str()) };
        self.matcher.is_match(what) != self.negated
    }

    /// Which hidden files are asked for by name.
    pub(super) fn spells_out(&self) -> Hidden {
        self.spells_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_on_names_or_on_paths_below_the_root() {
        for (glob, path, matches) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "a/b/main.rs", true),
            ("*.{rs,toml}", "a/Cargo.toml", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("./src/*.rs", "src/a.rs", true),
            ("**/test_*.py", "a/b/test_x.py", true),
            ("src/", "src/a/b.rs", true),
            ("/top.rs", "top.rs", true),
            ("/top.rs", "a/top.rs", false),
            ("/root/dir/**/*.rs", "x/a.rs", true),
            ("!*.rs", "main.rs", false),
            ("!*.rs", "main.py", true),
            ("--pre=x", "--pre=x", true),
        ] {
            let built = Glob::new(glob, Path::new("/root/dir")).unwrap();
            assert_eq!(built.matches(Path::new(path)), matches, "{glob} on {path}");
        }
    }

    #[test]
    fn hidden_files_are_wanted_only_when_spelled_out() {
        for (glob, hidden) in [
            ("*", Hidden::Nothing),
            ("./a.rs", Hidden::Nothing),
            (".env*", Hidden::Names),
            (".github/**", Hidden::Names),
            ("a/.git/config", Hidden::Git),
            ("!.env", Hidden::Nothing),
            ("{.a,b}", Hidden::Names),
        ] {
            assert_eq!(Glob::new(glob, Path::new("/r")).unwrap().spells_out(), hidden, "{glob}");
        }
    }

    #[test]
    fn a_broken_glob_is_named() {
        assert!(matches!(Glob::new("a[", Path::new("/")), Err(FileError::Pattern(_))));
    }
}
