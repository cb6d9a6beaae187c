//! What can be made again: build output, caches, dependencies, told by name.

/// Whether a folder of that name can be made again.
fn is_rebuilt(name: &str) -> bool {
    matches!(
        name,
        "target"
            | "node_modules"
            | "dist"
            | "build"
            | "out"
            | "output"
            | ".next"
            | ".nuxt"
            | "__pycache__"
            | ".pytest_cache"
            | ".mypy_cache"
            | ".ruff_cache"
            | ".tox"
            | ".nox"
            | ".venv"
            | "venv"
            | ".cache"
            | "coverage"
            | "htmlcov"
            | ".coverage"
            | ".gradle"
            | ".parcel-cache"
            | ".turbo"
            | ".eggs"
            | ".terraform"
            | ".svelte-kit"
            | "tmp"
            | "temp"
            | ".tmp"
            | ".temp"
            | "obj"
            | "Debug"
            | "Release"
            | ".angular"
            | "bower_components"
            | ".sass-cache"
            | ".output"
            | ".vite"
            | "storybook-static"
            | "_build"
            | ".stack-work"
            | "dist-newstyle"
            | "elm-stuff"
            | ".dart_tool"
            | "Pods"
            | "DerivedData"
            | ".serverless"
            | ".aws-sam"
            | "cdk.out"
            | "_site"
            | "test-results"
            | "playwright-report"
            | ".nyc_output"
            | "cache"
            | "caches"
            | ".docusaurus"
            | ".expo"
            | ".yarn"
            | ".pnpm-store"
            | "zig-cache"
            | ".zig-cache"
            | "zig-out"
            | "CMakeFiles"
            | ".ipynb_checkpoints"
            | "_cacache"
            | ".hypothesis"
            | "lcov-report"
            | "deps"
            | ".astro"
            | ".wrangler"
            | "env"
            | ".DS_Store"
    )
}

/// File endings of things that can be made again.
const REBUILT_ENDINGS: [&str; 25] = [
    ".a",
    ".la",
    ".lo",
    ".gch",
    ".pyc",
    ".pyo",
    ".o",
    ".obj",
    ".class",
    ".log",
    ".tmp",
    ".swp",
    ".swo",
    ".orig",
    ".rej",
    ".egg-info",
    ".tsbuildinfo",
    ".gcda",
    ".gcno",
    ".elc",
    "~",
    ".cache",
    ".pid",
    ".lock",
    ".DS_Store",
];

/// Whether a component of the path says that it can be made again.
pub(crate) fn rebuilt_folder(path: &str) -> bool {
    for part in path.split('/') {
        if part.is_empty() {
            continue;
        }
        if part.starts_with("cmake-build-") || part.starts_with("bazel-") || is_rebuilt(part) {
            return true;
        }
        if part == "vendor" && path.contains("/vendor/bundle") {
            return true;
        }
        let lower = part.trim_start_matches(['.', '_']);
        for sign in ["tmp", "temp", "scratch", "build"] {
            if let Some(rest) = lower.strip_prefix(sign)
                && (rest.is_empty()
                    || rest.starts_with(['-', '_', '.', '*'])
                    || rest.bytes().all(|b| b.is_ascii_digit()))
            {
                return true;
            }
            if let Some(rest) = lower.strip_suffix(sign)
                && rest.ends_with(['-', '_', '.'])
            {
                return true;
            }
        }
        if ["-cache", "_cache", "-output", "_output"].iter().any(|end| part.ends_with(end)) {
            return true;
        }
    }
    false
}

/// The same outside of the workspace, where only names that everybody gives such folders count.
pub(crate) fn rebuilt_anywhere(path: &str) -> bool {
    path.split('/').any(is_rebuilt)
}

/// The same, or a file ending that says so.
pub(crate) fn rebuilt(path: &str) -> bool {
    if rebuilt_folder(path) {
        return true;
    }
    let last = path.rsplit('/').next().unwrap_or(path);
    matches!(last, "package-lock.json" | "yarn.lock" | "pnpm-lock.yaml")
        || last.len() > 2 && REBUILT_ENDINGS.iter().any(|end| last.ends_with(end))
}
