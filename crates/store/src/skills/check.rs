//! Skills looked at closely, for people who ask why one is not offered or does not work.

use std::path::{Path, PathBuf};

use hermes_core::effect::lexical;
use hermes_core::skills::{Beside, Origin, SKILL_FILE};

use super::find::{Found, MAX_DEPTH, MAX_SKILLS};
use super::roots::Root;
use super::strays::{self, Stray};
use super::view::{MAX_FILES, file, needs, view};
use super::{HomeSkills, Inner, trust, usage};
use crate::disk;

/// A skill, or a folder where some should be, looked at closely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
    /// Why a model does not see it.
    pub hidden: Option<String>,
    /// What is wrong, or missing, in words.
    pub problems: Vec<String>,
}

impl HomeSkills {
    /// Looks at every skill, or at those of a name; with `beside`, also at whether they make sense beside
    /// what is offered. For code that just waits.
    pub fn check(&self, name: Option<&str>, beside: Option<&Beside>) -> Vec<Checked> {
        let inner = &self.inner;
        let roots = inner.roots();
        let all = inner.below(&roots);
        let wanted = all.iter().filter(|found| name.is_none_or(|name| found.answers_to(name)));
        let mut checked: Vec<Checked> = wanted.map(|found| inner.looked_at(found, &all, beside)).collect();
        let mut odd: Vec<Checked> = roots.iter().flat_map(|root| oddities(root, &all)).collect();
        odd.extend(inner.lists());
        checked.extend(odd.into_iter().filter(|odd| name.is_none_or(|name| odd.name == name)));
        checked
    }
}

impl Inner {
    /// What is kept about skills and cannot be used: what was noted of them, what was accepted, where they are.
    fn lists(&self) -> Vec<Checked> {
        let broken = [usage::problem(&self.home), trust::problem(&self.home)];
        let told = |name: String, folder: PathBuf, problem: String| Checked {
            name,
            folder,
            origin: Origin::Home,
            hidden: None,
            problems: vec![problem],
        };
        let mut all: Vec<Checked> =
            broken.into_iter().flatten().map(|(file, why)| told(last(&file), file, why)).collect();
        if self.settings.external_dirs.iter().any(|named| named.trim().is_empty()) {
            let problem = "one of its entries is empty and names no folder".to_owned();
            all.push(told("skills.external_dirs".to_owned(), self.state.clone(), problem));
        }
        all
    }

    fn looked_at(&self, found: &Found, all: &[Found], beside: Option<&Beside>) -> Checked {
        let mut problems = found.front.problems.clone();
        let same = all.iter().filter(|other| other.skill.name == found.skill.name).count();
        if same > 1 {
            problems.push(format!("{same} skills have this name"));
        }
        if let Ok(view) = view(found, None, None) {
            problems.extend(view.threat.map(|threat| format!("it {threat}")));
            let files = view.linked.iter().flat_map(|(_, files)| files);
            problems.extend(files.filter_map(|path| {
                let threat = file(found, path).ok()?.threat?;
                Some(format!("its file {path}: it {threat}"))
            }));
            problems.extend((view.more > 0).then(|| {
                let were = if view.more == 1 { "was" } else { "were" };
                format!("{} of its files {were} not looked at: there are more than {MAX_FILES}", view.more)
            }));
        }
        let needs = needs(&found.front, self.needs_here());
        let missing = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} missing: {}", names.join(", ")))
        };
        problems.extend(missing("variables", &needs.missing_variables));
        problems.extend(missing("programs", &needs.missing_commands));
        let (inside, outside): (Vec<String>, Vec<String>) = needs
            .missing_files
            .into_iter()
            .partition(|path| lexical(path, &self.state, None).starts_with(&self.state));
        problems.extend(missing("files", &inside));
        problems.extend(outside.iter().map(|path| format!("`{path}` is not in the Hermes home")));
        let unfit = || found.skill.conditions.unmet(beside?);
        Checked {
            name: found.skill.name.clone(),
            folder: found.place(),
            origin: found.skill.origin.clone(),
            hidden: self.hidden(found).or_else(unfit),
            problems,
        }
    }
}

