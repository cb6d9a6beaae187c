//! The summary as it stands in the conversation: a part of the person's first message, so that the
//! task and what became of it are read together and the order of roles stays what it was.

use hermes_core::model::{Message, Part};

const BEGIN: &str =
    "[What happened so far. The conversation was shortened; this stands for the part left out.]";
const TODOS: &str = "[Still to do when it was shortened]";
const END: &str = "[End of what happened so far. Go on from here; do not do again what is done.]";

/// What the model says when the person's words would follow on the person's words.
pub(crate) const UNDERSTOOD: &str = "Understood. I go on from there.";

/// The part that is put after the person's first words.
pub(crate) fn part(summary: &str, todos: Option<&str>) -> Option<Part> {
    let (summary, todos) = (summary.trim(), todos.map(str::trim).filter(|todos| !todos.is_empty()));
    if summary.is_empty() && todos.is_none() {
        return None;
    }
    let mut text = format!("{BEGIN}\n");
    if !summary.is_empty() {
        text.push_str(summary);
        text.push('\n');
    }
    if let Some(todos) = todos {
        text.extend([TODOS, "\n", todos, "\n"]);
    }
    text.push_str(END);
    Some(Part::Text { text })
}

/// The summary in a first message that has one, without the marks and the list of things to do.
pub(crate) fn earlier(message: &Message) -> Option<String> {
    let Message::User { content } = message else { return None };
    let text = content.iter().find_map(|part| match part {
        Part::Text { text } => text.strip_prefix(BEGIN),
        Part::Image { .. } => None,
    })?;
    let body = text.split(TODOS).next().unwrap_or_default();
    Some(body.strip_suffix(END).unwrap_or(body).trim().to_owned())
}

/// Whether a part is a summary of ours.
pub(crate) fn is_note(part: &Part) -> bool {
    matches!(part, Part::Text { text } if text.starts_with(BEGIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_found_again() {
        for todos in [None, Some("- [ ] wash up")] {
            let part = part("It rained.", todos).unwrap();
            assert!(is_note(&part));
            let message = Message::User { content: vec![Part::Text { text: "task".to_owned() }, part] };

            assert_eq!(earlier(&message), Some("It rained.".to_owned()));
        }
        assert_eq!(earlier(&Message::user("task")), None);
        assert_eq!(part(" ", Some("")), None);
    }
}
