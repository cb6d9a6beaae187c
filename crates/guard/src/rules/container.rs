//! `container`: containers, images, volumes, virtual machines.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "stops or removes containers",
    keys: &["container-lifecycle", "docker lifecycle"],
    matches,
    catches: &[
        "docker stop x",
        "docker compose down",
        "docker --context prod restart x",
        "docker system prune -af",
        "docker rm -f x",
        "docker-compose kill",
        "podman volume rm x",
        "docker compose -f a.yml down -v",
    ],
    spares: &[
        "docker stop --help",
        "docker ps",
        "docker build .",
        "docker compose up -d",
        "docker run --rm alpine ls",
        "docker logs x",
    ],
    ..Rule::new("container")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Container
}
