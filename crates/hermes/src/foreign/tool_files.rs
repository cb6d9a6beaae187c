//! Python tool files: those in `tools/` of the home, and those of the project that were accepted.
//!
//! A look compares dates. Only when something changed are files read, and only what nobody has seen
//! before is run, once, to hear what it offers; that is remembered under the digest of its content.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{join_all, select};
use hermes_core::host::Host;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_core::wait::wait;
use hermes_extend::launch::Consent;
use hermes_extend::plugins::entry::{Owner, scope};
use hermes_extend::plugins::offer::Offer;
use hermes_extend::python::scan::{Registration, registrations, variables};
use hermes_extend::python::{HostKey, Hosts, Root};
use hermes_store::foreign::{self, Seen, Stamp};
use hermes_store::{Home, Trust};

use super::learnt::Learnt;
use super::surface::TriedFile;
use super::{Changes, Kind};
use crate::world::World;

/// How long files that nobody has seen before may take to say what they offer.
const FIRST: Duration = Duration::from_secs(15);

/// Where what was learnt is kept.
const KEPT: &str = "tool-files.json";

/// A variable that switches everything foreign off.
pub(crate) const SAFE_MODE: &str = "HERMES_SAFE_MODE";

/// Tool files of the home and of the project.
pub(crate) struct ToolFiles {
    home: Home,
    hosts: Hosts,
    host: Arc<dyn Host>,
    folders: Vec<Folder>,
    state: Mutex<State>,
}

/// A folder with tool files.
struct Folder {
    path: PathBuf,
    /// Files of a project count only once they were accepted.
    is_project: bool,
}

#[derive(Default)]
struct State {
    learnt: Option<Learnt>,
    folders: Vec<Known>,
}

/// What is known of a folder.
#[derive(Default)]
struct Known {
    seen: Vec<Seen>,
    trust: Option<Stamp>,
    /// Variables that its files need, with the values they had.
    variables: Vec<(String, Option<String>)>,
    installed: Vec<Source>,
    files: Vec<File>,
}

/// A file that was read.
#[derive(Clone)]
struct File {
    seen: Seen,
    text: String,
    digest: String,
    found: Result<Vec<Registration>, String>,
    /// Variables it reads by name.
    reads: Vec<String>,
    offer: Option<Result<Offer, String>>,
}

impl ToolFiles {
    /// Those of this home and of the project that `place` is in. Nothing is looked at yet.
    pub(crate) fn new(home: Home, place: &Place, hosts: Hosts, host: Arc<dyn Host>) -> Self {
        let own = Folder { path: home.tools(), is_project: false };
        let project = Folder { path: place.cwd.join(".hermes/tools"), is_project: true };
        // Whoever stands in their own home folder has no project there.
        let folders = if project.path == own.path { vec![own] } else { vec![own, project] };
        Self { home, hosts, host, folders, state: Mutex::default() }
    }

    /// Loads a file from anywhere, and says what it offers.
    pub(crate) fn try_file(&self, path: &Path, world: &World) -> Result<(TriedFile, Scope), String> {
        let shown = path.display();
        let stamp = foreign::stamp(path).ok_or_else(|| format!("there is no file {shown}"))?;
        let seen = Seen { path: path.to_owned(), stamp };
        let mut file = File::read(&seen)?.ok_or_else(|| format!("there is no file {shown}"))?;
        let registrations = file.found.clone()?;
        if registrations.is_empty() {
            return Err(format!(
                "{shown} has no `registry.register(...)` at its top level, so nobody would find it"
            ));
        }
        let path = path.parent().unwrap_or(Path::new("/")).to_owned();
        let root =
            Root { folder: path.clone(), consent: Consent::Configured("hermes tools test".to_owned()) };
        let (folder, mut files) = (Folder { path, is_project: false }, [file.clone()]);
        // Not what was learnt before: the point is to run it.
        self.learn(&root, "test", &mut files, &mut Some(Learnt::default()), world);
        let [heard] = files;
        file.offer = heard.offer;
        let offer = match &file.offer {
            Some(Ok(offer)) => offer.clone(),
            Some(Err(why)) => return Err(why.clone()),
            None => return Err(format!("it did not say within {} s what it offers", FIRST.as_secs())),
        };
        let scope = self.scope(&folder, &root, "test", &file, world).ok_or("it offers nothing")?;
        Ok((TriedFile { registrations, offer }, scope))
    }

