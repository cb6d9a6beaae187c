//! What a page draws, as lines of text.
//!
//! A page says where it puts each piece of text, in any order and with or without blanks. Here
//! pieces are taken in the order they are drawn; one that stands lower or higher begins a line,
//! and a gap on the same line is a blank.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId};

use super::content;
use super::font::Font;

/// Steps that all pages together may take.
const MAX_STEPS: usize = 20_000_000;

/// How deep drawings may be within one another.
const MAX_DEPTH: usize = 6;

/// A gap this wide is a blank, in sizes of the font.
const GAP: f64 = 0.18;

/// Reads the pages of a document.
pub(super) struct Reader<'a> {
    document: &'a Document,
    fonts: HashMap<ObjectId, Rc<Font<'a>>>,
    steps: usize,
}

/// From one coordinate system to the one around it.
#[derive(Debug, Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const SAME: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn then(self, outer: Self) -> Self {
        let [xx, xy, yx, yy, x, y] = self.0;
        let [oxx, oxy, oyx, oyy, ox, oy] = outer.0;
        let across = |x: f64, y: f64| x * oxx + y * oyx;
        let up = |x: f64, y: f64| x * oxy + y * oyy;
        Self([across(xx, xy), up(xx, xy), across(yx, yy), up(yx, yy), across(x, y) + ox, up(x, y) + oy])
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }

    fn place(self) -> (f64, f64) {
        let [.., x, y] = self.0;
        (x, y)
    }

    /// How much larger things become.
    fn scale(self) -> f64 {
        let [a, b, ..] = self.0;
        a.hypot(b)
    }
}

/// What a drawing remembers from step to step.
#[derive(Clone)]
struct State<'a> {
    outer: Matrix,
    font: Option<Rc<Font<'a>>>,
    size: f64,
    leading: f64,
}

/// The text of a page so far.
#[derive(Default)]
struct Lines {
    text: String,
    /// Where the last piece ended, and how large it was.
    end: Option<(f64, f64, f64)>,
}

