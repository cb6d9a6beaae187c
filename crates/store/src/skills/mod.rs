//! Skills on disk: those of the home, which can be changed, and those of the project, of folders
//! named in the configuration and of plugins, which are read.
//!
//! | file | what |
//! |---|---|
//! | `roots.rs` | where skills are looked for |
//! | `find.rs` | folders with a `SKILL.md` below a few roots |
//! | `facts.rs` | single facts, in the shapes that people write them in |
//! | `front.rs` | the facts at the top of a `SKILL.md` |
//! | `names.rs` | which names and paths there can be |
//! | `place.rs` | where a new skill goes, and what may stand there |
//! | `view.rs` | what a skill says and what belongs to it |
//! | `change.rs` | changes that a model makes |
//! | `check.rs` | skills looked at closely, for people |
//! | `install.rs` | what people do from the command line |
//! | `replace.rs` | skills taken out of their places, alone or for another one |
//! | `strays.rs` | what looks like a skill and is none |
//! | `trust.rs` | which skills of projects were accepted |
//! | `usage.rs` | how often a skill was of use |
//!
//! Links inside of these folders are never followed. Nothing is read before it is asked for.

mod change;
mod check;
mod facts;
mod find;
mod front;
mod install;
mod names;
mod place;
mod replace;
mod roots;
mod strays;
#[cfg(test)]
mod tests;
mod trust;
mod usage;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use hermes_core::gate::Probe;
use hermes_core::host::{Host, blocking};
use hermes_core::permit::{Permit, Write};
use hermes_core::skills::{
    Beside, Changed, LinkedFile, Origin, Skill, SkillChange, SkillError, Skills, View,
};
use hermes_core::suggest::suggest;

use crate::config::SkillsSettings;
use crate::disk;
use crate::home::Home;
use crate::sessions::Clock;
use find::{Found, Known};
use roots::Root;
use trust::Trusted;

pub use check::Checked;
pub use install::Installed;
pub use roots::{PluginSkill, external_folders};
pub use trust::Accepted;

/// The skills that can be seen from a home and a place.
#[derive(Clone)]
pub struct HomeSkills {
    inner: Arc<Inner>,
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
}

/// Which skills are for this machine and this door.
#[derive(Debug, Clone)]
pub struct Here {
    /// The operating system, as skills name it: `linux`, `macos`, `windows`.
    pub system: &'static str,
    /// The door that the model is reached by (`cli`, `telegram`, …).
    pub platform: String,
    /// The folders of the project that the session stands in: where it does, and those above that belong to
    /// the project.
    pub project: Vec<PathBuf>,
    /// Folders with skills beside the home's own; [`external_folders`] makes them of the settings.
    pub external: Vec<PathBuf>,
}

/// Says which skills plugins bring at this moment.
pub type AskPlugins = Arc<dyn Fn() -> Vec<PluginSkill> + Send + Sync>;

struct Inner {
    /// The folder of the home's own skills.
    home: PathBuf,
    /// The home itself.
    state: PathBuf,
    settings: SkillsSettings,
    here: Here,
    known: Known,
    plugins: OnceLock<AskPlugins>,
    probe: OnceLock<Arc<dyn Probe>>,
}

impl HomeSkills {
    /// The skills of a home, on the threads of `host`.
    pub fn new(
        home: &Home,
        settings: &SkillsSettings,
        here: Here,
        host: &Arc<dyn Host>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let inner = Inner {
            home: home.skills(),
            state: home.path().to_path_buf(),
            settings: settings.clone(),
            here,
            known: Known::default(),
            plugins: OnceLock::new(),
            probe: OnceLock::new(),
        };
        Self { inner: Arc::new(inner), host: Arc::clone(host), clock: Arc::clone(clock) }
    }

    /// Who is asked whether variables are set and programs installed; the first one counts.
    pub fn look_through(&self, probe: Arc<dyn Probe>) {
        // Set once, when everything is put together.
        let _ = self.inner.probe.set(probe);
    }

    /// Who is asked which skills plugins bring, whenever skills are looked for; the first one counts.
    pub fn ask_plugins(&self, ask: AskPlugins) {
        // Set once, when everything is put together.
        let _ = self.inner.plugins.set(ask);
    }

    /// The skills that can be used, for code that just waits.
    pub fn list_now(&self, beside: Option<&Beside>) -> Vec<Skill> {
        self.inner.list(beside)
    }

    /// What the categories of skills are about, for code that just waits.
    pub fn categories_now(&self) -> BTreeMap<String, String> {
        self.inner.categories()
    }

    /// What a skill says, for code that just waits.
    pub fn view_now(&self, name: &str, session: &str) -> Result<View, SkillError> {
        self.inner.view(name, session)
    }

