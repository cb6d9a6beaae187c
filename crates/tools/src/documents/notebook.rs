//! Notebooks: each cell under a heading, with what it printed.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{MAX_TEXT, cut_off};

/// Characters of one output shown.
const MAX_OUTPUT: usize = 4_000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "cell_type")]
    kind: String,
    #[serde(default)]
    source: Text,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    text: Text,
    #[serde(default)]
    data: Map<String, Value>,
    ename: Option<String>,
    evalue: Option<String>,
}

/// A text, whole or by lines.
#[derive(Deserialize, Default)]
#[serde(from = "Option<Value>")]
struct Text(String);

impl From<Option<Value>> for Text {
    fn from(value: Option<Value>) -> Self {
        Self(match value {
            Some(Value::String(text)) => text,
            Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
            _ => String::new(),
        })
    }
}

/// The text of a notebook.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let notebook: Notebook = serde_json::from_slice(bytes).ok()?;
    let mut text = String::new();
    for (cell, number) in notebook.cells.iter().zip(1..) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "## Cell {number} ({})\n{}", cell.kind, cell.source.0.trim_end());
        for output in cell.outputs.iter().map(shown).filter(|output| !output.is_empty()) {
            let _ = writeln!(text, "### Output\n{output}");
        }
        text.push('\n');
        if text.len() > MAX_TEXT {
            cut_off(&mut text);
            break;
        }
    }
    Some(text)
}

fn shown(output: &Output) -> String {
    let plain = output.data.get("text/plain").cloned();
    let mut text = match &output.ename {
        Some(name) => format!("{name}: {}", output.evalue.as_deref().unwrap_or_default()),
        None => format!("{}{}", output.text.0, Text::from(plain).0).trim_end().to_owned(),
    };
    if let Some((end, _)) = text.char_indices().nth(MAX_OUTPUT) {
        text.truncate(end);
        text.push_str(" […]");
    }
    for kind in output.data.keys().filter(|kind| kind.starts_with("image/")) {
        let _ = write!(text, "{}[{kind}]", if text.is_empty() { "" } else { "\n" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_under_headings_with_what_they_printed() {
        let notebook = serde_json::json!({ "cells": [
            { "cell_type": "markdown", "source": ["# Title\n", "words"] },
            { "cell_type": "code", "source": "print(1)", "outputs": [
                { "output_type": "stream", "text": ["1\n"] },
                { "output_type": "display_data", "data": { "text/plain": "<Figure>", "image/png": "aGk=" } },
                { "output_type": "error", "ename": "ValueError", "evalue": "no" },
            ] },
        ] });

        assert_eq!(
            text(notebook.to_string().as_bytes()).unwrap(),
            "## Cell 1 (markdown)\n# Title\nwords\n\n## Cell 2 (code)\nprint(1)\n### Output\n1\n### Output\n\
             <Figure>\n[image/png]\n### Output\nValueError: no\n\n"
        );
    }
}
