//! Whom a question of a server is put to: servers that others wrote ask, servers take their questions back,
//! and calls of several sessions run at once.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use hermes::Session;
use hermes::core::clarify::{Answer, Asker, Question};
use hermes::extend::mcp::client::Sampler;
use serde_json::{Value, json};

use crate::others::{Bed, free_port, said, serve, ways_to_sdk_server};
use crate::questions::{Four, asking, inner, ready};
use crate::support::{Bench, call, until};

/// What lets a server ask the model and the person.
fn allowed(server: &Value) -> Value {
    let mut server = server.clone();
    server["sampling"] = json!({ "enabled": true });
    server["elicitation"] = json!({ "enabled": true });
    json!({ "s": server })
}

fn four() -> Arc<Four> {
    Arc::new(Four(Mutex::default()))
}

#[test]
fn servers_of_the_python_sdk_ask_the_person_and_the_model_over_every_way() {
    let Some(bed) = Bed::here() else { return };
    let (ways, _served) = ways_to_sdk_server(&bed);
    for (way, newest) in ways.iter().zip([true, true, false]) {
        let bench = Bench::with(&allowed(way));
        let (asker, four) = (ready(&["Ann", "Yes, this once", "Bob"]), four());
        let session = asking(&bench.runtime(), &asker, &four);

        assert_eq!(said(&session, "meet", &json!({})), "{\"result\":\"met Ann\"}", "{way}");
        assert_eq!(said(&session, "think", &json!({})), "{\"result\":\"thought 4\"}", "{way}");
        assert_eq!((asker.1.lock().unwrap().len(), four.0.lock().unwrap().len()), (2, 1), "{way}");
        // Questions before a prompt are of the newest protocol alone.
        if newest {
            let prompt = said(&session, "get_prompt", &json!({ "name": "welcome" }));
            assert!(prompt.contains("Welcome Bob."), "{way}: {prompt}");
        }
    }
}

/// Fills in the form of server-everything, visits every page, and lets the model be asked.
struct Obliging;

impl Asker for Obliging {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let field = question.text.lines().nth(1).and_then(|line| line.split(':').next()).unwrap_or_default();
        let word = match field {
            "name" => "Ann",
            "check" => "yes",
            "email" => "ann@example.org",
            "birthdate" => "2001-02-03",
            "integer" => "7",
            "number" => "2.5",
            "untitledSingleSelectEnum" => "Ross",
            "untitledMultipleSelectEnum" => "Piano, Drums",
            "titledSingleSelectEnum" => "Wonder Woman",
            "titledMultipleSelectEnum" => "Salmon, Trout",
            "legacyTitledEnum" => "Dogs",
            "firstLine" | "homepage" => "",
            _ => question.choices.first().map_or("", String::as_str),
        };
        Box::pin(std::future::ready(Answer::Said(word.to_owned())))
    }
}

/// The tools that server-everything has for clients that can be asked.
fn every_tool_that_asks(server: &Value) {
    let bench = Bench::with(&allowed(server));
    let (person, model): (Arc<dyn Asker>, Arc<dyn Sampler>) = (Arc::new(Obliging), four());
    let session = bench.runtime().session().extension(person).extension(model).open().unwrap();

    let filled = said(&session, "trigger_elicitation_request", &json!({}));
    let raw = filled.split_once("Raw result: ").unwrap().1;
    let result = serde_json::Deserializer::from_str(raw).into_iter::<Value>().next().unwrap().unwrap();
    let content = json!({
        "name": "Ann", "check": true, "email": "ann@example.org", "birthdate": "2001-02-03", "integer": 7,
        "number": 2.5, "untitledSingleSelectEnum": "Ross", "untitledMultipleSelectEnum": ["Piano", "Drums"],
        "titledSingleSelectEnum": "hero-3", "titledMultipleSelectEnum": ["fish-2", "fish-3"],
        "legacyTitledEnum": "pet-2", "firstLine": "It was a dark and stormy night.",
    });
    assert_eq!(result, json!({ "action": "accept", "content": content }));
    let page = json!({ "url": "https://example.org/log-in" });
    assert!(said(&session, "trigger_url_elicitation", &page).contains("accept"));
    let first = json!({ "url": "https://example.org/first", "errorPath": true, "elicitationId": "e1" });
    assert!(said(&session, "trigger_url_elicitation", &first).contains("accept"));
    let thought = said(&session, "trigger_sampling_request", &json!({ "prompt": "2 + 2" }));
    assert!(thought.contains('4'), "{thought}");
}

#[test]
fn every_tool_of_server_everything_that_asks_works_over_stdio() {
    let Some(bed) = Bed::here() else { return };

    every_tool_that_asks(&json!({ "command": bed.node, "args": [bed.everything, "stdio"] }));
}

