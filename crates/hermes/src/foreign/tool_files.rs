//! Python tool files: those in `tools/` of the home, and those of the project that were accepted.
//!
//! A look compares dates. Only when something changed are files read, and only what nobody has seen
//! before is run, to hear what it offers. That happens in a process apart, so that a file which hangs
//! there is in the way of nobody's calls.

mod files;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::registry::{Scope, Source};
use hermes_extend::launch::Consent;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::entry::{Owner, scope};
use hermes_extend::plugins::offer::{Offer, OfferedTool};
use hermes_extend::python::scan::Registration;
use hermes_extend::python::{HostKey, Hosts, Imports, Root};
use hermes_store::foreign::{self, Seen, Stamp};
use hermes_store::{Home, Trust};

use super::asking::{Asking, Thing, Unheard};
use super::plugins::hung::HungChecks;
use super::surface::TriedFile;
use super::{Changes, Kind, Sake};
use crate::world::World;
pub(super) use files::names;
use files::{Around, File, LeftOut, Sorted, generation, is_reserved, needs, reserved};

/// Where what was learnt is kept.
pub(super) const KEPT: &str = "tool-files.jsonl";

/// Where checks that did not answer are kept.
const HUNG: &str = "hung-file-checks.json";

/// Of which generation a file is that somebody tries.
const TEST: &str = "test";

/// How many files are asked at once; they share a process.
pub(super) const AT_ONCE: usize = 64;

/// A variable that switches everything foreign off.
const SAFE_MODE: &str = "HERMES_SAFE_MODE";

/// What is said where that is why something is missing.
pub(crate) const SAFE_WORDS: &str = "HERMES_SAFE_MODE switches tool files, plugins and MCP servers off";

