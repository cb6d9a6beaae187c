//! Messages to people: `send_message` on the road, and the program's own way.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes::core::cron::Draft;
use hermes::core::deliver::{Deliver, DeliverError, Destination, Letter, Origin, Sent, Target};
use hermes::core::outcome::Attachment;
use hermes::guard::Mode;
use hermes::{Runtime, ToolCall};
use hermes_testkit::ScriptedApprover;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{self, Asked, Server, json_answer};
use crate::{runtime, testbed};

fn call(runtime: &Runtime, arguments: &Value) -> Value {
    crate::call(runtime, "send_message", arguments)
}

/// The Bot API, as its documentation shows requests and answers.
fn telegram() -> Server {
    Server::start(|asked: &Asked| match asked.path() {
        "/botT0KEN/sendMessage" if asked.json()["chat_id"] == 404 => json_answer(
            400,
            &json!({ "ok": false, "error_code": 400, "description": "Bad Request: chat not found" }),
        ),
        "/botT0KEN/sendMessage" | "/botT0KEN/sendVoice" => json_answer(
            200,
            &json!({ "ok": true, "result": { "message_id": 7, "date": 1, "chat": { "id": 42, "type": "private" } } }),
        ),
        _ => json_answer(404, &json!({ "ok": false, "error_code": 404, "description": "Not Found" })),
    })
}

fn telegram_variables(server: &Server) -> Vec<(&'static str, &str)> {
    vec![
        ("TELEGRAM_BOT_TOKEN", "T0KEN"),
        ("TELEGRAM_BASE_URL", server.address()),
        ("TELEGRAM_HOME_CHANNEL", "42"),
    ]
}

#[test]
fn a_message_goes_to_the_home_chat_with_its_files() {
    let server = telegram();
    let (folder, runtime) = runtime("", Mode::Off, &telegram_variables(&server));
    std::fs::write(folder.path().join("hello.ogg"), b"OggS....").unwrap();

    let answer = call(&runtime, &json!({ "target": "telegram", "message": "Good evening. MEDIA:hello.ogg" }));

    assert_eq!(
        answer,
        json!({ "success": true, "platform": "telegram", "chat_id": "42", "message_id": "7", "parts": 2 })
    );
    let asked = server.asked();
    assert_eq!(asked[0].json(), json!({ "text": "Good evening.", "chat_id": 42 }));
    assert!(asked[1].header("content-type").starts_with("multipart/form-data; boundary="));
    assert!(
        asked[1].text().contains("filename=\"hello.ogg\"\r\nContent-Type: audio/ogg"),
        "{}",
        asked[1].text()
    );
}

#[test]
fn a_long_message_goes_out_in_parts_and_a_refusal_is_told() {
    let server = telegram();
    let (_folder, runtime) = runtime("", Mode::Off, &telegram_variables(&server));

    let long = "word ".repeat(2_000);
    let answer = call(&runtime, &json!({ "target": "telegram:42:3", "message": long }));
    let refused = call(&runtime, &json!({ "target": "telegram:404", "message": "x" }));

    assert_eq!(answer["parts"], 3);
    assert_eq!(server.asked()[0].json()["message_thread_id"], 3);
    let text = refused.to_string();
    assert!(text.contains("chat not found") && !text.contains("T0KEN"), "{text}");
}

#[test]
fn the_answer_of_a_job_takes_the_same_road() {
    let server = telegram();
    let (folder, runtime) = runtime("", Mode::Off, &telegram_variables(&server));
    let scripts = folder.path().join("home/scripts");
    std::fs::create_dir_all(&scripts).unwrap();
    std::fs::write(scripts.join("disk.sh"), "echo the disk is full").unwrap();
    let cron = runtime.cron().unwrap();
    let text = |text: &str| Some(text.to_owned());
    let draft = Draft {
        schedule: text("@daily"),
        script: text("disk.sh"),
        no_agent: Some(true),
        name: text("disk"),
        deliver: text("telegram"),
        ..Draft::default()
    };
    assert_eq!(cron.undeliverable(&cron.create(draft).unwrap()), None);

    let run = cron.run_now_blocking("disk", &CancellationToken::new()).unwrap();

    assert_eq!(run.delivery_error, None);
    let said = json!({ "text": "\u{23f0} disk\n\nthe disk is full", "chat_id": 42 });
    assert_eq!(server.asked()[0].json(), said);
}

