//! `run_unseen`: commands put together from what cannot be known.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "runs text nobody can see beforehand",
    keys: &[
        "inline-shell",
        "inline-interpreter",
        "shell-heredoc",
        "interpreter-heredoc",
        "shell command via -c/-lc flag",
        "script execution via -e/-c flag",
    ],
    matches,
    catches: &[
        "strange-wrapper --fast rm -rf /srv/data",
        "strange-tool --exec \"rm -rf /srv/data\"",
        "eval \"$cmd\"",
        "sh -c \"$1$cmd\"",
        "$cmd --now",
        "xargs -I{} sh -c '{}'",
        "python3 -c \"$code\"",
        "while read line; do eval \"$line\"; done",
    ],
    spares: &[
        "cowsay rm -rf /",
        "strange-tool --title \"rm -rf /\"",
        "$EDITOR notes.txt",
        "\"$CC\" -c x.c",
        "eval \"$(ssh-agent -s)\"",
        "$(npm bin)/eslint .",
        "source <(kubectl completion bash)",
        "bash -c 'echo hi'",
        "python3 -c 'print(1)'",
        "eval \"$(direnv hook bash)\"",
    ],
    ..Rule::new("run_unseen")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::RunUnseen
}
