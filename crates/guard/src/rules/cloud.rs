//! `cloud`: cloud command lines, infrastructure tools, code hosts.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "deletes resources of an account",
    keys: &[],
    matches,
    catches: &[
        "strangectl stack destroy prod",
        "aws ecs update-service --service x --desired-count 0",
        "aws s3 rm s3://b --recursive",
        "gcloud compute instances delete x",
        "az group delete -n x",
        "terraform destroy",
        "gh repo delete x",
        "aws ec2 terminate-instances --instance-ids i-1",
        "heroku apps:destroy x",
        "rclone purge remote:x",
    ],
    spares: &[
        "strangectl delete x --dry-run",
        "jest destroy",
        "aws s3 ls",
        "terraform plan",
        "gcloud compute instances list",
        "gh pr list",
        "aws s3 cp a s3://b",
    ],
    ..Rule::new("cloud")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Cloud
}