#[test]
fn a_person_is_shown_where_it_goes_and_what_it_says() {
    let server = telegram();
    let (_folder, runtime) = runtime("", Mode::Manual, &telegram_variables(&server));
    let approver = ScriptedApprover::refuses("not now");
    let session = runtime.session().approver(approver.clone()).open().unwrap();

    let arguments = json!({ "target": "telegram", "message": "Your secret is out" }).to_string();
    let outcome = session.call_blocking(ToolCall::new("send_message", arguments));

    assert!(outcome.body.contains("not now") || outcome.body.contains("denied"), "{}", outcome.body);
    assert!(server.asked().is_empty());
    let why = approver.asked()[0].reason.why.clone();
    assert!(why.contains("telegram:42") && why.contains("Your secret is out"), "{why}");
}

/// A program that is connected to a chat: one room, which it knows by its name.
#[derive(Default)]
struct Gateway(Mutex<Vec<String>>);

impl Deliver for Gateway {
    fn destinations(&self) -> Vec<Destination> {
        let (target, name) = ("slack:C1".parse().unwrap(), Some("#general".to_owned()));
        vec![Destination { target, name, is_home: true, missing: None }]
    }

    fn resolve(&self, target: &Target) -> Result<Target, DeliverError> {
        match (target.platform.as_str(), target.chat.as_deref()) {
            ("slack", None | Some("#general" | "C1")) => Ok("slack:C1".parse().unwrap()),
            _ => Err(DeliverError::BadTarget(target.to_string())),
        }
    }

    fn send<'a>(
        &'a self,
        target: &'a Target,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>> {
        self.0.lock().unwrap().push(letter.text.clone());
        let chat_id = self.resolve(target).unwrap().chat.unwrap();
        let sent = Sent { platform: "slack".to_owned(), chat_id, parts: 1, ..Sent::default() };
        Box::pin(std::future::ready(Ok(sent)))
    }
}

#[test]
fn whoever_is_connected_carries_messages_without_any_key() {
    let (folder, without) = runtime("", Mode::Manual, &[]);
    let gateway = Arc::new(Gateway::default());
    let home = hermes::store::Home::at(&folder.path().join("home"));
    let builder = Runtime::builder().cwd(folder.path()).home(home).mode(Mode::Manual);
    let with = builder.deliver(gateway.clone()).build().unwrap();
    let approver = ScriptedApprover::agrees();
    let session = with.session().approver(approver.clone()).open().unwrap();
    let message = json!({ "target": "slack:#general", "message": "Lunch?" });

    let unknown = call(&without, &message).to_string();
    let outcome = session.call_blocking(ToolCall::new("send_message", message.to_string()));
    let answer: Value = serde_json::from_str(&outcome.body).unwrap();
    let listed = call(&with, &json!({ "action": "list" }));
    let elsewhere = with.deliver().resolve(&Target::home("telegram")).unwrap_err();

    assert!(unknown.contains("TELEGRAM_BOT_TOKEN"), "{unknown}");
    assert_eq!((&answer["success"], &answer["chat_id"]), (&json!(true), &json!("C1")), "{answer}");
    assert_eq!(*gateway.0.lock().unwrap(), ["Lunch?"]);
    let why = approver.asked()[0].reason.why.clone();
    assert!(why.contains("slack:C1") && why.contains("Lunch?"), "{why}");
    let platforms: Vec<&str> =
        listed["targets"].as_array().unwrap().iter().map(|row| row["platform"].as_str().unwrap()).collect();
    assert_eq!(platforms, ["email", "ntfy", "slack", "telegram", "webhook"], "{listed}");
    // What it is not connected to goes the usual way.
    assert!(matches!(elsewhere, DeliverError::NotConfigured { .. }), "{elsewhere}");
}

