//! Hooks before a chat begins: who is at the terminal is asked about those that nobody accepted; whatever
//! is still wrong then is told.

use hermes::store::hooks_consent::ConsentState;
use hermes::{HookStanding, Runtime};

use crate::output;
use crate::person::Person;
use crate::shell::Shell;

/// What is wrong with hooks, after somebody was asked about those that may be accepted.
pub(super) fn look(shell: &Shell, runtime: &Runtime) -> Vec<String> {
    let open = questions(&runtime.hooks());
    if !open.is_empty()
        && shell.has_person()
        && !shell.is_of_an_agent()
        && let Some(mut person) = Person::at_terminal()
    {
        for (command, what) in open {
            // A terminal that is closed has not said yes.
            let asked = person.tell(&what).and_then(|()| person.line("Run it from now on?", "y/N"));
            if asked.is_ok_and(|typed| says_yes(&typed))
                && let Err(wrong) = runtime.accept_hook(&command)
            {
                output::warn(&format!("{command}: not accepted: {wrong}"));
            }
        }
    }
    runtime.hook_problems()
}

fn says_yes(typed: &str) -> bool {
    matches!(typed.to_lowercase().as_str(), "y" | "yes")
}

/// The commands there are to ask about, each once, and what there is to say about them.
fn questions(hooks: &[HookStanding]) -> Vec<(String, String)> {
    let mut open: Vec<(String, String)> = Vec::new();
    for hook in hooks.iter().filter(|hook| !hook.runs() && hook.event.is_told() && hook.broken.is_none()) {
        let why = match &hook.consent {
            Ok(ConsentState::Changed) => "has changed since it was accepted",
            Ok(_) => "was never accepted",
            Err(_) => continue,
        };
        if open.iter().all(|(command, _)| *command != hook.command) {
            let same = hooks.iter().filter(|other| other.command == hook.command);
            let events: Vec<&str> = same.map(|other| other.event.name()).collect();
            let what = format!("The hook `{}` ({}) {why}.", hook.command, events.join(", "));
            open.push((hook.command.clone(), what));
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes::core::hook::EventKind;

    use super::*;

    fn hook(event: EventKind, command: &str, consent: Result<ConsentState, String>) -> HookStanding {
        HookStanding {
            event,
            command: command.to_owned(),
            matcher: None,
            timeout: Duration::from_secs(1),
            policy: false,
            consent,
            broken: None,
            odd: Vec::new(),
            unasked: false,
        }
    }

    #[test]
    fn each_command_that_waits_for_a_yes_is_asked_about_once() {
        let accepted = ConsentState::Accepted { at: String::new(), digest: String::new() };
        let hooks = [
            hook(EventKind::PreToolCall, "new", Ok(ConsentState::Unknown)),
            hook(EventKind::PreToolCall, "fine", Ok(accepted)),
            hook(EventKind::PostToolCall, "new", Ok(ConsentState::Unknown)),
            hook(EventKind::PreLlmCall, "other", Ok(ConsentState::Changed)),
            hook(EventKind::PreLlmCall, "unclear", Err("the list cannot be read".to_owned())),
        ];

        let asked: Vec<String> = questions(&hooks).into_iter().map(|(_, what)| what).collect();

        assert_eq!(
            asked,
            [
                "The hook `new` (pre_tool_call, post_tool_call) was never accepted.",
                "The hook `other` (pre_llm_call) has changed since it was accepted.",
            ]
        );
        assert!(says_yes("Y") && says_yes("yes") && !says_yes("y/N") && !says_yes(""));
    }
}
