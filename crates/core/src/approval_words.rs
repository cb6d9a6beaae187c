//! The words of an approval, wherever it is asked: what the call is, where it would run, what was found in
//! it, and how far each yes reaches.
//!
//! Pure. How they are laid out is up to whoever asks; what they say is the same everywhere.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::effect::Effect;
use crate::policy::{ApprovalRequest, Grant};

/// The command inside the arguments, when the call is one.
pub fn command(request: &ApprovalRequest) -> Option<String> {
    let arguments: Map<String, Value> = serde_json::from_str(&request.arguments).ok()?;
    arguments.get("command")?.as_str().map(str::to_owned)
}

/// What it is about: the command, or the arguments when the call is none.
pub fn subject(request: &ApprovalRequest) -> String {
    command(request).unwrap_or_else(|| request.arguments.clone())
}

/// Where it would run, when it is a command.
pub fn place(request: &ApprovalRequest) -> Option<String> {
    request.effects.iter().find_map(|effect| match effect {
        Effect::Exec(command) => Some(format!("{}, in {}", command.environment, command.workdir.display())),
        _ => None,
    })
}

/// What was found, each with its rule; the reason where nothing was found in particular.
pub fn findings(request: &ApprovalRequest) -> Vec<String> {
    let reason = &request.reason;
    if reason.findings.is_empty() {
        return vec![visible(&reason.why)];
    }
    let told = reason.findings.iter().map(|finding| {
        let targets = finding.targets.join(", ");
        let on = if targets.is_empty() { String::new() } else { format!(": {}", visible(&targets)) };
        format!("{}{on} ({})", finding.effect, finding.rule)
    });
    told.collect()
}

/// How far a yes reaches, behind "yes" or "run it".
pub fn reach(grant: Grant, request: &ApprovalRequest) -> String {
    let rule = &request.reason.rule;
    match grant {
        Grant::Once => ", this once".to_owned(),
        Grant::Exact => {
            let what =
                if command(request).is_some() { "this exact command" } else { "exactly the same call" };
            format!(", and {what} for the rest of the session")
        }
        Grant::Targets => {
            let found = request.reason.findings.iter();
            let targets: Vec<&str> =
                found.flat_map(|finding| finding.targets.iter().map(String::as_str)).collect();
            format!(", and the same effect on {} for the rest of the session", visible(&targets.join(", ")))
        }
        // What only a foreign program knows is granted tool by tool.
        Grant::Class if is_foreign(request) => {
            format!(", and every call of `{}` for the rest of the session", visible(&request.tool))
        }
        Grant::Class => format!(", and everything of `{rule}` for the rest of the session"),
        Grant::Always => format!(", and everything of `{rule}` from now on (config.yaml)"),
    }
}

fn is_foreign(request: &ApprovalRequest) -> bool {
    !request.effects.is_empty() && request.effects.iter().all(|effect| matches!(effect, Effect::Foreign(_)))
}

/// The text with everything that would not show, would move the cursor, or would change how the rest
/// shows, written out.
pub fn visible(text: &str) -> String {
    let hidden = |letter: char| {
        matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
    };
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\t' {
            shown.push(' ');
        } else if letter.is_control() || hidden(letter) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_that_would_not_show_are_written_out() {
        assert_eq!(visible("ls \u{1b}[2J\u{202e}x\ty"), "ls \\u{1b}[2J\\u{202e}x y");
    }

    #[test]
    fn a_yes_to_a_foreign_tool_reaches_as_far_as_that_tool() {
        let request = |effect: Effect| ApprovalRequest {
            call: crate::call::CallId::from("c1"),
            session: "s".to_owned(),
            tool: "mcp__gh__drop".to_owned(),
            arguments: "{}".to_owned(),
            digest: 0,
            effects: vec![effect],
            reason: crate::policy::Reason::new("kind", "why"),
            expires_after: std::time::Duration::from_secs(1),
        };
        let foreign = crate::effect::Foreign {
            source: "MCP server `gh`".to_owned(),
            tool: "drop".to_owned(),
            overlaps: false,
        };

        let tool = reach(Grant::Class, &request(Effect::Foreign(foreign)));
        let kind = reach(Grant::Class, &request(Effect::Unknown("x".to_owned())));

        assert_eq!(tool, ", and every call of `mcp__gh__drop` for the rest of the session");
        assert_eq!(kind, ", and everything of `kind` for the rest of the session");
    }

    proptest! {
        #[test]
        fn nothing_that_is_shown_can_command_a_terminal(text in any::<String>()) {
            prop_assert!(!visible(&text).chars().any(char::is_control));
        }
    }
}
