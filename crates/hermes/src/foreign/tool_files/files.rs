//! The files of a folder, read: which of them are tool files and may run, and what each is remembered by.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use hermes_extend::python::scan::{Registration, registrations, variables};
use hermes_store::Trust;
use hermes_store::foreign::{self, Seen};
use hermes_store::witness::Witnesses;

use super::Folder;
use crate::foreign::asking::Standing;
use crate::world::World;

/// Names that files cannot have, because something else is imported by them.
const RESERVED: [&str; 2] = ["registry", "__init__"];

/// A file that is not run.
#[derive(Clone)]
pub(super) struct LeftOut {
    /// What it registers; nothing when it cannot be told.
    pub(super) found: Vec<Registration>,
    pub(super) why: String,
}

/// The files of a folder, once they were read.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) files: Vec<File>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) problems: Vec<String>,
    /// All that was accepted of a project, tool files or not.
    pub(super) accepted: Vec<(PathBuf, String)>,
}

/// A file that was read.
#[derive(Clone)]
pub(super) struct File {
    pub(super) seen: Seen,
    pub(super) text: String,
    pub(super) digest: String,
    /// What it is remembered by: changes with its content and with what that depends on.
    pub(super) identity: String,
    pub(super) found: Result<Vec<Registration>, String>,
    /// Whether it may import what lies beside it.
    pub(super) imports: bool,
    /// Variables it reads by name.
    pub(super) reads: Vec<String>,
    /// What it offers; nothing while it is being asked.
    pub(super) offer: Option<Standing>,
}

impl File {
    /// Reads a file; nothing if it went away meanwhile.
    pub(super) fn read(seen: &Seen) -> Result<Option<Self>, String> {
        let Some(text) = foreign::text(&seen.path).map_err(|wrong| wrong.to_string())? else {
            return Ok(None);
        };
        let (found, reads, digest) = (registrations(&text), variables(&text), foreign::digest(&text));
        let (identity, imports) = (digest.clone(), imports_beside(&text));
        Ok(Some(Self { seen: seen.clone(), text, digest, identity, found, imports, reads, offer: None }))
    }
}

impl Sorted {
    /// Takes a file in, or leaves it out and says why.
    pub(super) fn add(&mut self, file: File, folder: &Folder, trust: &Trust) {
        let (path, shown) = (&file.seen.path, file.seen.path.display());
        let is_accepted = !folder.is_project() || trust.accepts(path, &file.digest);
        if folder.is_project() && is_accepted {
            self.accepted.push((path.clone(), file.text.clone()));
        }
        let why = match &file.found {
            Err(why) => why.clone(),
            Ok(found) if found.is_empty() => return,
            Ok(_) if is_reserved(path) => reserved(path),
            Ok(_) if is_accepted => return self.files.push(file),
            Ok(_) => {
                let what = if trust.knew(path) { "changed since it was accepted" } else { "is not accepted" };
                let why = format!("{shown} {what}; `hermes plugins trust {shown}` accepts it as it is now");
                let found = file.found.unwrap_or_default();
                return self.left_out.push(LeftOut { found, why });
            }
        };
        self.left_out.push(LeftOut { why: format!("{shown}: {why}"), found: file.found.unwrap_or_default() });
    }
}

/// What lies beside a file, and may be part of what it offers.
pub(super) struct Around<'a> {
    folder: &'a Folder,
    seen: &'a [Seen],
    /// Changes with anything that lies there.
    stamp: OnceCell<String>,
}

impl<'a> Around<'a> {
    pub(super) fn of(folder: &'a Folder, seen: &'a [Seen]) -> Self {
        Self { folder, seen, stamp: OnceCell::new() }
    }

    /// What a file is remembered by. One that imports another of its folder depends on all of them, and one
    /// that names variables on whether they are set.
    pub(super) fn identity(&self, file: &File, world: &World) -> String {
        let written = file.found.iter().flatten().flat_map(|it| it.requires_env.iter());
        let mut set: Vec<&String> = written.chain(&file.reads).collect();
        set.sort();
        set.dedup();
        set.retain(|name| world.variable(name).is_some());
        match (file.imports, set.as_slice()) {
            (false, []) => file.digest.clone(),
            (false, set) => format!("{} {set:?}", file.digest),
            (true, set) => format!("{} {set:?} {}", file.digest, self.stamp()),
        }
    }

    fn stamp(&self) -> &str {
        self.stamp.get_or_init(|| {
            let inner = foreign::folders(&self.folder.path);
            let stamp = |it: &PathBuf| foreign::tree_stamp(it, Some(&[]), &mut Witnesses::default());
            let stamps: Vec<String> = inner.iter().map(stamp).collect();
            foreign::digest(&format!("{} {stamps:?}", generation(self.seen)))
        })
    }
}

/// Whether a text may import what lies beside it: as `tools.<name>`, or by a dot.
fn imports_beside(text: &str) -> bool {
    let beside = |(at, word): (usize, &str)| {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        match rest.strip_prefix('.') {
            Some(name) => !name.starts_with("registry"),
            None => rest.trim_start().starts_with("import"),
        }
    };
    text.match_indices("tools").any(beside) || text.contains("from .")
}

/// Whether something else is imported by this name.
pub(super) fn is_reserved(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| RESERVED.iter().any(|name| stem == *name))
}

pub(super) fn reserved(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("a tool file cannot be called {name}: something else is imported by that name; rename it")
}

/// Whether one of these registers the tool, or may: not every name is written as a plain string.
pub(in crate::foreign) fn names(found: &[Registration], tool: &str) -> bool {
    found.iter().any(|it| it.name.as_deref().is_none_or(|name| name == tool))
}

/// Changes with any file of the folder.
pub(super) fn generation(seen: &[Seen]) -> String {
    foreign::digest(&format!("{seen:?}"))
}

/// The variables a file asks for, sorted.
pub(super) fn needs(file: &File) -> Vec<String> {
    let written = file.found.iter().flatten().flat_map(|it| it.requires_env.iter());
    let said = file
        .offer
        .iter()
        .flatten()
        .flat_map(|offer| offer.tools.iter())
        .flat_map(|it| it.requires_env.iter());
    let mut names: Vec<String> = written.chain(said).chain(&file.reads).cloned().collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imported_from_beside_is_told_from_the_registry() {
        for beside in
            ["from tools.shared import X", "from tools import shared", "import tools.a", "from . import b"]
        {
            assert!(imports_beside(beside), "{beside}");
        }
        for not in ["from tools.registry import registry", "import json\nx = 'my tools'", "toolset='tools'"] {
            assert!(!imports_beside(not), "{not}");
        }
    }
}
