//! `delete_outside`: files elsewhere, system files, or everything in the working directory.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes files outside the workspace",
    keys: &["rm-absolute-path", "delete in root path"],
    matches,
    catches: &[
        "lua -e 'for _,f in ipairs{\"app.db\",\"users.db\"} do os.remove(f) end'",
        "git ls-files | while read -r f; do cp /dev/null \"$f\"; done",
        "python3 -c 'import glob\nfor f in glob.glob(\"**/*.json\", recursive=True): open(f, \"w\").close()'",
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
        "python3 -c 'import glob, json\nfor f in glob.glob(\"*.json\"): json.dump(json.load(open(f)), open(f, \"w\"))'",
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
