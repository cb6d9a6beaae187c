//! Texts read and walked command by command: the outermost one, and those that commands run.

use super::flow::{Flow, Origin};
use super::{COMMAND, READ, Src, WALKED, Walk, control};
use crate::effect::{Kind, Span};
use crate::shell::{self, Faults, Part, Reader};

impl Walk<'_> {
    /// Walks the outermost text.
    pub(crate) fn whole(&mut self, text: &str) {
        let (origin, faults) = self.script(text, &Flow::none(), Span::new(0, text.len()), None);
        self.run_deferred();
        crate::programs::other_shells(self, text);
        if origin.secret {
            self.emit(Kind::ReadCredential, "prints a secret from the environment", Span::new(0, text.len()));
        }
        if faults.too_deep {
            self.flattened(text);
        } else if faults.broken {
            self.broken(text);
        }
    }

    /// A text nested deeper than can be followed is looked at once more without the nesting. With
    /// quotes in it that reading may be wrong, so nothing of it is certain then.
    fn flattened(&mut self, text: &str) {
        if text.contains(['\'', '"', '`', '\\', '#']) {
            self.broken(text);
            return;
        }
        if self.spend(2 * text.len()) {
            let flat: String =
                text.chars().map(|c| if matches!(c, '(' | ')' | '{' | '}') { ' ' } else { c }).collect();
            self.script(&flat, &Flow::none(), Span::new(0, text.len()), None);
        }
    }

    /// Runs what waits for the end of the shell; a trap may set another.
    pub(super) fn run_deferred(&mut self) {
        while let Some((code, span)) = self.deferred.pop() {
            self.run_text(&code, &Flow::none(), span);
        }
    }

    /// Reads and walks a text command by command. What they print is added to `out`; where that
    /// comes from is answered in any case.
    fn script(
        &mut self,
        text: &str,
        stdin: &Flow,
        span: Span,
        mut out: Option<&mut Flow>,
    ) -> (Origin, Faults) {
        let mut origin = Origin::default();
        self.wants_last |= text.contains("$_") || text.contains("${_");
        let mut reader = Reader::new(text, self.fuel / COMMAND);
        let mut items = Vec::new();
        let mut noted = Faults::default();
        let mut entered = false;
        let (mut left, mut ahead) = (reader.commands_left(), 0);
        while reader.next(&mut items) {
            self.note_faults(reader.faults(), &mut noted, span);
            self.spend(READ * (left - reader.commands_left()) + (reader.looked_ahead() - ahead) / 8);
            (left, ahead) = (reader.commands_left(), reader.looked_ahead());
            if !entered && !self.down(Span::default()) {
                break;
            }
            entered = true;
            let src = Src { text, docs: reader.docs() };
            for item in &items {
                let flow = self.item(src, item, stdin);
                origin = origin.and(flow.origin);
                if let Some(out) = &mut out {
                    control::join(out, flow);
                }
            }
            if self.fuel == 0 {
                break;
            }
        }
        self.note_faults(reader.faults(), &mut noted, span);
        if entered {
            self.up();
        }
        (origin, reader.faults())
    }

    /// A text with an open quote or a lost keyword: a shell refuses it, but another reader may
    /// not. Its words are looked at once more with the quotes taken out.
    fn broken(&mut self, text: &str) {
        if !self.spend(2 * text.len()) {
            return;
        }
        let bare: String = text
            .chars()
            .map(|c| if matches!(c, '\'' | '"' | '`' | '(' | ')' | '{' | '}') { ' ' } else { c })
            .collect();
        let before = self.effects.len();
        let span = Span::new(0, text.len());
        let saved = self.outer;
        self.outer = saved.or(Some(span));
        self.script(&bare, &Flow::none(), span, None);
        self.outer = saved;
        for effect in self.effects.iter_mut().skip(before) {
            effect.how.grave = false;
        }
    }

    /// Says what could not be read, once each.
    fn note_faults(&mut self, faults: Faults, noted: &mut Faults, span: Span) {
        if faults.too_deep && !noted.too_deep {
            self.emit(Kind::Unreadable, "nested too deeply", span);
        }
        if faults.too_long && !noted.too_long {
            self.emit(Kind::Unreadable, "more commands than anybody can look through", span);
        }
        *noted = faults;
    }

    /// The parts of a text that expands as inside double quotes.
    pub(super) fn live_parts<'t>(&mut self, text: &'t str) -> Vec<Part<'t>> {
        let (parts, faults) = shell::double_quoted(text);
        self.note_faults(faults, &mut Faults::default(), Span::default());
        parts
    }

    /// Walks a text that another command runs; its effects carry `span`.
    pub(crate) fn run_text(&mut self, text: &str, stdin: &Flow, span: Span) -> Flow {
        if !self.spend(text.len() + 4 * WALKED) {
            return Flow::none();
        }
        let outer = self.outer.or(Some(span));
        let saved = std::mem::replace(&mut self.outer, outer);
        let mut out = Flow::none();
        let (_, faults) = self.script(text, stdin, span, Some(&mut out));
        if faults.broken && !faults.too_deep {
            self.broken(text);
        }
        self.outer = saved;
        out
    }
}
