//! Steps 1 to 3: give the call its own id, find the tool, make its arguments fit.
//!
//! A name is matched by case and separators only, so a slip of the pen finds its tool and a wrong
//! name never finds another one. Calls through the search bridge are unwrapped here: everything
//! after this step sees the real tool.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::bridge;
use crate::call::{CallId, ToolCall};
use crate::cx::ToolCx;
use crate::definitions::{Offered, Toolbox};
use crate::error::ToolError;
use crate::hook::CallView;
use crate::json::{coerce, parse_arguments, validate};
use crate::road::{Refusal, Refused};
use crate::session::Session;
use crate::suggest::suggest;
use crate::tool::ToolEntry;

/// How many names an error suggests.
const SUGGESTIONS: usize = 3;

/// A call whose tool is known and whose arguments fit.
pub(super) struct Taken<'t> {
    pub(super) view: CallView,
    pub(super) entry: Arc<ToolEntry>,
    pub(super) parameters: &'t Value,
    /// The arguments were cut off and closed by us: good enough to look, not to act.
    pub(super) cut_off: bool,
    pub(super) notes: Vec<String>,
}

impl Taken<'_> {
    /// Takes other arguments, if they fit. Whoever wrote them wrote them whole.
    pub(super) fn change(&mut self, arguments: Map<String, Value>) -> Result<(), ToolError> {
        self.view.arguments = arguments;
        self.cut_off = false;
        fit(self.parameters, &mut self.view.arguments)
    }

    pub(super) fn refuse(self, why: Refusal) -> Box<Refused> {
        Box::new(Refused {
            id: self.view.id.clone(),
            given_id: self.view.given_id.clone(),
            tool: Arc::clone(&self.view.tool),
            view: Some(self.view),
            why,
            notes: self.notes,
        })
    }
}

/// Takes a call in: its own id, its tool, its arguments. A call that a running one makes carries
/// that one's id in front of its own number.
pub(super) fn take_in<'t>(
    session: &Session,
    toolbox: &'t Toolbox,
    call: ToolCall,
    within: Option<&ToolCx>,
) -> Result<Taken<'t>, Box<Refused>> {
    let id = within.map_or_else(|| session.next_call_id(), ToolCx::next_inner_id);
    match find(toolbox, &call.name, &call.arguments) {
        Ok(found) => {
            let view = CallView {
                id,
                given_id: call.given_id,
                session: session.shared_id(),
                tool: Arc::clone(found.offered.name()),
                arguments: found.arguments,
                within: within.map(|cx| cx.call().clone()),
                turn: session.turn(),
                request: session.requests(),
            };
            let mut taken = Taken {
                view,
                entry: Arc::clone(found.offered.entry()),
                parameters: found.offered.parameters(),
                cut_off: found.cut_off,
                notes: Vec::new(),
            };
            match fit(taken.parameters, &mut taken.view.arguments) {
                Ok(()) => Ok(taken),
                Err(wrong) => Err(taken.refuse(wrong.into())),
            }
        }
        Err(wrong) => Err(unresolved(id, call, wrong)),
    }
}

/// Brings arguments to the types of the schema, then insists on it.
fn fit(parameters: &Value, arguments: &mut Map<String, Value>) -> Result<(), ToolError> {
    coerce(parameters, arguments);
    validate(parameters, arguments)
        .map_err(|wrong| ToolError::Arguments(format!("invalid arguments: {wrong}")))
}

struct Found<'a> {
    offered: &'a Offered,
    arguments: Map<String, Value>,
    cut_off: bool,
}

fn find<'a>(toolbox: &'a Toolbox, name: &str, raw: &str) -> Result<Found<'a>, ToolError> {
    let Some(offered) = lookup(toolbox, name) else {
        // The bridge's own `tool_call` is not a tool: it stands for the one it names.
        if toolbox.has_bridge() && bridge::means_call(name) {
            let (arguments, cut_off) = read(raw)?;
            let (target, arguments, inner_cut_off) = bridge::unwrap_call(arguments)?;
            let offered = lookup(toolbox, &target).ok_or_else(|| unknown(toolbox, &target))?;
            return Ok(Found { offered, arguments, cut_off: cut_off || inner_cut_off });
        }
        return Err(unknown(toolbox, name));
    };
    let (arguments, cut_off) = read(raw)?;
    Ok(Found { offered, arguments, cut_off })
}

fn read(raw: &str) -> Result<(Map<String, Value>, bool), ToolError> {
    let parsed = parse_arguments(raw).map_err(|wrong| ToolError::Arguments(wrong.to_string()))?;
    Ok((parsed.value, parsed.truncated))
}

fn lookup<'a>(toolbox: &'a Toolbox, name: &str) -> Option<&'a Offered> {
    toolbox.find(name).or_else(|| toolbox.find_spelled(name))
}

fn unknown(toolbox: &Toolbox, name: &str) -> ToolError {
    if let Some(why) = toolbox.why_unavailable(name) {
        return ToolError::UnknownTool(format!("`{name}` is not available here: {why}"));
    }
    let near = suggest(name, toolbox.names(), SUGGESTIONS);
    ToolError::UnknownTool(match near.as_slice() {
        [] => format!("Unknown tool: {name}"),
        near => format!("Unknown tool: {name}. Did you mean {}?", near.join(", ")),
    })
}

fn unresolved(id: CallId, call: ToolCall, wrong: ToolError) -> Box<Refused> {
    Box::new(Refused {
        id,
        given_id: call.given_id,
        tool: call.name.into(),
        view: None,
        why: wrong.into(),
        notes: Vec::new(),
    })
}
