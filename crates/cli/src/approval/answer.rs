//! What the person typed.

use hermes::core::policy::{Answer, ApprovalRequest, Grant};
use serde_json::{Map, Value};

/// What a typed line means.
#[derive(Debug, PartialEq)]
pub(crate) enum Typed {
    Answer(Answer),
    /// They want to know more first.
    Explain,
    /// It is not one of the offered letters.
    Unclear,
}

/// The letter of each grant.
pub(super) fn letter(grant: Grant) -> char {
    match grant {
        Grant::Once => 'o',
        Grant::Exact => 's',
        Grant::Targets => 't',
        Grant::Class => 'c',
        Grant::Always => 'a',
    }
}

/// The grants that may be chosen.
pub(super) fn offered(request: &ApprovalRequest) -> Vec<Grant> {
    let mut grants = vec![Grant::Once];
    grants.extend(request.reason.grants.iter().copied().filter(|grant| *grant != Grant::Once));
    grants
}

/// Reads a line: a letter, its word, or `e` with the command that should run instead.
pub(crate) fn typed(line: &str, request: &ApprovalRequest) -> Typed {
    let line = line.trim();
    if let Some(edited) = line.strip_prefix("e ").or_else(|| line.strip_prefix("edit ")) {
        return edit(edited.trim(), request);
    }
    let refused = || Answer::Refused { by: "you".to_owned(), why: "you said no".to_owned() };
    match line.to_lowercase().as_str() {
        "d" | "n" | "no" | "deny" => return Typed::Answer(refused()),
        "?" | "x" | "explain" => return Typed::Explain,
        "y" | "yes" | "once" => return Typed::Answer(Answer::Approved(Grant::Once)),
        _ => {}
    }
    let mut letters = line.chars().map(|letter| letter.to_ascii_lowercase());
    let (first, rest) = (letters.next(), letters.next());
    let chosen = offered(request).into_iter().find(|grant| Some(letter(*grant)) == first && rest.is_none());
    chosen.map_or(Typed::Unclear, |grant| Typed::Answer(Answer::Approved(grant)))
}

fn edit(command: &str, request: &ApprovalRequest) -> Typed {
    let arguments = serde_json::from_str::<Map<String, Value>>(&request.arguments);
    match arguments {
        Ok(mut arguments) if !command.is_empty() && arguments.contains_key("command") => {
            arguments.insert("command".to_owned(), Value::String(command.to_owned()));
            Typed::Answer(Answer::Edited(arguments))
        }
        _ => Typed::Unclear,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use hermes::core::call::CallId;
    use hermes::core::effect::{Command, Effect};
    use hermes::core::policy::{Finding, Reason};
    use serde_json::json;

    use super::*;

    pub(crate) fn request(command: &str, grants: Vec<Grant>) -> ApprovalRequest {
        let finding = Finding {
            rule: "recursive-delete".to_owned(),
            effect: "deletes recursively".to_owned(),
            targets: vec!["/srv/data".to_owned()],
            span: 0..command.len().min(6),
        };
        ApprovalRequest {
            call: CallId::from("s.1"),
            session: "s".to_owned(),
            tool: "terminal".to_owned(),
            arguments: json!({ "command": command }).to_string(),
            digest: 1,
            effects: vec![Effect::Exec(Command {
                text: command.to_owned(),
                environment: "local".to_owned(),
                workdir: "/home/ann/app".into(),
            })],
            reason: Reason {
                findings: vec![finding],
                grants,
                ..Reason::new("recursive-delete", "deletes /srv/data and all below it")
            },
            expires_after: Duration::from_mins(1),
        }
    }

    #[test]
    fn letters_and_words_are_answers() {
        let request = request("rm -rf /srv/data", vec![Grant::Exact, Grant::Always]);

        assert_eq!(typed("o\n", &request), Typed::Answer(Answer::Approved(Grant::Once)));
        assert_eq!(typed(" YES ", &request), Typed::Answer(Answer::Approved(Grant::Once)));
        assert_eq!(typed("s", &request), Typed::Answer(Answer::Approved(Grant::Exact)));
        assert_eq!(typed("a", &request), Typed::Answer(Answer::Approved(Grant::Always)));
        assert!(matches!(typed("n", &request), Typed::Answer(Answer::Refused { .. })));
        assert_eq!(typed("?", &request), Typed::Explain);
    }

    #[test]
    fn what_is_not_offered_is_not_an_answer() {
        let request = request("rm -rf /srv/data", vec![]);

        assert_eq!(typed("a", &request), Typed::Unclear);
        assert_eq!(typed("", &request), Typed::Unclear);
        assert_eq!(typed("sure, go on", &request), Typed::Unclear);
    }

    #[test]
    fn an_edit_replaces_the_command_and_nothing_else() {
        let request = request("rm -rf /srv/data", vec![]);

        let Typed::Answer(Answer::Edited(arguments)) = typed("e rm -r ./data", &request) else {
            panic!("an edit");
        };

        assert_eq!(Value::Object(arguments), json!({ "command": "rm -r ./data" }));
    }
}
