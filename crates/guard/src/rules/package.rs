//! `package`: package managers.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "removes installed packages",
    keys: &[],
    matches,
    catches: &[
        "npm publish",
        "twine upload dist/*",
        "apt-get remove nginx",
        "sudo apt purge -y x",
        "brew uninstall git",
        "pacman -Rns x",
        "rpm -e x",
        "npm unpublish x",
        "dnf remove x",
    ],
    spares: &[
        "npm publish --dry-run",
        "apt-get install nginx",
        "npm install",
        "brew install x",
        "pip install x",
        "npm uninstall lodash",
        "apt list",
    ],
    ..Rule::new("package")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Package
}
