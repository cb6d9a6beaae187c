//! One block of markdown as lines.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::chat::markdown::table::Table;
use crate::chat::markdown::{Canvas, fence, split};
use crate::chat::text::{Line, Span, Style};
use crate::chat::wrap::{Inline, wrap};

/// The longest rule.
const RULE: usize = 60;

/// The lines of a block, drawn without regard to what stands above or below.
pub(super) fn draw(source: &str, canvas: Canvas) -> Vec<Line> {
    let mut drawing = Drawing { canvas, ..Drawing::default() };
    for event in Parser::new_ext(source, split::options()) {
        drawing.take(event);
    }
    drawing.flush();
    drawing.lines
}

impl Default for Canvas {
    fn default() -> Self {
        Self { width: super::NARROWEST, colour: false }
    }
}

/// What stands before the lines of a quote or of an item of a list.
struct Margin {
    /// Before its first line.
    first: Option<Span>,
    rest: Span,
}

/// A list that is open.
struct List {
    /// The number of the next item, in a list that counts.
    next: Option<u64>,
    /// Its items keep a distance.
    loose: bool,
}

#[derive(Default)]
struct Drawing {
    canvas: Canvas,
    lines: Vec<Line>,
    text: Vec<Inline>,
    styles: Vec<Style>,
    margins: Vec<Margin>,
    lists: Vec<List>,
    links: Vec<Link>,
    table: Option<Table>,
    code: Option<String>,
    /// The next line keeps a distance from those above.
    gap: bool,
}

/// A link that is open: where it goes, and where its words begin.
struct Link {
    to: String,
    from: usize,
}

impl Drawing {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.say(&text, Style::PLAIN),
            },
            Event::Code(code) if self.canvas.colour => self.say(&code, Style::CYAN),
            Event::Code(code) => self.say(&format!("`{code}`"), Style::PLAIN),
            Event::Html(html) => html.lines().for_each(|line| {
                self.say(line, Style::FAINT);
                self.text.push(Inline::Break);
            }),
            Event::InlineHtml(html) if matches!(&*html, "<br>" | "<br/>" | "<br />") => {
                self.text.push(Inline::Break);
            }
            Event::SoftBreak => self.say(" ", Style::PLAIN),
            Event::HardBreak => self.text.push(Inline::Break),
            Event::Rule => {
                let rule = Line::faint(&"─".repeat(self.room().min(RULE)));
                self.put(rule);
            }
            Event::TaskListMarker(done) => self.say(if done { "☑ " } else { "☐ " }, Style::PLAIN),
            Event::InlineHtml(text) => self.say(&text, Style::FAINT),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.say(&text, Style::PLAIN);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                if let (Some(list), false) = (self.lists.last_mut(), self.margins.is_empty()) {
                    list.loose = true;
                }
            }
            Tag::Heading { level, .. } => self.heading(level),
            Tag::BlockQuote(_) => {
                self.flush();
                let bar = Span::new("│ ", Style::FAINT);
                self.margins.push(Margin { first: None, rest: bar });
                self.styles.push(self.style().and(Style::ITALIC));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                let head = fence::head(language, self.room());
                self.put(head);
                self.gap = false;
                self.code = Some(String::new());
            }
            Tag::List(next) => {
                self.flush();
                self.lists.push(List { next, loose: false });
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.styles.push(self.style().and(Style::ITALIC)),
            Tag::Strong => self.styles.push(self.style().and(Style::BOLD)),
            Tag::Strikethrough => self.styles.push(self.style().and(Style::STRIKE)),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.link(&dest_url);
                self.say("image: ", Style::FAINT);
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.styles.push(self.style().and(Style::BOLD));
                self.new_row();
            }
            Tag::TableRow => self.new_row(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush_with_gap(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush_with_gap();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                self.margins.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_of_code(),
            TagEnd::List(_) => {
                let loose = self.lists.pop().is_some_and(|list| list.loose);
                self.gap = self.lists.is_empty() || loose;
            }
            TagEnd::Item => {
                self.flush();
                // An item without a word still has its mark.
                if self.margins.last().is_some_and(|margin| margin.first.is_some()) {
                    self.put(Line::default());
                }
                self.margins.pop();
                self.gap = self.lists.last().is_some_and(|list| list.loose);
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_of_link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    for line in table.draw(self.room()) {
                        self.put(line);
                    }
                    self.gap = true;
                }
            }
            _ => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.flush();
        let style = match level {
            HeadingLevel::H1 => Style::BOLD.and(Style::UNDERLINE).and(Style::MAGENTA),
            HeadingLevel::H2 => Style::BOLD.and(Style::MAGENTA),
            _ => Style::BOLD,
        };
        self.styles.push(style);
        if !self.canvas.colour {
            self.say(&format!("{} ", "#".repeat(level as usize)), Style::PLAIN);
        }
    }

    fn item(&mut self) {
        self.flush();
        let depth = self.lists.len();
        let mark = match self.lists.last_mut().and_then(|list| list.next.as_mut()) {
            Some(number) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            None if depth.is_multiple_of(2) => "◦ ".to_owned(),
            None => "• ".to_owned(),
        };
        let first = Span::new(&mark, Style::FAINT);
        let rest = Span::new(&" ".repeat(first.width()), Style::PLAIN);
        self.margins.push(Margin { first: Some(first), rest });
    }

    fn link(&mut self, to: &str) {
        self.links.push(Link { to: to.to_owned(), from: self.text.len() });
        self.styles.push(self.style().and(Style::UNDERLINE));
    }

    fn end_of_link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        let words = self.text.iter().skip(link.from);
        let shown: String = words
            .filter_map(|piece| match piece {
                Inline::Text(text, _) => Some(text.as_str()),
                Inline::Break => None,
            })
            .collect();
        let bare = link.to.trim_start_matches("mailto:");
        if shown.trim() != bare && !bare.is_empty() {
            self.say(&format!(" ({bare})"), Style::FAINT);
        }
    }

    fn end_of_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let room = self.room();
        for line in code.lines() {
            for row in fence::code(line, room) {
                self.put(row);
            }
        }
        self.put(fence::foot());
        self.gap = true;
    }

    fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn say(&mut self, text: &str, style: Style) {
        self.text.push(Inline::Text(text.to_owned(), self.style().and(style)));
    }

    fn flush_with_gap(&mut self) {
        self.flush();
        self.gap = true;
    }

    /// Puts the words that were gathered on lines.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        for line in wrap(&text, self.room()) {
            self.put(line);
        }
    }

    /// Columns left beside the margins, which never take more than half.
    fn room(&self) -> usize {
        let margins: usize = self.margins.iter().map(|margin| margin.rest.width()).sum();
        self.canvas.width - margins.min(self.canvas.width / 2)
    }

    fn put(&mut self, line: Line) {
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            let mut blank = Line::default();
            self.margins.iter().for_each(|margin| {
                let inner = margin.first.is_none();
                blank.push(if inner { margin.rest.clone() } else { Span::default() });
            });
            self.lines.push(blank.cut(self.canvas.width / 2).trimmed());
        }
        let mut margin = Line::default();
        for part in &mut self.margins {
            margin.push(part.first.take().unwrap_or_else(|| part.rest.clone()));
        }
        let mut whole = margin.cut(self.canvas.width / 2);
        whole.extend(line);
        self.lines.push(whole);
    }
}