#[test]
fn a_job_answers_in_the_chat_it_was_made_in_and_says_at_once_where_that_is_none() {
    let (folder, without) = runtime("", Mode::Off, &[]);
    let gateway = Arc::new(Gateway::default());
    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("scripts")).unwrap();
    std::fs::write(home.join("scripts/disk.sh"), "echo the disk is full").unwrap();
    let builder = Runtime::builder().cwd(folder.path()).home(hermes::store::Home::at(&home)).mode(Mode::Off);
    let with = builder.deliver(gateway.clone()).build().unwrap();
    let chat = Origin("slack:C1".parse().unwrap());
    let session = with.session().extension(chat).open().unwrap();
    let wish = |name: &str| {
        json!({
            "action": "create", "schedule": "@daily", "script": "disk.sh", "no_agent": true, "deliver": "origin",
            "name": name,
        })
    };

    let made = session.call_blocking(ToolCall::new("cronjob", wish("disk").to_string()));
    let nowhere = crate::call(&without, "cronjob", &wish("other"));
    let run = with.cron().unwrap().run_now_blocking("disk", &CancellationToken::new()).unwrap();

    assert!(!made.body.contains("warning"), "{}", made.body);
    assert_eq!(
        (run.delivery_error, gateway.0.lock().unwrap().as_slice()),
        (None, &["the disk is full".to_owned()][..])
    );
    let warning = nowhere["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("on no platform") && warning.contains("kept in files"), "{nowhere}");
}

#[test]
fn a_list_says_where_messages_can_go_and_what_is_missing() {
    let server = telegram();
    let (_folder, runtime) = runtime("", Mode::Manual, &telegram_variables(&server));

    let answer = call(&runtime, &json!({ "action": "list" }));

    let rows = answer["targets"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["platform"] == name).unwrap().clone();
    assert_eq!(row("telegram")["target"], "telegram:42");
    assert_eq!(row("telegram")["available"], true);
    assert!(row("email")["missing"].as_str().unwrap().contains("EMAIL_SMTP_HOST"), "{answer}");
}

#[test]
fn wrong_targets_and_empty_messages_are_explained() {
    let server = telegram();
    let (_folder, runtime) = runtime("", Mode::Off, &telegram_variables(&server));

    for (arguments, words) in [
        (json!({ "message": "x" }), "target is needed"),
        (json!({ "target": "telegram" }), "message is needed"),
        (json!({ "target": "pigeon:7", "message": "x" }), "there is no platform `pigeon`"),
        (json!({ "target": "telegram:ann/../x", "message": "x" }), "no chat"),
        (json!({ "target": "ntfy", "message": "x" }), "NTFY_TOPIC"),
    ] {
        let text = call(&runtime, &arguments).to_string();
        assert!(text.contains(words), "{arguments}: {text}");
    }
    assert!(server.asked().is_empty());
}

