//! `security`: firewalls, `SELinux`, audit, backups.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "switches a protection off",
    keys: &[],
    matches,
    catches: &[
        "ufw disable",
        "setenforce 0",
        "iptables -F",
        "vssadmin delete shadows /all",
        "nft flush ruleset",
        "Set-ExecutionPolicy Unrestricted",
    ],
    spares: &["ufw status", "getenforce", "iptables -L", "sestatus"],
    ..Rule::new("security")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Security
}
