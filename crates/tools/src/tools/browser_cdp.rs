//! `browser_cdp`: one command of the `DevTools` protocol.

use std::time::Duration;

use hermes_core::browser::SERVICE;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::PageRequest;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use hermes_core::web::host_in;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use crate::browser::answer::{with, with_news};
use crate::browser::page::Settled;
use crate::browser::rules::{OPT_IN, download_folder, file_effects, leads_to, refusal, uploads};
use crate::browser::{self, Browser, current, opened};
use crate::web::address::carries_secret;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserCdp>("browser_cdp", &browser::CLOSER)
    .emoji("🧪")
    .gate(browser::needs)
    .timeout(Duration::from_secs(310))
    .untrusted();

/// Commands of the browser itself, not of a page.
const OF_THE_BROWSER: [&str; 3] = ["Browser.", "Target.", "SystemInfo."];

/// Send one command of the Chrome `DevTools` protocol to the page that is open, for what the other browser
/// tools do not cover: emulate a device, print to PDF, set headers, put files into a form
/// (`DOM.setFileInputFiles`). A `backendNodeId` may be given as a ref such as "@e5".
#[derive(Deserialize, JsonSchema)]
struct BrowserCdp {
    /// The command, such as `Page.reload` or `Emulation.setDeviceMetricsOverride`
    method: String,
    /// Its parameters
    params: Option<Map<String, Value>>,
    /// A page other than the one that is worked with, by its target id
    target_id: Option<String>,
    /// A frame of the page, by its id in `frame_tree` of a snapshot
    frame_id: Option<String>,
    /// Longest wait for the answer, in seconds, at most 300
    #[serde(default = "thirty")]
    timeout: Number,
}

fn thirty() -> Number {
    Number::from(30)
}

impl BrowserCdp {
    fn params(&self) -> Value {
        Value::Object(self.params.clone().unwrap_or_default())
    }

    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.timeout.as_f64().unwrap_or(30.0).clamp(1.0, 300.0))
    }

    /// Where the command goes.
    async fn way(&self, browser: &Browser) -> Result<Way, ToolError> {
        if OF_THE_BROWSER.iter().any(|domain| self.method.starts_with(domain)) {
            return Ok(Way::default());
        }
        let page = match &self.target_id {
            None => browser.page()?,
            Some(target) => {
                let known = |state: &mut _| page_of(state, target);
                let missing = || ToolError::Arguments(format!("there is no page {target} here"));
                browser.wire.state(known).ok_or_else(missing)?
            }
        };
        let to = |session: &str| Way { session: Some(session.to_owned()), inner: None };
        let Some(frame) = self.frame_id.as_deref().filter(|frame| !frame.is_empty()) else {
            return Ok(to(&page.session));
        };
        if let Some(apart) = page.apart.iter().find(|it| it.frame == frame) {
            return Ok(to(&apart.session));
        }
        // It shares the process of the page, or of a frame that has one of its own.
        let apart = page.apart.iter().map(|it| it.session.as_str());
        for session in [page.session.as_str()].into_iter().chain(apart) {
            let tree: Value = browser.ask(session, "Page.getFrameTree", json!({})).await?;
            let tree = tree.get("frameTree").unwrap_or(&Value::Null);
            if is_frame(tree, frame) {
                return Ok(to(session));
            }
            if holds(tree, frame) {
                return Ok(Way { inner: Some(frame.to_owned()), ..to(session) });
            }
        }
        let words = format!("there is no frame {frame} on the page; a snapshot names them in frame_tree");
        Err(ToolError::Arguments(words))
    }
}

/// Where a command goes; to the browser itself without a session.
#[derive(Default)]
struct Way {
    session: Option<String>,
    /// The frame that is meant, where it shares the process of what is talked to.
    inner: Option<String>,
}

fn is_frame(tree: &Value, frame: &str) -> bool {
    tree.pointer("/frame/id").and_then(Value::as_str) == Some(frame)
}

/// Whether a frame is somewhere in a tree of frames.
fn holds(tree: &Value, frame: &str) -> bool {
    let inner = tree.get("childFrames").and_then(Value::as_array);
    is_frame(tree, frame) || inner.into_iter().flatten().any(|tree| holds(tree, frame))
}

fn page_of(state: &browser::State, target: &str) -> Option<browser::Page> {
    state.pages().iter().find(|page| page.target == target).cloned()
}