/// Whether all foreign tools are switched off.
pub(crate) fn is_safe(world: &World) -> bool {
    world.variable(SAFE_MODE).is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

/// Tool files of the home and of the project.
pub(crate) struct ToolFiles {
    home: Home,
    hosts: Hosts,
    asking: Asking,
    folders: Vec<Folder>,
    /// Whether files are looked at once.
    one_moment: bool,
    state: Mutex<Vec<Known>>,
    checks: Arc<HungChecks>,
}

/// A folder with tool files.
struct Folder {
    path: PathBuf,
    /// How a project's is written from where one stands. Its files count only once they were accepted.
    project: Option<String>,
}

impl Folder {
    fn is_project(&self) -> bool {
        self.project.is_some()
    }
}

/// What is known of a folder.
#[derive(Default)]
struct Known {
    /// Whether anybody has looked.
    looked: bool,
    seen: Vec<Seen>,
    trust: Option<Stamp>,
    /// Variables that its files need, with the values they had.
    variables: Vec<(String, Option<String>)>,
    installed: Vec<Source>,
    files: Vec<File>,
    /// What its files may import of it.
    imports: Option<Imports>,
    /// Files that register tools and are left out, and why.
    left_out: Vec<LeftOut>,
    /// How much had been heard.
    heard: u64,
}

impl ToolFiles {
    /// Those of this home and of the project with these folders, the nearest first. Nothing is looked at yet;
    /// with `one_moment` they are looked at once.
    pub(crate) fn new(
        home: Home,
        project: &[PathBuf],
        hosts: Hosts,
        asking: Asking,
        one_moment: bool,
    ) -> Self {
        let own = Folder { path: home.tools(), project: None };
        let of_project = |(above, folder): (usize, &PathBuf)| {
            let project = Some(format!("{}.hermes/tools/", "../".repeat(above)));
            Folder { path: folder.join(".hermes/tools"), project }
        };
        let project = project.iter().enumerate().filter(|(_, folder)| !foreign::is_home(folder, &home));
        let folders = std::iter::once(own).chain(project.map(of_project)).collect();
        let checks = Arc::new(HungChecks::new(home.clone(), HUNG));
        Self { home, hosts, asking, folders, one_moment, state: Mutex::default(), checks }
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
        if is_reserved(path) {
            return Err(format!("{shown}: {}", reserved(path)));
        }
        let path = path.parent().unwrap_or(Path::new("/")).to_owned();
        let consent = Consent::Configured("hermes tools test".to_owned());
        let root = Root { folder: path.clone(), consent, imports: Imports::Folder };
        let folder = Folder { path, project: None };
        // Whatever was learnt before: the point is to run it.
        self.asking.ask(self.things(&root, TEST, &[&file], world)).wait();
        file.offer = self.asking.standing(&file.identity);
        let offer = match &file.offer {
            Some(Ok(offer)) => Offer::clone(offer),
            Some(Err(unheard)) => return Err(unheard.words()),
            None => return Err(Unheard::Hung.words()),
        };
        let nobody = BTreeSet::new();
        let scope = self.scope(&folder, &root, TEST, &file, &nobody, world).ok_or("it offers nothing")?;
        Ok((TriedFile { registrations, offer }, scope))
    }

    fn changed(&self, folder: &Folder, known: &Known, world: &World) -> Option<(Vec<Seen>, Option<Stamp>)> {
        let seen = match is_safe(world) {
            true => Vec::new(),
            false if self.one_moment && known.looked => known.seen.clone(),
            false => foreign::files(&folder.path, "py"),
        };
        let trust = if folder.is_project() && !seen.is_empty() { Trust::stamp(&self.home) } else { None };
        let same_values =
            known.variables.iter().all(|(name, value)| world.variable(name) == value.as_deref());
        let same = seen == known.seen && trust == known.trust && same_values;
        (!same || known.heard != self.asking.heard()).then_some((seen, trust))
    }

    /// Reads what changed; what did not is as it was.
    fn read(&self, folder: &Folder, seen: &[Seen], before: &[File], world: &World) -> Sorted {
        let mut sorted = Sorted::default();
        let trust = if folder.is_project() { Trust::read(&self.home) } else { Ok(Trust::default()) };
        let trust = trust.unwrap_or_else(|wrong| {
            sorted.problems.push(wrong.to_string());
            Trust::default()
        });
        let around = Around::of(folder, seen);
        for seen in seen {
            let file = match before.iter().find(|file| file.seen == *seen) {
                Some(file) => file.clone(),
                None => match File::read(seen) {
                    Ok(Some(file)) => file,
                    Ok(None) => continue,
                    Err(why) => {
                        sorted.problems.push(why);
                        continue;
                    }
                },
            };
            let identity = around.identity(&file, world);
            sorted.add(File { identity, ..file }, folder, &trust);
        }
        sorted
    }

    /// These files, to be asked what they offer.
    fn things(&self, root: &Root, generation: &str, files: &[&File], world: &World) -> Vec<Thing> {
        let subject = |file: &File, process: &str| {
            let key = key(root, &format!("{generation} {process}"), file, world);
            self.hosts.file(&key, &file.seen.path, &file.text)
        };
        let thing = |file: &&File| Thing {
            digest: file.identity.clone(),
            subject: subject(file, "asked"),
            alone: (files.len() > 1).then(|| subject(file, &file.identity)),
        };
        files.iter().map(thing).collect()
    }

    /// The files that could not be heard and that are meant, to be asked again.
    pub(crate) fn again(
        &self,
        world: &World,
        meant: impl Fn(&[Registration], &Unheard) -> bool,
    ) -> Vec<Thing> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut things = Vec::new();
        for (folder, known) in self.folders.iter().zip(state.iter()) {
            let is_meant = |file: &&File| match (&file.offer, &file.found) {
                (Some(Err(unheard)), Ok(found)) => meant(found, unheard),
                (None, Ok(found)) => meant(found, &Unheard::Late),
                _ => false,
            };
            let files: Vec<&File> = known.files.iter().filter(is_meant).collect();
            let imports = known.imports.clone().unwrap_or(Imports::Only(Arc::default()));
            let (root, generation) = (root(folder, &known.files, imports), generation(&known.seen));
            things.extend(self.things(&root, &generation, &files, world));
            self.hosts.forget_others(&root, &generation);
        }
        things
    }

    /// Where files ask for more.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        self.hosts.desk()
    }

    /// Where these are asked.
    pub(crate) fn asking(&self) -> &Asking {
        &self.asking
    }

    /// Why a tool that a file registers is not there.
    pub(crate) fn why_missing(&self, tool: &str) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let named = |file: &&File| names(file.found.as_deref().unwrap_or_default(), tool);
        let files = state.iter().flat_map(|known| known.files.iter());
        let read = files.filter(named).flat_map(complaints);
        // What a file registers that is not even Python cannot be told: it may be this.
        let may_have = |it: &&LeftOut| it.found.is_empty() || names(&it.found, tool);
        let left_out = state.iter().flat_map(|known| known.left_out.iter()).filter(may_have);
        read.chain(left_out.map(|it| it.why.clone())).collect()
    }

    /// The scope of one file, without the tools that are another file's.
    fn scope(
        &self,
        folder: &Folder,
        root: &Root,
        generation: &str,
        file: &File,
        others: &BTreeSet<String>,
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
            may_override: !folder.is_project(),
            reads: file.reads.clone(),
            // Whoever tries a file wants to know what its check says now.
            checks: (generation != TEST).then(|| (self.checks.clone() as _, file.identity.clone())),
        };
        let is_own = |tool: &&OfferedTool| !others.contains(&tool.name);
        let tools: Vec<OfferedTool> = offer.tools.iter().filter(is_own).cloned().collect();
        Some(scope(source(folder, file), &tools, &owner))
    }
}

