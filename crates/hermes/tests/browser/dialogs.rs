//! Dialogs never hang a call: they are told, and answered when somebody says how.

use serde_json::json;

use crate::server::{Seat, Server, reference};

const ASKS: &str = "<title>Asks</title><button onclick=\"alert('watch out'); said.textContent='alerted'\">alert</button>\
    <button onclick=\"said.textContent = confirm('sure?')\">confirm</button>\
    <button onclick=\"said.textContent = prompt('who?', 'me')\">prompt</button>\
    <button onclick=\"onbeforeunload = (e) => { e.preventDefault(); e.returnValue = 'x' }\">stay</button><p id=said>-</p>";

#[test]
fn every_kind_of_dialog_is_told_and_answered() {
    let server = Server::pages(&[("/", ASKS), ("/away", "<title>Away</title>")]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    let text = seat.open(&server.url("/"))["snapshot"].as_str().unwrap().to_owned();
    let said = || seat.run("said.textContent");
    let click = |words: &str| seat.call("browser_click", json!({ "ref": reference(&text, words) }));

    for (name, answer, comes_to) in [
        ("alert", json!({ "action": "accept" }), "alerted"),
        ("confirm", json!({ "action": "accept" }), "true"),
        ("confirm", json!({ "action": "dismiss" }), "false"),
        ("prompt", json!({ "action": "accept", "prompt_text": "Ann" }), "Ann"),
        ("prompt", json!({ "action": "dismiss" }), ""),
    ] {
        let clicked = click(&format!("button \"{name}\""));
        assert_eq!(clicked["pending_dialogs"][0]["type"], name, "{clicked}");
        // Nothing hangs while it waits.
        let meanwhile = seat.call("browser_snapshot", json!({}));
        assert_eq!(meanwhile["pending_dialogs"][0]["type"], name, "{meanwhile}");
        let answered = seat.call("browser_dialog", answer);
        assert_eq!(answered["dialog"]["type"], name, "{answered}");
        assert_eq!(said(), comes_to, "{name}");
    }
    assert!(seat.call("browser_dialog", json!({ "action": "accept" }))["error"].is_string());

    click("button \"stay\"");
    let leaving = seat.call("browser_navigate", json!({ "url": server.url("/away") }));
    assert_eq!(leaving["pending_dialogs"][0]["type"], "beforeunload", "{leaving}");
    seat.call("browser_dialog", json!({ "action": "accept" }));
    seat.open(&server.url("/away"));
    assert_eq!(seat.run("document.title"), "Away");
}

#[test]
fn a_page_that_opens_with_a_dialog_is_told_too_and_settings_can_answer() {
    let server = Server::pages(&[("/", "<script>document.title = confirm('in?')</script>")]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    let answer = seat.call("browser_navigate", json!({ "url": server.url("/") }));
    assert_eq!(answer["pending_dialogs"][0]["message"], "in?", "{answer}");

    let seat = Seat::set_up(&[&server], "  dialog_policy: auto_accept\n").unwrap();
    assert_eq!(seat.open(&server.url("/"))["title"], "true");
}
