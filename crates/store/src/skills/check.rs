//! Skills looked at closely, for people who ask why one is not offered or does not work.

use std::path::{Path, PathBuf};

use hermes_core::skills::{Beside, Origin};

use super::find::{self, Found};
use super::roots::Root;
use super::view::{needs, view};
use super::{HomeSkills, Inner};
use crate::beneath::Beneath;

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
        let odd = roots.iter().flat_map(|root| oddities(root, &all));
        checked.extend(odd.filter(|odd| name.is_none_or(|name| odd.name == name)));
        checked
    }
}

impl Inner {
    fn looked_at(&self, found: &Found, all: &[Found], beside: Option<&Beside>) -> Checked {
        let mut problems = found.front.problems.clone();
        let same = all.iter().filter(|other| other.skill.name == found.skill.name).count();
        if same > 1 {
            problems.push(format!("{same} skills have this name"));
        }
        if let Ok(view) = view(found, None, None) {
            problems.extend(view.threat.map(|threat| format!("it {threat}")));
        }
        let needs = needs(&found.front, self.needs_here());
        let missing = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} missing: {}", names.join(", ")))
        };
        problems.extend(missing("variables", &needs.missing_variables));
        problems.extend(missing("programs", &needs.missing_commands));
        problems.extend(missing("files", &needs.missing_files));
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

/// What stands where skills are looked for and is none: links, folders that are not there.
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
        Origin::External if !matches!(Beneath::open(&root.path), Ok(Some(_))) => {
            let problem =
                format!("`skills.external_dirs` names {}, and there is no such folder", root.path.display());
            vec![told(&root.path, None, None, &problem)]
        }
        // What nobody has accepted is the business of `trust`.
        Origin::Project => Vec::new(),
        Origin::Home | Origin::External => {
            let told = |link: PathBuf| {
                let problem = "name the folder it leads to in `skills.external_dirs`";
                told(&link, None, Some("it is a link, which is not followed"), problem)
            };
            find::links(&root.path).into_iter().map(told).collect()
        }
    }
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