    fn changed(&self, folder: &Folder, known: &Known, world: &World) -> Option<(Vec<Seen>, Option<Stamp>)> {
        let safe = world.variable(SAFE_MODE).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let seen = if safe { Vec::new() } else { foreign::files(&folder.path, "py") };
        let trust = if folder.is_project && !seen.is_empty() { Trust::stamp(&self.home) } else { None };
        let same_values =
            known.variables.iter().all(|(name, value)| world.variable(name) == value.as_deref());
        (seen != known.seen || trust != known.trust || !same_values).then_some((seen, trust))
    }

    /// Reads what changed; what did not is as it was.
    fn read(&self, folder: &Folder, seen: &[Seen], before: &[File], problems: &mut Vec<String>) -> Vec<File> {
        let trust = if folder.is_project { Trust::read(&self.home) } else { Ok(Trust::default()) };
        let trust = trust.unwrap_or_else(|wrong| {
            problems.push(wrong.to_string());
            Trust::default()
        });
        let mut files = Vec::new();
        for seen in seen {
            let file = match before.iter().find(|file| file.seen == *seen) {
                Some(file) => file.clone(),
                None => match File::read(seen) {
                    Ok(Some(file)) => file,
                    Ok(None) => continue,
                    Err(why) => {
                        problems.push(why);
                        continue;
                    }
                },
            };
            let shown = seen.path.display();
            match &file.found {
                Err(why) => problems.push(format!("{shown}: {why}")),
                Ok(found) if found.is_empty() => {}
                Ok(_) if folder.is_project && !trust.accepts(&seen.path, &file.digest) => {
                    let what = if trust.knew(&seen.path) {
                        "changed since it was accepted"
                    } else {
                        "is not accepted"
                    };
                    problems.push(format!(
                        "{shown} {what}; `hermes plugins trust {shown}` accepts it as it is now"
                    ));
                }
                Ok(_) => files.push(file),
            }
        }
        files
    }

    /// Hears from files that nobody has heard of before what they offer.
    fn learn(
        &self,
        root: &Root,
        generation: &str,
        files: &mut [File],
        state: &mut Option<Learnt>,
        world: &World,
    ) {
        let learnt = state.get_or_insert_with(|| Learnt::read(&self.home, KEPT));
        for file in files.iter_mut().filter(|file| file.offer.is_none()) {
            file.offer = learnt.offer(&file.digest).map(Ok);
        }
        let new: Vec<_> = files.iter().enumerate().filter(|(_, file)| file.offer.is_none()).collect();
        if new.is_empty() {
            return;
        }
        let ask = |(at, file): (usize, &File)| {
            let key = key(root, generation, file, world);
            let subject = self.hosts.file(&key, &file.seen.path, &file.text);
            async move { (at, subject.describe().await) }
        };
        let asked: Vec<_> = new.into_iter().map(ask).collect();
        let count = asked.len();
        let heard = Arc::new(Mutex::new(Vec::with_capacity(count)));
        let told = asked.into_iter().map(|one| {
            let heard = Arc::clone(&heard);
            async move {
                let answer = one.await;
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
            }
        });
        let everybody = Box::pin(join_all(told.collect::<Vec<_>>()));
        // Whoever is late is taken back, and left out until the file changes.
        drop(wait(select(everybody, self.host.sleep(FIRST))));
        for (at, answer) in heard.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(file) = files.get_mut(at) {
                if let Ok(offer) = &answer {
                    learnt.add(&file.digest, offer);
                }
                file.offer = Some(answer);
            }
        }
        learnt.keep(&self.home, KEPT);
    }

    /// The scope of one file.
    fn scope(
        &self,
        folder: &Folder,
        root: &Root,
        generation: &str,
        file: &File,
        world: &World,
    ) -> Option<Scope> {
        let Some(Ok(offer)) = &file.offer else { return None };
        let key = key(root, generation, file, world);
        let name = file.seen.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let owner = Owner {
            subject: self.hosts.file(&key, &file.seen.path, &file.text),
            desk: Arc::clone(self.hosts.desk()),
            toolset: name,
            // The person's own file may stand in for a built-in tool; one that came with a project may not.
            may_override: !folder.is_project,
            reads: file.reads.clone(),
        };
        Some(scope(source(folder, file), &offer.tools, &owner))
    }
}

