//! What the machine says itself: to the model, when an answer is missing something, and to the
//! record, when there is none.

use crate::event::TurnStatus;

/// After an answer that was cut off.
pub(super) const GO_ON: &str = "Your answer was cut off. Go on exactly where it stopped: repeat nothing, \
    explain nothing. If it was complete, answer with an empty message.";

/// After an empty answer to results.
pub(super) const AFTER_TOOLS: &str = "The results of your calls are above, and your answer was empty. \
    Go on with the task: make the next call, or say what came of it.";

/// After an empty answer.
pub(super) const SAY_SOMETHING: &str = "Your answer was empty. Answer the message above.";

/// When the budget is used up.
pub(super) fn sum_up(budget: u32) -> String {
    format!(
        "This turn has used all of its {budget} answers, and no more tools will be run. Without calling \
         any, say what was done, what came of it, and what is left to do."
    )
}

/// The answer of a turn that was to sum up and did not.
pub(super) fn out_of_budget(budget: u32) -> String {
    format!("Stopped after {budget} answers of the model; the task may not be finished.")
}

/// What the record holds in place of an answer.
pub(super) fn no_answer(status: TurnStatus, error: Option<&str>) -> String {
    match (status, error) {
        (TurnStatus::Interrupted, _) => "[stopped by the user before an answer]".to_owned(),
        (_, Some(error)) => format!("[no answer: {}]", error.chars().take(300).collect::<String>()),
        (_, None) => "[no answer]".to_owned(),
    }
}

/// Several calls of nothing.
pub(super) const NOTHING_BUT_STRIKES: &str =
    "the model kept calling tools that do not exist, or the same call again and again";

/// Many batches that were all the same.
pub(super) const NOTHING_NEW: &str = "the model kept making the same calls, and they kept coming to the same";

/// Several batches that were denied from first to last.
pub(super) const NOTHING_BUT_DENIALS: &str = "everything the model tried was denied, again and again";

/// No words from any model.
pub(super) const EMPTY: &str = "the model answered with nothing, several times";

/// A refusal.
pub(super) const REFUSED: &str = "the model, or its provider, refused to answer";
