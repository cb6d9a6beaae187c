//! The tools that ask for something of their session: notes, earlier conversations, a person, other
//! agents. Who has none of it is not offered the tool, and is told why when it is called all the same.

#![expect(clippy::disallowed_methods, reason = "a test looks whether a file was made")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::BoxFuture;
use hermes::core::clarify::{Answer, Asker, Question};
use hermes::core::delegate::{Delegates, End, EndStatus, Giver, Limits, Task};
use hermes::core::memory::Memory as _;
use hermes::core::model::Usage;
use hermes::store::Home;
use hermes::store::sessions::{Message, NewSession};
use hermes::{Outcome, Runtime, Session, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::{Value, json};

const TOOLS: [&str; 4] = ["clarify", "delegate_task", "memory", "session_search"];

fn at_home(home: &TempHome) -> Runtime {
    Runtime::builder().cwd("/").home(Home::at(home.path())).build().unwrap()
}

fn call(session: &Session, tool: &str, arguments: &Value) -> Outcome {
    session.call_blocking(ToolCall::new(tool, arguments.to_string()))
}

fn body(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.body).unwrap()
}

fn offered(session: &Session) -> Vec<String> {
    let toolbox = session.toolbox_blocking();
    let names = toolbox.offered().iter().map(|tool| tool.name().to_string());
    names.filter(|name| TOOLS.contains(&name.as_str())).collect()
}

/// Answers in one way, and remembers what it was asked.
struct Person {
    answer: Option<Answer>,
    patience: Duration,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    fn who(answer: Option<Answer>, patience: Duration) -> Arc<Self> {
        Arc::new(Self { answer, patience, asked: Mutex::default() })
    }
}

impl Asker for Person {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.asked.lock().unwrap().push(question);
        match self.answer.clone() {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::pending()),
        }
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

/// Ends every task at once, with its goal as the report.
struct Agents {
    background: bool,
}

impl Delegates for Agents {
    fn limits(&self) -> Limits {
        Limits { tasks: 3, orchestrators: false, background: self.background }
    }

    fn run<'a>(&'a self, tasks: Vec<Task>, from: Giver<'a>) -> BoxFuture<'a, Vec<End>> {
        let end = move |task: Task| End {
            status: EndStatus::Completed,
            summary: Some(format!("{} for {}", task.goal, from.session)),
            api_calls: 1,
            took: Duration::from_secs(1),
            model: None,
            exit_reason: "completed".to_owned(),
            tokens: Usage::default(),
            trace: Vec::new(),
            error: None,
            transcript: None,
        };
        Box::pin(std::future::ready(tasks.into_iter().map(end).collect()))
    }

    fn dispatch<'a>(&'a self, tasks: Vec<Task>, _from: Giver<'a>) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(format!("d-{}", tasks.len()))))
    }
}

fn with_person(runtime: &Runtime, person: &Arc<Person>) -> Session {
    runtime.session().extension(Arc::clone(person) as Arc<dyn Asker>).open().unwrap()
}

fn with_agents(runtime: &Runtime, background: bool) -> Session {
    let agents: Arc<dyn Delegates> = Arc::new(Agents { background });
    runtime.session().id("s1").extension(agents).open().unwrap()
}

#[test]
fn a_session_is_offered_what_it_was_handed() {
    let home = TempHome::new();
    let (bare, housed) = (Runtime::builder().build().unwrap(), at_home(&home));
    let person = Person::who(None, Duration::ZERO);

    assert_eq!(offered(&bare.session().open().unwrap()), Vec::<String>::new());
    assert_eq!(offered(&housed.session().open().unwrap()), ["memory", "session_search"]);
    assert_eq!(offered(&with_person(&housed, &person)), ["clarify", "memory", "session_search"]);
    assert_eq!(offered(&with_agents(&bare, false)), ["delegate_task"]);
    // One session's person is not another's.
    assert_eq!(offered(&housed.session().open().unwrap()), ["memory", "session_search"]);
}