impl Kind for ToolFiles {
    fn look(&self, world: &World) -> Changes {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { learnt, folders: known } = &mut *state;
        known.resize_with(self.folders.len(), Known::default);
        let mut changes = Changes::default();
        let fresh: Vec<_> = self
            .folders
            .iter()
            .zip(known.iter())
            .map(|(folder, known)| self.changed(folder, known, world))
            .collect();
        if fresh.iter().all(Option::is_none) {
            return changes;
        }
        let mut problems = Vec::new();
        for ((folder, known), fresh) in self.folders.iter().zip(known.iter_mut()).zip(fresh) {
            let (seen, trust) = fresh.unwrap_or_else(|| (known.seen.clone(), known.trust));
            let mut files = self.read(folder, &seen, &known.files, &mut problems);
            let root = root(folder, &files);
            let generation = foreign::digest(&format!("{seen:?}"));
            self.learn(&root, &generation, &mut files, learnt, world);
            self.hosts.forget_others(&root, &generation);
            problems.extend(files.iter().flat_map(complaints));
            let scopes: Vec<(Source, Scope)> = files
                .iter()
                .filter_map(|file| {
                    Some((source(folder, file), self.scope(folder, &root, &generation, file, world)?))
                })
                .collect();
            let installed: Vec<Source> = scopes.iter().map(|(source, _)| source.clone()).collect();
            changes.removed.extend(known.installed.iter().filter(|it| !installed.contains(it)).cloned());
            changes.installed.extend(scopes.into_iter().map(|(_, scope)| scope));
            let names = files.iter().flat_map(needs);
            let variables = names.map(|name| (world.variable(&name).map(str::to_owned), name));
            let variables = variables.map(|(value, name)| (name, value)).collect();
            *known = Known { seen, trust, variables, installed, files };
        }
        changes.problems = Some(problems);
        changes
    }
}

impl File {
    /// Reads a file; nothing if it went away meanwhile.
    fn read(seen: &Seen) -> Result<Option<Self>, String> {
        let Some(text) = foreign::text(&seen.path).map_err(|wrong| wrong.to_string())? else {
            return Ok(None);
        };
        let (found, reads, digest) = (registrations(&text), variables(&text), foreign::digest(&text));
        Ok(Some(Self { seen: seen.clone(), text, digest, found, reads, offer: None }))
    }
}

/// What is wrong with a file that was read, in words.
fn complaints(file: &File) -> Vec<String> {
    let shown = file.seen.path.display();
    match &file.offer {
        None => vec![format!("{shown}: it did not say within {} s what it offers", FIRST.as_secs())],
        Some(Err(why)) => vec![format!("{shown}: {why}")],
        Some(Ok(offer)) => offer.notes.iter().map(|note| format!("{shown}: {note}")).collect(),
    }
}

/// The variables a file asks for, sorted.
fn needs(file: &File) -> Vec<String> {
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

fn key(root: &Root, generation: &str, file: &File, world: &World) -> HostKey {
    let values = needs(file).into_iter().filter_map(|name| Some((world.variable(&name)?.to_owned(), name)));
    let variables = values.map(|(value, name)| (name, value)).collect();
    HostKey { root: root.clone(), variables, generation: generation.to_owned() }
}

fn root(folder: &Folder, files: &[File]) -> Root {
    let consent = if folder.is_project {
        let digests: String = files.iter().map(|file| file.digest.as_str()).collect();
        Consent::Accepted { what: folder.path.display().to_string(), digest: foreign::digest(&digests) }
    } else {
        Consent::Home(folder.path.clone())
    };
    Root { folder: folder.path.clone(), consent }
}

/// The name a file's tools are registered under.
fn source(folder: &Folder, file: &File) -> Source {
    let name = file.seen.path.file_name().unwrap_or_default().to_string_lossy();
    Source::Plugin(if folder.is_project { format!(".hermes/tools/{name}") } else { name.into_owned() })
}
