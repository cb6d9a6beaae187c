//! What a server may ask of us: where it works, how far it is, the model, the person.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes::core::call::CallId;
use hermes::core::clarify::{Answer, Asker, Question};
use hermes::core::journal::Starting;
use hermes::core::policy::{Answer as Said, Approver, Grant};
use hermes::core::watch::Watcher;
use hermes::extend::mcp::client::{Sample, SampleCall, SampleTool, Sampled, Sampler};
use hermes::{Outcome, Runtime, Status};
use hermes_testkit::ScriptedApprover;
use serde_json::{Value, json};

use crate::support::{Bench, call, told, words};

/// Answers every question with the next of its words.
pub(crate) struct Ready(Mutex<Vec<&'static str>>, pub(crate) Mutex<Vec<Question>>);

impl Asker for Ready {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.1.lock().unwrap().push(question);
        let mut words = self.0.lock().unwrap();
        let said = if words.is_empty() { Answer::Nobody } else { Answer::Said(words.remove(0).to_owned()) };
        Box::pin(std::future::ready(said))
    }
}

/// Somebody with these words.
pub(crate) fn ready(words: &[&'static str]) -> Arc<Ready> {
    Arc::new(Ready(Mutex::new(words.to_vec()), Mutex::default()))
}

/// A model that says four.
pub(crate) struct Four(pub(crate) Mutex<Vec<Sample>>);

impl Sampler for Four {
    fn sample(&self, request: Sample) -> BoxFuture<'_, Result<Sampled, String>> {
        // Where there are tools it never gets round to an answer.
        let call = |tool: &SampleTool| SampleCall {
            id: "c1".to_owned(),
            name: tool.name.clone(),
            arguments: json!({ "a": 2 }).as_object().unwrap().clone(),
        };
        let calls = request.tools.iter().map(call).collect();
        self.0.lock().unwrap().push(request);
        Box::pin(std::future::ready(Ok(Sampled { text: "4".to_owned(), model: "m".to_owned(), calls })))
    }
}

/// What the server answered, where that is JSON.
pub(crate) fn inner(outcome: &Outcome) -> Value {
    serde_json::from_str(&words(outcome)).unwrap_or_else(|_| told(outcome))
}

#[test]
fn the_folder_of_the_work_is_told_as_what_may_be_looked_at() {
    let bench = Bench::scripted(&json!({}));

    let outcome = call(&bench.session(), "mcp__s__roots", &json!({}));

    let uri = format!("file://{}", bench.path("work").display());
    assert!(told(&outcome)["result"].to_string().contains(&uri), "{}", outcome.body);
}