impl Lines {
    fn put(&mut self, said: &str, (x, y): (f64, f64), width: f64, size: f64) {
        if said.is_empty() {
            return;
        }
        if let Some((end, line, last)) = self.end {
            let size = size.max(last).max(0.01);
            if (y - line).abs() > size * 0.5 {
                self.text.push('\n');
                if (line - y).abs() > size * 2.2 {
                    self.text.push('\n');
                }
            } else if !(self.text.ends_with([' ', '\n']) || said.starts_with(' '))
                && ((x - end) > size * GAP || x < end - size * 2.0)
            {
                self.text.push(' ');
            }
        }
        self.text.push_str(said);
        self.end = Some((x + width, y, size));
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, fonts: HashMap::new(), steps: 0 }
    }

    /// Whether everything that may be done for one document has been done.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// The text of a page; what cannot be read of it is left out.
    pub(super) fn page(&mut self, id: ObjectId) -> String {
        let mut drawn = Vec::new();
        for part in self.document.get_page_contents(id) {
            let part = self.document.get_object(part).and_then(Object::as_stream).ok().and_then(content);
            drawn.extend(part.unwrap_or_default());
            drawn.push(b'\n');
        }
        let mut resources: Vec<&Dictionary> = Vec::new();
        if let Ok((own, inherited)) = self.document.get_page_resources(id) {
            resources.extend(own);
            resources.extend(inherited.iter().filter_map(|id| self.document.get_dictionary(*id).ok()));
        }
        let mut lines = Lines::default();
        self.draw(&drawn, &resources, Matrix::SAME, &mut lines, 0);
        lines.text
    }

    fn draw(
        &mut self,
        drawn: &[u8],
        resources: &[&'a Dictionary],
        outer: Matrix,
        lines: &mut Lines,
        depth: usize,
    ) {
        let Ok(content) = Content::decode(drawn) else { return };
        let mut state = State { outer, font: None, size: 1.0, leading: 0.0 };
        let mut kept: Vec<State<'a>> = Vec::new();
        // Where the line begins, and where the next piece goes.
        let (mut line, mut next) = (Matrix::SAME, Matrix::SAME);
        for operation in &content.operations {
            self.steps += 1;
            if self.is_exhausted() {
                return;
            }
            match operation.operator.as_str() {
                "q" if kept.len() < 64 => kept.push(state.clone()),
                "Q" => state = kept.pop().unwrap_or(state),
                "cm" => state.outer = matrix(operation).then(state.outer),
                "BT" => (line, next) = (Matrix::SAME, Matrix::SAME),
                "Tf" => {
                    state.size = number(operation, 1);
                    let name = operation.operands.first().and_then(|name| name.as_name().ok());
                    state.font = name.and_then(|name| self.font(name, resources));
                }
                "TL" => state.leading = number(operation, 0),
                "Td" | "TD" => {
                    let down = number(operation, 1);
                    if operation.operator == "TD" {
                        state.leading = -down;
                    }
                    line = line.moved(number(operation, 0), down);
                    next = line;
                }
                "Tm" => {
                    line = matrix(operation);
                    next = line;
                }
                "T*" | "'" | "\"" => {
                    line = line.moved(0.0, -state.leading);
                    next = line;
                    if let Some(Object::String(codes, _)) = operation.operands.last() {
                        next = show(codes, &state, next, lines);
                    }
                }
                "Tj" => {
                    if let Some(Object::String(codes, _)) = operation.operands.first() {
                        next = show(codes, &state, next, lines);
                    }
                }
                "TJ" => {
                    let parts = operation.operands.first().and_then(|parts| parts.as_array().ok());
                    for part in parts.into_iter().flatten() {
                        next = match part {
                            Object::String(codes, _) => show(codes, &state, next, lines),
                            other => {
                                let back = f64::from(other.as_float().unwrap_or_default()) / 1000.0;
                                next.moved(-back * state.size, 0.0)
                            }
                        };
                    }
                }
                "Do" if depth < MAX_DEPTH => {
                    let name = operation.operands.first().and_then(|name| name.as_name().ok());
                    self.form(name.unwrap_or_default(), resources, state.outer, lines, depth);
                }
                _ => {}
            }
        }
    }

    /// A drawing within the drawing.
    fn form(
        &mut self,
        name: &[u8],
        resources: &[&'a Dictionary],
        outer: Matrix,
        lines: &mut Lines,
        depth: usize,
    ) {
        let Some(Ok(form)) = self.named(b"XObject", name, resources).map(|(_, form)| form.as_stream()) else {
            return;
        };
        if !form.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form") {
            return;
        }
        let Some(drawn) = content(form) else { return };
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).ok();
        let within: Vec<_> = own.into_iter().chain(resources.iter().copied()).take(MAX_DEPTH + 2).collect();
        let shift = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array);
        let shift = shift.map_or(Matrix::SAME, |numbers| six(numbers));
        self.draw(&drawn, &within, shift.then(outer), lines, depth + 1);
    }

    fn font(&mut self, name: &[u8], resources: &[&'a Dictionary]) -> Option<Rc<Font<'a>>> {
        let (id, font) = self.named(b"Font", name, resources)?;
        if let Some(known) = id.and_then(|id| self.fonts.get(&id)) {
            return Some(Rc::clone(known));
        }
        let font = Rc::new(Font::of(font.as_dict().ok()?, self.document));
        id.map(|id| self.fonts.insert(id, Rc::clone(&font)));
        Some(font)
    }

    fn named(
        &self,
        kind: &[u8],
        name: &[u8],
        resources: &[&'a Dictionary],
    ) -> Option<(Option<ObjectId>, &'a Object)> {
        resources.iter().find_map(|resources| {
            let kinds = resources.get_deref(kind, self.document).and_then(Object::as_dict).ok()?;
            self.document.dereference(kinds.get(name).ok()?).ok()
        })
    }
}

/// Puts a string where it goes; answers where the next one does.
fn show(codes: &[u8], state: &State<'_>, at: Matrix, lines: &mut Lines) -> Matrix {
    let Some(font) = &state.font else { return at };
    let whole = at.then(state.outer);
    let width = font.width(codes) * state.size;
    lines.put(&font.text(codes), whole.place(), width * whole.scale(), (state.size * whole.scale()).abs());
    at.moved(width, 0.0)
}

fn number(operation: &Operation, at: usize) -> f64 {
    operation.operands.get(at).and_then(|it| it.as_float().ok()).map_or(0.0, f64::from)
}

fn matrix(operation: &Operation) -> Matrix {
    six(&operation.operands)
}

fn six(numbers: &[Object]) -> Matrix {
    let mut six = Matrix::SAME.0;
    for (to, from) in six.iter_mut().zip(numbers) {
        *to = from.as_float().map_or(0.0, f64::from);
    }
    Matrix(six)
}
