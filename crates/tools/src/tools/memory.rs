//! `memory`: notes that last beyond the session.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::memory::{Applied, Change, Did, Memory, MemoryError, Refused, Target};
use hermes_core::session::{Place, Slot};
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::toolsets::memory;

pub(crate) const TOOL: ToolDef = ToolDef::of::<MemoryNotes>("memory", &memory::TOOLSET)
    .emoji("🧠")
    .gate(|| Gate::given::<Arc<dyn Memory>>("a state folder that keeps notes"));

/// Most changes of one call.
const MAX_CHANGES: usize = 64;

/// So many times in one turn the notes may turn out too long; then it is time to do something else.
const MAX_OVER: u32 = 3;

/// What is said with every success: without it models tend to save the same thing again.
const NOTE: &str = "Saved. New sessions begin with it; the notes shown in this one stay as they were. \
     There is no need to save it again.";

/// Keep short notes that new sessions begin with. Save what will matter again: what the person
/// prefers or corrects, facts about their machine, project and conventions, lessons learned. Not:
/// progress of the task at hand, long lists, what can be looked up. target `user`: who the person is;
/// `memory`: everything else. Room is small: one compact note per fact; when it is full, replace or
/// remove notes in the same call with operations, which are all done or none.
#[derive(Deserialize, JsonSchema)]
struct MemoryNotes {
    /// What to do; leave out when operations are given
    action: Option<Action>,
    /// Which notes: about the work (memory) or about the person (user)
    target: Which,
    /// The whole note, for add and replace
    content: Option<String>,
    /// A part of the one note that is meant, for replace and remove
    old_text: Option<String>,
    /// Several changes at once, done in order, all or none
    operations: Option<Vec<Operation>>,
}

/// One change.
#[derive(Deserialize, JsonSchema)]
struct Operation {
    /// What to do
    action: Action,
    /// The whole note, for add and replace
    content: Option<String>,
    /// A part of the one note that is meant, for replace and remove
    old_text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Replace,
    Remove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    Memory,
    User,
}

/// How often the notes were too long in a turn.
#[derive(Debug, Default)]
struct Overflows {
    turn: u64,
    count: u32,
}

impl Slot for Overflows {
    const NAME: &'static str = "memory";
}

impl Tool for MemoryNotes {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(Overflows::NAME)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let Some(memory) = cx.service::<Arc<dyn Memory>>() else {
            return Err(ToolError::Failed("there is no state folder that could keep notes".to_owned()));
        };
        let target = match self.target {
            Which::Memory => Target::Memory,
            Which::User => Target::User,
        };
        let changes = self.changes()?;
        let count = changes.len();
        match memory.apply(target, changes).await {
            Ok(applied) => Ok(done(target, &applied)),
            Err(refused) => {
                let over = matches!(refused.why, MemoryError::OverLimit { .. });
                let times = if over { overflowed(cx) } else { 0 };
                Ok(failure(target, &refused, count, times))
            }
        }
    }
}

impl MemoryNotes {
    fn changes(self) -> Result<Vec<Change>, ToolError> {
        let Self { action, content, old_text, operations, .. } = self;
        match (action, operations) {
            (Some(action), None) => Ok(vec![change(action, content, old_text, "")?]),
            (None, Some(operations)) if operations.is_empty() => {
                Err(ToolError::Arguments("operations: there are none".to_owned()))
            }
            (None, Some(operations)) if operations.len() > MAX_CHANGES => {
                Err(ToolError::Arguments(format!("operations: {MAX_CHANGES} are the most of one call")))
            }
            (None, Some(operations)) => {
                let one = |(at, operation): (usize, Operation)| {
                    let Operation { action, content, old_text } = operation;
                    change(action, content, old_text, &format!("operations[{at}]: "))
                };
                operations.into_iter().enumerate().map(one).collect()
            }
            (Some(_), Some(_)) => Err(ToolError::Arguments("give action or operations, not both".to_owned())),
            (None, None) => Err(ToolError::Arguments(
                "action is needed: add, replace or remove; or operations for several".to_owned(),
            )),
        }
    }
}

/// The change that is meant; `at` says where it stands among others.
fn change(
    action: Action,
    content: Option<String>,
    old_text: Option<String>,
    at: &str,
) -> Result<Change, ToolError> {
    let need = |value: Option<String>, name: &str, what: &str| {
        let value = value.filter(|text| !text.trim().is_empty());
        value.ok_or_else(|| ToolError::Arguments(format!("{at}{name} is needed: {what}")))
    };
    let note = |value| need(value, "content", "the whole note");
    let old = |value| need(value, "old_text", "a part of the note that is meant");
    Ok(match action {
        Action::Add => Change::Add(note(content)?),
        Action::Replace => Change::Replace { old: old(old_text)?, new: note(content)? },
        Action::Remove => Change::Remove { old: old(old_text)? },
    })
}

/// Counts one more overflow in this turn, where there is a session to count in.
fn overflowed(cx: &ToolCx) -> u32 {
    let turn = cx.turn();
    let count = cx.with_slot(|overflows: &mut Overflows| {
        if overflows.turn != turn {
            *overflows = Overflows { turn, count: 0 };
        }
        overflows.count += 1;
        overflows.count
    });
    count.unwrap_or(1)
}

