//! `startup_write`: shell profiles, keys that open a login, cron, units, hooks, credentials files.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "writes something that runs by itself later",
    keys: &["sensitive-write", "write to sensitive file"],
    matches,
    catches: &[
        "echo x >> ~/.bashrc",
        "cat key >> ~/.ssh/authorized_keys",
        "ln -s x ~/.ssh/authorized_keys",
        "unzip -o a.zip -d ~/.ssh",
        "cp x .git/hooks/pre-commit",
        "crontab jobs.txt",
        "tee ~/.config/systemd/user/x.service < x",
        "sed -i s/a/b/ ~/.zshrc",
        "echo x > ~/.netrc",
        "(crontab -l; echo '* * * * * x') | crontab -",
    ],
    spares: &[
        "cat ~/.bashrc",
        "source ~/.bashrc",
        "crontab -l",
        "git config user.name me",
        "echo 'add to ~/.bashrc'",
    ],
    ..Rule::new("startup_write")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Write && effect.touches(&[Place::Startup, Place::Credential])
}
