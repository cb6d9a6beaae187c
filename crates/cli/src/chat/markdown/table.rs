//! Tables: columns as wide as they need, narrowed to the room there is, cells wrapped.

use pulldown_cmark::Alignment;

use crate::chat::text::{Line, Style};
use crate::chat::wrap::{Inline, wrap};

/// Narrowest column.
const NARROWEST: usize = 3;

/// Between two columns.
const BAR: &str = " │ ";

/// A table that is being read.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<Vec<Inline>>>,
}

impl Table {
    pub(super) fn draw(self, width: usize) -> Vec<Line> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        if columns == 0 {
            return Vec::new();
        }
        let widths = self.widths(columns, width);
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::faint(&rules.join("─┼─")));
            }
        }
        lines.into_iter().map(|line| line.cut(width).trimmed()).collect()
    }

    /// What each column gets: what it wants, or a fair share where that is too much.
    fn widths(&self, columns: usize, width: usize) -> Vec<usize> {
        let wanted: Vec<usize> = (0..columns)
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.map(|cell| natural(cell)).max().unwrap_or_default().max(NARROWEST)
            })
            .collect();
        let room = width.saturating_sub((columns - 1) * 3).max(columns * NARROWEST);
        let mut given = vec![NARROWEST; columns];
        let mut left = room.saturating_sub(columns * NARROWEST);
        // One more column of the terminal at a time, to the narrowest that still wants more.
        while left > 0 {
            let needy = given
                .iter_mut()
                .zip(&wanted)
                .filter(|(given, wanted)| **given < **wanted)
                .min_by_key(|(given, _)| **given);
            let Some((given, _)) = needy else { break };
            *given += 1;
            left -= 1;
        }
        given
    }

    fn row(&self, cells: &[Vec<Inline>], widths: &[usize]) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| cells.get(at).map(|cell| wrap(cell, *width)).unwrap_or_default())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default().max(1);
        (0..height)
            .map(|at| {
                let mut line = Line::default();
                for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                    if column > 0 {
                        line = line.with(BAR, Style::FAINT);
                    }
                    let text = cell.get(at).cloned().unwrap_or_default();
                    let gap = width.saturating_sub(text.width());
                    let left = match self.alignments.get(column) {
                        Some(Alignment::Right) => gap,
                        Some(Alignment::Center) => gap / 2,
                        _ => 0,
                    };
                    line = line.with(&" ".repeat(left), Style::PLAIN);
                    line.extend(text);
                    let last = column + 1 == widths.len();
                    let right = if last { 0 } else { gap - left };
                    line = line.with(&" ".repeat(right), Style::PLAIN);
                }
                line
            })
            .collect()
    }
}

/// How wide a cell would like to be.
fn natural(cell: &[Inline]) -> usize {
    wrap(cell, usize::MAX).iter().map(Line::width).max().unwrap_or_default()
}
