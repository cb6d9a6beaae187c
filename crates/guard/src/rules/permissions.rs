//! `permissions`: world-writable modes, set-user-id bits, permissions of system files.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "opens files to everybody or to root's rights",
    keys: &["chmod-world-writable", "world/other-writable permissions", "recursive world/other-writable"],
    matches,
    catches: &[
        "chmod 777 f",
        "chmod -R 0777 .",
        "chmod o+w f",
        "chmod a+rwx f",
        "chmod u+s /bin/bash",
        "chmod 4755 x",
        "chmod -R 755 /etc",
        "chmod 0666 x",
        "chmod a=rwx f",
        "perl -MFile::Find -e 'find(sub { chmod 0777, $_ }, \"src\")'",
        "ruby -rfileutils -e 'FileUtils.chmod_R 0777, \"src\"'",
    ],
    spares: &[
        "chmod +x run.sh",
        "chmod 644 a.txt",
        "chmod 600 ~/.ssh/id_rsa",
        "chmod o-w f",
        "chmod 755 bin/x",
        "perl -e 'chmod 0755, \"bin/x\"'",
    ],
    ..Rule::new("permissions")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Permissions
}