/// What stands where skills are looked for and is none: links, folders that are not there, files of another name.
fn oddities(root: &Root, all: &[Found]) -> Vec<Checked> {
    let told = |folder: &Path, name: Option<&str>, hidden: Option<&str>, problem: &str| Checked {
        name: name.map_or_else(|| last(folder), str::to_owned),
        folder: folder.to_owned(),
        origin: root.origin.clone(),
        hidden: hidden.map(str::to_owned),
        problems: vec![problem.to_owned()],
    };
    match &root.origin {
        Origin::Plugin(_) if all.iter().any(|found| found.root == root.path) => Vec::new(),
        Origin::Plugin(_) => {
            let problem = format!("its plugin names {}, and there is no SKILL.md", root.path.display());
            vec![told(&root.path, root.only.as_deref(), None, &problem)]
        }
        Origin::External if !disk::is_there(&root.path) => {
            let problem =
                format!("`skills.external_dirs` names {}, and there is no such folder", root.path.display());
            vec![told(&root.path, None, None, &problem)]
        }
        _ if strays::unreadable(&root.path).is_some() => {
            let why = strays::unreadable(&root.path).unwrap_or_default();
            vec![told(&root.path, None, None, &why)]
        }
        origin => {
            let told = |(path, stray): (PathBuf, Stray)| {
                let (hidden, problem) = words(&stray, &root.origin);
                let above = matches!(stray, Stray::Spelling | Stray::NoFile);
                let folder = if above { path.parent() } else { None };
                told(folder.unwrap_or(&path), None, hidden, &problem)
            };
            let mut all = strays::strays(&root.path);
            // What nobody has accepted is the business of `trust`.
            all.retain(|(_, stray)| *origin != Origin::Project || is_unseen(stray));
            all.into_iter().map(told).collect()
        }
    }
}

/// Whether nobody can tell what lies there.
fn is_unseen(stray: &Stray) -> bool {
    matches!(stray, Stray::Unreadable(_) | Stray::TooMany)
}

/// Why a folder looks as if it held fewer skills than it may hold, in words.
pub(super) fn unreadable(root: &Root) -> Vec<String> {
    if let Some(why) = strays::unreadable(&root.path) {
        return vec![why];
    }
    let unseen = strays::strays(&root.path).into_iter().filter(|(_, stray)| is_unseen(stray));
    let words = |(path, stray): (PathBuf, Stray)| match stray {
        Stray::Unreadable(why) => why,
        other => format!("{}: {}", path.display(), words(&other, &root.origin).1),
    };
    unseen.map(words).collect()
}

/// Why something that looks like a skill is none, and what can be done.
fn words(stray: &Stray, origin: &Origin) -> (Option<&'static str>, String) {
    let (hidden, problem) = match stray {
        Stray::Unreadable(why) => return (None, why.clone()),
        Stray::TooMany => {
            return (None, format!("it holds more than {MAX_SKILLS} skills; the others are not looked at"));
        }
        Stray::Link => {
            let problem = "name the folder it leads to in `skills.external_dirs`";
            ("it is a link, which is not followed", problem.to_owned())
        }
        Stray::Top if *origin == Origin::External => {
            let problem =
                "`skills.external_dirs` names a skill itself; name the folder that its folder is in";
            ("folders with skills are looked into, and are none", problem.to_owned())
        }
        Stray::Top => ("it lies in no folder of its own", "put it into one".to_owned()),
        Stray::Spelling => ("its file has another name", format!("call its file {SKILL_FILE}")),
        Stray::NoFile => ("it has no text", format!("its {SKILL_FILE} is no file; put one in its place")),
        Stray::Deep => {
            let problem = format!("put it at most {MAX_DEPTH} folders below the one that is looked into");
            ("it lies too deep", problem)
        }
        Stray::PassedOver => {
            let why = "folders called so belong to other tools and are not looked into";
            (why, "give its folder another name".to_owned())
        }
        Stray::NoText => ("its name is not text", "give it another name".to_owned()),
    };
    (Some(hidden), problem)
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