fn done(target: Target, applied: &Applied) -> Value {
    json!({
        "success": true,
        "done": true,
        "target": target.word(),
        "usage": applied.room.to_string(),
        "entry_count": applied.entries,
        "message": told(&applied.did),
        "note": NOTE,
    })
}

/// What was done, in words.
fn told(did: &[Did]) -> String {
    if let [one] = did {
        return match one {
            Did::Added => "The note was added.",
            Did::AlreadyThere => "The note is there already; nothing was added.",
            Did::Replaced => "The note was replaced.",
            Did::Removed => "The note was removed.",
        }
        .to_owned();
    }
    let words = [
        (Did::Added, "added"),
        (Did::Replaced, "replaced"),
        (Did::Removed, "removed"),
        (Did::AlreadyThere, "there already"),
    ];
    let counts = words.iter().filter_map(|(kind, word)| {
        let count = did.iter().filter(|one| *one == kind).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    format!("All {} operations were done: {}.", did.len(), counts.collect::<Vec<_>>().join(", "))
}

fn failure(target: Target, refused: &Refused, changes: usize, times: u32) -> Value {
    let mut text = refused.why.to_string();
    if changes > 1 {
        let which = refused.change.map(|at| format!("operations[{at}]: ")).unwrap_or_default();
        text = format!("{which}{text}. None of the {changes} operations was done");
    }
    let mut facts: Vec<(&str, Value)> = Vec::new();
    match &refused.why {
        MemoryError::OverLimit { room, entries, .. } => {
            text.push_str(if times >= MAX_OVER {
                ". This was tried often enough: stop saving notes in this turn and go on with the task"
            } else {
                ". Shorten, merge or remove notes in the same call with operations"
            });
            facts.push(("usage", json!(room.to_string())));
            facts.push(("current_entries", json!(entries)));
        }
        MemoryError::Ambiguous { previews, .. } => facts.push(("matches", json!(previews))),
        MemoryError::NoMatch { entries, .. } => facts.push(("current_entries", json!(entries))),
        MemoryError::Drift { backup, .. } => facts.push(("backup", json!(backup))),
        _ => {}
    }
    let mut answer = json!({ "success": false, "target": target.word(), "error": text });
    if let Some(fields) = answer.as_object_mut() {
        fields.extend(facts.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    answer
}

#[cfg(test)]
mod tests {
    use hermes_core::memory::Room;

    use super::*;

    fn asked(arguments: Value) -> Result<Vec<Change>, String> {
        MemoryNotes::deserialize(arguments).unwrap().changes().map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn one_change_or_several_are_understood() {
        let one = asked(json!({ "action": "add", "target": "user", "content": "likes tea" }));
        let several = asked(json!({ "target": "user", "operations": [
            { "action": "remove", "old_text": "tea" },
            { "action": "replace", "old_text": "a", "content": "b" },
        ]}));

        assert_eq!(one, Ok(vec![Change::Add("likes tea".to_owned())]));
        assert_eq!(
            several,
            Ok(vec![
                Change::Remove { old: "tea".to_owned() },
                Change::Replace { old: "a".to_owned(), new: "b".to_owned() },
            ])
        );
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        for (arguments, why) in [
            (json!({ "target": "user" }), "action is needed"),
            (json!({ "target": "user", "action": "add" }), "content is needed"),
            (json!({ "target": "user", "action": "add", "content": " " }), "content is needed"),
            (json!({ "target": "user", "action": "remove" }), "old_text is needed"),
            (json!({ "target": "user", "operations": [] }), "operations: there are none"),
            (json!({ "target": "user", "action": "add", "operations": [] }), "not both"),
            (
                json!({ "target": "user", "operations": [
                    { "action": "add", "content": "x" }, { "action": "replace", "content": "x" },
                ]}),
                "operations[1]: old_text is needed",
            ),
        ] {
            let wrong = asked(arguments.clone()).unwrap_err();
            assert!(wrong.contains(why), "{arguments}: {wrong}");
        }
    }

    #[test]
    fn too_long_notes_come_back_with_the_notes_and_in_the_end_with_a_word_to_stop() {
        let room = Room { used: 2100, limit: 2200 };
        let why = MemoryError::OverLimit { would: 2300, room, entries: vec!["a".to_owned()] };
        let refused = Refused { change: None, why };

        let first = failure(Target::Memory, &refused, 1, 1);
        let third = failure(Target::Memory, &refused, 1, 3);

        assert_eq!(first["current_entries"], json!(["a"]));
        assert_eq!(first["usage"], "95% — 2,100/2,200 chars");
        assert!(first["error"].as_str().unwrap().contains("with operations"), "{first}");
        assert!(third["error"].as_str().unwrap().contains("stop saving notes"), "{third}");
    }

    #[test]
    fn the_operation_to_blame_is_named_and_that_nothing_was_done() {
        let why = MemoryError::NoMatch { text: "zz".to_owned(), entries: Vec::new() };
        let told = failure(Target::User, &Refused { change: Some(1), why }, 3, 0);

        assert_eq!(
            told["error"],
            "operations[1]: `zz` is in none of the notes. None of the 3 operations was done"
        );
    }

    #[test]
    fn what_was_done_is_told_in_words() {
        assert_eq!(told(&[Did::Removed]), "The note was removed.");
        assert_eq!(
            told(&[Did::Added, Did::Removed, Did::Added]),
            "All 3 operations were done: 2 added, 1 removed."
        );
    }
}
