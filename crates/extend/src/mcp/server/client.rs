//! What a running call may want from the client that made it: progress, log lines, answers.
//!
//! Each call has a line to the request it serves. The line is found by the task the call runs in,
//! so that tools and approvers, which know nothing of MCP, cannot mix two requests up. A call that
//! no client made has no line: reports go nowhere, and questions are not answered.

use futures::future::BoxFuture;
use hermes_core::clarify::{Answer as Clarified, Asker, Question as ToClarify};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

/// Reports that may wait to be sent; more than these are dropped, questions never are.
const WAITING: usize = 64;

tokio::task_local! {
    static LINE: Line;
}

/// The line of one call to the request it serves.
#[derive(Clone)]
pub(super) struct Line {
    said: mpsc::Sender<Said>,
    abilities: Abilities,
}

/// What the client can do beside calling tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Abilities {
    /// Show a form to the person.
    pub(super) forms: bool,
    /// Ask its model.
    pub(super) sampling: bool,
}

/// What a call says on its line.
pub(super) enum Said {
    /// How far it is.
    Progress(Progress),
    /// A line for the log.
    Log(Level, Value),
    /// Something only the client can answer.
    Question(Question),
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// So far.
    pub done: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// How grave a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details.
    Debug,
    /// What is going on.
    Info,
    /// Something to look at.
    Warning,
    /// Something went wrong.
    Error,
}

/// A question on its way to the client.
pub(super) struct Question {
    pub(super) ask: Ask,
    /// The client's result as it came, or why there is none.
    pub(super) answer: oneshot::Sender<Result<Value, String>>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ask {
    /// A form: the words above it, and the schema of its fields.
    Form(String, Map<String, Value>),
    /// The parameters of `sampling/createMessage`.
    Sample(Value),
}

/// What became of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Filled {
    /// The person filled it in.
    Accepted(Map<String, Value>),
    /// The person said no.
    Declined,
    /// The person closed it.
    Cancelled,
}

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The client cannot show this kind of question.
    #[error("the client cannot be asked this")]
    Unable,
    /// It could, but did not answer.
    #[error("the client did not answer: {0}")]
    Failed(String),
}

impl Line {
    pub(super) fn new(abilities: Abilities) -> (Self, mpsc::Receiver<Said>) {
        let (said, heard) = mpsc::channel(WAITING);
        (Self { said, abilities }, heard)
    }

    /// Does the work with this line at hand.
    pub(super) async fn during<T>(self, work: impl Future<Output = T>) -> T {
        LINE.scope(self, work).await
    }

    fn here() -> Option<Self> {
        LINE.try_with(Clone::clone).ok()
    }

    async fn ask(&self, ask: Ask) -> Result<Value, NoAnswer> {
        let gone = || NoAnswer::Failed("the request is over".to_owned());
        let (answer, wait) = oneshot::channel();
        self.said.send(Said::Question(Question { ask, answer })).await.map_err(|_| gone())?;
        wait.await.map_err(|_| gone())?.map_err(NoAnswer::Failed)
    }
}

/// The client that made the call at hand. Tools find it among the extensions of their session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client(());

impl Client {
    /// The client of whichever call this is used in.
    pub(super) fn of_this_call() -> Self {
        Self(())
    }

    /// Tells how far the call is; nothing happens when the client does not want to know.
    pub fn progress(&self, progress: Progress) {
        if let Some(line) = Line::here() {
            // A client that does not keep up misses reports, not results.
            let _ = line.said.try_send(Said::Progress(progress));
        }
    }

    /// Sends a line for the client's log.
    pub fn log(&self, level: Level, data: Value) {
        if let Some(line) = Line::here() {
            let _ = line.said.try_send(Said::Log(level, data));
        }
    }

    /// Shows a form to the person: an object schema of plain fields.
    pub async fn form(&self, message: &str, schema: Map<String, Value>) -> Result<Filled, NoAnswer> {
        let line = Line::here().filter(|line| line.abilities.forms).ok_or(NoAnswer::Unable)?;
        let result = line.ask(Ask::Form(message.to_owned(), schema)).await?;
        Ok(filled(&result))
    }

