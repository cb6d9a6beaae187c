//! Text that is run as shell code, known or not.

use crate::effect::{Kind, Span};
use crate::walk::{Flow, HOLE, Origin, Walk};

/// Runs a text as shell code. Unknown parts are judged by where they came from.
pub(crate) fn shell(walk: &mut Walk<'_>, text: &str, origin: Origin, stdin: &Flow, span: Span) -> Flow {
    let bare = text.trim();
    if bare.is_empty() {
        return Flow::none();
    }
    if !bare.contains(HOLE) {
        if origin.decoded {
            unseen(walk, Origin { network: false, ..origin }, span);
        }
        return walk.run_text(text, stdin, span);
    }
    if origin.network
        || origin.decoded
        || bare.chars().all(|c| c == HOLE || c.is_whitespace() || matches!(c, '"' | '\'' | ';'))
    {
        unseen(walk, origin, span);
        if bare.chars().all(|c| c == HOLE) {
            return Flow::unknown(origin);
        }
    }
    let before = walk.last_unknown;
    walk.last_unknown = origin;
    let given = std::mem::replace(&mut walk.given, origin);
    let flow = walk.run_text(text, stdin, span);
    walk.given = given;
    walk.last_unknown = before;
    flow
}

/// Notes that a text runs which nobody can see.
pub(crate) fn unseen(walk: &mut Walk<'_>, origin: Origin, span: Span) {
    if origin.network {
        walk.emit(Kind::RunDownloaded, "runs text from the network", span);
    } else if origin.decoded {
        walk.emit(Kind::RunDecoded, "runs decoded text", span);
    } else if !origin.settings {
        walk.emit(Kind::RunUnseen, "runs text that cannot be known beforehand", span);
    }
}

/// What feeding `stdin` to an interpreter of any language amounts to, when its text is unknown.
pub(crate) fn fed(walk: &mut Walk<'_>, stdin: &Flow, span: Span) {
    let origin = stdin.origin;
    if origin.network || origin.decoded || stdin.seen().contains(HOLE) {
        unseen(walk, origin, span);
    }
}
