//! Long lists of hosts, as people share them: looked up by name, and every entry knows where it stands.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::host::{self, Host};
use super::hosts::HostRule;

/// Names that lists in the form of a hosts file carry for the machine itself; they block nothing.
const OF_THE_MACHINE: [&str; 12] = [
    "0.0.0.0",
    "broadcasthost",
    "ip6-allhosts",
    "ip6-allnodes",
    "ip6-allrouters",
    "ip6-localhost",
    "ip6-localnet",
    "ip6-loopback",
    "ip6-mcastprefix",
    "local",
    "localhost",
    "localhost.localdomain",
];

/// Hosts, each with the place where it is listed. Looking one up costs the same for ten and for a million.
/// Clones share what they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostList(Arc<Entries>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Entries {
    names: HashMap<String, Entry>,
    addresses: HashMap<IpAddr, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    only_below: bool,
    place: Place,
}

/// Where an entry stands: a file or a key of the settings, and its line where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file or the key.
    pub name: Arc<str>,
    /// The line, counted from 1.
    pub line: Option<usize>,
}

/// The entry that a host falls under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The entry as it is written: `example.com`, `*.example.com`, an address.
    pub rule: String,
    /// Where it stands.
    pub place: Place,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {}", self.rule, self.place.name)?;
        self.place.line.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// A line that is no host, so that nobody can say what it was to block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no host: {text:?}")]
pub struct BadLine {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl HostList {
    /// Adds an entry. Of two for one host the wider one stays.
    pub fn insert(&mut self, rule: HostRule, place: Place) {
        let entries = Arc::make_mut(&mut self.0);
        let (host, only_below) = rule.into_parts();
        let entry = Entry { only_below, place };
        match host {
            Host::Address(address) => drop(entries.addresses.insert(address.to_canonical(), entry)),
            Host::Name(name) => {
                let name = host::written_out(&name);
                if !only_below || !entries.names.contains_key(&name) {
                    entries.names.insert(name, entry);
                }
            }
        }
    }

    /// Adds what a shared list says, one host a line: `example.com` and everything below it,
    /// `*.example.com` only what is below, `#` begins a comment, and lines of a hosts file
    /// (`0.0.0.0 example.com`) count too. Nothing is added when a line cannot be understood.
    pub fn insert_text(&mut self, text: &str, name: &Arc<str>) -> Result<(), BadLine> {
        let rules = read(text)?;
        for (line, rule) in rules {
            self.insert(rule, Place { name: Arc::clone(name), line: Some(line) });
        }
        Ok(())
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.0.names.is_empty() && self.0.addresses.is_empty()
    }

    /// The entry that a host falls under, the nearest one first.
    pub fn find(&self, host: &Host) -> Option<Listed> {
        if self.is_empty() {
            return None;
        }
        let name = match host {
            Host::Address(address) => {
                let entry = self.0.addresses.get(&address.to_canonical())?;
                return Some(Listed { rule: host.to_string(), place: entry.place.clone() });
            }
            Host::Name(name) => host::written_out(name),
        };
        let mut above = Some(name.as_str());
        while let Some(part) = above {
            let entry = self.0.names.get(part).filter(|entry| !entry.only_below || part.len() < name.len());
            if let Some(entry) = entry {
                let star = if entry.only_below { "*." } else { "" };
                return Some(Listed { rule: format!("{star}{part}"), place: entry.place.clone() });
            }
            above = part.split_once('.').map(|(_, rest)| rest);
        }
        None
    }
}

/// The entries of a shared list, with their lines.
fn read(text: &str) -> Result<Vec<(usize, HostRule)>, BadLine> {
    let mut rules = Vec::new();
    for (line, written) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let words = written.split('#').next().unwrap_or_default().trim();
        let mut words = words.split_whitespace();
        let Some(first) = words.next() else { continue };
        let bad = || BadLine { line, text: written.trim().chars().take(80).collect() };
        let names: Vec<&str> = words.collect();
        if names.is_empty() {
            rules.push((line, HostRule::parse(first).ok_or_else(bad)?));
        } else if first.parse::<IpAddr>().is_err() {
            return Err(bad());
        }
        for name in names.into_iter().filter(|name| !OF_THE_MACHINE.contains(name)) {
            rules.push((line, HostRule::parse(name).ok_or_else(bad)?));
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> HostList {
        let mut list = HostList::default();
        list.insert_text(text, &"ads.txt".into()).unwrap();
        list
    }

    fn found(list: &HostList, name: &str) -> Option<String> {
        list.find(&host::parse(name).unwrap()).map(|listed| listed.to_string())
    }

    #[test]
    fn a_host_is_found_by_its_name_and_by_those_above_it() {
        let list = list("# ads\nads.example  # and all below\n\n*.tracker.example\n10.0.0.7\n::5\n");

        assert_eq!(found(&list, "[::5]").as_deref(), Some("`[::5]` in ads.txt, line 6"));
        assert_eq!(found(&list, "ads.example").as_deref(), Some("`ads.example` in ads.txt, line 2"));
        assert_eq!(found(&list, "a.b.ADS.example.").as_deref(), Some("`ads.example` in ads.txt, line 2"));
        assert_eq!(
            found(&list, "x.tracker.example").as_deref(),
            Some("`*.tracker.example` in ads.txt, line 4")
        );
        assert_eq!(found(&list, "10.7").as_deref(), Some("`10.0.0.7` in ads.txt, line 5"));
        for other in ["tracker.example", "bads.example", "example", "10.0.0.8"] {
            assert_eq!(found(&list, other), None, "{other}");
        }
    }

    #[test]
    fn the_wider_of_two_entries_stays_whichever_comes_first() {
        for text in ["*.a.example\na.example", "a.example\n*.a.example"] {
            assert!(found(&list(text), "a.example").is_some(), "{text}");
        }
    }

    #[test]
    fn lines_of_a_hosts_file_count() {
        let list =
            list("127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback\n0.0.0.0 ads.example b.example\n");

        assert!(found(&list, "ads.example").is_some() && found(&list, "b.example").is_some());
        assert_eq!(found(&list, "localhost"), None);
    }

    #[test]
    fn a_line_that_is_no_host_is_named_and_nothing_is_added() {
        let mut list = HostList::default();

        for bad in ["ok.example\n||ads^", "two words", "http://", "a..b"] {
            let wrong = list.insert_text(bad, &"x".into()).unwrap_err();
            assert!(wrong.to_string().starts_with("line "), "{wrong}");
        }
        assert!(list.is_empty());
    }

    proptest! {
        #[test]
        fn a_long_list_answers_as_its_rules_one_by_one(
            rules in proptest::collection::vec("(\\*\\.)?([ab]\\.){0,2}(c|d)", 0..8),
            name in "([ab]\\.){0,3}(c|d)",
        ) {
            let host = host::parse(&name).unwrap();
            let one_by_one = rules.iter().any(|rule| HostRule::parse(rule).unwrap().matches(&host));

            prop_assert_eq!(list(&rules.join("\n")).find(&host).is_some(), one_by_one);
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text in "\\PC{0,200}") {
            let _ = HostList::default().insert_text(&text, &"x".into());
        }
    }
}
