//! `clarify`: a question to the person, in the middle of the work.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::clarify::{Answer, Asker, Question};
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::toolsets::clarify;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Clarify>("clarify", &clarify::TOOLSET)
    .emoji("❓")
    .alone()
    .timeout(LONGEST_CALL)
    .waits()
    .gate(hermes_core::clarify::gate);

/// The road's limit; whoever asks has a shorter one.
const LONGEST_CALL: Duration = Duration::from_hours(25);

/// Longest question and longest choice, in characters.
const MAX_QUESTION: usize = 4000;
const MAX_CHOICE: usize = 500;

/// What the model reads when nobody answered.
const NO_ANSWER: &str = "[nobody answered in time] Go on without an answer: take the choice that can be \
     undone most easily, and say in your report what you assumed.";

/// Ask the person a question and wait for the answer. Use it when the task can be understood in ways
/// that lead to different results, or before a choice that is theirs to make; not for what can be looked
/// up or tried, and not to confirm a command. With choices they pick one, or write something else.
#[derive(Deserialize, JsonSchema)]
struct Clarify {
    /// The question, as the person will read it
    question: String,
    /// Up to four answers to choose from, the one you would take first; leave out for an open question
    #[schemars(length(max = 4))]
    choices: Option<Vec<String>>,
}

impl Tool for Clarify {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let Some(asker) = cx.service::<Arc<dyn Asker>>() else {
            return Err(ToolError::Failed(nobody()));
        };
        let question = self.question()?;
        let waiting = asker.ask(question.clone());
        let answer = match select(waiting, cx.host().sleep(asker.patience())).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Answer::TimedOut,
        };
        let response = match answer {
            Answer::Said(text) => text.trim().to_owned(),
            Answer::TimedOut => NO_ANSWER.to_owned(),
            Answer::Nobody => return Err(ToolError::Failed(nobody())),
        };
        let Question { text, choices, .. } = question;
        Ok(json!({ "question": text, "choices_offered": choices, "user_response": response }))
    }
}

impl Clarify {
    fn question(self) -> Result<Question, ToolError> {
        let text = self.question.trim().to_owned();
        if text.is_empty() {
            return Err(ToolError::Arguments("question: there is none".to_owned()));
        }
        if text.chars().count() > MAX_QUESTION {
            return Err(ToolError::Arguments(format!("question: {MAX_QUESTION} characters are the most")));
        }
        let mut choices: Vec<String> = Vec::new();
        for choice in self.choices.unwrap_or_default() {
            let choice = choice.trim().to_owned();
            if choice.chars().count() > MAX_CHOICE {
                return Err(ToolError::Arguments(format!(
                    "choices: {MAX_CHOICE} characters are the most of one"
                )));
            }
            if !choice.is_empty() && !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        Ok(Question { text, choices, patience: None })
    }
}

fn nobody() -> String {
    "nobody can be asked here; decide by what is known, and say in your report what you assumed".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &str, choices: &[&str]) -> Result<Question, String> {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let clarify = Clarify { question: question.to_owned(), choices: Some(choices) };
        clarify.question().map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn a_question_is_asked_in_its_plain_form() {
        let question = asked(" Which? ", &["a", " ", "b ", "a"]).unwrap();

        assert_eq!(
            question,
            Question {
                text: "Which?".to_owned(),
                choices: vec!["a".to_owned(), "b".to_owned()],
                patience: None
            }
        );
    }

    #[test]
    fn what_cannot_be_read_by_a_person_is_not_asked() {
        assert!(asked("  ", &[]).is_err());
        assert!(asked(&"x".repeat(4001), &[]).is_err());
        assert!(asked("ok?", &[&"x".repeat(501)]).is_err());
    }
}
