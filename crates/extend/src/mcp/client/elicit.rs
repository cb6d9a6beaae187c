//! What a server asks of the person while a call of it runs: a form to fill in, or a page to visit.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use hermes_core::approval_words::visible;
use hermes_core::clarify::{Answer, Asker, Question};
use hermes_core::cx::ToolCx;
use hermes_core::host::Host;
use hermes_net::Url;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability,
    UrlElicitationCapability,
};
use serde_json::Value;

use super::form;

/// The most letters of an address that a person can be expected to look at.
const MAX_URL: usize = 2000;

/// Letters of a declined question that are told.
const TOLD: usize = 120;

/// What the person says who was at the page.
const VISITED: &str = "I have been there";

/// Asks the person in the name of one server.
pub(super) struct Elicitation {
    pub(super) server: String,
    /// How long the person may take.
    pub(super) patience: Duration,
    pub(super) host: Arc<dyn Host>,
}

impl Elicitation {
    /// What we say that we can do.
    pub(super) fn capability() -> ElicitationCapability {
        let (form, url) = (FormElicitationCapability::new(), UrlElicitationCapability::new());
        ElicitationCapability::new().with_form(form).with_url(url)
    }

    /// The answer of somebody who does not want to.
    pub(super) fn declined() -> ElicitResult {
        ElicitResult::new(ElicitationAction::Decline)
    }

    /// Asks the person who watches the call in whose name the server asks.
    pub(super) async fn answer(&self, request: ElicitRequestParams, cx: Option<&ToolCx>) -> ElicitResult {
        let Some(asker) = cx.and_then(|cx| cx.service::<Arc<dyn Asker>>()) else {
            if let Some(cx) = cx {
                let why = "nobody can be asked here; `hermes tools call` and `hermes chat` ask at a terminal";
                cx.note(unasked(&self.server, &request, why));
            }
            return Self::declined();
        };
        let until = self.host.now().saturating_add(self.patience);
        let limited = Limited { asker: asker.as_ref(), host: self.host.as_ref(), until };
        let asked = Box::pin(self.ask(request, &limited));
        match select(asked, self.host.sleep(self.patience)).await {
            Either::Left((answer, _)) => answer.unwrap_or_else(Self::declined),
            Either::Right(_) => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    async fn ask(&self, request: ElicitRequestParams, asker: &dyn Asker) -> Option<ElicitResult> {
        let accepted = ElicitResult::new(ElicitationAction::Accept);
        match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
                let filled = form::fill(&self.server, &message, &schema, asker).await?;
                Some(accepted.with_content(Value::Object(filled)))
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                page(&self.server, &message, &url, asker).await.then_some(accepted)
            }
            _ => None,
        }
    }
}

/// Asks for as long as the whole of a form has, instead of as long as the asker usually does.
struct Limited<'a> {
    asker: &'a dyn Asker,
    host: &'a dyn Host,
    until: Duration,
}

impl Asker for Limited<'_> {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let left = self.until.saturating_sub(self.host.now());
        self.asker.ask(Question { patience: Some(left), ..question })
    }
}

/// What the person is told of a question that was not put to them.
pub(super) fn unasked(server: &str, request: &ElicitRequestParams, why: &str) -> String {
    let (what, message) = match request {
        ElicitRequestParams::UrlElicitationParams { message, .. } => ("to visit a page", message.as_str()),
        ElicitRequestParams::FormElicitationParams { message, .. } => ("something", message.as_str()),
        _ => ("something", ""),
    };
    let mut words: String = visible(message).chars().take(TOLD).collect();
    if !words.is_empty() {
        words = format!(" (\"{words}\")");
    }
    format!("MCP server `{server}` asked you {what}{words} and was declined: {why}")
}

/// Sends the person to a page. Nothing is opened for them and nothing is read of it: what they do there
/// is between them and the page.
async fn page(server: &str, message: &str, url: &str, asker: &dyn Asker) -> bool {
    let Some(text) = invitation(server, message, url) else { return false };
    let choices = [VISITED, "Decline"].map(str::to_owned).to_vec();
    matches!(asker.ask(Question { text, choices, patience: None }).await, Answer::Said(word) if word == VISITED)
}

/// Whether an address is one that a person can be shown.
pub(super) fn is_shown(url: &str) -> bool {
    place(url).is_some()
}

