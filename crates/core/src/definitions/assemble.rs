//! From a plan to definitions: filter by gates, patch, sanitise, defer, write.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::availability::{Availability, Verdicts};
use crate::bridge::{self, Hidden};
use crate::definitions::{DefinitionSettings, Offered, Toolbox, Unavailable, tokens};
use crate::json::{Dialect, sanitize};
use crate::registry::{Snapshot, Source};
use crate::tool::{Definition, SchemaCx, ToolEntry};
use crate::toolset::Plan;

/// A tool that made it through the gates, with its definition so far.
struct Candidate {
    entry: Arc<ToolEntry>,
    definition: Definition,
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
    let (there, mut unavailable) = sort_out(&chosen, &verdicts);
    let candidates = patch(there, config, &mut unavailable);
    unavailable.sort_by(|a, b| a.name.cmp(&b.name));
    let offered = candidates.into_iter().map(|candidate| offer(candidate, settings.dialect)).collect();
    let (mut offered, deferred) = defer(offered, &snapshot, settings);
    if !deferred.is_empty() {
        offered.extend(bridge_of(&deferred, &snapshot, settings));
    }
    let json = write_array(&offered);
    let (epoch, until) = (verdicts.epoch, verdicts.until);
    Toolbox { snapshot, plan, offered, deferred, unavailable, json, known: OnceLock::new(), epoch, until }
}

fn sort_out(chosen: &[&Arc<ToolEntry>], verdicts: &Verdicts) -> (Vec<Arc<ToolEntry>>, Vec<Unavailable>) {
    let (mut there, mut unavailable) = (Vec::new(), Vec::new());
    for entry in chosen {
        match verdicts.closed(entry.gate_value()) {
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
            match patched(entry, &cx) {
                Some(definition) => staying.push(Candidate { entry: Arc::clone(entry), definition }),
                None => unavailable.push(Unavailable {
                    name: Arc::clone(entry.name()),
                    why: "nothing it could do is available".into(),
                }),
            }
        }
        if staying.len() == before {
            return staying;
        }
        there = staying.into_iter().map(|candidate| candidate.entry).collect();
    }
}

fn patched(entry: &ToolEntry, cx: &SchemaCx<'_>) -> Option<Definition> {
    let definition = entry.definition().clone();
    match entry.dynamic_schema() {
        None => Some(definition),
        Some(dynamic) => {
            // A patch that breaks must not take the tool away, nor show the wrong thing: the
            // definition stays as it was declared.
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dynamic(definition.clone(), cx)))
                .unwrap_or(Some(definition))
        }
    }
}

/// A tool's own definition, whatever is offered beside it.
pub(super) fn alone(entry: &ToolEntry, dialect: Dialect) -> Arc<str> {
    let definition = entry.definition();
    write_one(entry.name(), &definition.description, &sanitize(&definition.parameters, dialect))
}

fn offer(candidate: Candidate, dialect: Dialect) -> Offered {
    let Candidate { entry, definition } = candidate;
    let json = write_one(entry.name(), &definition.description, &sanitize(&definition.parameters, dialect));
    Offered {
        entry,
        description: definition.description.into(),
        parameters: Arc::new(definition.parameters),
        json,
    }
}

fn write_one(name: &str, description: &str, parameters: &Value) -> Arc<str> {
    let function = json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": parameters },
    });
    function.to_string().into()
}

fn write_array(offered: &[Offered]) -> Arc<str> {
    let size = offered.iter().map(|tool| tool.json.len() + 1).sum::<usize>() + 2;
    let mut text = String::with_capacity(size);
    text.push('[');
    for (at, tool) in offered.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&tool.json);
    }
    text.push(']');
    text.into()
}

fn defer(
    offered: Vec<Offered>,
    snapshot: &Snapshot,
    settings: &DefinitionSettings,
) -> (Vec<Offered>, Vec<Offered>) {
    let may_go = |tool: &Offered| settings.search.include_core || !snapshot.catalog().is_core(tool.name());
    let cost: u64 = offered.iter().filter(|tool| may_go(tool)).map(|tool| tokens(&tool.json)).sum();
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
            parameters: tool.parameters.as_ref().clone(),
        },
        source: snapshot.source(tool.name()).cloned().unwrap_or(Source::BuiltIn),
    });
    bridge::entries(hidden.collect(), settings.search)
        .into_iter()
        .map(|entry| {
            let definition = entry.definition().clone();
            offer(Candidate { entry, definition }, settings.dialect)
        })
        .collect()
}
