//! `<invoke name="…"><parameter name="…">…</parameter></invoke>`: `MiniMax`, newer `DeepSeek` and others,
//! with different tags around it.

use hermes_core::model::ModelCall;
use serde_json::{Map, Value};

use super::super::spans::{Parsed, Span, typed};
use super::Dialect;

pub(crate) const DIALECT: Dialect = Dialect::new("invoke", OPENS, parse, cut);

const OPENS: &[&str] = &[
    "<invoke name=",
    "<function_calls>",
    "<minimax:tool_call>",
    "<｜DSML｜function_calls>",
    "<｜DSML｜invoke name=",
];
const CLOSES: &[&str] = &["</function_calls>", "</minimax:tool_call>", "</｜DSML｜function_calls>"];

fn parse(span: &Span<'_>) -> Parsed {
    let group = OPENS.iter().find(|opens| opens.ends_with('>') && span.text.starts_with(*opens));
    let mut rest =
        group.map_or(span.text, |opens| span.text.strip_prefix(opens).unwrap_or_default()).trim_start();
    let mut calls = Vec::new();
    loop {
        if let Some(after) = CLOSES.iter().find_map(|closes| rest.strip_prefix(closes)) {
            rest = after;
            break;
        }
        let Some(inner) = begins(rest) else {
            let maybe = |tags: &[&str]| tags.iter().any(|tag| tag.starts_with(rest));
            if group.is_some() && !span.ended && (maybe(OPENS) || maybe(CLOSES)) {
                return Parsed::More;
            }
            break;
        };
        // Calls that are whole do not wait for one that is not, and are not lost with it.
        let enough = !calls.is_empty() && (group.is_none() || span.ended);
        let Some((name, body)) = name(inner) else {
            if enough {
                break;
            }
            return Parsed::More;
        };
        if !span.accepts(name) {
            return Parsed::No;
        }
        let Some((body, after)) = ends(body) else {
            if enough {
                break;
            }
            return Parsed::More;
        };
        let Some(call) = call(span, name, body) else { return Parsed::No };
        calls.push(call);
        rest = after.trim_start();
    }
    if calls.is_empty() { Parsed::No } else { Parsed::Calls { calls, used: span.text.len() - rest.len() } }
}

fn begins(text: &str) -> Option<&str> {
    text.strip_prefix("<invoke name=").or_else(|| text.strip_prefix("<｜DSML｜invoke name="))
}

fn ends(text: &str) -> Option<(&str, &str)> {
    text.split_once("</invoke>").or_else(|| text.split_once("</｜DSML｜invoke>"))
}

/// The quoted name, and what is behind its tag.
fn name(text: &str) -> Option<(&str, &str)> {
    let (head, body) = text.split_once('>')?;
    let head = head.trim_start_matches(['"', '\'']);
    Some((head.split(['"', '\'']).next().unwrap_or(head).trim(), body))
}

fn call(span: &Span<'_>, name: &str, body: &str) -> Option<ModelCall> {
    let tool = span.offered.get(name);
    let body = body.replace("｜DSML｜", "");
    let mut rest = body.as_str();
    let mut arguments = Map::new();
    while let Some((_, after)) = rest.split_once("<parameter name=") {
        let (key, value) = self::name(after)?;
        let (value, after) = value.split_once("</parameter>")?;
        arguments.insert(key.to_owned(), typed(tool, key, value));
        rest = after;
    }
    span.call(name, Value::Object(arguments).to_string())
}

fn cut(span: &Span<'_>) -> Option<ModelCall> {
    let at = span.text.find("invoke name=")?;
    let (name, _) = name(span.text.get(at + "invoke name=".len()..)?)?;
    span.call(name, "{".into())
}