#[test]
fn what_is_missing_is_told() {
    let runtime = Runtime::builder().build().unwrap();
    let session = runtime.session().open().unwrap();

    let outcome = call(&session, "clarify", &json!({ "question": "ok?" }));

    assert_eq!(outcome.status, Status::Unknown);
    assert_eq!(body(&outcome)["error"], "`clarify` is not available here: needs somebody who can be asked");
    let toolbox = session.toolbox_blocking();
    let told = toolbox.unavailable().iter().find(|tool| tool.name.as_ref() == "memory").unwrap();
    assert_eq!(told.why.as_ref(), "needs a state folder that keeps notes");
}

#[test]
fn notes_last_from_one_session_to_the_next() {
    let home = TempHome::new();
    let note = json!({ "action": "add", "target": "user", "content": "likes tea" });
    let first = at_home(&home);

    let saved = call(&first.session().open().unwrap(), "memory", &note);

    assert_eq!(saved.status, Status::Ok, "{}", saved.body);
    let said = body(&saved);
    assert_eq!((&said["success"], &said["entry_count"]), (&json!(true), &json!(1)));
    assert_eq!(said["usage"], "0% — 9/1,375 chars");
    let second = at_home(&home);
    let again = body(&call(&second.session().open().unwrap(), "memory", &note));
    assert_eq!(again["message"], "The note is there already; nothing was added.");
    let blocks = block_on(second.memory().unwrap().blocks());
    assert!(blocks.user.unwrap().ends_with("\nlikes tea"));
}

#[test]
fn notes_can_be_kept_without_a_session() {
    let home = TempHome::new();
    let note = json!({ "action": "add", "target": "memory", "content": "x".repeat(3000) });

    let outcome = at_home(&home).call_blocking(ToolCall::new("memory", note.to_string()));

    assert_eq!(outcome.status, Status::Failed);
    assert!(body(&outcome)["error"].as_str().unwrap().contains("with operations"));
}

#[test]
fn after_three_overflows_in_a_turn_the_model_is_told_to_stop() {
    let home = TempHome::new();
    let session = at_home(&home).session().open().unwrap();
    let overflow = |n: usize| {
        let note = json!({ "action": "add", "target": "memory", "content": "x".repeat(3000 + n) });
        let told = body(&call(&session, "memory", &note))["error"].as_str().unwrap().to_owned();
        told.contains("stop saving notes")
    };

    let told: Vec<bool> = (0..3).map(overflow).collect();
    session.new_turn();

    assert_eq!(told, [false, false, true]);
    assert!(!overflow(9));
}

#[test]
fn notes_that_are_switched_off_are_not_offered() {
    let home = TempHome::new();
    home.write("config.yaml", "memory: {memory_enabled: false, user_profile_enabled: false}\n");

    assert_eq!(offered(&at_home(&home).session().open().unwrap()), ["session_search"]);
}

#[test]
fn an_earlier_conversation_is_browsed_found_read_and_scrolled() {
    let home = TempHome::new();
    let runtime = at_home(&home);
    let store = hermes::open_sessions(&Home::at(home.path())).unwrap();
    store.create(&NewSession { id: Some("old".to_owned()), ..NewSession::from("cli") }).unwrap();
    let said = [Message::text("user", "where is the zebra?"), Message::text("assistant", "in the zoo")];
    let ids = store.append("old", &said).unwrap();
    let session = runtime.session().open().unwrap();
    let ask = |arguments: Value| body(&call(&session, "session_search", &arguments));

    let browsed = ask(json!({}));
    assert_eq!((&browsed["mode"], &browsed["results"][0]["session_id"]), (&json!("browse"), &json!("old")));
    let found = ask(json!({ "query": "zebra" }));
    assert_eq!((&found["mode"], &found["count"]), (&json!("discover"), &json!(1)));
    let result = &found["results"][0];
    assert_eq!(result["match_message_id"], ids[0]);
    assert_eq!(result["snippet"], "where is the >>>zebra<<<?");
    assert_eq!((&result["messages"][0]["anchor"], result["messages"][1].get("anchor")), (&json!(true), None));
    let read = ask(json!({ "session_id": "old" }));
    assert_eq!((&read["mode"], &read["messages"][1]["content"]), (&json!("read"), &json!("in the zoo")));
    let scrolled = ask(json!({ "session_id": "old", "around_message_id": ids[1], "window": 0 }));
    assert_eq!((&scrolled["mode"], scrolled["messages"].as_array().unwrap().len()), (&json!("scroll"), 2));
    let missing = ask(json!({ "session_id": "nobody" }));
    assert!(missing["error"].as_str().unwrap().starts_with("there is no session `nobody`"), "{missing}");
}

