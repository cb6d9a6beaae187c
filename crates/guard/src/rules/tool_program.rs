//! `tool_program`: options of everyday tools that start programs.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "makes a tool run another program",
    keys: &["tool-program-flag"],
    matches,
    catches: &[
        "rg --pre ./x foo",
        "sort --compress-program=./x a",
        "man -P ./x ls",
        "tar cf a.tar --checkpoint=1 --checkpoint-action=exec=./x .",
        "git -c core.pager=./x log",
        "ssh -o ProxyCommand='sh x' h",
        "git clone ext::./x",
        "zip a.zip b -T -TT ./x",
    ],
    spares: &[
        "rg foo",
        "sort a",
        "tar xzf a.tgz",
        "git -c core.pager=cat log",
        "man ls",
        "git -c user.name=x commit",
    ],
    ..Rule::new("tool_program")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::ToolProgram
}
