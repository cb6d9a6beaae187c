//! From a plan to definitions: filter by gates, patch, sanitise, defer, write.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

use crate::availability::{Availability, Verdicts};
use crate::bridge::{self, Hidden, When};
use crate::definitions::{DefinitionSettings, Offered, Toolbox, Unavailable};
use crate::json::{Dialect, sanitize};
use crate::registry::{Snapshot, Source};
use crate::tool::{Definition, SchemaCx, ToolEntry};
use crate::toolset::Plan;

/// A tool that made it through the gates, with its definition so far.
struct Candidate {
    entry: Arc<ToolEntry>,
    /// Where it was changed.
    definition: Option<Arc<Definition>>,
}

/// What a dynamic definition became.
enum Patched {
    AsDeclared,
    Changed(Definition),
    LeftOut,
}

/// Builds the definitions of one plan.
pub(super) async fn assemble(
    snapshot: Arc<Snapshot>,
    plan: Arc<Plan>,
    settings: &DefinitionSettings,
    availability: &Availability,
    config: &(dyn Fn(&str) -> Option<Value> + Sync),
) -> Toolbox {
    let chosen: Vec<&Arc<ToolEntry>> = plan.tools().iter().filter_map(|name| snapshot.tool(name)).collect();
    let verdicts = availability.verdicts(chosen.iter().map(|entry| entry.gate_value())).await;
    let (there, mut unavailable) = sort_out(&plan, &chosen, &verdicts);
    let lacking = plan.lacking().iter();
    unavailable
        .extend(lacking.map(|it| Unavailable { name: Arc::clone(&it.tool), why: Arc::clone(&it.why) }));
    let candidates = patch(there, config, &mut unavailable);
    unavailable.sort_by(|a, b| a.name.cmp(&b.name));
    let offered = candidates.into_iter().map(|candidate| offer(candidate, settings.dialect)).collect();
    let (mut offered, deferred) = defer(offered, &snapshot, settings);
    if !deferred.is_empty() {
        offered.extend(bridge_of(&deferred, &snapshot, settings));
    }
    let (epoch, until) = (verdicts.epoch, verdicts.until);
    let (json, known) = (OnceLock::new(), OnceLock::new());
    Toolbox { snapshot, plan, offered, deferred, unavailable, json, known, epoch, until }
}

fn sort_out(
    plan: &Plan,
    chosen: &[&Arc<ToolEntry>],
    verdicts: &Verdicts,
) -> (Vec<Arc<ToolEntry>>, Vec<Unavailable>) {
    let (mut there, mut unavailable) = (Vec::new(), Vec::new());
    for entry in chosen {
        match verdicts.closed(entry.gate_value()).filter(|_| !plan.is_handed(entry.name())) {
            None => there.push(Arc::clone(entry)),
            Some(why) => unavailable.push(Unavailable { name: Arc::clone(entry.name()), why: why.into() }),
        }
    }
    (there, unavailable)
}

/// Lets every dynamic definition see what is offered beside it, until nobody leaves any more.
fn patch(
    mut there: Vec<Arc<ToolEntry>>,
    config: &(dyn Fn(&str) -> Option<Value> + Sync),
    unavailable: &mut Vec<Unavailable>,
) -> Vec<Candidate> {
    loop {
        let names: Vec<Arc<str>> = there.iter().map(|entry| Arc::clone(entry.name())).collect();
        let cx = SchemaCx { offered: &names, config };
        let mut staying = Vec::with_capacity(there.len());
        let before = there.len();
        for entry in &there {
            let definition = match patched(entry, &cx) {
                Patched::AsDeclared => None,
                Patched::Changed(definition) => Some(Arc::new(definition)),
                Patched::LeftOut => {
                    let why = "nothing it could do is available".into();
                    unavailable.push(Unavailable { name: Arc::clone(entry.name()), why });
                    continue;
                }
            };
            staying.push(Candidate { entry: Arc::clone(entry), definition });
        }
        if staying.len() == before {
            return staying;
        }
        there = staying.into_iter().map(|candidate| candidate.entry).collect();
    }
}

fn patched(entry: &ToolEntry, cx: &SchemaCx<'_>) -> Patched {
    let Some(dynamic) = entry.dynamic_schema() else { return Patched::AsDeclared };
    let declared = entry.definition().clone();
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dynamic(declared, cx))) {
        Ok(Some(definition)) => Patched::Changed(definition),
        Ok(None) => Patched::LeftOut,
        // A patch that breaks must not take the tool away, nor show the wrong thing.
        Err(_) => Patched::AsDeclared,
    }
}

