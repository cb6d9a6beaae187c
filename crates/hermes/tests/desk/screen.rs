//! Mouse and keyboard on a real display: a server without a screen, and programs that know nothing of us.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hermes::{Session, Status, ToolCall};
use serde_json::{Value, json};

use crate::{call, done, offered, plain, refused, runtime};

const PROGRAMS: [&str; 6] = ["Xvfb", "xdotool", "xwininfo", "import", "xmessage", "xterm"];

/// Ends with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A display of its own; nothing where the programs are not installed.
fn display() -> Option<(Running, String)> {
    let path = std::env::var("PATH").unwrap();
    let there = |name: &str| path.split(':').any(|folder| Path::new(folder).join(name).is_file());
    if let Some(missing) = PROGRAMS.into_iter().find(|name| !there(name)) {
        assert!(std::env::var_os("CI").is_none(), "{missing} is not installed; see scripts/testbeds/xvfb");
        eprintln!("SKIPPED: {missing} is not installed; see scripts/testbeds/xvfb");
        return None;
    }
    let mut server = Command::new("Xvfb");
    // Without a client it would begin anew, and turn away whoever comes at that moment.
    server.args(["-displayfd", "1", "-screen", "0", "1920x1080x24", "-nolisten", "tcp", "-noreset"]);
    let mut server = Running(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut number = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
    Some((server, format!(":{}", number.trim())))
}

fn start(display: &str, words: &[&str]) -> Running {
    let mut program = Command::new(words[0]);
    program.args(&words[1..]).env("DISPLAY", display);
    Running(program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

fn at(home: &tempfile::TempDir, display: &str) -> Session {
    let path = std::env::var("PATH").unwrap();
    runtime(home, "{}", &[("DISPLAY", display), ("PATH", &path)]).session().open().unwrap()
}

/// Asks again until the answer is there; a program takes a moment to show itself.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it did not come");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The windows of a program, once it has as many.
fn elements(session: &Session, app: &str, count: usize) -> Vec<Value> {
    until(|| {
        // Asking the same again and again is what a model is kept from.
        session.new_turn();
        let (status, seen) =
            call(session, "computer_use", &json!({ "action": "capture", "mode": "ax", "app": app }));
        let all = seen["elements"].as_array().filter(|_| status.is_ok())?;
        (all.len() >= count).then(|| all.clone())
    })
}

#[test]
fn a_button_is_found_and_clicked() {
    let Some((_server, display)) = display() else { return };
    let home = tempfile::tempdir().unwrap();
    let session = at(&home, &display);
    let mut question = start(&display, &["xmessage", "-buttons", "Yes:7,No:8", "Shall it be?"]);

    let all = elements(&session, "xmessage", 4);
    // The buttons stand lowest, the first of them on the left.
    let bounds = |element: &Value, at: usize| element["bounds"][at].as_i64().unwrap();
    let lowest = all.iter().map(|element| bounds(element, 1)).max().unwrap();
    let row = all.iter().filter(|element| bounds(element, 1) == lowest);
    let yes = row.min_by_key(|element| bounds(element, 0)).unwrap();
    let apps = done(&session, "computer_use", &json!({ "action": "list_apps" }));
    assert_eq!(apps["apps"][0]["app"], "Xmessage", "{apps}");
    let clicked = done(&session, "computer_use", &json!({ "action": "click", "element": yes["element"] }));

    let said = clicked["did"].as_str().unwrap();
    assert!(said.starts_with("clicks at element"), "{said}");
    let end = until(|| question.0.try_wait().unwrap());
    assert_eq!(end.code(), Some(7));
    let why = refused(
        &session,
        "computer_use",
        &json!({ "action": "click", "app": "xmessage", "coordinate": [1, 1] }),
    );
    assert_eq!(why, "no such window is visible");
}

#[test]
fn a_click_lands_where_the_smaller_picture_shows_it() {
    let Some((_server, display)) = display() else { return };
    let home = tempfile::tempdir().unwrap();
    let session = at(&home, &display);
    let mut question =
        start(&display, &["xmessage", "-geometry", "600x300+1200+700", "-buttons", "Yes:7", "Far out"]);
    elements(&session, "xmessage", 3);

    let outcome = session.call_blocking(ToolCall::new("computer_use", r#"{"action": "capture"}"#));
    let seen = plain(&outcome.body);
    let picture = outcome.attachments.first().unwrap();
    assert_eq!((seen["width"].as_u64(), picture.media_type.as_str()), (Some(1456), "image/png"));
    assert!(picture.bytes.starts_with(b"\x89PNG"));
    let all = seen["elements"].as_array().unwrap();
    let number = |value: &Value| value.as_i64().unwrap();
    let lowest =
        all.iter().filter(|it| it["depth"].as_u64() > Some(1)).max_by_key(|it| number(&it["bounds"][1]));
    let bounds = lowest.unwrap()["bounds"].as_array().unwrap();
    let (x, y) = (number(&bounds[0]) + number(&bounds[2]) / 2, number(&bounds[1]) + number(&bounds[3]) / 2);
    assert!(x > 800 && x < 1456, "{seen}");
    done(&session, "computer_use", &json!({ "action": "click", "coordinate": [x, y] }));

    assert_eq!(until(|| question.0.try_wait().unwrap()).code(), Some(7));
}

#[test]
fn what_is_typed_arrives_to_the_letter() {
    let Some((_server, display)) = display() else { return };
    let home = tempfile::tempdir().unwrap();
    let session = at(&home, &display);
    let file = home.path().join("typed");
    let read = format!("IFS= read -r line; printf %s \"$line\" > {}", file.display());
    let _terminal = start(&display, &["xterm", "-e", "sh", "-c", &read]);
    let window = elements(&session, "xterm", 1).first().unwrap()["element"].clone();

    done(&session, "computer_use", &json!({ "action": "focus_app", "app": "xterm" }));
    done(&session, "computer_use", &json!({ "action": "click", "element": window }));
    let text = r#"it's $(id) `x` "y" \n & more"#;
    let typed = done(
        &session,
        "computer_use",
        &json!({ "action": "type", "text": text, "capture_after": true, "mode": "vision" }),
    );
    done(&session, "computer_use", &json!({ "action": "key", "keys": "Enter" }));

    assert_eq!(typed["width"], 1456);
    assert_eq!(until(|| std::fs::read_to_string(&file).ok().filter(|typed| !typed.is_empty())), text);
}

#[test]
fn looking_is_free_and_touching_is_asked_about() {
    let Some((_server, display)) = display() else { return };
    let home = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let variables = [("DISPLAY".to_owned(), display), ("PATH".to_owned(), path)];
    let builder = hermes::Runtime::builder().cwd(home.path()).env(variables);
    let runtime = builder.home(hermes::store::Home::at(home.path())).mode(hermes::guard::Mode::Manual);
    let session = runtime.build().unwrap().session().open().unwrap();

    done(&session, "computer_use", &json!({ "action": "capture", "mode": "vision" }));
    for action in [
        json!({ "action": "click", "coordinate": [5, 5] }),
        json!({ "action": "type", "text": "x" }),
        json!({ "action": "key", "keys": "a" }),
    ] {
        let (status, said) = call(&session, "computer_use", &action);
        assert_eq!(status, Status::Denied, "{said}");
    }
}

#[test]
fn without_a_display_there_is_no_tool_and_a_reason() {
    let home = tempfile::tempdir().unwrap();
    let session = runtime(&home, "{}", &[("PATH", "/nowhere")]).session().open().unwrap();

    assert_eq!(offered(&session, "computer_use"), Vec::<String>::new());
    let why = refused(&session, "computer_use", &json!({ "action": "capture" }));
    assert!(why.contains("xdotool") && why.contains("DISPLAY"), "{why}");
}
