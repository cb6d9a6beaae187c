//! What is on the screen at any moment.

use std::io::Write;
use std::time::Duration;

use hermes::core::model::Part;

use crate::chat::interactive::Chat;
use crate::chat::live::spinner;
use crate::chat::numbers::seconds;
use crate::chat::screen::Area;
use crate::chat::text::{Line, Style};
use crate::command::Failure;

/// Shortest time between two drawings that nobody's key asked for.
const PAUSE: Duration = Duration::from_millis(50);

impl<W: Write> Chat<'_, W> {
    /// The first lines.
    pub(super) fn greet(&mut self) {
        let tools = self.talk.tools().len();
        let name = concat!("hermes ", env!("CARGO_PKG_VERSION"));
        let rest =
            format!("  {} · {tools} tools · {}", self.talk.model_name(), self.outside.place.cwd.display());
        self.staying.push(Line::new(name, Style::BOLD).with(&rest, Style::FAINT));
        self.staying
            .push(Line::faint(&format!("session {} · /help shows every command", self.talk.session_id())));
    }

    /// Where a session that is gone on with was left.
    pub(super) async fn recall(&mut self) {
        let said = self.talk.last_user_message().await.unwrap_or_default();
        let first = said.iter().find_map(|part| match part {
            Part::Text { text } => text.lines().find(|line| !line.trim().is_empty()),
            Part::Image { .. } => None,
        });
        if let Some(line) = first {
            self.staying.push(Line::faint(&format!("goes on after: {line}")).cut(self.screen.width()));
        }
    }

    /// The last lines.
    pub(super) fn goodbye(&mut self) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.staying);
        if self.said {
            let session = self.talk.session_id();
            lines.push(Line::faint(&format!("To go on with this session: hermes chat -r {session}")));
        }
        lines
    }

    /// Draws, unless it was just done; a tick will come.
    pub(super) fn draw_soon(&mut self) -> Result<(), Failure> {
        if self.desk.now().saturating_sub(self.drawn) < PAUSE { Ok(()) } else { self.draw_now() }
    }

    pub(super) fn draw_now(&mut self) -> Result<(), Failure> {
        let now = self.desk.now();
        self.drawn = now;
        let settled = self.show.settle();
        self.staying.extend(settled);
        let area = if self.questions.is_open() { self.question(now) } else { self.usual(now) };
        let staying = std::mem::take(&mut self.staying);
        self.screen.draw(&staying, area)?;
        Ok(())
    }

    /// A question stands alone: nothing else moves while it does.
    fn question(&mut self, now: Duration) -> Area {
        let card = self.questions.next_card(now);
        self.staying.extend(card);
        let view = self.answer.view(&self.questions.prompt(now), self.screen.width(), &self.outside);
        Area { rows: view.rows, cursor: Some(view.cursor) }
    }

    fn usual(&mut self, now: Duration) -> Area {
        let width = self.screen.width();
        let mut rows = self.show.rows(now);
        if let Some((name, since)) = self.working {
            let time = seconds(now.saturating_sub(since).as_secs_f64());
            rows.push(Line::faint(&format!("{} /{name}  {time}", spinner(now))));
        }
        for text in &self.waiting {
            rows.push(Line::faint("⏎ next: ").with(text, Style::FAINT).cut(width));
        }
        rows.push(Line::faint(&"─".repeat(width)));
        let prompt = Line::new("❯ ", Style::CYAN.and(Style::BOLD));
        let view = self.editor.view(&prompt, width, &self.outside);
        let cursor = (rows.len() + view.cursor.0, view.cursor.1);
        rows.extend(view.rows);
        self.show.status.queued = self.waiting.len();
        let hint = || Line::new(" Ctrl-C again leaves the chat", Style::YELLOW);
        rows.push(if self.leaving { hint() } else { self.show.status.line() });
        // What is typed stays on the screen, however low it is.
        let surplus = rows.len().saturating_sub(self.screen.rows().saturating_sub(1).max(1));
        let surplus = surplus.min(cursor.0);
        rows.drain(..surplus);
        Area { rows, cursor: Some((cursor.0 - surplus, cursor.1)) }
    }
}
