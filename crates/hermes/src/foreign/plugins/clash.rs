//! Which one counts of several plugins with one name, and what becomes of the others. Pure.
//!
//! Of one place it is the one whose folder has the name, else the first; of several places the last. A plugin
//! of the home with a say in what may run gives way to no project and no package. Whoever has a say and does
//! not get the name is heard all the same: it runs beside the other one, with its hooks alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::choose::Chosen;
use crate::foreign::find_plugins::{Found, Origin};

/// Two plugins with one name.
#[derive(Debug, Clone)]
pub(super) struct Clash {
    /// The one that has it.
    used: Arc<Chosen>,
    /// The one that does not.
    other: Arc<Chosen>,
}

impl Clash {
    /// Whether somebody has to know: whatever comes from a later place is meant to stand in for what does not,
    /// unless that has a say.
    fn is_odd(&self) -> bool {
        self.used.found.origin <= self.other.found.origin || self.other.found.is_policy()
    }

    /// As a problem, if it is one.
    pub(super) fn problem(&self) -> Option<String> {
        let (used, other) = (self.used.found.whereabouts(), self.other.found.whereabouts());
        let key = &self.used.found.key;
        if !self.is_odd() {
            return None;
        }
        Some(if self.other.aside {
            format!(
                "plugin {key}: {other} has the same name, and a say in what may run: of it only the hooks count; \
                 {used} is used for the rest"
            )
        } else {
            format!("plugin {key}: {other} has the same name and does not run; {used} does")
        })
    }

    /// What it means for this one of the two; nothing for others.
    pub(super) fn note_for(&self, found: &Found) -> Option<String> {
        let (used, other) = (&self.used.found, &self.other.found);
        if self.used.is_at(found) {
            let counts = if self.other.aside { "counts with its hooks alone" } else { "does not run" };
            return Some(format!("{} has the same name, and {counts}", other.whereabouts()));
        }
        let counts = if self.other.aside { "runs; of this one only the hooks count" } else { "runs instead" };
        self.other.is_at(found).then(|| format!("{} has the same name, and {counts}", used.whereabouts()))
    }

    /// Whether this one does not run because of it.
    pub(super) fn shuts_out(&self, found: &Found) -> bool {
        !self.other.aside && self.other.is_at(found)
    }
}

/// One plugin of each name, and those with a say beside it; and who did not get the name.
pub(super) fn settled(mut all: Vec<Arc<Chosen>>) -> (Vec<Arc<Chosen>>, Vec<Clash>) {
    all.sort_by_key(|it| it.found.origin);
    // Nearly always each has a name of its own.
    let names: BTreeSet<&str> = all.iter().map(|it| it.found.key.as_str()).collect();
    if names.len() == all.len() {
        return (all, Vec::new());
    }
    let (mut chosen, mut clashes) = (Vec::with_capacity(all.len()), Vec::new());
    for it in &all {
        let same: Vec<&Arc<Chosen>> = all.iter().filter(|other| other.found.key == it.found.key).collect();
        let Some(used) = used(&same) else { continue };
        if Arc::ptr_eq(it, used) {
            chosen.push(Arc::clone(it));
            continue;
        }
        let aside = it.found.is_policy();
        let other = if aside { Arc::new(Chosen { aside, ..Chosen::clone(it) }) } else { Arc::clone(it) };
        if aside {
            chosen.push(Arc::clone(&other));
        }
        clashes.push(Clash { used: Arc::clone(used), other });
    }
    (chosen, clashes)
}

/// Which of these, all of one name and by place, has it.
fn used<'a>(same: &[&'a Arc<Chosen>]) -> Option<&'a Arc<Chosen>> {
    let of = |origin: Origin| {
        let here = || same.iter().filter(|it| it.found.origin == origin).copied();
        here().find(|it| it.found.last() == it.found.key).or_else(|| here().next())
    };
    let own = of(Origin::User);
    let firm = own.filter(|it| it.found.is_policy());
    firm.or_else(|| of(Origin::Package)).or_else(|| of(Origin::Project)).or(own)
}

#[cfg(test)]
mod tests {
    use hermes_extend::plugins::manifest::Manifest;
    use hermes_extend::plugins::start::Code;

    use super::*;

    fn plugin(folder: &str, origin: Origin, policy: bool) -> Arc<Chosen> {
        let manifest = Ok(Manifest { name: "pol".to_owned(), policy, ..Manifest::default() });
        let code = Code::Folder(folder.into());
        let found = Found { key: "pol".to_owned(), origin, code, place: None, manifest };
        Arc::new(Chosen { found, identity: folder.to_owned(), aside: false })
    }

    /// What each that runs goes by, and who is told about.
    fn outcome(all: &[Arc<Chosen>]) -> (Vec<(String, String)>, usize) {
        let (chosen, clashes) = settled(all.to_vec());
        let runs = chosen.iter().map(|it| (it.known_as().into_owned(), it.found.whereabouts()));
        (runs.collect(), clashes.iter().filter_map(Clash::problem).count())
    }

    fn runs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(key, place)| ((*key).to_owned(), (*place).to_owned())).collect()
    }

    #[test]
    fn the_folder_with_the_name_has_it_else_the_first_and_the_other_is_told() {
        let plain = |folder| plugin(folder, Origin::User, false);

        assert_eq!(outcome(&[plain("/h/a"), plain("/h/pol")]), (runs(&[("pol", "/h/pol")]), 1));
        assert_eq!(outcome(&[plain("/h/a"), plain("/h/b")]), (runs(&[("pol", "/h/a")]), 1));
    }

    #[test]
    fn whoever_has_a_say_keeps_it_and_one_of_the_home_its_name_too() {
        let (policy, backup) =
            (plugin("/h/pol", Origin::User, true), plugin("/h/pol.bak", Origin::User, true));
        let project = plugin("/p/pol", Origin::Project, false);
        let own = plugin("/h/pol", Origin::User, false);

        let both = runs(&[("pol", "/h/pol"), ("pol (user pol.bak)", "/h/pol.bak")]);
        assert_eq!(outcome(&[policy.clone(), backup]), (both, 1));
        assert_eq!(outcome(&[policy, project.clone()]), (runs(&[("pol", "/h/pol")]), 1));
        assert_eq!(outcome(&[own, project]), (runs(&[("pol", "/p/pol")]), 0), "a later place stands in");
        let (theirs, package) =
            (plugin("/p/pol", Origin::Project, true), plugin("/s/pol", Origin::Package, false));
        let heard = runs(&[("pol (project pol)", "/p/pol"), ("pol", "/s/pol")]);
        assert_eq!(outcome(&[theirs, package]), (heard, 1));
    }
}
