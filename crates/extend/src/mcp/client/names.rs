//! What tools of servers are called: `mcp__<server>__<tool>`.
//!
//! Everything but letters, digits and `_` becomes `_`. Names that come out the same, or too long for
//! a model's provider, get a few letters of their fingerprint, so that no tool is lost and each keeps
//! its name from start to start.

use std::collections::BTreeMap;

use hermes_core::names::OF_SERVERS;

use crate::digest::digest;

/// The longest name that providers take.
const LONGEST: usize = 64;

/// Letters of a fingerprint that keep two names apart.
const APART: usize = 6;

/// Only letters, digits and `_`.
pub(crate) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// What stands for each server in the names of its tools, in the order given, so that no tool of one
/// is called like one of another. It depends on the names of the servers alone: what is known of them,
/// and when, changes nothing.
pub(crate) fn apart<'a>(servers: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let servers: Vec<(&str, String)> =
        servers.into_iter().map(|server| (server, format!("{}__", plain(server)))).collect();
    // Of two that are alike the first by name stays as it is; of two where one begins like the other, the
    // shorter one.
    let alike = |(server, own): &(&str, String)| {
        servers.iter().any(|(other, theirs)| {
            other != server && own.starts_with(theirs) && (own != theirs || other < server)
        })
    };
    let called = |named: &(&str, String)| {
        let called = plain(named.0);
        if alike(named) { format!("{called}_{}", mark(named.0)) } else { called }
    };
    servers.iter().map(called).collect()
}

fn mark(text: &str) -> String {
    digest(text.as_bytes()).chars().take(APART).collect()
}

/// The names of a server's tools, in the order given. `called` is what stands for it in them.
pub(crate) fn names<'a>(server: &str, called: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let tools: Vec<&str> = tools.into_iter().collect();
    let wished: Vec<String> =
        tools.iter().map(|tool| format!("{OF_SERVERS}{called}__{}", plain(tool))).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &wished {
        *count.entry(name).or_default() += 1;
    }
    let fits = |name: &str| name.len() <= LONGEST && count.get(name) == Some(&1);
    let apart = |(name, tool): (&String, &&str)| {
        if fits(name) {
            return name.clone();
        }
        let mark = mark(&format!("{server}\n{tool}"));
        let kept: String = name.chars().take(LONGEST - APART - 1).collect();
        format!("{kept}_{mark}")
    };
    wished.iter().zip(&tools).map(apart).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        super::names(server, &plain(server), tools)
    }

    #[test]
    fn what_providers_do_not_take_becomes_an_underscore() {
        assert_eq!(
            names("my.server", ["read-file", "Größe"]),
            ["mcp__my_server__read_file", "mcp__my_server__Gr__e"]
        );
    }

    #[test]
    fn two_tools_that_would_share_a_name_both_stay() {
        let both = names("s", ["foo-bar", "foo_bar", "x"]);

        assert_ne!(both[0], both[1]);
        assert!(both[0].starts_with("mcp__s__foo_bar_") && both[1].starts_with("mcp__s__foo_bar_"));
        assert_eq!(both[2], "mcp__s__x");
        assert_eq!(names("s", ["foo_bar", "foo-bar"])[0], both[1]);
    }

    #[test]
    fn servers_whose_tools_could_share_a_name_are_told_apart() {
        let called = apart(["my_server", "other", "my-server", "aa__bb", "aa", "aa_", "a"]);

        assert!(called[0].starts_with("my_server_") && called[0].len() == 16, "{}", called[0]);
        assert_eq!(
            [called[1].as_str(), &called[2], &called[4], &called[6]],
            ["other", "my_server", "aa", "a"]
        );
        assert!(called[3].starts_with("aa__bb_") && called[5].starts_with("aa__"), "{called:?}");
        assert_eq!(apart(["my-server", "my_server"])[1], called[0]);
    }

    proptest! {
        #[test]
        fn every_name_can_be_sent_and_differs(server in ".{1,60}", tools in prop::collection::btree_set(".{1,80}", 0..8)) {
            let made = names(&server, tools.iter().map(String::as_str));

            let different: std::collections::BTreeSet<_> = made.iter().collect();
            prop_assert_eq!(different.len(), tools.len());
            for name in &made {
                prop_assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{}", name);
            }
        }
    }
}