fn offer(candidate: Candidate, dialect: Dialect) -> Offered {
    Offered { entry: candidate.entry, patched: candidate.definition, dialect, json: OnceLock::new() }
}

/// A definition as text, in the function format.
#[derive(Serialize)]
struct Written<'a, P: ?Sized> {
    r#type: &'static str,
    function: Function<'a, P>,
}

#[derive(Serialize)]
struct Function<'a, P: ?Sized> {
    name: &'a str,
    description: &'a str,
    parameters: &'a P,
}

/// A definition as the model reads it.
pub(super) fn written(name: &str, definition: &Definition, dialect: Dialect) -> Arc<str> {
    let parameters = sanitize(&definition.parameters, dialect);
    text_of(Function { name, description: &definition.description, parameters: &*parameters })
}

/// The same with a schema that is text, and fit as it is. There may be many such tools in a request, so that they
/// are put together by hand.
pub(super) fn spliced(name: &str, description: &str, schema: &str) -> Arc<str> {
    const FRAME: [&str; 4] =
        [r#"{"type":"function","function":{"name":"#, r#","description":"#, r#","parameters":"#, "}}"];
    let quotes = 4;
    let frame = FRAME.iter().map(|part| part.len()).sum::<usize>() + quotes;
    let mut text = String::with_capacity(frame + name.len() + description.len() + schema.len());
    let [begin, before_description, before_schema, end] = FRAME;
    text.push_str(begin);
    push_quoted(&mut text, name);
    text.push_str(before_description);
    push_quoted(&mut text, description);
    text.push_str(before_schema);
    text.push_str(schema);
    text.push_str(end);
    text.into()
}

/// Adds a text as JSON has it.
fn push_quoted(all: &mut String, text: &str) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        // Strings always can be written.
        all.push_str(&serde_json::to_string(text).unwrap_or_default());
        return;
    }
    all.push('"');
    all.push_str(text);
    all.push('"');
}

fn text_of<P: Serialize + ?Sized>(function: Function<'_, P>) -> Arc<str> {
    // Strings and JSON values always can be written.
    serde_json::to_string(&Written { r#type: "function", function }).unwrap_or_default().into()
}

/// All of them as one array.
pub(super) fn write_array(offered: &[Offered]) -> Arc<str> {
    let size = offered.iter().map(|tool| tool.json().len() + 1).sum::<usize>() + 2;
    let mut text = String::with_capacity(size);
    text.push('[');
    for (at, tool) in offered.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(tool.json());
    }
    text.push(']');
    text.into()
}

fn defer(
    offered: Vec<Offered>,
    snapshot: &Snapshot,
    settings: &DefinitionSettings,
) -> (Vec<Offered>, Vec<Offered>) {
    if settings.search.when == When::Off {
        return (offered, Vec::new());
    }
    let may_go = |tool: &Offered| settings.search.include_core || !snapshot.catalog().is_core(tool.name());
    let cost: u64 = offered.iter().filter(|tool| may_go(tool)).map(Offered::tokens).sum();
    if !settings.search.applies(cost, settings.context_tokens) {
        return (offered, Vec::new());
    }
    offered.into_iter().partition(|tool| !may_go(tool))
}

fn bridge_of(deferred: &[Offered], snapshot: &Snapshot, settings: &DefinitionSettings) -> Vec<Offered> {
    let hidden = deferred.iter().map(|tool| Hidden {
        name: Arc::clone(tool.name()),
        definition: Definition {
            description: tool.description().to_owned(),
            parameters: tool.parameters().clone(),
        },
        source: snapshot.source(tool.name()).cloned().unwrap_or(Source::BuiltIn),
    });
    bridge::entries(hidden.collect(), settings.search)
        .into_iter()
        .map(|entry| offer(Candidate { entry, definition: None }, settings.dialect))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_put_together_by_hand_is_the_one_that_would_be_written() {
        let parameters = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        for text in
            ["plain", "", "a \"quoted\" word", "back\\slash", "two\nlines\t\u{1}\u{7f}", "größer – 😀"]
        {
            let definition = Definition { description: text.to_owned(), parameters: parameters.clone() };

            let by_hand = spliced("tool_1", text, &parameters.to_string());

            assert_eq!(by_hand, written("tool_1", &definition, Dialect::Lenient), "{text:?}");
        }
    }
}