#[test]
fn looking_back_in_an_empty_home_makes_no_store() {
    let home = TempHome::new();
    let session = at_home(&home).session().open().unwrap();

    assert_eq!(body(&call(&session, "session_search", &json!({ "query": "x" })))["count"], 0);
    assert!(!Home::at(home.path()).sessions_db().exists());
    let elsewhere = call(&session, "session_search", &json!({ "query": "x", "profile": "nobody" }));
    assert!(elsewhere.body.contains("there is no profile `nobody`"), "{}", elsewhere.body);
}

#[test]
fn a_question_comes_back_with_its_answer() {
    let runtime = Runtime::builder().build().unwrap();
    let person = Person::who(Some(Answer::Said(" blue ".to_owned())), Duration::from_mins(1));
    let session = with_person(&runtime, &person);

    let told = body(&call(&session, "clarify", &json!({ "question": "Which?", "choices": ["red", "blue"] })));

    assert_eq!(
        told,
        json!({ "question": "Which?", "choices_offered": ["red", "blue"], "user_response": "blue" })
    );
    assert_eq!(person.asked.lock().unwrap()[0].choices, ["red", "blue"]);
    let five = json!({ "question": "Which?", "choices": ["1", "2", "3", "4", "5"] });
    assert_eq!(call(&session, "clarify", &five).status, Status::Invalid);
}

#[test]
fn a_question_nobody_answers_tells_the_model_to_decide() {
    let runtime = Runtime::builder().build().unwrap();
    let silent = with_person(&runtime, &Person::who(None, Duration::from_millis(5)));
    let absent = with_person(&runtime, &Person::who(Some(Answer::Nobody), Duration::from_mins(1)));
    let question = json!({ "question": "Which?" });

    let silence = call(&silent, "clarify", &question);
    assert_eq!(silence.status, Status::Ok);
    assert!(body(&silence)["user_response"].as_str().unwrap().contains("Go on without an answer"));
    assert_eq!(call(&absent, "clarify", &question).status, Status::Failed);
}

#[test]
fn work_is_handed_on_and_its_reports_come_back_in_order() {
    let runtime = Runtime::builder().build().unwrap();
    let session = with_agents(&runtime, false);

    let tasks = json!({ "tasks": [{ "goal": "a" }, { "goal": "b" }], "background": true });
    let told = body(&call(&session, "delegate_task", &tasks));

    assert_eq!(told["results"][0]["summary"], "a for s1");
    assert_eq!(
        (&told["results"][1]["task_index"], &told["results"][1]["status"]),
        (&json!(1), &json!("completed"))
    );
    assert!(told["note"].as_str().unwrap().contains("this call waited"), "{told}");
}

#[test]
fn work_goes_to_the_background_where_reports_can_come_in_later() {
    let runtime = Runtime::builder().build().unwrap();
    let session = with_agents(&runtime, true);

    let told = body(&call(&session, "delegate_task", &json!({ "goal": "a", "background": true })));

    assert_eq!(
        (&told["status"], &told["delegation_id"], &told["count"]),
        (&json!("dispatched"), &json!("d-1"), &json!(1))
    );
}

#[test]
fn the_configuration_says_how_much_may_be_handed_on() {
    let home = TempHome::new();
    home.write("config.yaml", "delegation: {max_concurrent_children: 1}\n");
    let session = with_agents(&at_home(&home), false);

    let two = json!({ "tasks": [{ "goal": "a" }, { "goal": "b" }] });

    assert_eq!(call(&session, "delegate_task", &two).status, Status::Invalid);
    assert!(session.toolbox_blocking().json().contains("Up to 1 tasks"));
}
