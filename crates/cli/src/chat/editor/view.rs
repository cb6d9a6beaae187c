//! How the editor looks: the prompt, the text over as many rows as it needs, offers below.

use crate::chat::editor::complete::{Offer, Offers, complete};
use crate::chat::editor::{Editor, Menu};
use crate::chat::text::{Line, Style, clean};
use crate::chat::wrap::hard_wrap;

/// Most rows of text shown at once.
const MAX_ROWS: usize = 12;

/// Most offers shown at once.
const MAX_OFFERS: usize = 8;

/// Rows, and where the cursor stands in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct View {
    pub(crate) rows: Vec<Line>,
    /// Row and column.
    pub(crate) cursor: (usize, usize),
}

impl Editor {
    /// Draws it behind `prompt`.
    pub(crate) fn view(&self, prompt: &Line, width: usize, sources: &dyn Offers) -> View {
        let mut view = self.typed(prompt, width);
        if let Some(search) = &self.search {
            view.rows.push(Line::faint(&format!("  search: {}", search.words)));
        }
        match &self.menu {
            Some(menu) => view.rows.extend(offered(&menu.completion.offers, menu.chosen, width)),
            None if self.is_command() => {
                let all = complete(self.buffer.before(), sources);
                view.rows.extend(offered(&all.offers, None, width));
            }
            None => {}
        }
        view
    }

    /// A slash command is being typed: what fits is shown without being asked for.
    fn is_command(&self) -> bool {
        let text = self.buffer.text();
        text.starts_with('/') && !text.contains(char::is_whitespace) && self.search.is_none()
    }

    fn typed(&self, prompt: &Line, width: usize) -> View {
        let indent = prompt.width();
        let room = width.saturating_sub(indent + 1).max(4);
        let mut rows = Vec::new();
        let mut cursor = (0, 0);
        let mut left = self.buffer.at();
        for line in self.buffer.text().split('\n') {
            let here = line.get(..left.min(line.len())).map(clean).unwrap_or_default();
            if let (Some(rest), true) = (left.checked_sub(line.len() + 1), left > line.len()) {
                left = rest;
            } else if left != usize::MAX {
                let before = hard_wrap(&here, room);
                let column = before.last().map_or(0, |row| Line::plain(row).width());
                cursor = (rows.len() + before.len() - 1, indent + column);
                left = usize::MAX;
            }
            rows.extend(hard_wrap(&clean(line), room));
        }
        let first = (cursor.0 + 1).saturating_sub(MAX_ROWS);
        let shown = rows.iter().enumerate().skip(first).take(MAX_ROWS);
        let rows = shown
            .map(|(at, row)| {
                let start = if at == 0 { prompt.clone() } else { Line::plain(&" ".repeat(indent)) };
                start.with(row, Style::PLAIN)
            })
            .collect();
        View { rows, cursor: (cursor.0 - first, cursor.1) }
    }
}

fn offered(offers: &[Offer], chosen: Option<usize>, width: usize) -> Vec<Line> {
    let first = chosen.map_or(0, |at| (at + 1).saturating_sub(MAX_OFFERS));
    let wide = offers.iter().map(|offer| offer.text.chars().count()).max().unwrap_or_default().min(40);
    let mut rows: Vec<Line> = offers
        .iter()
        .enumerate()
        .skip(first)
        .take(MAX_OFFERS)
        .map(|(at, offer)| {
            let style = if chosen == Some(at) { Style::INVERSE } else { Style::PLAIN };
            let line = Line::plain("  ").with(&format!("{:<wide$}", offer.text), style);
            line.with(&format!("  {}", offer.about), Style::FAINT).trimmed().cut(width)
        })
        .collect();
    let hidden = offers.len().saturating_sub(first + MAX_OFFERS);
    if hidden > 0 {
        rows.push(Line::faint(&format!("  … and {hidden} more")));
    }
    rows
}

impl Menu {
    #[cfg(test)]
    pub(super) fn chosen(&self) -> Option<usize> {
        self.chosen
    }
}
