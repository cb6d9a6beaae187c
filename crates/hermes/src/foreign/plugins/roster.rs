//! The roster: the plugins that are switched on and what each of them offers, kept from one start to the
//! next in one file. A start that finds the dates of their files as they were reads nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::digest::{digest_pair, digest_text};
use hermes_core::packed::{Packer, Unpacker};
use hermes_env::project::folders;
use hermes_extend::plugins::offer::OfferedCli;
use hermes_store::Home;
use hermes_store::witness::{Kept, Witnesses, forget};

use super::choose::{Chosen, Lasting, Survey, Wanted};
use super::project::Project;
use super::record::{self, Record};
use super::{Plugins, Running};
use crate::foreign::ahead::Work;
use crate::world::World;

/// Where it is kept.
const ROSTER: &str = "plugin-roster.packed";

/// Changes with what is written.
const VERSION: u64 = 11;

/// What is to be known of all plugins together.
struct Head {
    /// Fingerprint of what the configuration said.
    wanted: u64,
    missing: Vec<String>,
    /// Where plugins of projects lie that were accepted with a say in what may run.
    policies: Vec<PathBuf>,
    /// Whether none of them has a say in what tools of others do: no hooks, no tools that stand in for others.
    is_quiet: bool,
    /// The commands that they add to the command line.
    cli: Vec<OfferedCli>,
    /// The variables that plugins asked for, and whether they were set: with others set a plugin may offer
    /// something else.
    variables: Vec<(String, bool)>,
}

impl Head {
    /// Nothing where it cannot be packed, because a folder has a name that is no text.
    fn packed(&self) -> Option<String> {
        let Self { wanted, missing, policies, is_quiet, cli, variables } = self;
        let policies: Vec<&str> = policies.iter().map(|folder| folder.to_str()).collect::<Option<_>>()?;
        let mut packer = Packer::default();
        packer.number(*wanted).flag(*is_quiet);
        packer.list(missing.iter(), |packer, name| _ = packer.text(name));
        packer.list(policies.iter(), |packer, folder| _ = packer.text(folder));
        packer.list(cli.iter(), |packer, OfferedCli { name, help, description }| {
            packer.text(name).text(help).text(description);
        });
        packer.list(variables.iter(), |packer, (name, was_set)| _ = packer.text(name).flag(*was_set));
        Some(packer.packed())
    }

    fn unpack(packed: &str) -> Option<Self> {
        let mut packed = Unpacker::new(packed);
        let (wanted, is_quiet) = (packed.number()?, packed.flag()?);
        let missing = packed.list(|packed| packed.text().map(str::to_owned))?;
        let policies = packed.list(|packed| packed.text().map(PathBuf::from))?;
        let cli = packed.list(|packed| {
            let [name, help, description] =
                [packed.text()?, packed.text()?, packed.text()?].map(str::to_owned);
            Some(OfferedCli { name, help, description })
        })?;
        let variables = packed.list(|packed| Some((packed.text()?.to_owned(), packed.flag()?)))?;
        Some(Self { wanted, missing, policies, is_quiet, cli, variables })
    }

    /// What an earlier start kept (`read` tells it), if it is for what is wanted here: nothing where the project has
    /// plugins.
    fn for_here(
        read: impl FnOnce() -> Option<String>,
        wanted: &Wanted,
        project: &Project,
        world: &World,
    ) -> Option<Self> {
        if project.is_there() {
            return None;
        }
        let as_before = |(name, was_set): &(String, bool)| world.variable(name).is_some() == *was_set;
        let head = Self::unpack(&read()?)?;
        let holds = head.wanted == fingerprint(wanted)
            && !project.has_policy(&head.policies)
            && head.variables.iter().all(as_before);
        holds.then_some(head)
    }
}

/// The commands that plugins add to the command line for whoever stands in `cwd`, as they were when a program last
/// looked at the plugins; nothing where others are wanted by now. To look at each of them only to name its commands
/// would make a help with many plugins noticeably slower.
pub(crate) fn kept_cli(home: &Home, cwd: &Path, world: &World) -> Option<Vec<OfferedCli>> {
    let wanted = Wanted::of(world);
    if wanted.enabled.is_empty() {
        return Some(Vec::new());
    }
    let read = || Kept::last_head(home, ROSTER);
    let head = Head::for_here(read, &wanted, &Project::of(home, &folders(cwd)), world)?;
    Some(head.cli)
}

/// What was kept, if it is still so.
pub(super) struct Roster {
    head: Head,
    witnesses: Witnesses,
    records: Vec<Record>,
}

impl Roster {
    fn read(home: &Home) -> Option<Self> {
        let Kept { witnesses, head, body } = Kept::read(home, ROSTER)?;
        let records = Unpacker::new(&body).list(record::unpack)?;
        Some(Self { head: Head::unpack(&head)?, witnesses, records })
    }
}

