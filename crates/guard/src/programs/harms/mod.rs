//! Tools that are known here by one thing only: the words with which they do harm.
//!
//! A line is a set of programs, the words that make them dangerous (none: always), and what
//! that is. A word of two parts stands for two neighbours; one that ends in `*` is a beginning,
//! one that begins with it an end, one with both a part.

mod machines;
mod openings;
mod packages;
mod protection;
mod services;
mod stores;
mod windows;

use crate::effect::Kind;
use crate::walk::Arg;

/// One set of programs and the words that matter.
struct Harm {
    names: &'static [&'static str],
    words: &'static [&'static str],
    kind: Kind,
    what: &'static str,
}

const fn harm(
    names: &'static [&'static str],
    words: &'static [&'static str],
    kind: Kind,
    what: &'static str,
) -> Harm {
    Harm { names, words, kind, what }
}

const STOPS: &str = "stops or takes down a service";
const ERASES: &str = "erases what is stored";
const DISK: &str = "changes what is on a disk";
const OPENS: &str = "opens this machine to the network";
const SENDS: &str = "sends local files to others";
const WEAKENS: &str = "weakens a protection of the system";
const CUTS: &str = "cuts the machine off a network";
const FLASHES: &str = "erases or replaces what a device runs";
const POWER: &str = "switches a machine off or restarts it";
const ACCOUNTS: &str = "changes accounts or who may log in";

/// The tables, one file for each kind of loss.
const TABLES: [&[Harm]; 7] = [
    machines::TABLE,
    protection::TABLE,
    services::TABLE,
    stores::TABLE,
    packages::TABLE,
    openings::TABLE,
    windows::TABLE,
];

/// Every line that is about a program.
fn lines(name: &str) -> impl Iterator<Item = &'static Harm> {
    TABLES.into_iter().flatten().filter(move |harm| harm.names.contains(&name))
}

/// Whether a program is in the list at all.
pub(super) fn knows(name: &str) -> bool {
    lines(name).next().is_some()
}

/// What a program with these words does that somebody should be asked about.
pub(super) fn of(name: &str, args: &[Arg<'_>]) -> Option<(Kind, &'static str)> {
    lines(name)
        .find(|harm| {
            harm.words.is_empty() && !args.is_empty() || harm.words.iter().any(|word| said(word, args))
        })
        .map(|harm| (harm.kind, harm.what))
}

/// Whether a word of a table is among the arguments.
pub(super) fn said(wanted: &str, args: &[Arg<'_>]) -> bool {
    let fits = |wanted: &str, text: &str| {
        if let Some(middle) = wanted.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
            return text.contains(middle);
        }
        wanted.strip_suffix('*').map_or_else(
            || wanted.strip_prefix('*').map_or(wanted == text, |end| text.ends_with(end)),
            |start| text.starts_with(start),
        )
    };
    match wanted.split_once(' ') {
        Some((first, second)) if !wanted.starts_with('*') => args
            .windows(2)
            .any(|pair| matches!(pair, [one, two] if fits(first, &one.text) && fits(second, &two.text))),
        _ => args.iter().any(|arg| fits(wanted, &arg.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn found(line: &str) -> bool {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let args: Vec<Arg<'_>> = words.map(|word| Arg { text: word.into(), span: Span::default() }).collect();
        of(name, &args).is_some()
    }

    #[test]
    fn words_that_do_harm_are_found_alone_in_pairs_and_by_their_beginning() {
        for line in [
            "lprm -",
            "radosgw-admin user rm --uid=x",
            "networksetup -setdnsservers Wi-Fi 203.0.113.5",
            "drbdadm down all",
        ] {
            assert!(found(line), "{line}");
        }
    }

    #[test]
    fn other_words_of_the_same_tools_are_not() {
        for line in ["ceph status", "radosgw-admin user list", "dmesg -T", "arp -a", "croc abc-def", "lprm"] {
            assert!(!found(line), "{line}");
        }
    }
}
