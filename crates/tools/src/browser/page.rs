//! What is done with a page: opened, waited for, left again, asked by script.

use std::time::Duration;

use hermes_core::error::ToolError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::console::shown;
use crate::browser::state::State;
use crate::browser::wire::WireError;

/// Longest wait for a page to answer at all, and to be complete after that.
const OPEN: Duration = Duration::from_mins(1);
pub(crate) const LOAD: Duration = Duration::from_secs(30);

/// Longest wait for what an act led to, and for it to lead to something at all.
const AFTER_ACT: Duration = Duration::from_secs(10);
const BEGIN: Duration = Duration::from_secs(5);

/// How far a page came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is complete.
    Done,
    /// It still loads; what is there can be used.
    Loading,
    /// A dialog is in the way.
    Dialog,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    error_text: Option<String>,
    loader_id: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
}

/// What a script came to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Value,
    exception_details: Option<Value>,
}

impl Evaluated {
    /// Whether nothing was run, because it is no script.
    fn is_syntax_error(&self) -> bool {
        let thrown = self.exception_details.as_ref().and_then(|it| it.pointer("/exception/className"));
        thrown.and_then(Value::as_str) == Some("SyntaxError")
    }
}

impl Browser {
    /// Opens an address and waits for the page.
    pub(crate) async fn open(&self, url: &str) -> Result<Settled, ToolError> {
        let page =
            self.page().or_else(|_| self.wire.state(|state| state.page().cloned()).ok_or_else(none))?;
        self.refused();
        let asked = self.wire.ask(&page.session, "Page.navigate", json!({ "url": url }), OPEN).await;
        let answer: Navigated = match asked {
            Err(WireError::Dialog) => return Ok(Settled::Dialog),
            Err(WireError::TimedOut { .. }) => {
                let stopped = self.ask::<IgnoredAny>(&page.session, "Page.stopLoading", json!({})).await;
                let words = format!("{url} did not answer within {} s", OPEN.as_secs());
                return Err(ToolError::Failed(match stopped {
                    Ok(_) => words,
                    Err(wrong) => format!("{words}; {wrong}"),
                }));
            }
            other => other?,
        };
        if answer.is_download {
            return Err(ToolError::Failed(format!("{url} is a file to save, not a page")));
        }
        if let Some(why) = answer.error_text {
            return Err(ToolError::Failed(self.not_loaded(url, &why)));
        }
        if let Some(document) = answer.loader_id {
            let come = |state: &mut State| {
                let here = state.page()?;
                (here.session != page.session || here.document == document).then_some(())
            };
            self.wire.until_within(LOAD, come).await?;
        }
        self.settle(LOAD).await
    }

    /// Why a page was not loaded, in words.
    fn not_loaded(&self, url: &str, why: &str) -> String {
        let refused = self.refused();
        if !refused.is_empty() {
            return format!(
                "{url} was not opened, because it leads to what may not be reached: {}",
                refused.join("; ")
            );
        }
        let words = match why.trim_start_matches("net::") {
            "ERR_NAME_NOT_RESOLVED"
            | "ERR_SOCKS_CONNECTION_HOST_UNREACHABLE"
            | "ERR_SOCKS_CONNECTION_FAILED" => "the host is not known or cannot be reached",
            "ERR_CONNECTION_REFUSED" => "the host does not accept connections",
            "ERR_EMPTY_RESPONSE" | "ERR_CONNECTION_CLOSED" | "ERR_CONNECTION_RESET" => "the server broke off",
            "ERR_TOO_MANY_REDIRECTS" => "it is redirected in a circle",
            "ERR_ABORTED" => "there is no page to show (it may be a file to save)",
            "ERR_CERT_AUTHORITY_INVALID" | "ERR_CERT_COMMON_NAME_INVALID" | "ERR_CERT_DATE_INVALID" => {
                "its certificate is not to be trusted"
            }
            _ => return format!("{url} cannot be opened: {why}"),
        };
        format!("{url} cannot be opened: {words} ({why})")
    }

