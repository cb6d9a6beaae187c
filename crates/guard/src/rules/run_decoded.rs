//! `run_decoded`: text that was decoded, decompressed or decrypted, and then run.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "runs decoded text",
    keys: &["decode-exec", "powershell-encoded", "pipe decoded content to shell"],
    matches,
    catches: &[
        "echo bHM= | base64 -d | sh",
        "python3 -c \"exec(__import__('base64').b64decode('cHJpbnQoMSk='))\"",
        "base64 -d payload | sh",
        "xxd -r -p x | bash",
        "openssl enc -d -aes-256-cbc -in x | sh",
        "gunzip -c x.gz | bash",
        "powershell -EncodedCommand AAAA",
        "python3 -c \"import base64; exec(base64.b64decode(open('x').read()))\"",
    ],
    spares: &[
        "echo aGk= | base64 -d",
        "base64 -d payload > out.bin",
        "gunzip -c x.gz | head",
        "echo aGVsbG8= | base64 -d",
    ],
    ..Rule::new("run_decoded")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::RunDecoded
}
