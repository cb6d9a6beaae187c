//! `delete_recursive`: recursive deletes of anything that cannot simply be made again.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "deletes a folder with everything in it",
    keys: &[
        "rm-recursive",
        "recursive delete",
        "find-delete",
        "find-rm",
        "xargs-rm",
        "xargs with rm",
        "find -delete",
        "find -exec rm",
        "windows-delete",
    ],
    matches,
    catches: &[
        "rm -r src",
        "rm -rf .",
        "rm -rf *",
        "find . -delete",
        "find . -name '*.txt' -delete",
        "rm --recursive docs",
        "ls | xargs rm -rf",
        "rm -rf .git",
        "python3 -c \"import shutil; shutil.rmtree('/srv/data')\"",
        "del /s /q C:\\data",
        "rsync -a --delete a/ b/",
        "find /dev/shm -type f -exec shred -u {} +",
        "rm -rf /dev/shm/*",
    ],
    spares: &[
        "rm -rf target node_modules",
        "rm -rf ./build",
        "rm -rf /tmp/x",
        "rm -rf /dev/shm/x",
        "find . -name '*.pyc' -delete",
        "find . -name __pycache__ -exec rm -rf {} +",
        "mkdir demo && rm -rf demo",
        "d=$(mktemp -d); rm -rf \"$d\"",
        "rm file.txt",
    ],
    ..Rule::new("delete_recursive")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Delete
        && effect.how.recursive
        && effect.targets.iter().any(|t| {
            !matches!(
                t.place,
                Place::Rebuilt
                    | Place::Temp
                    | Place::Made
                    | Place::Sink
                    | Place::Root
                    | Place::SystemTop
                    | Place::HomeTop
            )
        })
}
