//! What becomes of each message when a conversation is shortened.
//!
//! Three levels, each harder than the one before; the first that reaches the target is taken. What
//! stays in all of them: the person's first and last words, whole pairs of calls and results, and the
//! newest part of the conversation.

use std::collections::BTreeMap;
use std::ops::Range;

use hermes_core::model::{Message, Part};

use super::blocks::{Block, blocks};
use super::{build, note, tokens};

/// What is needed of the shorter conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need<'a> {
    /// Most tokens it should take.
    pub(crate) target: u64,
    /// What is still to do; must not get lost.
    pub(crate) todos: Option<&'a str>,
    /// How a paged text is read again, with `{id}`.
    pub(crate) reread: &'a str,
}

/// What becomes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays as it is.
    Keep,
    /// It stays, with long arguments cut and what was thought left out.
    Thin,
    /// Its text is paged out, and a glimpse of this many characters stays.
    Page(usize),
    /// The same result came again, there.
    SameAs(usize),
    /// It is summed up.
    Gone,
}

/// What becomes of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) fates: Vec<Fate>,
    /// Most characters of the summary.
    pub(crate) summary: usize,
}

/// How hard a conversation is shortened.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// Percent of the target for what stays untouched at the end.
    tail: u64,
    sums_up: bool,
    /// Characters from which a result is paged out: before the end, and in it.
    old: usize,
    new: usize,
}

const LEVELS: [Level; 3] = [
    Level { tail: 40, sums_up: false, old: 600, new: usize::MAX },
    Level { tail: 40, sums_up: true, old: 600, new: usize::MAX },
    Level { tail: 20, sums_up: true, old: 300, new: 1_200 },
];

/// Glimpse of an old result.
const GLIMPSE: usize = 120;
/// Equal results from this many characters on are worth a pointer.
const TWIN: usize = 200;

impl Plan {
    /// The gentlest plan that reaches the target, or the hardest there is.
    pub(crate) fn new(messages: &[Message], need: &Need<'_>) -> Option<Self> {
        let first = messages.iter().position(|message| matches!(message, Message::User { .. }))?;
        let last = messages.iter().rposition(|message| matches!(message, Message::User { .. }))?;
        let blocks = blocks(messages);
        let mut hardest = None;
        for level in LEVELS {
            let plan = Self::at(level, messages, &blocks, (first, last), need);
            let rehearsal = build::rehearse(messages, &plan, need);
            if tokens::of_messages(&rehearsal) <= need.target {
                return Some(plan);
            }
            hardest = Some(plan);
        }
        hardest
    }

    /// Whether something has to be summed up.
    pub(crate) fn sums_up(&self) -> bool {
        self.fates.contains(&Fate::Gone)
    }

    fn at(
        level: Level,
        messages: &[Message],
        blocks: &[Block],
        users: (usize, usize),
        need: &Need<'_>,
    ) -> Self {
        let (first, last) = users;
        let tail = tail_start(messages, blocks, need.target.saturating_mul(level.tail) / 100);
        let mut fates: Vec<Fate> = Vec::with_capacity(messages.len());
        for (at, message) in messages.iter().enumerate() {
            let is_old = at < tail;
            fates.push(match message {
                Message::User { content } if at == first || at == last => keep_user(content, need, level),
                _ if is_old && level.sums_up => Fate::Gone,
                Message::Assistant(_) if is_old => Fate::Thin,
                Message::User { .. } | Message::Assistant(_) => Fate::Keep,
                Message::Tool { content, .. } => {
                    let (from, glimpse) = if is_old {
                        (level.old, GLIMPSE)
                    } else {
                        (level.new, usize::try_from(need.target / 2).unwrap_or(GLIMPSE).clamp(300, 4_000))
                    };
                    let long = content.chars().nth(from).is_some() && content.len() > glimpse * 2;
                    if long { Fate::Page(glimpse) } else { Fate::Keep }
                }
            });
        }
        point_at_twins(messages, &mut fates);
        let summary = usize::try_from(need.target).unwrap_or(usize::MAX).clamp(400, 24_000);
        Self { fates, summary }
    }
}

/// The person's words stay; only what would fill the context alone is cut, by the hardest level.
fn keep_user(content: &[Part], need: &Need<'_>, level: Level) -> Fate {
    let own = content.iter().filter(|part| !note::is_note(part));
    let long = own.map(|part| match part {
        Part::Text { text } => tokens::of_text(text),
        Part::Image { .. } => 0,
    });
    let most = need.target / 3;
    if level.new < usize::MAX && long.max().unwrap_or(0) > most.max(500) {
        Fate::Page(usize::try_from(most).unwrap_or(usize::MAX).clamp(1_200, 40_000))
    } else {
        Fate::Keep
    }
}

/// Where the newest part begins: whole blocks from the end as long as they fit, the last one always.
fn tail_start(messages: &[Message], blocks: &[Block], budget: u64) -> usize {
    let size = |range: &Range<usize>| messages.get(range.clone()).map_or(0, tokens::of_messages);
    let mut start = messages.len();
    let mut used = 0;
    for (count, block) in blocks.iter().rev().enumerate() {
        used += size(&block.range);
        if count > 0 && used > budget {
            break;
        }
        start = block.range.start;
    }
    start
}

/// Older results that are the same as a newer one become a pointer to it.
fn point_at_twins(messages: &[Message], fates: &mut [Fate]) {
    let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::Tool { content, .. } = message else { continue };
        let Some(fate) = fates.get_mut(at) else { continue };
        if *fate == Fate::Gone || content.len() < TWIN {
            continue;
        }
        match newest.get(content.as_str()) {
            Some(later) => *fate = Fate::SameAs(*later),
            None => drop(newest.insert(content, at)),
        }
    }
}
