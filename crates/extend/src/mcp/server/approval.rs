//! The approval card as a form: what is asked, and what an answer grants.
//!
//! The words and the reading of answers are pure. Whatever is not a clear yes to something that was
//! offered is a no; a client that shows no forms leaves the question to policy, which means no too.

use std::fmt::Write;

use futures::future::BoxFuture;
use hermes_core::approval_words as words;
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant};
use serde_json::{Map, Value, json};

use super::client::{Client, Filled, NoAnswer};

/// Most characters of a command or of arguments that are shown; what is longer is not offered for yes.
const SHOWN: usize = 8000;

/// The field of the form.
const DECISION: &str = "decision";

/// Asks the person behind the client.
pub(super) struct FormApprover(pub(super) Client);

impl Approver for FormApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let refused = |why: String| Answer::Refused { by: request.reason.rule.clone(), why };
            if words::subject(request).chars().count() > SHOWN {
                return refused(format!("{}; it is too long to be shown for approval", request.reason.why));
            }
            match self.0.form(&card(request), form(request)).await {
                Ok(filled) => decided(&filled, request),
                Err(NoAnswer::Unable) => refused(format!(
                    "{}; it needs approval, and this client cannot show the question (no elicitation)",
                    request.reason.why
                )),
                Err(other) => refused(format!("{}; it needs approval, and {other}", request.reason.why)),
            }
        })
    }

    fn surface(&self) -> &'static str {
        "mcp"
    }
}

/// One answer that may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    word: &'static str,
    grant: Grant,
}

/// The answers that stand for yes. A session has one word: the narrowest grant that was offered.
fn choices(request: &ApprovalRequest) -> Vec<Choice> {
    let offered = |grant: &Grant| request.reason.grants.contains(grant);
    let mut choices = vec![Choice { word: "once", grant: Grant::Once }];
    let session = [Grant::Exact, Grant::Targets, Grant::Class].into_iter().find(offered);
    choices.extend(session.map(|grant| Choice { word: "session", grant }));
    if offered(&Grant::Always) {
        choices.push(Choice { word: "always", grant: Grant::Always });
    }
    choices
}

/// The form below the card: one field, which says no until the person chooses something else.
fn form(request: &ApprovalRequest) -> Map<String, Value> {
    let words: Vec<&str> = choices(request).iter().map(|choice| choice.word).chain(["deny"]).collect();
    let field = json!({
        "type": "string",
        "title": "Decision",
        "description": "What may happen",
        "enum": words,
        "default": "deny",
    });
    let form = json!({ "type": "object", "properties": { DECISION: field }, "required": [DECISION] });
    form.as_object().cloned().unwrap_or_default()
}

/// What a filled form means.
fn decided(filled: &Filled, request: &ApprovalRequest) -> Answer {
    let refused = |why: &str| Answer::Refused { by: "the person".to_owned(), why: why.to_owned() };
    let fields = match filled {
        Filled::Accepted(fields) => fields,
        Filled::Declined => return refused("it was declined"),
        Filled::Cancelled => return refused("the question was closed without an answer"),
    };
    match fields.get(DECISION).and_then(Value::as_str) {
        Some("deny") => refused("it was denied"),
        Some(word) => match choices(request).into_iter().find(|choice| choice.word == word) {
            Some(choice) => Answer::Approved(choice.grant),
            None => refused("the answer was none of those that were offered"),
        },
        None => refused("the form came back without a decision"),
    }
}

/// What is asked, in words.
fn card(request: &ApprovalRequest) -> String {
    let mut card = format!("{} needs your approval\n\n", request.tool);
    for line in words::subject(request).split('\n') {
        let _ = writeln!(card, "    {}", words::visible(line));
    }
    card.push('\n');
    if let Some(place) = words::place(request) {
        let _ = writeln!(card, "where: {}", words::visible(&place));
    }
    for found in words::findings(request) {
        let _ = writeln!(card, "effect: {found}");
    }
    card.push('\n');
    for choice in choices(request) {
        let _ = writeln!(card, "{}: run it{}", choice.word, words::reach(choice.grant, request));
    }
    let _ = write!(card, "deny: do not run it (also after {} s)", request.expires_after.as_secs());
    card
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes_core::call::CallId;
    use hermes_core::effect::{Command, Effect};
    use hermes_core::policy::{Finding, Reason};
    use proptest::prelude::*;

    use super::*;

    fn request(command: &str, grants: Vec<Grant>) -> ApprovalRequest {
        let finding = Finding {
            rule: "recursive-delete".to_owned(),
            effect: "deletes recursively".to_owned(),
            targets: vec!["/srv/data".to_owned()],
            span: 0..6,
        };
        ApprovalRequest {
            call: CallId::from("s.1"),
            session: "s".to_owned(),
            tool: "terminal".to_owned(),
            arguments: json!({ "command": command }).to_string(),
            digest: 7,
            effects: vec![Effect::Exec(Command {
                text: command.to_owned(),
                environment: "local".to_owned(),
                workdir: "/home/ann/app".into(),
            })],
            reason: Reason {
                findings: vec![finding],
                grants,
                ..Reason::new("recursive-delete", "it deletes")
            },
            expires_after: Duration::from_mins(1),
        }
    }

    fn answered(content: &Value) -> Filled {
        Filled::Accepted(content.as_object().cloned().unwrap())
    }

    #[test]
    fn the_card_says_what_where_why_and_what_each_answer_means() {
        let card = card(&request("rm -rf /srv/data", vec![Grant::Exact, Grant::Targets, Grant::Always]));

        let expected = "\
terminal needs your approval

    rm -rf /srv/data

where: local, in /home/ann/app
effect: deletes recursively: /srv/data (recursive-delete)

once: run it, this once
session: run it, and this exact command for the rest of the session
always: run it, and everything of `recursive-delete` from now on (config.yaml)
deny: do not run it (also after 60 s)";
        assert_eq!(card, expected);
    }

    #[test]
    fn the_form_offers_what_policy_offers_and_says_no_by_default() {
        let few = form(&request("make", vec![]));
        let all = form(&request("make", vec![Grant::Class, Grant::Always]));

        assert_eq!(few["properties"]["decision"]["enum"], json!(["once", "deny"]));
        assert_eq!(all["properties"]["decision"]["enum"], json!(["once", "session", "always", "deny"]));
        assert_eq!(all["properties"]["decision"]["default"], "deny");
    }

    #[test]
    fn an_answer_grants_what_its_word_was_shown_to_mean() {
        let request = request("make", vec![Grant::Class, Grant::Targets, Grant::Always]);
        let said = |word: &str| decided(&answered(&json!({ "decision": word })), &request);

        assert_eq!(said("once"), Answer::Approved(Grant::Once));
        assert_eq!(said("session"), Answer::Approved(Grant::Targets));
        assert_eq!(said("always"), Answer::Approved(Grant::Always));
    }

    #[test]
    fn letters_that_would_not_show_are_written_out() {
        let card = card(&request("ls \u{1b}[2J\u{202e}x", vec![]));

        assert!(card.contains("ls \\u{1b}[2J\\u{202e}x"), "{card}");
    }

    proptest! {
        #[test]
        fn whatever_was_not_offered_is_no(word in "\\PC{0,12}", field in "[a-z]{0,10}") {
            let request = request("make", vec![]);
            let filled = answered(&json!({ field.clone(): word.clone() }));

            let answer = decided(&filled, &request);

            let yes = field == DECISION && word == "once";
            prop_assert_eq!(answer == Answer::Approved(Grant::Once), yes);
            prop_assert_eq!(matches!(answer, Answer::Refused { .. }), !yes);
        }
    }
}
