//! Where the blocks of a text begin and end.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// A block at the top, as bytes of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Where its first line begins, or its first word.
    pub(super) start: usize,
    pub(super) end: usize,
    /// A code block between fences.
    pub(super) fenced: bool,
    /// A blank line below it ends it for good.
    pub(super) ends_at_blank: bool,
}

/// The markdown that is understood.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Bytes that are looked at first; mostly the block is shorter.
const GLANCE: usize = 2048;

/// The first block at the top, and whether something else begins below it.
pub(super) fn first(source: &str) -> Option<(Block, bool)> {
    let mut window = GLANCE;
    loop {
        let seen =
            source.as_bytes().get(..window).and_then(|seen| seen.iter().rposition(|byte| *byte == b'\n'));
        let part = if window < source.len() { source.get(..seen.map_or(0, |at| at + 1)) } else { None };
        let blocks = blocks(part.unwrap_or(source));
        if part.is_none() || blocks.len() > 1 {
            return blocks.first().map(|block| (*block, blocks.len() > 1));
        }
        window = window.saturating_mul(4);
    }
}

/// The blocks at the top, in order.
fn blocks(source: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        let top = depth == 0;
        let mut found = Block { start: 0, end: range.end, fenced: false, ends_at_blank: false };
        match &event {
            Event::Start(tag) => {
                depth += 1;
                found.fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                found.ends_at_blank = matches!(tag, Tag::Paragraph | Tag::Heading { .. });
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Rule => found.ends_at_blank = true,
            _ => {}
        }
        if top {
            let above = source.get(..range.start).unwrap_or_default();
            let line = above.rfind('\n').map_or(0, |at| at + 1);
            // Blanks before a paragraph mean nothing, unless they were all there is before it.
            found.start = if matches!(event, Event::Start(Tag::Paragraph)) { range.start } else { line };
            blocks.push(found);
        }
    }
    blocks
}

/// Whether a line that holds nothing stands below the block.
pub(super) fn blank_below(block: &str, below: &str) -> bool {
    // A block may or may not reach over the end of its last line.
    let below =
        if block.ends_with('\n') { Some(below) } else { below.split_once('\n').map(|(_, rest)| rest) };
    below.and_then(|below| below.split_once('\n')).is_some_and(|(line, _)| line.trim().is_empty())
}
