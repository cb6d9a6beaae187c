//! `delete_outside`: files elsewhere, system files, or everything in the working directory.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes files outside the workspace",
    keys: &["rm-absolute-path", "delete in root path"],
    matches,
    catches: &[
        "rm /opt/x",
        "rm ~/notes.txt",
        "rm -f /etc/hosts",
        "unlink /srv/data.db",
        "rm -f *",
        "shred -u secrets.txt",
        "rm .git/index",
        "printf ',d\\nw\\n' | ed -s src/main.rs",
        "vim -es -c 'normal ggdG' -c wq src/main.rs",
    ],
    spares: &[
        "rm file.txt",
        "rm -f *.o",
        "rm /tmp/x",
        "rm \"$tmpfile\"",
        "rm -f build/app",
        "printf '1d\\nw\\n' | ed -s src/main.rs",
    ],
    ..Rule::new("delete_outside")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Delete
        && !effect.how.recursive
        && (effect.how.all
            || effect.targets.is_empty()
            || effect.targets.iter().any(|t| {
                matches!(
                    t.place,
                    Place::Elsewhere
                        | Place::Home
                        | Place::System
                        | Place::SystemConfig
                        | Place::Startup
                        | Place::Credential
                        | Place::AgentConfig
                        | Place::GitData
                        | Place::WorkspaceTop
                        | Place::Device
                        | Place::Name
                )
            }))
}
