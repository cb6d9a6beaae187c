//! The files of a folder, read: which of them are tool files and may run, and what each is remembered by.

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
        let identity = digest.clone();
        Ok(Some(Self { seen: seen.clone(), text, digest, identity, found, reads, offer: None }))
    }
}

impl Sorted {
    /// Takes a file in, or leaves it out and says why.
    pub(super) fn add(&mut self, file: File, folder: &Folder, trust: &Trust) {
        let (path, shown) = (&file.seen.path, file.seen.path.display());
        let is_accepted = !folder.is_project || trust.accepts(path, &file.digest);
        if folder.is_project && is_accepted {
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
pub(super) struct Around {
    /// The names that can be imported, sorted.
    names: Vec<String>,
    /// Changes with anything that lies there.
    stamp: String,
}

impl Around {
    pub(super) fn of(folder: &Folder, seen: &[Seen]) -> Self {
        let inner = if seen.is_empty() { Vec::new() } else { foreign::folders(&folder.path) };
        let stamps: Vec<String> =
            inner.iter().map(|it| foreign::tree_stamp(it, Some(&[]), &mut Witnesses::default())).collect();
        let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let paths = seen.iter().map(|it| it.path.as_path()).chain(inner.iter().map(PathBuf::as_path));
        let names = paths.filter(|path| !is_reserved(path)).map(name).collect();
        Self { names, stamp: foreign::digest(&format!("{} {stamps:?}", generation(seen))) }
    }

    /// What a file is remembered by. One that names another of its folder depends on all of them, and one that
    /// names variables on whether they are set.
    pub(super) fn identity(&self, file: &File, world: &World) -> String {
        let own = file.seen.path.file_stem().unwrap_or_default().to_string_lossy();
        let names_other = self.names.iter().any(|name| **name != *own && mentions(&file.text, name));
        let written = file.found.iter().flatten().flat_map(|it| it.requires_env.iter());
        let mut set: Vec<&String> = written.chain(&file.reads).collect();
        set.sort();
        set.dedup();
        set.retain(|name| world.variable(name).is_some());
        match (names_other, set.as_slice()) {
            (false, []) => file.digest.clone(),
            (false, set) => format!("{} {set:?}", file.digest),
            (true, set) => format!("{} {set:?} {}", file.digest, self.stamp),
        }
    }
}

/// Whether a word stands in a text behind `tools.`, `import` or a dot, as names of modules do.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..));
        let whole = !before.ends_with(is_word) && !behind.unwrap_or_default().starts_with(is_word);
        let line = before.rsplit('\n').next().unwrap_or_default();
        whole && (line.contains("import") || line.contains("tools.") || line.trim_start().starts_with("from"))
    })
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
