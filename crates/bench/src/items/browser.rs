//! `browser`: a click and the snapshot after it, through the whole road, beside a bare client of the protocol
//! that does the same job in a second copy of the same browser: it brings the button into view, clicks it,
//! waits until the page has done what the click asked for, and reads the whole accessibility tree. They take
//! turns round by round. Where there is no browser nothing is measured.

use std::path::Path;

use hermes::env::probe::program_on_path;
use hermes::store::Home;
use hermes::{Runtime, Session};
use serde_json::{Value, json};

use crate::item::{ItemDef, Numbers, Work, called};
use crate::process::{self, ZeroPipe};
use crate::timing::{median, millis, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("browser", measure);

/// How the second browser is started: like the first, as far as it could make a difference.
const FLAGS: [&str; 13] = [
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-features=BackForwardCache,Prerender2,MediaRouter,OptimizationHints,Translate,PaintHolding",
    "--disable-hang-monitor",
    "--disable-sync",
    "--mute-audio",
    "--window-size=1280,900",
];

/// Rounds of each.
const ROUNDS: usize = 60;

/// Rounds before those that count.
const WARM_UP: usize = 10;

/// Rows of the page.
const ROWS: usize = 200;

fn measure(work: &Work) -> Result<Numbers, String> {
    let path = process::variable("PATH").unwrap_or_default();
    let names = hermes::core::browser::NAMES;
    let Some(program) = names.iter().find_map(|name| program_on_path(name, path.as_ref())) else {
        return Ok(Numbers::new());
    };
    let rows: Vec<String> =
        (0..ROWS).map(|n| format!("<li><a href='/{n}'>row {n}</a> of many</li>")).collect();
    let rows = rows.concat();
    let page = format!(
        "<title>Bench</title><button onclick='n.textContent++'>More</button><p id=n>0</p><ul>{rows}</ul>"
    );
    let port = process::serve(page)?;
    let url = format!("http://127.0.0.1:{port}/");

    let session = session(work, &program, &path, port)?;
    called(&session, "browser_navigate", &json!({ "url": url }))?;
    let button = json!({ "ref": "@e1" });
    let mut bare = Bare::start(&program, &work.folder.join("bare-profile"), &url)?;
    let round = || {
        session.new_turn();
        called(&session, "browser_click", &button)?;
        called(&session, "browser_snapshot", &json!({})).map(drop)
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..WARM_UP + ROUNDS {
        let ((own, took), (other, its)) = (timed(round), timed(|| bare.round()));
        own.and(other)?;
        if n >= WARM_UP {
            ours.push(took);
            theirs.push(its);
        }
    }
    counted(&session, &bare)?;
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    Ok(vec![
        ("click_snapshot_ms", millis(ours)),
        ("bare_ms", millis(theirs)),
        ("ratio", ours.as_secs_f64() / theirs.as_secs_f64()),
    ])
}

/// Every click must have arrived: a quick failure is not a good number.
fn counted(session: &Session, bare: &Bare) -> Result<(), String> {
    let wanted = (WARM_UP + ROUNDS).to_string();
    let seen = called(session, "browser_snapshot", &json!({}))?.body;
    let theirs = String::from_utf8_lossy(&bare.seen);
    match (seen.contains(&format!("paragraph: {wanted}")), theirs.contains(&format!("\"{wanted}\""))) {
        (true, true) => Ok(()),
        (ours, _) => Err(format!("{} lost a click", if ours { "the bare client" } else { "the road" })),
    }
}

fn session(work: &Work, program: &Path, path: &str, port: u16) -> Result<Session, String> {
    let home = work.folder.join("home-browser");
    process::make(&home)?;
    let config = json!({ "browser": { "allow_private_urls": [format!("127.0.0.1:{port}")] } });
    process::keep(&home.join("config.yaml"), &config.to_string())?;
    let env = [("PATH", path.to_owned()), ("BROWSER_PATH", program.display().to_string())];
    let env = env.map(|(name, value)| (name.to_owned(), value));
    let builder = Runtime::builder().cwd(&work.folder).home(Home::at(&home)).env(env);
    let runtime = builder.build().map_err(|wrong| wrong.to_string())?;
    runtime.session().open().map_err(|wrong| wrong.to_string())
}

/// A client that does nothing but ask and read.
struct Bare {
    pipe: ZeroPipe,
    session: String,
    button: i64,
    asked: u64,
    /// The longest of the last answers, as it came.
    seen: Vec<u8>,
    /// Events that came while answers were waited for.
    events: Vec<String>,
}

impl Bare {
    fn start(program: &Path, profile: &Path, url: &str) -> Result<Self, String> {
        let mut arguments: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={}", profile.display()));
        let pipe = ZeroPipe::start(&program.display().to_string(), &arguments)?;
        let (session, seen, events) = (String::new(), Vec::new(), Vec::new());
        let mut bare = Self { pipe, session, button: 0, asked: 0, seen, events };
        let made = bare.ask(&[("Target.createTarget", json!({ "url": "about:blank" }))])?;
        let target = pick(&made, "/result/targetId");
        let attached =
            bare.ask(&[("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))])?;
        pick(&attached, "/result/sessionId").as_str().unwrap_or_default().clone_into(&mut bare.session);
        for domain in ["Page.enable", "DOM.enable", "Runtime.enable", "Log.enable"] {
            bare.ask(&[(domain, json!({}))])?;
        }
        bare.ask(&[("Page.navigate", json!({ "url": url }))])?;
        bare.until("Page.loadEventFired")?;
        let tree = bare.ask(&[("Accessibility.getFullAXTree", json!({}))])?;
        let nodes = pick(&tree, "/result/nodes");
        let is_button = |node: &&Value| node.pointer("/role/value").and_then(Value::as_str) == Some("button");
        let button = nodes.as_array().and_then(|nodes| nodes.iter().find(is_button));
        let button = button.and_then(|node| node.get("backendDOMNodeId")?.as_i64());
        bare.button = button.ok_or("there is no button on the page")?;
        Ok(bare)
    }

    /// Waits for an event.
    fn until(&mut self, event: &str) -> Result<(), String> {
        while !self.events.iter().any(|known| known == event) {
            let message: Value =
                serde_json::from_slice(&self.pipe.heard()?).map_err(|wrong| wrong.to_string())?;
            self.events.extend(message.get("method").and_then(Value::as_str).map(str::to_owned));
        }
        Ok(())
    }

    /// A click, and everything that a snapshot asks for.
    fn round(&mut self) -> Result<(), String> {
        let node = json!({ "backendNodeId": self.button });
        let measured =
            self.ask(&[("DOM.scrollIntoViewIfNeeded", node.clone()), ("DOM.getContentQuads", node)])?;
        let corner = |at: usize| {
            let value = measured.iter().find_map(|answer| answer.pointer(&format!("/result/quads/0/{at}")));
            value.and_then(Value::as_f64).ok_or("the button has no place")
        };
        let (x, y) = (f64::midpoint(corner(0)?, corner(4)?), f64::midpoint(corner(1)?, corner(5)?));
        let event = |kind: &str, button: &str, count: u8| {
            let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
            ("Input.dispatchMouseEvent", params)
        };
        self.ask(&[
            event("mouseMoved", "none", 0),
            event("mousePressed", "left", 1),
            event("mouseReleased", "left", 1),
        ])?;
        // Answered once the page has taken the click in.
        self.ask(&[("Runtime.evaluate", json!({ "expression": "0" }))])?;
        self.ask(&[("Page.getFrameTree", json!({})), ("Accessibility.getFullAXTree", json!({}))])?;
        Ok(())
    }

    /// Sends commands together and waits for all answers.
    fn ask(&mut self, commands: &[(&str, Value)]) -> Result<Vec<Value>, String> {
        let first = self.asked + 1;
        self.events.clear();
        for (method, params) in commands {
            self.asked += 1;
            let mut message = json!({ "id": self.asked, "method": method, "params": params });
            if let Some(fields) = message.as_object_mut().filter(|_| !self.session.is_empty()) {
                fields.insert("sessionId".to_owned(), json!(self.session));
            }
            self.pipe.send(&message.to_string())?;
        }
        self.seen.clear();
        let mut answers = Vec::new();
        while answers.len() < commands.len() {
            let heard = self.pipe.heard()?;
            let message: Value = serde_json::from_slice(&heard).map_err(|wrong| wrong.to_string())?;
            if message.get("id").and_then(Value::as_u64).is_some_and(|id| id >= first) {
                answers.push(message);
                if heard.len() > self.seen.len() {
                    self.seen = heard;
                }
            } else {
                self.events.extend(message.get("method").and_then(Value::as_str).map(str::to_owned));
            }
        }
        Ok(answers)
    }
}

/// What the first answer that has it says.
fn pick(answers: &[Value], at: &str) -> Value {
    answers.iter().find_map(|answer| answer.pointer(at)).cloned().unwrap_or_default()
}
