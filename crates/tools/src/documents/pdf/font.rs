//! A font: what its codes mean, and how wide they are drawn.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

use super::content;

/// Width of a letter nothing is known about, in thousandths of the size.
const WIDTH: f32 = 500.0;

/// Largest table of letters that is read, in bytes.
const MAX_TABLE: usize = 4 * 1024 * 1024;

/// A font of a document.
pub(super) struct Font<'a> {
    encoding: Option<Encoding<'a>>,
    /// Codes have two bytes.
    wide: bool,
    widths: HashMap<u16, f32>,
    default_width: f32,
}

impl<'a> Font<'a> {
    /// Reads a font.
    pub(super) fn of(font: &'a Dictionary, document: &'a Document) -> Self {
        let table = font.get_deref(b"ToUnicode", document).and_then(Object::as_stream).ok();
        let bounded = table.is_none_or(|table| content(table).is_some_and(|table| table.len() <= MAX_TABLE));
        let encoding = if bounded { font.get_font_encoding(document).ok() } else { None };
        let wide = font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Type0");
        let mut read = Self { encoding, wide, widths: HashMap::new(), default_width: WIDTH };
        if wide {
            read.wide_widths(font, document);
        } else {
            read.simple_widths(font, document);
        }
        read
    }

    fn simple_widths(&mut self, font: &Dictionary, document: &Document) {
        let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        let widths = font.get_deref(b"Widths", document).and_then(Object::as_array);
        for (code, width) in (first..).zip(widths.map(Vec::as_slice).unwrap_or_default()) {
            let (Ok(code), Ok(width)) = (u16::try_from(code), number(width, document)) else { continue };
            self.widths.insert(code, width);
        }
    }

    /// `[first [w w w] first last w …]`.
    fn wide_widths(&mut self, font: &Dictionary, document: &Document) {
        self.default_width = 1000.0;
        let inner = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array).ok();
        let inner = inner.and_then(|fonts| document.dereference(fonts.first()?).ok());
        let Some(Ok(inner)) = inner.map(|(_, font)| font.as_dict()) else { return };
        if let Ok(width) = inner.get_deref(b"DW", document).and_then(Object::as_float) {
            self.default_width = width;
        }
        let Ok(table) = inner.get_deref(b"W", document).and_then(Object::as_array) else { return };
        let mut rest = table.iter();
        while let (Some(first), Some(next)) = (rest.next(), rest.next()) {
            let Ok(first) = first.as_i64() else { return };
            if let Ok((_, Object::Array(widths))) = document.dereference(next) {
                for (code, width) in (first..).zip(widths) {
                    if let (Ok(code), Ok(width)) = (u16::try_from(code), number(width, document)) {
                        self.widths.insert(code, width);
                    }
                }
            } else if let (Ok(last), Some(Ok(width))) =
                (next.as_i64(), rest.next().map(|it| number(it, document)))
            {
                for code in first..=last.min(first.saturating_add(i64::from(u16::MAX))) {
                    if let Ok(code) = u16::try_from(code) {
                        self.widths.insert(code, width);
                    }
                }
            }
        }
    }

    /// What a string says; nothing when that cannot be known.
    pub(super) fn text(&self, codes: &[u8]) -> String {
        let said = self.encoding.as_ref().and_then(|encoding| Document::decode_text(encoding, codes).ok());
        let mut text = String::new();
        for c in said.unwrap_or_default().chars() {
            match c {
                '\0' | '\r' | '\u{AD}' => {}
                // Letters that are printed as one are searched for as several.
                '\u{FB00}' => text.push_str("ff"),
                '\u{FB01}' => text.push_str("fi"),
                '\u{FB02}' => text.push_str("fl"),
                '\u{FB03}' => text.push_str("ffi"),
                '\u{FB04}' => text.push_str("ffl"),
                other => text.push(other),
            }
        }
        text
    }

    /// How wide a string is drawn, in sizes of the font.
    pub(super) fn width(&self, codes: &[u8]) -> f64 {
        let known = |code: u16| f64::from(self.widths.get(&code).copied().unwrap_or(self.default_width));
        let total: f64 = if self.wide {
            codes.as_chunks::<2>().0.iter().map(|pair| known(u16::from_be_bytes(*pair))).sum()
        } else {
            codes.iter().map(|code| known(u16::from(*code))).sum()
        };
        total / 1000.0
    }
}

fn number(object: &Object, document: &Document) -> Result<f32, lopdf::Error> {
    document.dereference(object)?.1.as_float()
}
