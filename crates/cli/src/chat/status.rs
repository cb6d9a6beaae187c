//! The status line: model, context, tokens, cache, cost.

use hermes::core::model::Usage;

use crate::chat::numbers::{cache_share, dollars, percent, tokens};
use crate::chat::text::{Line, Style};

/// Cells of the bar that shows the context.
const BAR: u32 = 8;

/// What the status line tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Status {
    pub(crate) model: String,
    pub(crate) context_tokens: Option<u64>,
    /// Share of the context that is used, 0 to 1.
    pub(crate) context_used: Option<f64>,
    pub(crate) usage: Usage,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) yolo: bool,
    /// Messages that wait for their turn.
    pub(crate) queued: usize,
}

impl Status {
    pub(crate) fn line(&self) -> Line {
        let mut parts = vec![self.model.clone()];
        if let Some(used) = self.context_used {
            let of = self.context_tokens.map(|all| format!(" of {}", tokens(all))).unwrap_or_default();
            parts.push(format!("{} {}{of}", bar(used), percent(used)));
        }
        if self.usage != Usage::default() {
            parts.push(format!("↑{} ↓{}", tokens(self.usage.input), tokens(self.usage.output)));
        }
        if let Some(share) = cache_share(self.usage.cache_read, self.usage.input).filter(|share| *share > 0.0)
        {
            parts.push(format!("cache {}", percent(share)));
        }
        parts.extend(self.cost_usd.map(dollars));
        if self.queued > 0 {
            parts.push(format!("{} queued", self.queued));
        }
        let line = Line::faint(&format!(" {}", parts.join(" · ")));
        if self.yolo { line.with(" · nothing is asked about", Style::RED) } else { line }
    }
}

fn bar(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let full = (1..=BAR).filter(|cell| f64::from(*cell) <= share * f64::from(BAR) + 0.5).count();
    let empty = usize::try_from(BAR).unwrap_or_default().saturating_sub(full);
    format!("{}{}", "▰".repeat(full), "▱".repeat(empty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_told() {
        let usage = Usage { input: 12_000, output: 800, cache_read: 9_000, ..Usage::default() };
        let status = Status {
            model: "acme/large".to_owned(),
            context_tokens: Some(200_000),
            context_used: Some(0.25),
            usage,
            cost_usd: Some(0.0123),
            yolo: false,
            queued: 1,
        };

        assert_eq!(
            status.line().text(),
            " acme/large · ▰▰▱▱▱▱▱▱ 25% of 200k · ↑12.0k ↓800 · cache 75% · $0.0123 · 1 queued"
        );
        assert_eq!(Status { model: "m".to_owned(), ..Status::default() }.line().text(), " m");
    }
}
