//! The one browser of a session: opened with the first page, found again by every later call, and
//! gone with the session.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::browser::{BrowserLine, Browsers, Hold, SERVICE};
use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::session::Slot;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::browser::SLOT;
use crate::browser::refs::Refs;
use crate::browser::state::State;
use crate::browser::told::{Command, DialogPolicy, Page};
use crate::browser::wire::{Wire, WireError};

/// Longest wait for a browser to start.
const START: Duration = Duration::from_mins(1);

/// How long a command may take, and how long a dialog may wait, if the settings do not say.
const COMMAND: Duration = Duration::from_secs(30);
const DIALOG: Duration = Duration::from_mins(5);

/// A running browser.
pub(crate) struct Browser {
    pub(crate) wire: Arc<Wire>,
    /// How long a command may take.
    pub(crate) limit: Duration,
    refs: Mutex<Refs>,
    line: Arc<dyn BrowserLine>,
    dialog_limit: Duration,
}

/// The browser while a call uses it: it is not closed meanwhile.
pub(crate) struct InUse {
    browser: Arc<Browser>,
    _hold: Hold,
}

impl InUse {
    fn of(browser: Arc<Browser>) -> Self {
        let hold = browser.line.hold();
        Self { browser, _hold: hold }
    }
}

impl Deref for InUse {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

/// What a session remembers.
#[derive(Default)]
struct Open(Option<Arc<Browser>>);

impl Slot for Open {
    const NAME: &'static str = SLOT;
}

/// A target that was made.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

/// The browser of the session, which must be open.
pub(crate) async fn current(cx: &ToolCx) -> Result<InUse, ToolError> {
    let known = cx.with_slot(|open: &mut Open| open.0.clone())?;
    let Some(browser) = known else {
        return Err(ToolError::Failed("no page is open; open one first with browser_navigate".to_owned()));
    };
    if let Some(why) = browser.wire.ended() {
        let last = browser.wire.state(|state| state.page().map(|page| page.url.clone()));
        let last = last.filter(|url| url.starts_with("http"));
        let last = last.map(|url| format!(" (the last page was {url})")).unwrap_or_default();
        return Err(ToolError::Failed(format!(
            "the browser is gone: {why}; open the page again with browser_navigate{last}"
        )));
    }
    let browser = InUse::of(browser);
    browser.dismiss_old_dialogs().await;
    Ok(browser)
}

/// The browser of the session; it is opened if there is none.
pub(crate) async fn opened(cx: &ToolCx) -> Result<InUse, ToolError> {
    let known = cx.with_slot(|open: &mut Open| open.0.clone())?;
    if let Some(browser) = known.filter(|browser| browser.wire.ended().is_none()) {
        let browser = InUse::of(browser);
        browser.dismiss_old_dialogs().await;
        return Ok(browser);
    }
    cx.progress("starting the browser");
    let browser = start(cx).await?;
    cx.with_slot(|open: &mut Open| open.0 = Some(Arc::clone(&browser.browser)))?;
    Ok(browser)
}

/// What opens browsers here.
pub(crate) fn browsers(cx: &ToolCx) -> Result<Arc<dyn Browsers>, ToolError> {
    let browsers = cx.service::<Arc<dyn Browsers>>().cloned();
    browsers.ok_or_else(|| ToolError::Failed("there are no browsers here".to_owned()))
}

async fn start(cx: &ToolCx) -> Result<InUse, ToolError> {
    let (browsers, keys) = (browsers(cx)?, cx.keys()?);
    let state = State::answering(policy(keys));
    let wire = Wire::new(Arc::clone(cx.host()), Arc::clone(&browsers), state);
    let permit = cx.may_connect(SERVICE)?;
    let line = browsers.open(permit, Arc::clone(&wire) as Arc<_>).await?;
    wire.over(&line);
    let seconds = |key: &str, usual: Duration| {
        keys.setting(key).and_then(|it| it.as_u64()).filter(|it| *it > 0).map_or(usual, Duration::from_secs)
    };
    let browser = Browser {
        wire,
        limit: seconds("browser.command_timeout", COMMAND),
        refs: Mutex::default(),
        line,
        dialog_limit: seconds("browser.dialog_timeout_s", DIALOG),
    };
    let browser = InUse::of(Arc::new(browser));
    let begun = {
        let first = std::pin::pin!(browser.first_page());
        let stopped = std::pin::pin!(cx.cancelled().cancelled());
        match select(first, stopped).await {
            Either::Left((begun, _)) => begun.map_err(ToolError::from),
            Either::Right(_) => Err(ToolError::Cancelled),
        }
    };
    begun.map(|()| browser)
}

fn policy(keys: &dyn Keys) -> DialogPolicy {
    match keys.text("browser.dialog_policy").as_deref() {
        Some("auto_dismiss") => DialogPolicy::AutoDismiss,
        Some("auto_accept") => DialogPolicy::AutoAccept,
        _ => DialogPolicy::MustRespond,
    }
}

impl Browser {
    /// Gets hold of the first page: that of a browser of ours, or a new tab of another one.
    async fn first_page(&self) -> Result<(), WireError> {
        if self.line.is_ours() {
            let deny = json!({ "behavior": "deny" });
            let follow = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
            let quiet = self.ask_browser::<IgnoredAny>("Browser.setDownloadBehavior", deny, START);
            let followed = self.ask_browser::<IgnoredAny>("Target.setAutoAttach", follow, START);
            // Not every browser knows how to be kept from saving files.
            let (_, followed) = futures::future::join(quiet, followed).await;
            followed?;
        } else {
            self.wire.state(|state| state.shared = true);
            let params = json!({ "discover": true });
            self.ask_browser::<IgnoredAny>("Target.setDiscoverTargets", params, START).await?;
            let params = json!({ "url": "about:blank" });
            let made: Created = self.ask_browser("Target.createTarget", params, START).await?;
            let params = json!({ "targetId": made.target_id, "flatten": true });
            self.ask_browser::<IgnoredAny>("Target.attachToTarget", params, START).await?;
        }
        let found = self.wire.until_within(START, |state| state.page().map(|page| page.session.clone()));
        let late = || WireError::TimedOut { method: "Target.setAutoAttach".to_owned(), after: START };
        let session = found.await?.ok_or_else(late)?;
        // Opening an address overtakes what a page was told before it, which would then tell nothing of
        // where it is: it has to say first that it has heard.
        self.wire.ask_anyway::<IgnoredAny>(Some(&session), "Page.enable", json!({}), START).await.map(drop)
    }

