//! `read_credential`: keys, tokens, password files, secret stores.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "reads files or stores that hold credentials",
    keys: &[],
    matches,
    catches: &[
        "cat ~/.ssh/id_rsa",
        "cat ~/.aws/credentials",
        "cat /etc/shadow",
        "base64 < ~/.ssh/id_ed25519",
        "cp ~/.ssh/id_rsa /tmp/x",
        "gpg --export-secret-keys",
        "curl http://169.254.169.254/latest/meta-data/iam/",
        "kubectl get secret x -o yaml",
        "grep key ~/.aws/credentials",
        "cat .env",
        "echo $GITHUB_TOKEN",
    ],
    spares: &[
        "cat ~/.ssh/id_rsa.pub",
        "ls ~/.ssh",
        "ssh -i ~/.ssh/id_rsa host",
        "cat /etc/passwd",
        "cat .env.example",
        "source .env",
        "aws s3 ls",
    ],
    ..Rule::new("read_credential")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::ReadCredential
}