impl Tool for BrowserCdp {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let params = self.params();
        let host = leads_to(&self.method, &params).and_then(host_in).filter(|host| host != SERVICE);
        let files = file_effects(&self.method, &params, place);
        browser::effects().into_iter().chain(host.map(Effect::Connect)).chain(files).collect()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let opted_in = cx.keys()?.setting(OPT_IN) == Some(Value::Bool(true));
        let params = self.params();
        if let Some(why) = refusal(&self.method, &params, opted_in) {
            return Err(ToolError::Failed(why));
        }
        let leads = leads_to(&self.method, &params).map(str::to_owned);
        if let Some(url) = &leads {
            if let Some(why) = carries_secret(url) {
                return Err(ToolError::Failed(why));
            }
            browser::browsers(cx)?.judge(url)?;
        }
        let browser = if leads.is_some() { opened(cx).await? } else { current(cx).await? };
        let mut way = self.way(&browser).await?;
        let params = prepared(cx, &browser, &self.method, params, &mut way.session).await?;
        let params = in_frame(&browser, &self.method, params, &way).await?;
        let limit = self.limit();
        let result: Value = match &way.session {
            Some(session) => browser.wire.ask(session, &self.method, params, limit).await?,
            None => browser.ask_browser(&self.method, params, limit).await?,
        };
        let settled = if leads.is_some() { browser.after_act().await? } else { Settled::Done };
        let mut answer = json!({ "success": true, "method": self.method, "result": result });
        if let Some(target) = self.target_id {
            answer = with(answer, "target_id", json!(target));
        }
        Ok(with_news(answer, &browser, settled))
    }
}

/// The parameters of a script that is meant for a frame without a process of its own: it runs beside the scripts
/// of that frame, and sees its document but not their variables.
async fn in_frame(browser: &Browser, method: &str, params: Value, way: &Way) -> Result<Value, ToolError> {
    let (Some(frame), Some(session)) = (&way.inner, &way.session) else { return Ok(params) };
    let is_placed = ["contextId", "uniqueContextId"].iter().any(|name| params.get(name).is_some());
    if method != "Runtime.evaluate" || is_placed {
        return Ok(params);
    }
    let made: Value = browser.ask(session, "Page.createIsolatedWorld", json!({ "frameId": frame })).await?;
    Ok(with(params, "contextId", made.get("executionContextId").cloned().unwrap_or_default()))
}

/// The parameters with refs and paths as the browser wants them; whose element it is decides where they go.
async fn prepared(
    cx: &ToolCx,
    browser: &Browser,
    method: &str,
    mut params: Value,
    session: &mut Option<String>,
) -> Result<Value, ToolError> {
    if let Some(reference) = params.get("backendNodeId").and_then(Value::as_str) {
        let (element, _) = browser.element(reference)?;
        *session = Some(element.session.to_string());
        params = with(params, "backendNodeId", json!(element.node));
    }
    let elsewhere =
        || ToolError::Failed("files of this machine are not handed to a browser elsewhere".to_owned());
    let place = cx.place();
    if method == "DOM.setFileInputFiles" {
        let files = uploads(&params, &place);
        if !browser.is_ours() || cx.is_elsewhere() {
            return Err(elsewhere());
        }
        for file in &files {
            // Read as far as it takes to know that it is there and may be read.
            let request = PageRequest { first: 1, count: 1, max_line_chars: 1, max_chars: 1 };
            cx.files().page(&file.to_string_lossy(), request).await?;
        }
        params = with(params, "files", json!(files));
    }
    if let Some(folder) = download_folder(method, &params, &place) {
        if !browser.is_ours() {
            return Err(elsewhere());
        }
        if !folder.starts_with(&place.cwd) {
            let words = format!("pages may save files below {} only", place.cwd.display());
            return Err(ToolError::Failed(words));
        }
        cx.may_write(&folder)?;
        params = with(params, "downloadPath", json!(folder));
    }
    if matches!(method, "Target.closeTarget" | "Target.activateTarget") && !browser.is_ours() {
        let target = params.get("targetId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let ours = browser.wire.state(|state| page_of(state, &target).is_some());
        if !ours {
            return Err(ToolError::Failed("that tab is not one of ours".to_owned()));
        }
    }
    Ok(params)
}