impl Plugins {
    /// How to read what an earlier start kept, beside other work; nothing where no plugin is switched on.
    pub(crate) fn look_ahead(&self, world: &World) -> Option<Work> {
        let (home, any) = (self.home.clone(), !self.lock().wanted(world).enabled.is_empty());
        any.then(|| self.ahead.work(move || Roster::read(&home)))
    }

    /// What an earlier start kept, if it is still so. What the plugins offer is then known.
    pub(super) fn read_roster(&self, wanted: &Wanted) -> Option<Lasting> {
        if wanted.enabled.is_empty() {
            return None;
        }
        let roster = self.ahead.take().unwrap_or_else(|| Roster::read(&self.home))?;
        let Roster { head, witnesses, records } = roster;
        if head.wanted != fingerprint(wanted) {
            return None;
        }
        let remember = |Record { chosen, known_by, offer }: Record| {
            self.asking.remember(known_by.as_ref().unwrap_or(&chosen.identity), offer);
            chosen
        };
        let chosen = records.into_iter().map(remember).collect();
        let Head { missing, policies, .. } = head;
        Some(Lasting { witnesses, chosen, is_kept: true, is_open: false, missing, policies, unread: None })
    }

    /// Whether it is known, without looking at each of them, that no plugin has a say in what tools of others
    /// do.
    pub(super) fn are_quiet(&self, wanted: &Wanted, world: &World) -> bool {
        let read = || Kept::head(&self.home, ROSTER);
        let head = || Head::for_here(read, wanted, &self.project, world);
        !wanted.enabled.is_empty() && head().is_some_and(|head| head.is_quiet)
    }

    /// Keeps what was found for starts to come. A roster in which somebody is missing is no use: whoever is
    /// late or failed is asked again one day, and what comes of that is kept elsewhere.
    pub(super) fn keep_roster(&self, survey: &Survey, running: &[Running], world: &World) {
        let lasting = &survey.lasting;
        if lasting.is_kept && self.asking.heard() == 0 {
            return;
        }
        let runs = |it: &Arc<Chosen>| survey.chosen.iter().any(|other| Arc::ptr_eq(it, other));
        if !lasting.chosen.iter().all(runs) {
            // The project has one of the same key, and of the other it may never have been asked.
            return;
        }
        let heard = |it: &'_ Arc<Chosen>| running.iter().find(|other| other.chosen.is(it));
        let all: Option<Vec<&Running>> = lasting.chosen.iter().map(heard).collect();
        let kept = all.filter(|_| !lasting.is_open).and_then(|all| {
            let head = head(survey, &all, world).packed()?;
            Some(Kept { witnesses: lasting.witnesses.clone(), head, body: body(&all)? })
        });
        // Without a cache a start takes longer, and that is all.
        let _ = match kept {
            Some(kept) => kept.keep(&self.home, ROSTER),
            None => forget(&self.home, ROSTER),
        };
    }
}

/// All plugins and what they offer.
fn body(all: &[&Running]) -> Option<String> {
    let (mut packer, mut done) = (Packer::default(), Some(()));
    packer.list(all.iter(), |packer, it| {
        let known_by = Some(it.known_by.as_str()).filter(|by| *by != it.chosen.identity);
        done = done.and(record::pack(packer, &it.chosen, known_by, &it.offer));
    });
    done.map(|()| packer.packed())
}

/// Changes with what the configuration says, and with what is written.
fn fingerprint(wanted: &Wanted) -> u64 {
    let Wanted { enabled, disabled } = wanted;
    let list = |sum, list: &Vec<String>| {
        let sum = digest_pair(sum, list.len() as u64);
        list.iter().fold(sum, |sum, name| digest_pair(sum, digest_text(name)))
    };
    [enabled, disabled].into_iter().fold(VERSION, list)
}

fn head(survey: &Survey, all: &[&Running], world: &World) -> Head {
    let has_a_say = |it: &&Running| {
        let policy = it.manifest().is_none_or(|manifest| manifest.policy);
        policy || !it.offer.hooks.is_empty() || it.offer.tools.iter().any(|tool| tool.overrides)
    };
    let mut asked: Vec<&String> = all.iter().flat_map(|it| it.chosen.found.requires_env()).collect();
    asked.sort();
    asked.dedup();
    Head {
        wanted: fingerprint(survey.wanted()),
        missing: survey.lasting.missing.clone(),
        policies: survey.lasting.policies.clone(),
        is_quiet: !all.iter().any(has_a_say),
        cli: all.iter().flat_map(|it| it.offer.cli.iter().cloned()).collect(),
        variables: asked.into_iter().map(|name| (name.clone(), world.variable(name).is_some())).collect(),
    }
}