#[test]
fn how_far_a_call_is_reaches_whoever_looks_on() {
    struct Seen(Mutex<Vec<String>>);
    impl Watcher for Seen {
        fn began(&self, _: &Starting<'_>) {}
        fn progress(&self, _: &CallId, words: &str) {
            self.0.lock().unwrap().push(words.to_owned());
        }
        fn ended(&self, _: &Outcome) {}
    }
    let bench = Bench::scripted(&json!({}));
    let seen = Arc::new(Seen(Mutex::default()));
    let watcher: Arc<dyn Watcher> = seen.clone();
    let session = bench.runtime().session().extension(watcher).open().unwrap();

    drop(call(&session, "mcp__s__progress", &json!({})));

    assert_eq!(*seen.0.lock().unwrap(), ["25 % step 1", "50 % step 2", "75 % step 3"]);
}

/// A session with somebody to ask, and with a model.
pub(crate) fn asking(runtime: &Runtime, asker: &Arc<Ready>, sampler: &Arc<Four>) -> hermes::Session {
    let (asker, sampler): (Arc<dyn Asker>, Arc<dyn Sampler>) = (asker.clone(), sampler.clone());
    runtime.session().extension(asker).extension(sampler).open().unwrap()
}

#[test]
fn the_model_and_the_person_are_not_asked_unless_that_was_allowed() {
    let bench = Bench::scripted(&json!({}));
    let (asker, four) = (ready(&["Yes, this once"]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);

    let sampled = call(&session, "mcp__s__sample", &json!({}));
    let elicited = call(&session, "mcp__s__elicit", &json!({}));

    assert!(sampled.body.contains("error"), "{}", sampled.body);
    assert_eq!(inner(&elicited)["action"], "decline");
    assert!(asker.1.lock().unwrap().is_empty() && four.0.lock().unwrap().is_empty());
}

#[test]
fn a_yes_for_the_rest_of_a_session_does_not_speak_for_the_person_of_another() {
    let bench = Bench::scripted(&json!({ "sampling": { "enabled": true } }));
    let runtime = bench.runtime();
    let agrees = (ready(&["Yes, for the rest of the session"]), Arc::new(Four(Mutex::default())));
    let refuses = (ready(&["No"]), Arc::new(Four(Mutex::default())));
    let (one, other) = (asking(&runtime, &agrees.0, &agrees.1), asking(&runtime, &refuses.0, &refuses.1));

    let answered = ["1", "2"].map(|text| inner(&call(&one, "mcp__s__sample", &json!({ "text": text }))));
    let refused = call(&other, "mcp__s__sample", &json!({ "text": "3" }));

    assert!(answered.iter().all(|answer| answer["content"]["text"] == "4"), "{answered:?}");
    assert!(refused.body.contains("the person said no"), "{}", refused.body);
    assert!(refuses.1.0.lock().unwrap().is_empty());
}

#[test]
fn a_server_that_is_started_again_has_asked_as_often_as_before() {
    let bench = Bench::scripted(&json!({ "sampling": { "enabled": true, "max_rpm": 1 } }));
    let (asker, four) = (ready(&["Yes, this once"]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);

    let answered = call(&session, "mcp__s__sample", &json!({ "text": "1" }));
    drop(call(&session, "mcp__s__die", &json!({})));
    let too_often = call(&session, "mcp__s__sample", &json!({ "text": "2" }));

    assert_eq!(inner(&answered)["content"]["text"], "4");
    assert_eq!(bench.count("started"), 2);
    assert!(too_often.body.contains("1 times in a minute"), "{}", too_often.body);
}

#[test]
fn the_model_is_asked_when_the_person_agrees_and_within_the_budget() {
    let bench =
        Bench::scripted(&json!({ "sampling": { "enabled": true, "max_rpm": 2, "max_tokens_cap": 50 } }));
    let (asker, four) = (ready(&["No", "Yes, this once"]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);

    let refused = call(&session, "mcp__s__sample", &json!({ "text": "1" }));
    let answered = call(&session, "mcp__s__sample", &json!({ "text": "2" }));
    let too_often = call(&session, "mcp__s__sample", &json!({ "text": "3" }));

    assert!(refused.body.contains("the person said no"), "{}", refused.body);
    assert_eq!(inner(&answered)["content"]["text"], "4");
    assert!(too_often.body.contains("2 times in a minute"), "{}", too_often.body);
    let samples = four.0.lock().unwrap();
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].max_tokens, samples[0].messages[0].1.as_str()), (50, "What is 2 + 2?"));
}

#[test]
fn a_server_that_lets_the_model_use_its_tools_has_so_many_rounds() {
    let bench = Bench::scripted(
        &json!({ "sampling": { "enabled": true, "max_tool_rounds": 2, "log_level": "warning" } }),
    );
    let (asker, four) = (ready(&["Yes, for the rest of the session"]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);

    let rounds = inner(&call(&session, "mcp__s__sample_tools", &json!({})));

    let used = json!([
        { "type": "text", "text": "4" },
        { "type": "tool_use", "id": "c1", "name": "add", "input": { "a": 2 } },
    ]);
    assert_eq!((&rounds[0]["content"], &rounds[0]["stopReason"]), (&used, &json!("toolUse")));
    assert_eq!(rounds[1]["content"], used);
    assert!(rounds[2]["error"]["message"].as_str().unwrap().contains("2 times in a row"), "{rounds}");
    let samples = four.0.lock().unwrap();
    assert_eq!(samples.len(), 2);
    let (who, words) = &samples[1].messages[2];
    assert_eq!((who.as_str(), words.as_str()), ("user", "[result of call c1: 5]"));
    assert_eq!(samples[1].messages[1].1, "4\n[call c1 of add: {\"a\":2}]");
    let log = std::fs::read_to_string(bench.path("home/logs/mcp-stderr.log")).unwrap();
    assert!(log.contains("[sampling] asking the model was refused") && !log.contains("was asked:"), "{log}");
}

#[test]
fn a_person_is_shown_the_address_of_a_page_and_says_whether_they_were_there() {
    let bench = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let (asker, four) = (ready(&["I have been there", "Decline"]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);
    let visit = |url: &str| inner(&call(&session, "mcp__s__visit", &json!({ "text": url })));

    let (been, not, odd) =
        (visit("https://pay.example/1"), visit("https://pay.example/2"), visit("file:///etc/passwd"));

    assert_eq!(been, json!({ "action": "accept" }));
    assert_eq!((&not["action"], &odd["action"]), (&json!("decline"), &json!("decline")));
    let asked = asker.1.lock().unwrap();
    assert_eq!(asked.len(), 2, "an address that is none of a page is not shown");
    assert!(asked[0].text.contains("a page of pay.example: Pay here\nhttps://pay.example/1\n"));
}

#[test]
fn a_call_that_needs_a_visit_is_made_again_once_the_person_was_there() {
    let bench = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let answers = ready(&["I have been there", "Decline", "I have been there", "I have been there"]);
    let session = asking(&bench.runtime(), &answers, &Arc::new(Four(Mutex::default())));
    let gated =
        |url: &str, times: u64| call(&session, "mcp__s__gated", &json!({ "text": url, "times": times }));

    let been = gated("https://log.example/1", 1);
    let not = gated("https://log.example/2", 1);
    let never = gated("https://log.example/3", 9);
    let odd = gated("file:///etc/passwd", 1);

    assert_eq!(words(&been), "gated: https://log.example/1");
    assert!(words(&not).contains("https://log.example/2 (Log in). Nobody did"), "{not:?}");
    assert!(words(&never).contains("after 2 visits"), "{never:?}");
    assert!(!odd.status.is_ok() && !odd.body.contains("passwd"), "{odd:?}");
    assert_eq!(bench.count("gated https://log.example/3"), 3);
    let asked = answers.1.lock().unwrap();
    assert_eq!(asked.len(), 4, "an address that is none of a page is not shown");
    assert!(asked[0].text.contains("a page of log.example: Log in\nhttps://log.example/1\n"), "{asked:?}");
}

#[test]
fn a_server_that_may_not_ask_says_what_a_person_has_to_do() {
    let unasked = Bench::scripted(&json!({}));
    let alone = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let arguments = json!({ "text": "https://log.example/" });

    let not_allowed = call(&unasked.session(), "mcp__s__gated", &arguments);
    let nobody = call(&alone.session(), "mcp__s__gated", &arguments);

    assert!(words(&not_allowed).contains("https://log.example/ (Log in)"), "{not_allowed:?}");
    assert!(words(&not_allowed).contains("mcp_servers.s.elicitation.enabled"), "{not_allowed:?}");
    assert!(words(&nobody).contains("There is nobody here who could"), "{nobody:?}");
    assert_eq!(
        (unasked.count("gated https://log.example/"), alone.count("gated https://log.example/")),
        (1, 1)
    );
}

#[test]
fn a_form_is_filled_in_by_the_person() {
    let bench = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let (asker, four) = (ready(&["Ann", ""]), Arc::new(Four(Mutex::default())));
    let session = asking(&bench.runtime(), &asker, &four);

    let outcome = call(&session, "mcp__s__elicit", &json!({}));

    assert_eq!(inner(&outcome), json!({ "action": "accept", "content": { "name": "Ann", "age": 7 } }));
}

#[test]
fn what_only_reads_runs_unasked_and_the_rest_is_asked_about_tool_by_tool() {
    let bench = Bench::scripted(&json!({}));
    let builder = Runtime::builder()
        .cwd(bench.path("work"))
        .home(hermes::store::Home::at(&bench.path("home")))
        .env([("PATH".to_owned(), std::env::var("PATH").unwrap())])
        .mode(hermes::guard::Mode::Manual);
    let runtime = builder.build().unwrap();
    runtime.mcp().ready_blocking();
    let approver = ScriptedApprover::says(Said::Approved(Grant::Class));
    let person: Arc<dyn Approver> = approver.clone();
    let session = runtime.session().approver(person).open().unwrap();

    assert_eq!(call(&session, "mcp__s__echo", &json!({})).status, Status::Ok);
    assert_eq!(approver.asked().len(), 0);
    assert_eq!(call(&session, "mcp__s__act", &json!({ "text": "1" })).status, Status::Ok);
    assert_eq!(call(&session, "mcp__s__act", &json!({ "text": "2" })).status, Status::Ok);
    assert_eq!(approver.asked().len(), 1, "a yes for the session holds for the same tool");
    assert_eq!(call(&session, "mcp__s__slow_act", &json!({})).status, Status::Ok);
    assert_eq!(approver.asked().len(), 2, "and for no other");
}
