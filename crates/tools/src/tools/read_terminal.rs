//! `read_terminal`: what the person's terminal shows, in the program around the conversation.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::panes::{Lines, Panes};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::toolsets::terminal;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ReadTerminal>("read_terminal", &terminal::TOOLSET)
    .emoji("🖥️")
    .gate(|| Gate::given::<Arc<dyn Panes>>("a program that shows a terminal beside the conversation"))
    .read_only();

/// The terminal's name among the effects of a call.
pub(crate) const SLOT: &str = "terminal beside the conversation";

/// Lines that are shown when nothing is said about it, and the most.
const USUAL: i64 = 200;
const MOST: i64 = 2_000;

/// Read what the terminal beside the conversation shows: what the person typed there and what came of it.
/// Without arguments the last 200 lines; `total_lines` tells how many there are.
#[derive(Deserialize, JsonSchema)]
struct ReadTerminal {
    /// First line, counted from 0; the last ones if left out. A negative number counts from the end
    start_line: Option<i64>,
    /// How many lines, up to 2000
    count: Option<i64>,
}

impl Tool for ReadTerminal {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let panes = panes(cx)?;
        let screen = panes.read(self.wanted()).await.map_err(|why| ToolError::Failed(why.to_string()))?;
        let shown = u64::try_from(screen.lines.len()).unwrap_or(u64::MAX);
        Ok(json!({
            "content": screen.lines.join("\n"),
            "start_line": screen.first,
            "lines": shown,
            "total_lines": screen.total,
            "more": screen.first.saturating_add(shown) < screen.total,
            "title": screen.title,
        }))
    }
}

impl ReadTerminal {
    fn wanted(&self) -> Lines {
        let count = match (self.start_line, self.count) {
            // The last so many lines.
            (Some(first), None) if first < 0 => first.saturating_neg(),
            (_, count) => count.unwrap_or(USUAL),
        };
        let first = self.start_line.and_then(|first| u64::try_from(first).ok());
        Lines { first, count: usize::try_from(count.clamp(1, MOST)).unwrap_or(1) }
    }
}

/// The terminals that the program around the conversation shows.
pub(crate) fn panes(cx: &ToolCx) -> Result<&Arc<dyn Panes>, ToolError> {
    cx.service::<Arc<dyn Panes>>()
        .ok_or_else(|| ToolError::Failed("no program shows a terminal beside this conversation".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_the_beginning_or_from_the_end() {
        let asked = |start_line, count| {
            let Lines { first, count } = ReadTerminal { start_line, count }.wanted();
            (first, count)
        };

        assert_eq!(asked(None, None), (None, 200));
        assert_eq!(asked(Some(5), Some(3)), (Some(5), 3));
        assert_eq!(asked(Some(-10), None), (None, 10));
        assert_eq!(asked(None, Some(-1)), (None, 1));
        assert_eq!(asked(Some(0), Some(99_999)), (Some(0), 2000));
        assert_eq!(asked(Some(i64::MIN), None), (None, 2000));
    }
}
