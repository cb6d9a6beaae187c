//! The `yb_*` tools, with a connection such as a gateway has.

use std::sync::{Arc, Mutex};

use hermes::core::permit::{Connect, Permit};
use hermes::core::toolset::Selection;
use hermes::core::yuanbao::{
    Answer, Direct, Group, Member, MemberKind, Sent, Sticker, Yuanbao, YuanbaoError,
};
use hermes::{Session, ToolCall};
use serde_json::{Value, json};

use crate::support::Bench;

/// A connection that remembers what was sent.
#[derive(Default)]
struct Desk {
    sent: Mutex<Vec<String>>,
}

fn member(id: &str, name: &str, kind: MemberKind) -> Member {
    Member { id: id.to_owned(), name: name.to_owned(), kind }
}

fn known<'a, T: Send + 'a>(code: &str, value: T) -> Answer<'a, T> {
    let found = if code == "g1" { Ok(value) } else { Err(YuanbaoError("no such group".to_owned())) };
    Box::pin(std::future::ready(found))
}

impl Yuanbao for Desk {
    fn chat(&self) -> Option<String> {
        Some("group:g1".to_owned())
    }

    fn group<'a>(&'a self, _: Permit<Connect>, code: &'a str) -> Answer<'a, Group> {
        let owner = Some(member("u1", "Ann", MemberKind::Person));
        known(code, Group { code: code.to_owned(), name: "Garden".to_owned(), owner, members: Some(3) })
    }

    fn members<'a>(&'a self, _: Permit<Connect>, code: &'a str) -> Answer<'a, Vec<Member>> {
        let all = vec![
            member("u1", "Ann", MemberKind::Person),
            member("u2", "Anna", MemberKind::Person),
            member("u3", "Helper", MemberKind::Bot),
        ];
        known(code, all)
    }

    fn stickers(&self, _: Permit<Connect>) -> Answer<'_, Vec<Sticker>> {
        let sticker = |id: &str, name: &str, description: &str| Sticker {
            id: id.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
        };
        known("g1", vec![sticker("1", "hug", "warm, thanks"), sticker("2", "cat", "happy cat")])
    }

    fn send_direct(&self, _: Permit<Connect>, message: Direct) -> Answer<'_, Sent> {
        let files: Vec<String> = message
            .media
            .iter()
            .map(|file| format!("{}={}", file.name, String::from_utf8_lossy(&file.bytes)))
            .collect();
        self.sent.lock().unwrap().push(format!("{}: {} {}", message.user, message.text, files.join(",")));
        known("g1", Sent { chat: format!("direct:{}", message.user), message: Some("m1".to_owned()) })
    }

    fn send_sticker<'a>(
        &'a self,
        _: Permit<Connect>,
        chat: &'a str,
        sticker: &'a Sticker,
        reply_to: Option<&'a str>,
    ) -> Answer<'a, Sent> {
        self.sent.lock().unwrap().push(format!("{chat}: sticker {} {reply_to:?}", sticker.name));
        known("g1", Sent { chat: chat.to_owned(), message: None })
    }
}

fn session(bench: &Bench, desk: &Arc<Desk>) -> Session {
    let desk = Arc::clone(desk) as Arc<dyn Yuanbao>;
    let selection = Selection::of(["yuanbao".to_owned()]);
    bench.runtime.session().select(selection).extension(desk).open().unwrap()
}

fn call(session: &Session, tool: &str, arguments: &Value) -> Value {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    let mut body: Value = serde_json::from_str(&outcome.body).unwrap();
    if body["untrusted"] == true { body["data"].take() } else { body }
}

#[test]
fn groups_are_looked_up() {
    let bench = Bench::with(&[]);
    let session = session(&bench, &Arc::default());

    let group = call(&session, "yb_query_group_info", &json!({ "group_code": "g1" }));
    assert_eq!((&group["group_name"], &group["owner"]["name"]), (&json!("Garden"), &json!("Ann")));
    let bots =
        call(&session, "yb_query_group_members", &json!({ "group_code": "g1", "action": "list_bots" }));
    assert_eq!(bots["members"], json!([{ "user_id": "u3", "name": "Helper", "kind": "bot" }]));
    let found = call(
        &session,
        "yb_query_group_members",
        &json!({ "group_code": "g1", "action": "find", "name": "ann", "mention": true }),
    );
    assert_eq!(
        found["members"],
        json!([{ "user_id": "u1", "name": "Ann", "kind": "person", "mention": "@Ann" }])
    );
    let why = call(&session, "yb_query_group_info", &json!({ "group_code": "g2" }));
    assert!(why["error"].as_str().unwrap().contains("no such group"), "{why}");
}

#[test]
fn people_and_chats_are_written_to() {
    let bench = Bench::with(&[]);
    let desk = Arc::default();
    let session = session(&bench, &desk);
    std::fs::write(bench.folder.path().join("a.txt"), "hello").unwrap();

    let sent = call(
        &session,
        "yb_send_dm",
        &json!({ "group_code": "g1", "name": "Ann", "message": "hi", "media_files": [{ "path": "a.txt" }] }),
    );
    assert_eq!(sent, json!({ "success": true, "user_id": "u1", "chat_id": "direct:u1", "message_id": "m1" }));
    let which = call(&session, "yb_send_dm", &json!({ "group_code": "g1", "name": "an", "message": "hi" }));
    assert!(which["error"].as_str().unwrap().contains("Anna (u2)"), "{which}");
    let found = call(&session, "yb_search_sticker", &json!({ "query": "thanks" }));
    assert_eq!(found["stickers"][0]["name"], "hug");
    let sent = call(&session, "yb_send_sticker", &json!({ "sticker": "cat", "reply_to": "m0" }));
    assert_eq!(sent["chat_id"], "group:g1");
    assert_eq!(
        desk.sent.lock().unwrap().as_slice(),
        ["u1: hi a.txt=hello", "group:g1: sticker cat Some(\"m0\")"]
    );
}

#[test]
fn without_a_connection_the_tools_are_not_there_and_say_why() {
    let bench = Bench::with(&[]);

    let why = bench.call("yb_query_group_info", &json!({ "group_code": "g1" })).to_string();

    assert!(why.contains("a connection to Yuanbao, which a running gateway has"), "{why}");
}
