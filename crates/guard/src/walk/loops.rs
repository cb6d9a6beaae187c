//! Loops that never end: what they start or leave behind each time.

use super::{Src, Walk};
use crate::effect::{Kind, Span};
use crate::shell::{Item, List, Node, RedirectOp, Word};

impl Walk<'_> {
    /// A loop that never ends and each time starts something in the background, or writes more.
    pub(super) fn endless(&mut self, src: Src<'_>, condition: Option<&List<'_>>, body: &List<'_>) {
        let forever = condition.is_none_or(|list| match list.items.as_slice() {
            [Item { node: Node::Simple(simple), .. }] => {
                matches!(simple.words.as_slice(), [word] if matches!(word.bare(), Some(":" | "true" | "1" | "false")))
                    || matches!(simple.words.as_slice(), [a, b] if matches!((a.bare(), b.bare()), (Some("[" | "true"), _)))
            }
            [Item { node: Node::Arithmetic(text), .. }] => text.trim() == "1",
            _ => false,
        });
        if !forever {
            return;
        }
        let whole = Span::new(0, src.text.len());
        let rests = |item: &Item<'_>| !item.background && starts_with(&item.node, &RESTS);
        if body.items.iter().any(|item| starts_another(item, 0)) {
            if !body.items.iter().any(rests) {
                self.emit(Kind::ForkBomb, "an endless loop that starts processes", whole);
            }
        } else if body.items.iter().any(|item| piles_up(&item.node)) && !any(body, &RESTS, 0) {
            self.emit(Kind::Device, "fills the disk in an endless loop", whole);
        }
    }
}

/// Commands that let a loop wait or leave it.
const RESTS: [&str; 8] = ["wait", "sleep", "read", "break", "exit", "return", "inotifywait", "timeout"];

fn starts_with(node: &Node<'_>, names: &[&str]) -> bool {
    matches!(node, Node::Simple(simple)
        if simple.words.first().and_then(Word::bare).is_some_and(|word| names.contains(&word)))
}

/// Whether a command that is over at once leaves more on the disk each time.
fn piles_up(node: &Node<'_>) -> bool {
    let Node::Simple(simple) = node else { return false };
    let quick = ["echo", "printf", "cat", "date", "dd", "head", "cp", "yes", "seq", "base64"];
    starts_with(node, &["mkdir", "fallocate", "mktemp"])
        || starts_with(node, &quick)
            && simple.redirects.iter().any(|redirect| redirect.op == RedirectOp::Append)
}

/// Whether one of these commands stands anywhere in a list.
fn any(list: &List<'_>, names: &[&str], depth: u8) -> bool {
    depth < 40
        && list.items.iter().any(|item| match &item.node {
            Node::Pipeline(stages) => stages.iter().any(|stage| starts_with(stage, names)),
            Node::Group(inner, _)
            | Node::Subshell(inner)
            | Node::CountedFor(_, inner)
            | Node::For(_, _, inner) => any(inner, names, depth + 1),
            Node::If(conditions, bodies) => {
                conditions.iter().chain(bodies).any(|inner| any(inner, names, depth + 1))
            }
            Node::While(condition, inner) => any(condition, names, depth + 1) || any(inner, names, depth + 1),
            Node::Case(_, arms) => arms.iter().any(|(_, inner)| any(inner, names, depth + 1)),
            node => starts_with(node, names),
        })
}

/// Whether a command leaves a process behind: `x &`, also inside `( … )` and `{ …; }`.
fn starts_another(item: &Item<'_>, depth: u8) -> bool {
    item.background
        || depth < 40
            && match &item.node {
                Node::Group(inner, _) | Node::Subshell(inner) => {
                    inner.items.iter().any(|item| starts_another(item, depth + 1))
                        && !inner.items.iter().any(|item| !item.background && starts_with(&item.node, &RESTS))
                }
                _ => false,
            }
}
