//! The danger rules: one file each, with the commands it must catch and must leave alone.
//!
//! A rule looks at effects, never at spelling. The build lists this folder; the name of a rule
//! is the name of its file.

use crate::effect::Effect;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

gathered! {
    /// Every built-in rule, by name.
    pub static RULES: [&Rule] = RULE;
}

/// How hard a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// Somebody has to say yes.
    Ask,
    /// Never allowed, in any mode, by any grant.
    Never,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name: the file it is in.
    pub name: &'static str,
    /// What it is about, for people.
    pub says: &'static str,
    /// Names that allow-lists written for the original know it by.
    pub keys: &'static [&'static str],
    /// How hard it holds.
    pub hold: Hold,
    /// Whether an effect falls under it.
    pub matches: fn(&Effect) -> bool,
    /// Commands it must catch.
    pub catches: &'static [&'static str],
    /// Commands it must leave alone.
    pub spares: &'static [&'static str],
}

impl Rule {
    /// A rule to fill in, under the name of its file: `Rule { says: …, ..Rule::new("fork_bomb") }`.
    const fn new(name: &'static str) -> Self {
        Self { name, says: "", keys: &[], hold: Hold::Ask, matches: |_| false, catches: &[], spares: &[] }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// The rule an effect falls under: a never rule first.
pub(crate) fn rule_for(effect: &Effect) -> Option<&'static Rule> {
    let mut found: Option<&'static Rule> = None;
    for rule in RULES {
        if (rule.matches)(effect) {
            if rule.hold == Hold::Never {
                return Some(rule);
            }
            found = found.or(Some(rule));
        }
    }
    found
}

/// The rule with a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Context, judge};

    fn context() -> Context {
        Context::new("/work/project", "/home/me")
    }

    #[test]
    fn every_rule_catches_what_it_says_it_catches() {
        let mut missed = Vec::new();
        for rule in RULES {
            for command in rule.catches {
                let judgement = judge(command, &context());
                if !judgement.findings.iter().any(|finding| finding.rule == Some(rule.name)) {
                    missed.push(format!("{}: {command}: {judgement:?}", rule.name));
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn no_rule_catches_what_it_says_it_spares() {
        let mut wrong = Vec::new();
        for rule in RULES {
            for command in rule.spares {
                let judgement = judge(command, &context());
                if judgement.findings.iter().any(|finding| finding.rule == Some(rule.name)) {
                    wrong.push(format!("{}: {command}: {judgement:?}", rule.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_page_about_policy_lists_every_rule_and_how_hard_it_holds() {
        let page = include_str!("../../../../docs/policy.md");
        for rule in RULES {
            let holds = if rule.hold == Hold::Never { "never" } else { "asks" };
            let row = format!("| `{}` | {} | {holds} |", rule.name, rule.says);

            assert!(page.contains(&row), "{row}");
        }
        assert_eq!(page.matches(" | asks |").count() + page.matches(" | never |").count(), RULES.len());
    }

    #[test]
    fn every_category_of_the_original_names_a_rule() {
        let categories = [
            "rm-absolute-path",
            "rm-recursive",
            "find-delete",
            "find-rm",
            "xargs-rm",
            "windows-delete",
            "powershell-encoded",
            "chmod-world-writable",
            "chown-root-recursive",
            "mkfs",
            "dd-copy",
            "block-device-write",
            "sql-drop",
            "sql-delete-all",
            "sql-truncate",
            "system-config-write",
            "sensitive-write",
            "agent-config-write",
            "project-env-write",
            "service-stop",
            "kill-all",
            "force-kill",
            "self-kill",
            "self-lifecycle",
            "container-lifecycle",
            "fork-bomb",
            "remote-exec",
            "decode-exec",
            "inline-shell",
            "shell-heredoc",
            "inline-interpreter",
            "interpreter-heredoc",
            "tool-program-flag",
            "git-destructive",
            "git-force-push",
            "git-branch-delete",
            "chmod-then-run",
            "sudo-privilege-flag",
        ];
        for category in categories {
            assert!(RULES.iter().any(|rule| rule.keys.contains(&category)), "{category}");
        }
    }

    #[test]
    fn every_rule_has_words_and_examples_of_both_kinds() {
        for rule in RULES {
            assert!(
                !rule.says.is_empty() && !rule.catches.is_empty() && !rule.spares.is_empty(),
                "{}",
                rule.name
            );
        }
    }
}
