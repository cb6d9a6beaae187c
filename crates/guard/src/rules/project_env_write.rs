//! `project_env_write`: writes to files that hold a project's secrets and settings.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "changes a project's `.env` or `config.yaml`",
    keys: &["project-env-write", "overwrite project env/config file"],
    matches,
    catches: &[
        "awk 'BEGIN{f=\".e\" \"nv\"; print \"K=x\" > f}'",
        "awk 'BEGIN{print \"K=x\" > (\".e\" \"nv\")}'",
        "cp -f .env.example .env",
        "cp x .env",
        "echo KEY=1 >> .env",
        "echo a | tee config.yaml",
        "mv x .env.production",
        "cp -T defaults.yml ./config/../config.yaml",
    ],
    spares: &[
        "awk '$3 > limit {print > \"big.csv\"}' data.csv",
        "cp .env.example .env",
        "cp config.sample.yaml config.yaml",
        "source .env",
        "echo x > .env.example",
        "grep KEY config.yaml",
    ],
    ..Rule::new("project_env_write")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Write && effect.touches(&[Place::ProjectEnv])
}
