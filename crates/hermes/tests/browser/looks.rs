//! What is read of a page: the snapshot, frames, pictures, the console.

use std::sync::Arc;

use hermes::ToolCall;
use hermes::core::side::Answering;
use hermes_testkit::{Answer, ModelServer, ScriptedModel};
use serde_json::{Value, json};

use crate::server::{Seat, Server, reference};

const SHOP: &str = "<title>Shop</title><h1>Lamps</h1><p>Bright <b>words</b>.</p>\
    <ul><li><a href='/next'>Next</a></li></ul><label>Name <input id=n required></label>\
    <button disabled>Buy</button><select id=s><option>Red</option><option>Blue</option></select>\
    <div onclick=\"document.title='hit'\">plain thing</div>";

#[test]
fn a_page_is_opened_and_told_with_refs_that_stay() {
    let server = Server::pages(&[("/", SHOP)]);
    let Some(seat) = Seat::at(&[&server]) else { return };

    let answer = seat.open(&server.url("/"));

    assert_eq!((&answer["title"], &answer["url"]), (&json!("Shop"), &json!(server.url("/"))));
    let text = answer["snapshot"].as_str().unwrap();
    for line in [
        "- heading \"Lamps\" [level=1]",
        "- paragraph: Bright words.",
        "- link \"Next\" [ref=e",
        "- textbox \"Name\" [required] [ref=e",
        "- button \"Buy\" [disabled]",
        "- combobox [expanded=false] [ref=e",
        "- text: plain thing",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert_eq!(answer["element_count"], text.matches("[ref=").count());
    seat.run("document.querySelector('h1').insertAdjacentHTML('afterend', '<button>New</button>'); 0");
    let later = seat.snapshot();
    assert_eq!(reference(text, "link \"Next\""), reference(&later, "link \"Next\""));
    assert!(later.contains("button \"New\""));

    // What does not look like a button can be clicked where everything is shown.
    let full = seat.call("browser_snapshot", json!({ "full": true }));
    let full = full["snapshot"].as_str().unwrap();
    assert!(full.contains("[url=http://127.0.0.1"), "{full}");
}

#[test]
fn frames_are_read_and_used_like_the_page_around_them() {
    let server = Server::with(|path| {
        let port = "location.port";
        let html = match path {
            // The inner frames are of another site, and so in a process of their own.
            "/" => format!(
                "<h1>Out</h1><iframe src='/near'></iframe><iframe id=far style='margin:40px'></iframe>\
                 <script>far.src = 'http://localhost:' + {port} + '/far'</script>"
            ),
            "/near" => "<button onclick=\"this.textContent='near was hit'\">near</button>".to_owned(),
            "/far" => {
                "<button onclick=\"this.textContent='far was hit'\">far</button><iframe src='/deep'></iframe>"
                    .to_owned()
            }
            _ => "<input aria-label=deep>".to_owned(),
        };
        (200, crate::server::html_type(), html)
    });
    let Some(seat) = Seat::at(&[&server]) else { return };
    seat.open(&server.url("/"));

    let text = seat.snapshot();
    for words in ["button \"near\"", "button \"far\"", "textbox \"deep\""] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    seat.call("browser_click", json!({ "ref": reference(&text, "button \"near\"") }));
    seat.call("browser_click", json!({ "ref": reference(&text, "button \"far\"") }));
    seat.call("browser_type", json!({ "ref": reference(&text, "textbox \"deep\""), "text": "here" }));

    let answer = seat.call("browser_snapshot", json!({}));
    let text = answer["snapshot"].as_str().unwrap();
    for words in ["near was hit", "far was hit", "\"deep\" [focused]", ": here"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let frames = answer["frame_tree"].as_array().unwrap();
    assert_eq!(frames.len(), 3, "{answer}");
    // A command finds the frame that is meant, whichever process it lives in.
    for frame in frames {
        let ran = seat.call(
            "browser_cdp",
            json!({
                "method": "Runtime.evaluate", "frame_id": frame["frame_id"],
                "params": { "expression": "location.href", "returnByValue": true },
            }),
        );
        assert_eq!(ran["result"]["result"]["value"], frame["url"], "{ran}");
    }
    let wrong = seat.call("browser_cdp", json!({ "method": "DOM.getDocument", "frame_id": "NO-SUCH-FRAME" }));
    assert!(wrong["error"].as_str().unwrap().contains("frame_tree"), "{wrong}");
}

#[test]
fn pictures_are_listed_and_the_page_is_one() {
    const DOT: &str = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    let server = Server::with(|path| match path {
        "/" => (200, crate::server::html_type(), format!("<img src='{DOT}' alt='a dot'><button>Go</button>")),
        _ => (404, String::new(), String::new()),
    });
    let Some(seat) = Seat::at(&[&server]) else { return };
    seat.open(&server.url("/"));

    let images = seat.call("browser_get_images", json!({}));
    assert_eq!(images["count"], 1);
    assert_eq!((&images["images"][0]["alt"], &images["images"][0]["width"]), (&json!("a dot"), &json!(1)));

    let outcome = seat.outcome("browser_vision", &json!({ "question": "What is there?", "annotate": true }));
    let body: Value = serde_json::from_str(&outcome.body).unwrap();
    let picture = &outcome.attachments[0];
    assert_eq!(picture.media_type, "image/png");
    assert!(picture.bytes.starts_with(b"\x89PNG") && picture.bytes.len() > 500);
    assert_eq!(body["data"]["marked"], 1, "{body}");
    let kept = std::fs::read(body["data"]["screenshot_path"].as_str().unwrap()).unwrap();
    assert_eq!(kept[..], picture.bytes[..]);
    assert!(!seat.snapshot().contains("@e"), "the marks are gone");
}

#[test]
fn for_a_model_that_does_not_see_another_one_looks() {
    let server = Server::pages(&[("/", "<title>Shop</title><button>Buy</button>")]);
    let models = ModelServer::saying([Answer::text("A page with one button.")]);
    let auxiliary = format!(
        "auxiliary:\n  vision:\n    provider: custom\n    model: eyes\n    base_url: {}\n    api_key: sk-test\n",
        models.url()
    );
    let alone =
        "model:\n  provider: custom\n  default: blind\n  base_url: http://127.0.0.1:9/v1\n  api_key: k\n";
    // It does not see, and is never asked.
    let blind = Arc::new(ScriptedModel::new("test/blind", []));
    let look = |settings: &str| {
        let seat = Seat::set_up(&[&server], settings)?;
        let session = seat.runtime.session().extension(Answering(blind.clone())).open().unwrap();
        let call =
            |tool: &str, arguments: Value| session.call_blocking(ToolCall::new(tool, arguments.to_string()));
        call("browser_navigate", json!({ "url": server.url("/") }));
        let outcome = call("browser_vision", json!({ "question": "What is there?" }));
        assert_eq!(outcome.attachments.len(), 0, "{}", outcome.body);
        let body: Value = serde_json::from_str(&outcome.body).unwrap();
        let kept = body["data"]["screenshot_path"].as_str().unwrap();
        assert!(std::fs::read(kept).unwrap().starts_with(b"\x89PNG"), "{body}");
        Some(body["data"].clone())
    };

    let Some(told) = look(&auxiliary) else { return };
    assert_eq!((&told["success"], &told["analysis"]), (&json!(true), &json!("A page with one button.")));
    let asked = models.bodies()[0].clone();
    let parts = asked["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(parts[0]["text"], "What is there?");
    assert!(parts[1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"));
    // Without one that sees the answer says what to set.
    let told = look(alone).unwrap();
    assert_eq!(told["success"], false, "{told}");
    assert!(told["error"].as_str().unwrap().contains("auxiliary.vision.model"), "{told}");
    assert_eq!(blind.times_asked(), 0);
}

#[test]
fn what_a_page_writes_to_its_console_is_told_until_it_is_cleared() {
    let html = "<script>console.log('hello', 42, {a: 1}); console.warn('careful');\
                setTimeout(() => { throw new Error('broken') })</script>";
    let server = Server::with(move |path| match path {
        "/" => (200, crate::server::html_type(), html.to_owned()),
        _ => (404, String::new(), String::new()),
    });
    let Some(seat) = Seat::at(&[&server]) else { return };
    seat.open(&server.url("/"));
    seat.run("new Promise((done) => setTimeout(done, 50))");

    let told = seat.call("browser_console", json!({ "clear": true }));

    let messages = told["console_messages"].to_string();
    assert!(messages.contains("hello 42") && messages.contains("careful"), "{messages}");
    assert!(told["js_errors"][0]["message"].as_str().unwrap().contains("broken"), "{told}");
    assert_eq!(seat.call("browser_console", json!({}))["total_errors"], 0);
    assert_eq!(seat.run("({ a: [1, 'x'] })"), json!({ "a": [1, "x"] }));
    assert_eq!(seat.run("await Promise.resolve(5)"), 5);
    let wrong = seat.call("browser_console", json!({ "expression": "nothing.there" }));
    assert!(wrong["error"].as_str().unwrap().contains("ReferenceError"), "{wrong}");
    let cookies = seat.call("browser_console", json!({ "expression": "document.cookie" }));
    assert!(cookies["error"].as_str().unwrap().contains("allow_unsafe_evaluate"), "{cookies}");
}

#[test]
fn a_long_page_is_shown_in_part_and_kept_whole() {
    let server = Server::with(|path| match path {
        "/" => {
            let rows: Vec<String> = (0..2000).map(|n| format!("<p>row {n}</p>")).collect();
            (200, crate::server::html_type(), rows.concat())
        }
        _ => (404, String::new(), String::new()),
    });
    let Some(seat) = Seat::at(&[&server]) else { return };

    let answer = seat.open(&server.url("/"));

    let text = answer["snapshot"].as_str().unwrap();
    assert!(text.len() < 16_000 && text.contains("row 5"), "{}", text.len());
    let path = text.split("the whole snapshot is in ").nth(1).unwrap().split(',').next().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().contains("row 1999"));
}