#[test]
fn every_tool_of_server_everything_that_asks_works_over_http() {
    let Some(bed) = Bed::here() else { return };
    let port = free_port();
    let mut command = Command::new(&bed.node);
    let _served =
        serve(command.args([&bed.everything, "streamableHttp"]).env("PORT", port.to_string()), port);

    every_tool_that_asks(&json!({ "url": format!("http://127.0.0.1:{port}/mcp") }));
}

/// Somebody who never answers, says by a file that they were asked, and notices when the question goes.
struct Slow {
    file: PathBuf,
    gone: Arc<AtomicBool>,
}

struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Asker for Slow {
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        let gone = Gone(Arc::clone(&self.gone));
        std::fs::write(&self.file, "").unwrap();
        Box::pin(async move {
            let _gone = gone;
            std::future::pending().await
        })
    }
}

#[test]
fn a_question_that_the_server_takes_back_is_not_put_to_the_person_any_more() {
    let bench = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let (file, gone) = (bench.path("work").join("asked"), Arc::default());
    let slow: Arc<dyn Asker> = Arc::new(Slow { file: file.clone(), gone: Arc::clone(&gone) });
    let session = bench.runtime().session().extension(slow).open().unwrap();

    let outcome = call(&session, "mcp__s__forget", &json!({ "text": file }));

    assert!(outcome.body.contains("forget"), "{}", outcome.body);
    until("the question is gone", || gone.load(Ordering::Acquire));
}

/// Somebody who says no once they are told to.
struct Later {
    asked: Arc<AtomicBool>,
    told: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Asker for Later {
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        self.asked.store(true, Ordering::Release);
        let told = self.told.lock().unwrap().take();
        Box::pin(async move {
            if let Some(told) = told {
                let _ = told.await;
            }
            Answer::Nobody
        })
    }
}

#[test]
fn over_http_each_person_is_asked_about_their_own_call() {
    let Some(bed) = Bed::here() else { return };
    let port = free_port();
    let mut command = Command::new(&bed.node);
    let _served =
        serve(command.args([&bed.everything, "streamableHttp"]).env("PORT", port.to_string()), port);
    let bench = Bench::with(&allowed(&json!({ "url": format!("http://127.0.0.1:{port}/mcp") })));
    let runtime = bench.runtime();
    let (tell, told) = oneshot::channel();
    let asked = Arc::<AtomicBool>::default();
    let later: Arc<dyn Asker> = Arc::new(Later { asked: Arc::clone(&asked), told: Mutex::new(Some(told)) });
    let open = |asker: Arc<dyn Asker>| runtime.session().extension(asker).open().unwrap();
    let (of_ann, of_bob) = (open(Arc::new(Obliging)), open(later));
    let elicit = |session: &Session| said(session, "trigger_elicitation_request", &json!({}));

    let bobs = thread::scope(|scope| {
        let bobs = scope.spawn(|| elicit(&of_bob));
        until("the other is asked", || asked.load(Ordering::Acquire));
        let anns = elicit(&of_ann);
        tell.send(()).unwrap();
        assert!(anns.contains("\"action\": \"accept\""), "{anns}");
        bobs.join().unwrap()
    });

    assert!(bobs.contains("\"action\": \"decline\""), "{bobs}");
}

/// Does something while a call of this session runs.
fn while_it_waits<T>(bench: &Bench, session: Session, work: impl FnOnce() -> T) -> T {
    let file = bench.path("work").join("go");
    let text = json!({ "text": file });
    let waits = thread::spawn(move || call(&session, "mcp__s__wait", &text));
    until("the call runs", || bench.notes().iter().any(|note| note.starts_with("wait ")));
    let done = work();
    std::fs::write(&file, "").unwrap();
    waits.join().unwrap();
    std::fs::remove_file(&file).unwrap();
    done
}

#[test]
fn a_person_is_not_asked_about_a_call_that_may_be_somebody_elses() {
    let bench = Bench::scripted(&json!({ "elicitation": { "enabled": true } }));
    let runtime = bench.runtime();
    let (ann, bob) = (ready(&["Ann", "", "Ann", ""]), ready(&["Bob", ""]));
    let (of_ann, of_bob) = (asking(&runtime, &ann, &four()), asking(&runtime, &bob, &four()));
    let elicit = |session: &Session| inner(&call(session, "mcp__s__elicit", &json!({})));

    let (unclear, of_ann) = while_it_waits(&bench, of_bob, || (elicit(&of_ann), of_ann));
    let clear = elicit(&of_ann);

    assert_eq!(unclear, json!({ "action": "decline" }));
    assert_eq!(clear, json!({ "action": "accept", "content": { "name": "Ann", "age": 7 } }));
    assert_eq!((ann.1.lock().unwrap().len(), bob.1.lock().unwrap().len()), (2, 0));
}