/// The words that send a person to a page; nothing when the address is not one to be shown. The place it
/// leads to stands by itself, because addresses are made to look like others.
fn invitation(server: &str, message: &str, url: &str) -> Option<String> {
    let place = place(url)?;
    Some(format!(
        "MCP server `{server}` asks you to visit a page of {place}: {message}\n{url}\n\
         Open it yourself if you trust it; what you enter there is not seen here."
    ))
}

/// The place that the address of a page leads to.
fn place(url: &str) -> Option<String> {
    let plain = url.len() <= MAX_URL && url.bytes().all(|byte| byte.is_ascii_graphic());
    let is_page = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    // A name before the host is there to be taken for it.
    Url::parse(url).filter(|url| plain && is_page && url.user.is_none()).map(|url| url.host)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rmcp::model::{InputRequest, JsonRpcMessage, ServerJsonRpcMessage, ServerRequest, ServerResult};

    use super::*;

    /// Says a word to every question, and keeps the second line of each, which names the field.
    #[derive(Default)]
    struct Fields(Mutex<Vec<String>>);

    impl Asker for Fields {
        fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
            self.0.lock().unwrap().extend(question.text.lines().nth(1).map(str::to_owned));
            Box::pin(std::future::ready(Answer::Said("x".to_owned())))
        }
    }

    #[test]
    fn fields_are_asked_for_in_the_order_that_the_server_wrote_them_in() {
        let form = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object",
            "properties":{"zip":{"type":"string"},"city":{"type":"string"},"name":{"type":"string"}}}}}"#;
        let asked = form.replacen('{', r#"{"jsonrpc":"2.0","id":1,"#, 1);
        let more = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{{"q":{form}}}}}}}"#
        );
        let params = [asked, more].map(|line| match serde_json::from_str::<ServerJsonRpcMessage>(&line) {
            Ok(JsonRpcMessage::Request(it)) => match it.request {
                ServerRequest::ElicitRequest(it) => it.params,
                other => panic!("{other:?}"),
            },
            Ok(JsonRpcMessage::Response(it)) => match it.result {
                ServerResult::InputRequiredResult(it) => match it.input_requests.unwrap().remove("q") {
                    Some(InputRequest::Elicitation(it)) => it.params,
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        let host = hermes_testkit::FakeHost::new();
        let elicitation = Elicitation { server: "s".to_owned(), patience: Duration::MAX, host };

        for params in params {
            let fields = Fields::default();
            futures::executor::block_on(elicitation.ask(params, &fields)).unwrap();
            assert_eq!(fields.0.into_inner().unwrap(), ["zip", "city", "name"]);
        }
    }

    /// Keeps how long each answer is waited for.
    #[derive(Default)]
    struct Watched(Mutex<Vec<Option<Duration>>>);

    impl Asker for Watched {
        fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
            self.0.lock().unwrap().push(question.patience);
            Box::pin(std::future::ready(Answer::TimedOut))
        }
    }

    #[test]
    fn every_answer_has_what_is_left_of_the_time_for_all() {
        let (host, watched) = (hermes_testkit::FakeHost::new(), Watched::default());
        let until = host.now() + Duration::from_mins(10);
        let limited = Limited { asker: &watched, host: host.as_ref(), until };
        let ask = || {
            let question = Question { text: "?".to_owned(), choices: Vec::new(), patience: None };
            futures::executor::block_on(limited.ask(question))
        };

        ask();
        host.advance(Duration::from_mins(7));
        ask();

        assert_eq!(*watched.0.lock().unwrap(), [10, 3].map(|left| Some(Duration::from_mins(left))));
    }

    #[test]
    fn an_address_is_shown_whole_with_the_place_it_leads_to() {
        let text = invitation("s", "Log in", "https://pay.example/x").unwrap();

        assert!(text.contains("a page of pay.example: Log in\nhttps://pay.example/x\n"), "{text}");
    }

    #[test]
    fn what_is_no_address_of_a_page_is_not_shown() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_URL));
        let disguised = "https://bank.example@evil.example/pay";
        let foreign = "https://ex\u{430}mple.com";
        for odd in
            ["javascript:alert(1)", "file:///etc/passwd", "wss://a.example", disguised, foreign, "", &long]
        {
            assert_eq!(invitation("s", "m", odd), None, "{odd}");
        }
    }
}
