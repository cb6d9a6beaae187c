//! Which tool a request means.

use serde_json::{Map, Value, json};

use super::fill::{Filled, fill};
use super::words::Request;
use crate::tools_json::{Offered, OfferedTool};

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(super) enum Route {
    /// Call this tool like this.
    Call { tool: String, arguments: Map<String, Value> },
    /// This tool is meant, but these parameters are not known.
    Missing { tool: String, parameters: Vec<String> },
    /// No tool is meant.
    None,
}

/// Words in names of tools that say nothing about what they do.
const DULL: &[&str] = &["get", "set", "the", "a", "tool", "mcp", "fetch", "current", "query", "do"];

pub(super) fn route(text: &str, offered: &Offered) -> Route {
    let request = Request::new(text);
    if offered.is_empty() || request.text.is_empty() {
        return Route::None;
    }
    if let Some(tool) = named(&request, offered) {
        if let Some(arguments) = request.object() {
            return Route::Call { tool: tool.name.clone(), arguments };
        }
        return filled(tool, &request, true);
    }
    if let Some(route) = plain(&request, offered) {
        return route;
    }
    match meant(&request, offered) {
        Some(tool) => filled(tool, &request, request.says(&["use", "call", "tool"])),
        None => Route::None,
    }
}

fn filled(tool: &OfferedTool, request: &Request<'_>, named: bool) -> Route {
    match fill(tool, request) {
        Filled::All(arguments) => Route::Call { tool: tool.name.clone(), arguments },
        Filled::Missing(parameters) if named => Route::Missing { tool: tool.name.clone(), parameters },
        // Not named and not enough said: it was probably not meant.
        Filled::Missing(_) => Route::None,
    }
}

/// The tool whose name stands in the request, the longest if there are several.
fn named<'a>(request: &Request<'_>, offered: &'a Offered) -> Option<&'a OfferedTool> {
    let asks = request.says(&["use", "call", "tool", "run", "invoke", "with"]) || request.text.contains('{');
    let first = request.plain.first().map(String::as_str);
    let same = |a: &str, b: &str| a.replace('-', "_") == b.to_lowercase().replace('-', "_");
    let fits = |tool: &&OfferedTool| {
        let whole = request.plain.iter().any(|word| same(word, &tool.name))
            || request.code.iter().any(|code| same(&code.to_lowercase(), &tool.name));
        // A name that is also a plain word must be asked for, or be a name no sentence holds.
        whole
            && (asks
                || tool.name.contains('_')
                || (first.is_some_and(|first| same(first, &tool.name)) && request.plain.len() == 1))
    };
    offered.all().filter(fits).max_by_key(|tool| tool.name.len())
}

/// Requests everybody makes, whatever the tools are called like.
fn plain(request: &Request<'_>, offered: &Offered) -> Option<Route> {
    let first = request.plain.first().map(String::as_str)?;
    let call = |tool: &str, arguments: Value| match arguments {
        Value::Object(arguments) if offered.has(tool) => Some(Route::Call { tool: tool.into(), arguments }),
        _ => None,
    };
    let path = request.paths().last().copied();
    match first {
        "run" | "execute" | "exec" | "shell" => {
            let command = request.code.first().copied().or_else(|| behind_first(request));
            call("terminal", json!({ "command": command? }))
        }
        "read" | "show" | "cat" | "open" | "view" | "print" => call("read_file", json!({ "path": path? })),
        "list" | "ls" if first == "ls" || request.says(&["files", "folder", "directory", "file"]) => {
            let place =
                path.or_else(|| request.after(&["in", "of", "under"])).filter(|place| !is_here(place));
            let mut arguments = json!({ "pattern": "*", "target": "files" });
            if let (Some(place), Some(object)) = (place, arguments.as_object_mut()) {
                object.insert("path".into(), place.into());
            }
            call("search_files", arguments).or_else(|| {
                call("terminal", json!({ "command": format!("ls -la {}", place.unwrap_or(".")) }))
            })
        }
        "search" | "find" | "grep" | "look" if !request.says(&["web", "internet", "online"]) => {
            search(request, &call)
        }
        "search" | "google" | "find" | "look" => {
            let query = request.quoted.first().copied().or_else(|| request.after(&["for", "about"]));
            call("web_search", json!({ "query": query? }))
        }
        _ => None,
    }
}

fn is_here(place: &str) -> bool {
    matches!(
        place.to_lowercase().as_str(),
        "." | "here" | "this folder" | "this directory" | "the current directory" | "the current folder"
    )
}

/// `search TODO in src`, `find "fn main" in src/*.rs`, `grep for x`.
fn search(request: &Request<'_>, call: &dyn Fn(&str, Value) -> Option<Route>) -> Option<Route> {
    let rest = behind_first(request)?;
    let rest = rest.strip_prefix("for ").unwrap_or(rest);
    let (what, place) = match rest.rsplit_once(" in ") {
        Some((what, place)) => (what, Some(place.trim())),
        None => (rest, None),
    };
    let what = request.quoted.first().or(request.code.first()).copied().unwrap_or(what).trim();
    let mut arguments = json!({ "pattern": what });
    if let (Some(place), Some(object)) = (place.filter(|place| !is_here(place)), arguments.as_object_mut()) {
        let place = place.trim_end_matches(['.', '?', '!']).trim_start_matches("the ");
        let place =
            place.strip_suffix(" folder").or_else(|| place.strip_suffix(" directory")).unwrap_or(place);
        object.insert("path".into(), place.into());
    }
    call("search_files", arguments)
}

fn behind_first<'a>(request: &Request<'a>) -> Option<&'a str> {
    let (_, rest) = request.text.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let rest = rest.strip_prefix("the command ").or_else(|| rest.strip_prefix("command ")).unwrap_or(rest);
    (!rest.is_empty()).then_some(rest)
}

/// The tool all of whose telling words are in the request.
fn meant<'a>(request: &Request<'_>, offered: &'a Offered) -> Option<&'a OfferedTool> {
    let score = |tool: &&'a OfferedTool| {
        let parts: Vec<String> = tool.name.to_lowercase().split(['_', '-', '.']).map(str::to_owned).collect();
        let telling: Vec<&String> =
            parts.iter().filter(|part| part.len() > 1 && !DULL.contains(&part.as_str())).collect();
        let said = |word: &str| request.plain.iter().any(|known| alike(known, word));
        let all = !telling.is_empty() && telling.iter().all(|part| said(part));
        let about = request
            .plain
            .iter()
            .filter(|word| word.len() > 3 && tool.description.to_lowercase().contains(word.as_str()))
            .count();
        all.then_some((telling.len(), about))
    };
    offered
        .all()
        .filter_map(|tool| Some((score(&tool)?, tool)))
        .max_by(|a, b| a.0.cmp(&b.0))
        .map(|(_, tool)| tool)
}

/// The same word, or one the plural of the other.
fn alike(a: &str, b: &str) -> bool {
    a == b || a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a)
}