    /// Asks the client's model; parameters and result are those of `sampling/createMessage`.
    pub async fn sample(&self, parameters: Value) -> Result<Value, NoAnswer> {
        let line = Line::here().filter(|line| line.abilities.sampling).ok_or(NoAnswer::Unable)?;
        line.ask(Ask::Sample(parameters)).await
    }
}

/// Reads the result of a form; what is not understood is not an acceptance.
fn filled(result: &Value) -> Filled {
    match (result.get("action").and_then(Value::as_str), result.get("content")) {
        (Some("accept"), Some(Value::Object(fields))) => Filled::Accepted(fields.clone()),
        (Some("accept"), None | Some(Value::Null)) => Filled::Accepted(Map::new()),
        (Some("decline"), _) => Filled::Declined,
        _ => Filled::Cancelled,
    }
}

/// Questions of tools to the person, shown by the client as a form with one field.
pub(super) struct FormAsker(pub(super) Client);

impl Asker for FormAsker {
    fn ask(&self, question: ToClarify) -> BoxFuture<'_, Clarified> {
        Box::pin(async move {
            let schema = question_form(&question.choices);
            match self.0.form(&question.text, schema).await {
                Ok(Filled::Accepted(fields)) => match fields.get("answer").and_then(Value::as_str) {
                    Some(said) if !said.is_empty() => Clarified::Said(said.to_owned()),
                    _ => Clarified::TimedOut,
                },
                Ok(Filled::Declined | Filled::Cancelled) => Clarified::TimedOut,
                Err(_) => Clarified::Nobody,
            }
        })
    }
}

/// A text field; the choices are named above it, since the person may write something else.
fn question_form(choices: &[String]) -> Map<String, Value> {
    let mut field = json!({ "type": "string", "title": "Answer" });
    if let (false, Some(field)) = (choices.is_empty(), field.as_object_mut()) {
        let offered = format!("For example: {}", choices.join(" · "));
        field.insert("description".to_owned(), Value::String(offered));
    }
    let form = json!({ "type": "object", "properties": { "answer": field }, "required": ["answer"] });
    form.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_acceptance_is_an_acceptance() {
        let fields = json!({ "decision": "once" });
        let accepted = Filled::Accepted(fields.as_object().cloned().unwrap());

        assert_eq!(filled(&json!({ "action": "accept", "content": fields })), accepted);
        assert_eq!(filled(&json!({ "action": "decline" })), Filled::Declined);
        assert_eq!(filled(&json!({ "action": "cancel" })), Filled::Cancelled);
        assert_eq!(filled(&json!({ "action": "ACCEPT", "content": {} })), Filled::Cancelled);
        assert_eq!(filled(&json!({ "action": "accept", "content": "once" })), Filled::Cancelled);
        assert_eq!(filled(&json!({})), Filled::Cancelled);
    }

    #[tokio::test]
    async fn without_a_line_nothing_is_asked() {
        let client = Client::of_this_call();

        assert_eq!(client.form("sure?", Map::new()).await, Err(NoAnswer::Unable));
        assert_eq!(client.sample(json!({})).await, Err(NoAnswer::Unable));
        client.progress(Progress { done: 1.0, total: None, message: None });
    }

    #[tokio::test]
    async fn a_question_goes_out_on_the_line_and_its_answer_comes_back() {
        let (line, mut heard) = Line::new(Abilities { forms: true, sampling: false });
        let asked = line.during(async { Client::of_this_call().form("sure?", Map::new()).await });
        let answered = async {
            let Some(Said::Question(question)) = heard.recv().await else { panic!("nothing was asked") };
            assert_eq!(question.ask, Ask::Form("sure?".to_owned(), Map::new()));
            question.answer.send(Ok(json!({ "action": "decline" }))).unwrap();
        };

        let (filled, ()) = tokio::join!(asked, answered);

        assert_eq!(filled, Ok(Filled::Declined));
    }
}
