//! `ownership`: recursive changes to root, or owners of system files.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes owners broadly",
    keys: &["chown-root-recursive", "recursive chown to root"],
    matches,
    catches: &[
        "sudo chown -R \"$(id -nu 0)\" node_modules/..",
        "chown -R root d",
        "chown -R root:root .",
        "chown --recursive root d",
        "chown me /etc/passwd",
        "chown -R me /usr",
        "perl -MFile::Find -e 'find(sub { chown 0, 0, $_ }, \"/srv/work\")'",
        "ruby -rfileutils -e 'FileUtils.chown_R(\"root\", \"root\", \"src\")'",
    ],
    spares: &[
        "chown -R me .",
        "chown me:me file",
        "sudo chown -R $USER ./data",
        "python3 -c 'import os; os.chown(\"out.txt\", os.getuid(), os.getgid())'",
    ],
    ..Rule::new("ownership")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Ownership
}