    /// Asks something of the browser itself.
    pub(crate) async fn ask_browser<T: DeserializeOwned + Send>(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<T, WireError> {
        self.wire.ask_anyway(None, method, params, limit).await
    }

    /// Asks something of a page or frame, for no longer than commands may take.
    pub(crate) async fn ask<T: DeserializeOwned + Send>(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<T, WireError> {
        self.wire.ask(session, method, params, self.limit).await
    }

    /// The page that is worked with.
    pub(crate) fn page(&self) -> Result<Page, ToolError> {
        let page = self.wire.state(|state| state.page().cloned());
        let page = page.ok_or_else(|| ToolError::Failed("every page was closed; open one".to_owned()))?;
        if page.crashed {
            return Err(ToolError::Failed("the page has crashed; open it again".to_owned()));
        }
        let web = ["http:", "https:", "about:", "data:", "blob:", "chrome-error:"];
        if web.iter().any(|scheme| page.url.starts_with(scheme)) || page.url.is_empty() {
            return Ok(page);
        }
        Err(ToolError::Failed(format!("{} is no page of the web, and is not looked at", page.url)))
    }

    /// What pages wanted to reach since the last call and may not.
    pub(crate) fn refused(&self) -> Vec<String> {
        let mut all = self.line.refused();
        all.extend(self.wire.state(|state| std::mem::take(&mut state.refused)));
        all
    }

    /// Whether it is ours alone.
    pub(crate) fn is_ours(&self) -> bool {
        self.line.is_ours()
    }

    /// The names of elements.
    pub(crate) fn refs(&self) -> MutexGuard<'_, Refs> {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dialog that nobody answered in time is answered with no.
    async fn dismiss_old_dialogs(&self) {
        let now = self.wire.now();
        loop {
            let old = |state: &mut State| {
                let waited = now.saturating_sub(state.dialog()?.since);
                if waited > self.dialog_limit { state.take_dialog(None) } else { None }
            };
            let Some(dialog) = self.wire.state(old) else { return };
            let params = json!({ "accept": dialog.kind == "beforeunload" });
            let method = "Page.handleJavaScriptDialog";
            let answered =
                self.wire.ask_anyway::<IgnoredAny>(Some(&dialog.session), method, params, self.limit);
            // One that is gone already needs no answer.
            let _ = answered.await;
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.line.is_ours() {
            // A tab of ours in somebody else's browser is closed; a browser of ours ends altogether.
            let targets: Vec<String> =
                self.wire.state(|state| state.pages().iter().map(|page| page.target.clone()).collect());
            for target in targets {
                let params = json!({ "targetId": target });
                self.wire.tell(&Command { session: None, method: "Target.closeTarget".to_owned(), params });
            }
        }
    }
}