impl Kind for ToolFiles {
    fn look(&self, world: &World, sake: Sake) -> Changes {
        // Nobody's file may have a tool with the name of a server's.
        if sake == Sake::ServersTool {
            return Changes::default();
        }
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        known.resize_with(self.folders.len(), Known::default);
        let mut changes = Changes::default();
        let fresh: Vec<_> = self
            .folders
            .iter()
            .zip(known.iter())
            .map(|(folder, known)| self.changed(folder, known, world))
            .collect();
        if fresh.iter().all(Option::is_none) {
            known.iter_mut().for_each(|known| known.looked = true);
            return changes;
        }
        let mut problems = Vec::new();
        let mut claimed = BTreeSet::new();
        for ((folder, known), fresh) in self.folders.iter().zip(known.iter_mut()).zip(fresh) {
            let (seen, trust) = fresh.unwrap_or_else(|| (known.seen.clone(), known.trust));
            let Sorted { mut files, left_out, problems: wrong, accepted } =
                self.read(folder, &seen, &known.files, world);
            problems.extend(wrong);
            problems.extend(left_out.iter().map(|it| it.why.clone()));
            let imports =
                if folder.is_project() { Imports::Only(Arc::new(accepted)) } else { Imports::Folder };
            let root = root(folder, &files, imports.clone());
            let generation = generation(&seen);
            let heard = self.asking.heard();
            for file in &mut files {
                file.offer = self.asking.standing(&file.identity);
            }
            let is_new = |file: &&File| file.offer.is_none() && !self.asking.is_under_way(&file.identity);
            let new: Vec<&File> = files.iter().filter(is_new).collect();
            if !new.is_empty() {
                changes.pending.push(self.asking.ask(self.things(&root, &generation, &new, world)));
            }
            self.hosts.forget_others(&root, &generation);
            problems.extend(files.iter().flat_map(complaints));
            let scopes: Vec<(Source, Scope)> = files
                .iter()
                .filter_map(|file| {
                    claimed.extend(claims(file));
                    let scope = self.scope(folder, &root, &generation, file, &claimed, world)?;
                    Some((source(folder, file), scope))
                })
                .collect();
            let installed: Vec<Source> = scopes.iter().map(|(source, _)| source.clone()).collect();
            changes.removed.extend(known.installed.iter().filter(|it| !installed.contains(it)).cloned());
            changes.installed.extend(scopes.into_iter().map(|(_, scope)| scope));
            let names = files.iter().flat_map(needs);
            let variables = names.map(|name| (world.variable(&name).map(str::to_owned), name));
            let variables = variables.map(|(value, name)| (name, value)).collect();
            let imports = Some(imports);
            *known =
                Known { looked: true, seen, trust, variables, installed, files, imports, left_out, heard };
        }
        changes.problems = Some(problems);
        changes
    }
}

/// The tools that a file registers which has not said yet what it offers. A file behind it that has tools of the same
/// names does not get them meanwhile: whose tool runs would go by who answers first.
fn claims(file: &File) -> impl Iterator<Item = String> {
    let is_late = matches!(file.offer, None | Some(Err(Unheard::Late)));
    let found = file.found.iter().flatten().filter(move |_| is_late);
    found.filter_map(|registration| registration.name.clone())
}

/// What is wrong with a file that was read, in words.
fn complaints(file: &File) -> Vec<String> {
    let shown = file.seen.path.display();
    match &file.offer {
        None => vec![format!("{shown}: {}", Unheard::Late.words())],
        Some(Err(unheard @ Unheard::Failed(_))) => vec![format!("{shown}: {}", unheard.words())],
        Some(Err(unheard)) => {
            vec![format!("{shown}: {}; `hermes tools test {shown}` waits for it", unheard.words())]
        }
        Some(Ok(offer)) => offer.notes.iter().map(|note| format!("{shown}: {note}")).collect(),
    }
}

fn key(root: &Root, generation: &str, file: &File, world: &World) -> HostKey {
    let values = needs(file).into_iter().filter_map(|name| Some((world.variable(&name)?.to_owned(), name)));
    let variables = values.map(|(value, name)| (name, value)).collect();
    HostKey { root: root.clone(), variables, generation: generation.to_owned() }
}

fn root(folder: &Folder, files: &[File], imports: Imports) -> Root {
    let consent = if folder.is_project() {
        let digests: String = files.iter().map(|file| file.digest.as_str()).collect();
        Consent::Accepted { what: folder.path.display().to_string(), digest: foreign::digest(&digests) }
    } else {
        Consent::Home(folder.path.clone())
    };
    Root { folder: folder.path.clone(), consent, imports }
}

/// The name a file's tools are registered under.
fn source(folder: &Folder, file: &File) -> Source {
    let name = file.seen.path.file_name().unwrap_or_default().to_string_lossy();
    Source::Plugin(format!("{}{name}", folder.project.as_deref().unwrap_or_default()))
}