    /// What is said of a name that no skill has, with those that are like it.
    pub fn unknown(&self, name: &str) -> SkillError {
        self.inner.unknown(name)
    }

    /// Skills of the project that nobody has accepted as they are, for code that just waits.
    pub fn unaccepted(&self) -> Vec<String> {
        let found = self.inner.found().into_iter().filter(|found| found.untrusted);
        found.map(|found| found.skill.name).collect()
    }

    /// Folders where skills should be that are there and cannot be read, or hold more skills than are looked at, in
    /// words; for code that just waits.
    pub fn unreadable(&self) -> Vec<String> {
        let roots = self.inner.folders();
        let words = roots.iter().flat_map(check::unreadable);
        words.collect()
    }

    /// Files of the home that skills which can be used say they need, for code that just waits.
    pub fn needed_files(&self) -> Vec<String> {
        let found = self.inner.found().into_iter().filter(|found| self.inner.hidden(found).is_none());
        let mut files: Vec<String> = found.flat_map(|found| found.front.credential_files.clone()).collect();
        files.sort();
        files.dedup();
        files
    }

    /// A file of a skill, for code that just waits.
    pub fn file_now(&self, name: &str, file: &str) -> Result<LinkedFile, SkillError> {
        self.inner.usable(name).and_then(|found| view::file(&found, file))
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, SkillError> + Send + 'static,
    ) -> Result<T, SkillError> {
        let inner = Arc::clone(&self.inner);
        let done = blocking(&self.host, move || work(&inner)).await;
        done.map_err(|lost| SkillError::Store(lost.to_string()))?
    }
}

impl Inner {
    fn probe(&self) -> Option<&dyn Probe> {
        self.probe.get().map(AsRef::as_ref)
    }

    /// Every skill there is, whether or not it can be used.
    fn found(&self) -> Vec<Found> {
        self.below(&self.roots())
    }

    /// The home's own skills: nobody else is asked.
    fn own_skills(&self) -> Vec<Found> {
        let mut roots = self.folders();
        roots.retain(|root| root.origin == Origin::Home);
        self.below(&roots)
    }

    /// What is found below these; a skill that two of them lead to belongs to the first.
    fn below(&self, roots: &[Root]) -> Vec<Found> {
        replace::settle(&self.home);
        let trusted = Trusted::read(&self.home);
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for root in roots {
            let found = find::below(root, &self.known, &trusted);
            // No link is followed below a root: what is real there is real from the root on.
            let real = if found.is_empty() { PathBuf::new() } else { disk::real(&root.path) };
            let of_plugin = matches!(root.origin, Origin::Plugin(_));
            all.extend(found.into_iter().filter(|found| of_plugin || seen.insert(real.join(&found.folder))));
        }
        all
    }

    /// What categories are about; what the home says of one counts before what others do.
    fn categories(&self) -> BTreeMap<String, String> {
        let trusted = Trusted::read(&self.home);
        let roots = self.folders().into_iter();
        let mut all = BTreeMap::new();
        for (category, about) in roots.flat_map(|root| find::categories(&root, &self.known, &trusted)) {
            all.entry(category).or_insert(about);
        }
        all
    }

    /// Why a model does not see a skill, if so.
    fn hidden(&self, found: &Found) -> Option<String> {
        let front = &found.front;
        if found.untrusted {
            return Some("nobody has accepted it: `hermes skills trust` does".to_owned());
        }
        if self.is_disabled(found) {
            return Some("it is switched off in the configuration".to_owned());
        }
        if !self.is_for_this_system(found) {
            return Some(format!("it is only for {}", front.platforms.join(", ")));
        }
        if !front.unclear.is_empty() {
            let unclear = front.unclear.join("`, `");
            return Some(format!("nobody can tell where it is for: `{unclear}` cannot be understood"));
        }
        let there = |environment: &String| {
            self.probe().is_none_or(|probe| match environment.as_str() {
                "kanban" => probe.env("HERMES_KANBAN_TASK"),
                "docker" => probe.file("/.dockerenv") || probe.file("/run/.containerenv"),
                "s6" => probe.file("/run/s6"),
                _ => false,
            })
        };
        if !front.environments.is_empty() && !front.environments.iter().any(there) {
            return Some(format!("it is only for {}", front.environments.join(", ")));
        }
        None
    }

    /// Who is asked about what skills need, and where their files are.
    fn needs_here(&self) -> Option<(&dyn Probe, &Path)> {
        self.probe().map(|probe| (probe, self.state.as_path()))
    }

    fn is_disabled(&self, found: &Found) -> bool {
        let here = self.settings.platform_disabled.get(&self.here.platform);
        let mut names = self.settings.disabled.iter().chain(here.into_iter().flatten());
        names.any(|name| found.answers_to(name))
    }