#[test]
fn ntfy_and_webhooks_are_asked_in_their_own_words() {
    let server = Server::start(|asked: &Asked| match asked.path() {
        "/" => json_answer(200, &json!({ "id": "n1", "time": 1, "event": "message", "topic": "alerts" })),
        "/alerts" => json_answer(200, &json!({ "id": "n2", "event": "message", "topic": "alerts" })),
        _ => json_answer(200, &json!({})),
    });
    let config = format!(
        "platforms:\n  webhook:\n    deliver:\n      build:\n        url: {}/hook\n        secret: s3cret\n",
        server.address()
    );
    let variables = [("NTFY_SERVER_URL", server.address()), ("NTFY_TOPIC", "alerts"), ("NTFY_TOKEN", "tk_1")];
    let (_folder, runtime) = runtime(&config, Mode::Off, &variables);
    let deliver = runtime.deliver();
    let file = Attachment { media_type: "image/png".into(), name: "ä.png".into(), bytes: vec![1, 2].into() };
    let letter = Letter { text: "Done".into(), subject: Some("Build".into()), files: vec![file] };

    let pushed = futures::executor::block_on(deliver.send(&Target::home("ntfy"), &letter)).unwrap();
    let posted = futures::executor::block_on(deliver.send(&Target::home("webhook"), &letter)).unwrap();

    assert_eq!((pushed.chat_id.as_str(), pushed.message_id.as_deref()), ("alerts", Some("n2")));
    assert_eq!((posted.chat_id.as_str(), posted.parts), ("build", 1));
    let asked = server.asked();
    assert_eq!(asked[0].json(), json!({ "topic": "alerts", "message": "Done", "title": "Build" }));
    assert_eq!(asked[0].header("authorization"), "Bearer tk_1");
    assert_eq!((asked[1].method(), asked[1].header("filename")), ("PUT", "_.png".to_owned()));
    assert_eq!(asked[2].json()["files"][0]["data"], "AQI=");
    assert_eq!(
        asked[2].header("x-hub-signature-256"),
        format!("sha256={}", server::hmac_by_python("s3cret", &asked[2].body))
    );
}

#[test]
fn an_address_that_a_model_wrote_is_no_webhook() {
    let server = Server::start(|_: &Asked| json_answer(200, &json!({})));
    let config =
        format!("platforms:\n  webhook:\n    deliver:\n      a:\n        url: {}/a\n", server.address());
    let (_folder, runtime) = runtime(&config, Mode::Off, &[]);

    let target = format!("webhook:{}/evil", server.address());
    let text = call(&runtime, &json!({ "target": target, "message": "x" })).to_string();

    assert!(text.contains("is no name") && server.asked().is_empty(), "{text}");
}

#[test]
fn a_mail_server_takes_a_mail_encrypted_and_logged_in() {
    let Some(python) = testbed("HERMES_TEST_MAIL_PYTHON", "mail") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mail = server::MailServer::start(&python, folder.path());
    let certificate = mail.certificate();
    let variables = [
        ("EMAIL_ADDRESS", "bot@example.org"),
        ("EMAIL_PASSWORD", "pass word"),
        ("EMAIL_SMTP_HOST", "localhost"),
        ("EMAIL_SMTP_PORT", mail.port()),
        ("EMAIL_HOME_ADDRESS", "ann@example.org"),
        ("SSL_CERT_FILE", certificate.as_str()),
    ];
    let config = "platforms:\n  email:\n    security: starttls\n";
    let (_home, with_key) = runtime(config, Mode::Off, &variables);

    let answer =
        call(&with_key, &json!({ "target": "email", "message": "Grüße\n.a line that begins with a dot" }));
    let wrong: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, if *name == "EMAIL_PASSWORD" { "wrong" } else { *value }))
        .collect();
    let (_other, without_key) = runtime(config, Mode::Off, &wrong);
    let refused = call(&without_key, &json!({ "target": "email", "message": "x" })).to_string();

    assert_eq!(
        (answer["success"].clone(), answer["chat_id"].clone()),
        (json!(true), json!("ann@example.org")),
        "{answer}"
    );
    let got = mail.received();
    assert_eq!(got.len(), 1);
    assert_eq!(
        (got[0]["from"].clone(), got[0]["to"].clone()),
        (json!("bot@example.org"), json!(["ann@example.org"]))
    );
    assert_eq!(got[0]["text"], "Grüße\n.a line that begins with a dot");
    assert_eq!(got[0]["subject"], "Grüße");
    assert_eq!(got[0]["tls"], true);
    assert!(refused.contains("535"), "{refused}");
}
