//! Markdown as it streams in, drawn for a terminal.
//!
//! The text is taken block by block. A block is final when something else has begun below it, and
//! every block is drawn on its own; so what is finally on the screen depends on the text alone, not
//! on the pieces it came in. Code blocks, which may be long, are final line by line. What is not
//! final yet can be looked at with [`Stream::tail`].

mod block;
mod fence;
mod split;
mod table;

use crate::chat::markdown::fence::{Fence, Step};
use crate::chat::text::Line;

/// Narrowest drawing.
const NARROWEST: usize = 20;

/// What the drawing has room and means for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Canvas {
    /// Columns.
    pub(crate) width: usize,
    /// Styles show; where they do not, some marks of the source are kept.
    pub(crate) colour: bool,
}

/// Markdown of which more may come.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    canvas: Canvas,
    /// What is not final.
    pending: String,
    /// The code block that is open.
    fence: Option<Fence>,
    /// Something was drawn, so that the next block keeps its distance.
    begun: bool,
}

impl Stream {
    pub(crate) fn new(canvas: Canvas) -> Self {
        let canvas = Canvas { width: canvas.width.max(NARROWEST), ..canvas };
        Self { canvas, pending: String::new(), fence: None, begun: false }
    }

    /// From now on lines are drawn for this canvas.
    pub(crate) fn resize(&mut self, canvas: Canvas) {
        self.canvas = Canvas { width: canvas.width.max(NARROWEST), ..canvas };
    }

    /// Takes more text.
    pub(crate) fn push(&mut self, text: &str) {
        self.pending.extend(text.chars().filter(|letter| *letter != '\r'));
    }

    /// The lines that have become final.
    pub(crate) fn settle(&mut self) -> Vec<Line> {
        let whole = self.pending.rfind('\n').map_or(0, |at| at + 1);
        self.advance(whole, false)
    }

    /// The rest: nothing more will come.
    pub(crate) fn finish(&mut self) -> Vec<Line> {
        let mut lines = self.advance(self.pending.len(), true);
        if self.fence.take().is_some() {
            lines.push(fence::foot());
        }
        self.pending.clear();
        lines
    }

    /// How what is not final would look if nothing more came.
    pub(crate) fn tail(&self) -> Vec<Line> {
        self.clone().finish()
    }

    /// Draws what is final within the first `ready` bytes.
    fn advance(&mut self, ready: usize, all: bool) -> Vec<Line> {
        let source: String = self.pending.drain(..ready).collect();
        let mut lines = Vec::new();
        let mut rest = source.as_str();
        loop {
            rest = self.through_the_fence(rest, &mut lines);
            match self.through_a_block(rest, all, &mut lines) {
                Some(below) if self.fence.is_some() || !below.is_empty() => rest = below,
                Some(below) => {
                    rest = below;
                    break;
                }
                None => break,
            }
        }
        self.pending.insert_str(0, rest);
        lines
    }

    fn through_the_fence<'a>(&mut self, source: &'a str, lines: &mut Vec<Line>) -> &'a str {
        let mut rest = source;
        while let (Some(fence), false) = (&self.fence, rest.is_empty()) {
            let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
            match fence.step(line) {
                Step::Code(code) => lines.extend(fence::code(code, self.canvas.width)),
                Step::Close => {
                    lines.push(fence::foot());
                    self.fence = None;
                }
            }
            rest = below;
        }
        rest
    }

    /// Draws the first block, if it is final, and returns what is left. Each block is looked for
    /// from the end of the one before, so that it does not matter how much is known of the rest.
    fn through_a_block<'a>(&mut self, source: &'a str, all: bool, lines: &mut Vec<Line>) -> Option<&'a str> {
        let (block, more) = split::first(source).filter(|_| self.fence.is_none())?;
        let text = source.get(block.start..block.end)?;
        let below = source.get(block.end..)?;
        if let Some(fence) = block.fenced.then(|| Fence::open(text)).flatten() {
            self.keep_distance(lines);
            lines.push(fence.head(self.canvas.width));
            self.fence = Some(fence);
            let opened = source.get(block.start..)?;
            return Some(opened.split_once('\n').map_or("", |(_, code)| code));
        }
        let is_final = more || all || (block.ends_at_blank && split::blank_below(text, below));
        if !is_final {
            return None;
        }
        let drawn = block::draw(text, self.canvas);
        if !drawn.is_empty() {
            self.keep_distance(lines);
            lines.extend(drawn);
        }
        Some(below)
    }

    fn keep_distance(&mut self, lines: &mut Vec<Line>) {
        if self.begun {
            lines.push(Line::default());
        }
        self.begun = true;
    }
}

/// A whole text at once.
pub(crate) fn draw(text: &str, canvas: Canvas) -> Vec<Line> {
    let mut stream = Stream::new(canvas);
    stream.push(text);
    stream.finish()
}

#[cfg(test)]
mod tests;