    fn is_for_this_system(&self, found: &Found) -> bool {
        let named = &found.front.platforms;
        named.is_empty()
            || named
                .iter()
                .any(|name| name == self.here.system || (name == "darwin" && self.here.system == "macos"))
    }

    fn list(&self, beside: Option<&Beside>) -> Vec<Skill> {
        let shown = |found: &Found| {
            self.hidden(found).is_none() && beside.is_none_or(|beside| found.skill.conditions.fit(beside))
        };
        let mut skills: Vec<Skill> =
            self.found().into_iter().filter(shown).map(|found| found.skill).collect();
        skills.sort_by(|a, b| (&a.category, &a.name, &a.origin).cmp(&(&b.category, &b.name, &b.origin)));
        skills
    }

    /// The one skill that a name means, whether or not it can be used.
    fn one(&self, name: &str) -> Result<Found, SkillError> {
        let mut found: Vec<Found> = self.found();
        found.retain(|found| found.answers_to(name) && !found.untrusted);
        match found.len() {
            0 => Err(self.unknown(name)),
            1 => found.pop().ok_or_else(|| self.unknown(name)),
            _ => {
                let found = found.iter().map(|found| found.place().display().to_string()).collect();
                Err(SkillError::Ambiguous { name: name.to_owned(), found })
            }
        }
    }

    /// The same, if it can be used.
    fn usable(&self, name: &str) -> Result<Found, SkillError> {
        let found = self.one(name)?;
        if self.is_disabled(&found) {
            return Err(SkillError::Disabled(found.skill.name));
        }
        if found.front.unclear.iter().any(|key| key == "platforms") {
            return Err(SkillError::Invalid(format!(
                "nobody can tell which systems the skill `{}` is for: its `platforms` cannot be understood",
                found.skill.name
            )));
        }
        if !self.is_for_this_system(&found) {
            let systems = found.front.platforms.clone();
            return Err(SkillError::Unsupported { name: found.skill.name, systems });
        }
        Ok(found)
    }

    fn unknown(&self, name: &str) -> SkillError {
        let names: Vec<String> = self.list(None).into_iter().map(|skill| skill.name).collect();
        let near =
            suggest(name, names.iter().map(String::as_str), 3).into_iter().map(ToOwned::to_owned).collect();
        SkillError::Unknown { name: name.to_owned(), near }
    }

    fn view(&self, name: &str, session: &str) -> Result<View, SkillError> {
        let filled = self.settings.template_vars.then_some(session);
        let found = self.usable(name)?;
        let mut view = view::view(&found, filled, self.needs_here())?;
        let digest = || view::opened(&found).ok().and_then(|root| trust::digest(&root, &found.folder).ok());
        view.needs.of_agent =
            found.skill.origin == Origin::Home && usage::is_of_agent(&self.home, &found.skill.name, digest);
        Ok(view)
    }
}

impl Skills for HomeSkills {
    fn list(&self, beside: Option<Beside>) -> BoxFuture<'_, Result<Vec<Skill>, SkillError>> {
        Box::pin(self.with(move |inner| Ok(inner.list(beside.as_ref()))))
    }

    fn categories(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, SkillError>> {
        Box::pin(self.with(|inner| Ok(inner.categories())))
    }

    fn view<'a>(&'a self, name: &'a str, session: &'a str) -> BoxFuture<'a, Result<View, SkillError>> {
        let (name, session, now) = (name.to_owned(), session.to_owned(), self.clock.now());
        Box::pin(self.with(move |inner| {
            let view = inner.view(&name, &session)?;
            usage::viewed(&inner.home, &view.skill.name, now);
            Ok(view)
        }))
    }

    fn file<'a>(&'a self, name: &'a str, file: &'a str) -> BoxFuture<'a, Result<LinkedFile, SkillError>> {
        let (name, file) = (name.to_owned(), file.to_owned());
        Box::pin(self.with(move |inner| view::file(&inner.usable(&name)?, &file)))
    }

    fn folder(&self) -> PathBuf {
        self.inner.home.clone()
    }

    fn given(&self, folder: &Path) -> Option<PathBuf> {
        self.inner.given(folder)
    }

    fn target(&self, name: &str, category: Option<&str>) -> PathBuf {
        let below = self.inner.target(name, category);
        if below == Path::new("") { self.inner.home.clone() } else { self.inner.home.join(below) }
    }

    fn change(
        &self,
        permit: Permit<Write>,
        change: SkillChange,
    ) -> BoxFuture<'_, Result<Changed, SkillError>> {
        let now = self.clock.now();
        Box::pin(self.with(move |inner| inner.change(permit.path(), &change, now)))
    }
}
