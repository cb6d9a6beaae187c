//! Configuration and programs of the operating system.

use super::PathClass::System;
use super::rule::Anchor;
use super::rule::Answer::{Allow, Ask, Deny};
use super::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "local-programs",
        why: "is installed for every user of this machine",
        class: System,
        anchor: Anchor::Root,
        read: Allow,
        write: Ask,
        patterns: &["usr/local/**", "opt/**", "applications/**", "c:/programdata/**"],
    },
    Rule {
        name: "temporary-folders",
        why: "is a temporary folder",
        class: System,
        anchor: Anchor::Root,
        read: Allow,
        write: Allow,
        patterns: &["var/folders/*/*/t/**", "var/tmp/*", "var/tmp/*/**"],
    },
    Rule {
        name: "system-config",
        why: "is configuration of the system",
        class: System,
        anchor: Anchor::Root,
        read: Allow,
        write: Deny,
        patterns: &[
            "etc/**",
            "boot/**",
            "efi/**",
            "usr/lib/systemd/**",
            "lib/systemd/**",
            "private/**",
            "var/db/**",
        ],
    },
    Rule {
        name: "system-programs",
        why: "belongs to the operating system",
        class: System,
        anchor: Anchor::Root,
        read: Allow,
        write: Deny,
        patterns: &[
            "bin/**",
            "sbin/**",
            "lib/**",
            "lib32/**",
            "lib64/**",
            "usr/**",
            "nix/store/**",
            "snap/**",
            "system/**",
            "library/**",
            "var/lib/dpkg/**",
            "var/lib/rpm/**",
            "var/lib/pacman/**",
            "var/lib/systemd/**",
            "c:/windows/**",
            "c:/program files/**",
            "c:/program files (x86)/**",
            "c:/boot/**",
            "c:/bootmgr",
        ],
    },
];