    /// Waits for what an act may have led to: another page, if it led to one.
    pub(crate) async fn after_act(&self) -> Result<Settled, ToolError> {
        match self.wire.state(|state| state.page().map(|page| page.session.clone())) {
            Some(session) => self.after_act_in(&session).await,
            None => self.settle(AFTER_ACT).await,
        }
    }

    /// The same after an act in a page or frame.
    pub(crate) async fn after_act_in(&self, session: &str) -> Result<Settled, ToolError> {
        // A page tells that it wants to go elsewhere before it answers what it is asked after the act.
        let params = json!({ "expression": "0" });
        let asked = self.wire.ask::<IgnoredAny>(session, "Runtime.evaluate", params, AFTER_ACT);
        // One that is gone, or that shows a dialog, does not answer; that is seen below.
        let _ = asked.await;
        self.settle(AFTER_ACT).await
    }

    /// Waits until the page is complete, for no longer than `limit`.
    pub(crate) async fn settle(&self, limit: Duration) -> Result<Settled, ToolError> {
        // One that asked to leave may not leave after all: then nothing more is told.
        let leaving = |state: &mut State| (!state.is_leaving() || state.dialog().is_some()).then_some(());
        if self.wire.until_within(BEGIN, leaving).await?.is_none() {
            self.wire.state(State::stays);
        }
        let settled = |state: &mut State| {
            if state.dialog().is_some() {
                return Some(Settled::Dialog);
            }
            state.page().is_none_or(|page| !page.loading).then_some(Settled::Done)
        };
        Ok(self.wire.until_within(limit, settled).await?.unwrap_or(Settled::Loading))
    }

    /// Goes back to the page before; `None` when there is none.
    pub(crate) async fn back(&self) -> Result<Option<Settled>, ToolError> {
        let page = self.page()?;
        let history: History = self.ask(&page.session, "Page.getNavigationHistory", json!({})).await?;
        let before = history.current_index.checked_sub(1).and_then(|at| history.entries.get(at));
        let Some(before) = before else { return Ok(None) };
        let params = json!({ "entryId": before.id });
        match self.ask::<IgnoredAny>(&page.session, "Page.navigateToHistoryEntry", params).await {
            Err(WireError::Dialog) => return Ok(Some(Settled::Dialog)),
            other => other?,
        };
        let moved = |state: &mut State| {
            let here = state.page()?;
            let moved = here.url != page.url || here.document != page.document || state.dialog().is_some();
            moved.then_some(())
        };
        self.wire.until_within(AFTER_ACT, moved).await?;
        self.settle(AFTER_ACT).await.map(Some)
    }

    /// Runs a script in a page or frame; what it came to, as JSON where it can be said so.
    pub(crate) async fn evaluate(&self, session: &str, script: &str) -> Result<Value, ToolError> {
        let ask = |by_value: bool, as_console: bool| {
            let params = json!({
                "expression": script, "returnByValue": by_value, "awaitPromise": true,
                "userGesture": true, "replMode": as_console,
            });
            self.ask::<Evaluated>(session, "Runtime.evaluate", params)
        };
        let answer = match ask(true, false).await {
            // What is no script by itself may be one as a console takes it, with `await` on the outside.
            Ok(answer) if answer.is_syntax_error() => ask(true, true).await?,
            // What cannot be written as JSON is told in words.
            Err(WireError::Said(_)) => ask(false, false).await?,
            other => other?,
        };
        if let Some(details) = answer.exception_details {
            let thrown = details.get("exception").map(shown);
            let thrown = thrown.or_else(|| Some(details.get("text")?.as_str()?.to_owned()));
            return Err(ToolError::Failed(format!("the script failed: {}", thrown.unwrap_or_default())));
        }
        Ok(answer.result.get("value").cloned().unwrap_or_else(|| match answer.result.get("type") {
            Some(Value::String(kind)) if kind == "undefined" => Value::Null,
            _ => Value::String(shown(&answer.result)),
        }))
    }
}

fn none() -> ToolError {
    ToolError::Failed("every page was closed".to_owned())
}
