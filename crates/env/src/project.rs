//! What a project says about itself, for the first words to a model: its instructions and its branch.
//!
//! Reading these few well-known files is what starting a session in a folder means; no call of a
//! model is involved, and nothing is run.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the well-known files of the folder a session begins in"
)]

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Most bytes of a file of instructions.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

/// Looked for in the folder and in those above it, up to the root of the repository.
const OURS: &[&str] = &[".hermes.md", "HERMES.md"];

/// Looked for in the folder itself.
const OTHERS: &[&str] = &["AGENTS.md", "CLAUDE.md", ".cursorrules"];

/// What a folder says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// The file of instructions that counts, and what it says.
    pub instructions: Option<(PathBuf, String)>,
    /// The root of the repository the folder is in.
    pub repository: Option<PathBuf>,
    /// The branch that is checked out, or the beginning of a commit's name.
    pub branch: Option<String>,
}

/// The folders of the project that one stands in: this one and those above it, up to the root of the
/// repository. A folder that is in no repository is a project by itself.
pub fn folders(cwd: &Path) -> Vec<PathBuf> {
    within(cwd, repository(cwd).as_deref()).map(Path::to_path_buf).collect()
}

fn within<'a>(cwd: &'a Path, root: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    let root = root.unwrap_or(cwd);
    cwd.ancestors().take_while(move |folder| folder.starts_with(root))
}

fn repository(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

/// Looks at a folder.
pub fn look(cwd: &Path) -> Project {
    let repository = repository(cwd);
    let branch = repository.as_deref().and_then(branch);
    Project { instructions: instructions(cwd, repository.as_deref()), repository, branch }
}

fn instructions(cwd: &Path, root: Option<&Path>) -> Option<(PathBuf, String)> {
    let above = within(cwd, root).flat_map(|folder| OURS.iter().map(|name| folder.join(name)));
    let here = OTHERS.iter().map(|name| cwd.join(name));
    above.chain(here).find_map(|path| text(&path).map(|text| (path, text))).or_else(|| cursor_rules(cwd))
}

/// All rules in `.cursor/rules`, in the order of their names.
fn cursor_rules(cwd: &Path) -> Option<(PathBuf, String)> {
    let folder = cwd.join(".cursor/rules");
    let mut files: Vec<PathBuf> =
        folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "mdc"));
    files.sort();
    let texts: Vec<String> = files.iter().filter_map(|path| text(path)).collect();
    (!texts.is_empty()).then(|| (folder, texts.join("\n\n")))
}

/// The text of a regular file; nothing when there is none, when it is empty or no text.
fn text(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    (!text.trim().is_empty() && !text.contains('\0')).then(|| text.into_owned())
}

fn branch(root: &Path) -> Option<String> {
    const SHORT: usize = 12;
    let git = root.join(".git");
    let git = match text(&git) {
        // A worktree: the file says where its folder is.
        Some(link) => root.join(link.strip_prefix("gitdir:")?.trim()),
        None => git,
    };
    let head = text(&git.join("HEAD"))?;
    match head.trim().strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.chars().take(SHORT).collect()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn says(folder: &Path) -> Option<String> {
        look(folder).instructions.map(|(_, text)| text)
    }

    #[test]
    fn our_own_file_counts_first_and_is_found_up_to_the_root_of_the_repository() {
        let folder = project(&[
            ("HERMES.md", "outside"),
            ("repo/.git/HEAD", "ref: refs/heads/main\n"),
            ("repo/HERMES.md", "ours"),
            ("repo/deep/er/AGENTS.md", "theirs"),
            ("bare/x/AGENTS.md", "theirs"),
        ]);
        let at = |name: &str| folder.path().join(name);

        assert_eq!(says(&at("repo/deep/er")).as_deref(), Some("ours"));
        assert_eq!(says(&at("bare/x")).as_deref(), Some("theirs"));
        assert_eq!(says(&at("bare")), None, "not above a folder that is in no repository");
        assert_eq!(folders(&at("repo/deep/er")), ["repo/deep/er", "repo/deep", "repo"].map(at));
        assert_eq!(folders(&at("bare/x")), [at("bare/x")]);
        let found = look(&at("repo/deep"));
        assert_eq!((found.branch.as_deref(), found.repository), (Some("main"), Some(at("repo"))));
    }

    #[test]
    fn a_commit_a_worktree_and_rules_in_pieces_are_understood() {
        let folder = project(&[
            (".git", "gitdir: real\n"),
            ("real/HEAD", "0123456789abcdef\n"),
            ("AGENTS.md", "  \n"),
            (".cursor/rules/b.mdc", "two"),
            (".cursor/rules/a.mdc", "one"),
        ]);

        let found = look(folder.path());

        assert_eq!(found.branch.as_deref(), Some("0123456789ab"));
        assert_eq!(found.instructions.map(|(_, text)| text).as_deref(), Some("one\n\ntwo"));
    }
}
