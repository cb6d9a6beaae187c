//! What the browser has told so far: pages and the frames in them, dialogs, the console.
//!
//! Pure: events go in, commands that have to be sent come out. The page that came last is the one that
//! is worked with; when it closes, the one before is again.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::console::Console;
use crate::browser::told::{Apart, Command, Dialog, DialogPolicy, Lost, Page, text};

/// Dialogs that are remembered; a page can open one at a time.
const MAX_DIALOGS: usize = 16;

/// Frames whose documents are remembered.
const MAX_FRAMES: usize = 4096;

/// Everything that is known.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether we follow tabs that our pages open ourselves, because the browser is not ours alone.
    pub(crate) shared: bool,
    /// What becomes of dialogs.
    pub(crate) policy: DialogPolicy,
    /// What pages wrote to their console.
    pub(crate) console: Console,
    /// What pages wanted to reach and may not, in words.
    pub(crate) refused: Vec<String>,
    /// Whether a page has opened another, which has not come yet.
    opening: bool,
    pages: Vec<Page>,
    dialogs: Vec<Dialog>,
    named: u64,
    documents: HashMap<String, String>,
}

/// Says why an address may not be reached.
pub(crate) type Judge<'a> = &'a dyn Fn(&str) -> Result<(), String>;

impl State {
    /// Nothing is known yet.
    pub(crate) fn answering(policy: DialogPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The page that is worked with.
    pub(crate) fn page(&self) -> Option<&Page> {
        self.pages.last()
    }

    /// All pages, the one that is worked with last.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The dialog that has to be answered next.
    pub(crate) fn dialog(&self) -> Option<&Dialog> {
        self.dialogs.first()
    }

    /// All dialogs that wait.
    pub(crate) fn dialogs(&self) -> &[Dialog] {
        &self.dialogs
    }

    /// Takes a dialog from those that wait: this one, or the next.
    pub(crate) fn take_dialog(&mut self, id: Option<&str>) -> Option<Dialog> {
        let at = self.dialogs.iter().position(|dialog| id.is_none_or(|id| dialog.id == id))?;
        Some(self.dialogs.remove(at))
    }

    /// Puts a dialog back that could not be answered.
    pub(crate) fn give_back(&mut self, dialog: Dialog) {
        self.dialogs.insert(0, dialog);
    }

    /// The document that is in a frame now, as far as it is known.
    pub(crate) fn document(&self, frame: &str) -> Option<&str> {
        self.documents.get(frame).map(String::as_str)
    }

    /// What an event takes away that might have been asked something. To be asked before it is taken in.
    pub(crate) fn lost(&self, session: Option<&str>, method: &str, params: &Value) -> Option<Lost> {
        match method {
            "Target.detachedFromTarget" => {
                let sessions = self.with_frames(text(params, "sessionId"));
                Some(Lost { sessions, why: "the page was closed" })
            }
            "Inspector.targetCrashed" => {
                Some(Lost { sessions: vec![session?.to_owned()], why: "the page crashed" })
            }
            _ => None,
        }
    }

    /// A page or frame, and the frames with processes of their own that stand in it.
    fn with_frames(&self, session: &str) -> Vec<String> {
        let mut all = vec![session.to_owned()];
        // Those further out come first, so that one look is enough.
        for frame in self.pages.iter().flat_map(|page| &page.apart) {
            if all.contains(&frame.around) {
                all.push(frame.session.clone());
            }
        }
        all
    }

    /// Whether another page is to be expected: where the one that is worked with is about to go, or in a
    /// tab that it has opened.
    pub(crate) fn is_leaving(&self) -> bool {
        self.opening || self.page().is_some_and(|page| page.leaving && !page.loading)
    }

    /// It is not, as far as anybody can tell.
    pub(crate) fn stays(&mut self) {
        self.opening = false;
        if let Some(page) = self.pages.last_mut() {
            page.leaving = false;
        }
    }

    /// Takes an event in; what has to be sent because of it comes back.
    pub(crate) fn take(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        now: Duration,
        judge: Judge<'_>,
    ) -> Vec<Command> {
        match (method, session) {
            ("Target.attachedToTarget", _) => return self.attached(session, params),
            ("Target.targetCreated", _) => return self.created(params),
            ("Target.detachedFromTarget", _) => self.detached(text(params, "sessionId")),
            ("Fetch.requestPaused", Some(session)) => return vec![self.paused(session, params, judge)],
            ("Page.javascriptDialogOpening", Some(session)) => {
                return self.dialog_opens(session, params, now);
            }
            ("Page.javascriptDialogClosed", Some(session)) => {
                self.dialogs.retain(|dialog| dialog.session != session);
            }
            ("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded", _) => {
                self.console.take(method, params);
            }
            (_, Some(session)) => self.page_event(session, method, params),
            _ => {}
        }
        Vec::new()
    }

    fn page_event(&mut self, session: &str, method: &str, params: &Value) {
        if method == "Page.frameNavigated" {
            let frame = params.get("frame").unwrap_or(&Value::Null);
            if self.documents.len() >= MAX_FRAMES {
                self.documents.clear();
            }
            self.documents.insert(text(frame, "id").to_owned(), text(frame, "loaderId").to_owned());
        }
        if method == "Page.frameDetached" {
            self.documents.remove(text(params, "frameId"));
        }
        if method == "Page.windowOpen" {
            self.opening = true;
        }
        let Some(page) = self.pages.iter_mut().find(|page| page.session == session) else { return };
        let is_main = text(params, "frameId") == page.frame;
        match method {
            "Page.frameNavigated" => {
                let frame = params.get("frame").unwrap_or(&Value::Null);
                if text(frame, "parentId").is_empty() {
                    page.navigated(frame);
                }
            }
            "Page.navigatedWithinDocument" if is_main => {
                text(params, "url").clone_into(&mut page.url);
                page.leaving = false;
            }
            "Page.frameStartedLoading" if is_main => (page.loading, page.leaving) = (true, false),
            "Page.frameStoppedLoading" if is_main => (page.loading, page.leaving) = (false, false),
            "Page.frameRequestedNavigation" if is_main => {
                // What goes into another tab, or into a file, leaves this page as it is.
                page.leaving |= matches!(text(params, "disposition"), "" | "currentTab");
            }
            "Page.frameScheduledNavigation" if is_main => {
                page.leaving |= params.get("delay").and_then(Value::as_f64).is_none_or(|delay| delay <= 1.0);
            }
            "Inspector.targetCrashed" => page.crashed = true,
            _ => {}
        }
    }

    /// Something can be talked to from now on: it is set up, and then let go on.
    fn attached(&mut self, around: Option<&str>, params: &Value) -> Vec<Command> {
        let target = params.get("targetInfo").unwrap_or(&Value::Null);
        let (session, id) = (text(params, "sessionId"), text(target, "targetId"));
        let go = Command::to(session, "Runtime.runIfWaitingForDebugger", json!({}));
        match text(target, "type") {
            // Also told of by the page that opened it.
            "page" if self.pages.iter().any(|page| page.target == id) => return vec![go],
            "page" => {
                let (session, target_id) = (session.to_owned(), id.to_owned());
                let url = text(target, "url").to_owned();
                // One that another opened is on its way to somewhere.
                let leaving = !self.pages.is_empty();
                let frame = target_id.clone();
                let page = Page { session, frame, target: target_id, url, leaving, ..Page::default() };
                self.pages.push(page);
                self.opening = false;
            }
            "iframe" => {
                let Some(around) = around else { return vec![go] };
                let page = self.pages.iter_mut().find(|page| {
                    page.session == around || page.apart.iter().any(|frame| frame.session == around)
                });
                if let Some(page) = page {
                    let (session, frame) = (session.to_owned(), id.to_owned());
                    page.apart.push(Apart { session, frame, around: around.to_owned() });
                }
            }
            _ => return vec![go],
        }
        let mut commands: Vec<Command> = ["Page.enable", "DOM.enable", "Runtime.enable", "Log.enable"]
            .map(|method| Command::to(session, method, json!({})))
            .to_vec();
        if self.shared {
            commands.push(Command::to(
                session,
                "Fetch.enable",
                json!({ "patterns": [{ "urlPattern": "*" }] }),
            ));
        }
        let follow = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        commands.push(Command::to(session, "Target.setAutoAttach", follow));
        commands.push(go);
        commands
    }

    /// A tab came up; when one of ours opened it, it is ours.
    fn created(&self, params: &Value) -> Vec<Command> {
        let target = params.get("targetInfo").unwrap_or(&Value::Null);
        let (id, opener) = (text(target, "targetId"), text(target, "openerId"));
        let ours = text(target, "type") == "page" && self.pages.iter().any(|page| page.target == opener);
        if !self.shared || !ours || self.pages.iter().any(|page| page.target == id) {
            return Vec::new();
        }
        let params = json!({ "targetId": id, "flatten": true });
        vec![Command { session: None, method: "Target.attachToTarget".to_owned(), params }]
    }

    fn detached(&mut self, session: &str) {
        let gone = self.with_frames(session);
        self.pages.retain(|page| page.session != session);
        self.dialogs.retain(|dialog| !gone.contains(&dialog.session));
        for page in &mut self.pages {
            page.apart.retain(|frame| !gone.contains(&frame.session));
        }
    }

    /// A request of a page waits for us to say that it may go on.
    fn paused(&mut self, session: &str, params: &Value, judge: Judge<'_>) -> Command {
        let id = params.get("requestId").cloned().unwrap_or_default();
        let url = params.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let local = ["data:", "blob:", "about:"].iter().any(|scheme| url.starts_with(scheme));
        match judge(url) {
            Err(why) if !local => {
                if !self.refused.contains(&why) && self.refused.len() < MAX_DIALOGS {
                    self.refused.push(why);
                }
                let params = json!({ "requestId": id, "errorReason": "AddressUnreachable" });
                Command::to(session, "Fetch.failRequest", params)
            }
            _ => Command::to(session, "Fetch.continueRequest", json!({ "requestId": id })),
        }
    }

    fn dialog_opens(&mut self, session: &str, params: &Value, now: Duration) -> Vec<Command> {
        let answer = match self.policy {
            DialogPolicy::MustRespond if self.dialogs.len() < MAX_DIALOGS => {
                self.named += 1;
                self.dialogs.push(Dialog {
                    id: format!("d{}", self.named),
                    kind: text(params, "type").to_owned(),
                    message: text(params, "message").to_owned(),
                    default: text(params, "defaultPrompt").to_owned(),
                    url: text(params, "url").to_owned(),
                    session: session.to_owned(),
                    since: now,
                });
                return Vec::new();
            }
            DialogPolicy::MustRespond | DialogPolicy::AutoDismiss => false,
            DialogPolicy::AutoAccept => true,
        };
        // A page that is left is left: staying would only stop what was asked for.
        let accept = answer || text(params, "type") == "beforeunload";
        vec![Command::to(session, "Page.handleJavaScriptDialog", json!({ "accept": accept }))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(state: &mut State, session: Option<&str>, method: &str, params: &Value) -> Vec<Command> {
        let judge = |url: &str| if url.contains("10.0.0.1") { Err(format!("{url}: no")) } else { Ok(()) };
        state.take(session, method, params, Duration::ZERO, &judge)
    }

    fn attach(
        state: &mut State,
        around: Option<&str>,
        session: &str,
        kind: &str,
        target: &str,
    ) -> Vec<Command> {
        let info = json!({ "targetId": target, "type": kind, "url": "about:blank" });
        hear(state, around, "Target.attachedToTarget", &json!({ "sessionId": session, "targetInfo": info }))
    }

    fn with_page() -> State {
        let mut state = State::default();
        attach(&mut state, None, "S", "page", "F");
        state
    }

    #[test]
    fn what_is_attached_is_set_up_and_then_let_go_on() {
        let mut state = State::default();

        let commands = attach(&mut state, None, "S", "page", "F");
        let worker = attach(&mut state, Some("S"), "W", "worker", "X");

        let methods: Vec<&str> = commands.iter().map(|command| command.method.as_str()).collect();
        assert_eq!(methods.last(), Some(&"Runtime.runIfWaitingForDebugger"));
        assert!(methods.contains(&"Target.setAutoAttach") && !methods.contains(&"Fetch.enable"));
        assert_eq!(worker.len(), 1);
        assert_eq!(state.page().unwrap().session, "S");
    }

    #[test]
    fn the_last_page_is_worked_with_until_it_closes() {
        let mut state = with_page();
        attach(&mut state, None, "S2", "page", "F2");
        assert_eq!(state.page().unwrap().session, "S2");

        hear(&mut state, None, "Target.detachedFromTarget", &json!({ "sessionId": "S2" }));

        assert_eq!(state.page().unwrap().session, "S");
    }

    #[test]
    fn a_page_knows_where_it_is_and_whether_it_is_busy() {
        let mut state = with_page();
        let busy = |state: &State| state.page().is_some_and(|page| page.loading || page.leaving);

        hear(&mut state, Some("S"), "Page.frameRequestedNavigation", &json!({ "frameId": "F" }));
        assert!(busy(&state));
        hear(&mut state, Some("S"), "Page.frameStartedLoading", &json!({ "frameId": "F" }));
        hear(&mut state, Some("S"), "Page.frameStartedLoading", &json!({ "frameId": "child" }));
        let frame = json!({ "id": "F", "loaderId": "L", "url": "https://a.example/" });
        hear(&mut state, Some("S"), "Page.frameNavigated", &json!({ "frame": frame }));
        hear(&mut state, Some("S"), "Page.frameStoppedLoading", &json!({ "frameId": "child" }));
        assert!(busy(&state));
        hear(&mut state, Some("S"), "Page.frameStoppedLoading", &json!({ "frameId": "F" }));

        assert!(!busy(&state));
        let page = state.page().unwrap();
        assert_eq!((page.url.as_str(), page.document.as_str()), ("https://a.example/", "L"));
        assert_eq!(state.document("F"), Some("L"));
    }

    #[test]
    fn frames_apart_belong_to_the_page_around_them() {
        let mut state = with_page();
        attach(&mut state, Some("S"), "I", "iframe", "G");
        attach(&mut state, Some("I"), "J", "iframe", "H");

        let around: Vec<_> = state.page().unwrap().apart.iter().map(|it| (&*it.frame, &*it.around)).collect();
        assert_eq!(around, [("G", "S"), ("H", "I")]);
        let inner = json!({ "sessionId": "J" });
        hear(&mut state, Some("I"), "Target.detachedFromTarget", &inner);
        assert_eq!(state.page().unwrap().apart.len(), 1);
    }

    #[test]
    fn what_closes_takes_the_frames_in_it_along() {
        let mut state = with_page();
        attach(&mut state, None, "T", "page", "K");
        attach(&mut state, Some("T"), "I", "iframe", "G");
        attach(&mut state, Some("I"), "J", "iframe", "H");
        let lost = |state: &State, of: &str| {
            state.lost(None, "Target.detachedFromTarget", &json!({ "sessionId": of })).unwrap().sessions
        };

        assert_eq!(lost(&state, "T"), ["T", "I", "J"]);
        assert_eq!(lost(&state, "I"), ["I", "J"]);
        assert_eq!(lost(&state, "S"), ["S"]);
        assert_eq!(state.lost(Some("S"), "Page.frameNavigated", &json!({})), None);
        let crashed = state.lost(Some("T"), "Inspector.targetCrashed", &json!({})).unwrap();
        assert_eq!((crashed.sessions, crashed.why), (vec!["T".to_owned()], "the page crashed"));
        hear(&mut state, None, "Target.detachedFromTarget", &json!({ "sessionId": "T" }));
        assert_eq!(state.page().unwrap().session, "S");
    }

    #[test]
    fn a_page_leaves_when_it_goes_elsewhere_itself() {
        let mut state = with_page();
        let asks = |state: &mut State, disposition: &str| {
            let params = json!({ "frameId": "F", "url": "https://a.example/", "disposition": disposition });
            hear(state, Some("S"), "Page.frameRequestedNavigation", &params);
            state.page().unwrap().leaving
        };

        assert!(!asks(&mut state, "newTab") && !asks(&mut state, "download"));
        assert!(asks(&mut state, "currentTab"));
        state.stays();
        assert!(!state.page().unwrap().leaving);
        let later = json!({ "frameId": "F", "delay": 300, "reason": "metaTagRefresh" });
        hear(&mut state, Some("S"), "Page.frameScheduledNavigation", &later);
        assert!(!state.page().unwrap().leaving);
        // A tab that it opens is waited for, and then on its way.
        hear(&mut state, Some("S"), "Page.windowOpen", &json!({ "url": "https://b.example/" }));
        assert!(state.is_leaving() && !state.page().unwrap().leaving);
        attach(&mut state, None, "T", "page", "K");
        assert!(state.page().unwrap().leaving);
    }

    #[test]
    fn dialogs_wait_or_are_answered_as_the_settings_say() {
        let opening = json!({ "type": "confirm", "message": "Sure?", "url": "https://a.example/" });
        let mut state = with_page();
        assert!(hear(&mut state, Some("S"), "Page.javascriptDialogOpening", &opening).is_empty());
        assert_eq!(state.dialog().unwrap().id, "d1");
        hear(&mut state, Some("S"), "Page.javascriptDialogClosed", &json!({}));
        assert_eq!(state.dialog(), None);

        for (policy, accept) in [(DialogPolicy::AutoDismiss, false), (DialogPolicy::AutoAccept, true)] {
            state.policy = policy;
            let answers = hear(&mut state, Some("S"), "Page.javascriptDialogOpening", &opening);
            assert_eq!(answers[0].params, json!({ "accept": accept }));
            assert_eq!(state.dialog(), None);
        }
    }

    #[test]
    fn a_tab_of_a_shared_browser_is_ours_when_our_page_opened_it() {
        let mut state = State { shared: true, ..State::default() };
        attach(&mut state, None, "S", "page", "F");
        let tab =
            |opener: &str| json!({ "targetInfo": { "targetId": "N", "type": "page", "openerId": opener } });

        assert_eq!(hear(&mut state, None, "Target.targetCreated", &tab("F")).len(), 1);
        assert!(hear(&mut state, None, "Target.targetCreated", &tab("somebody")).is_empty());
    }

    #[test]
    fn requests_of_a_shared_browser_are_judged_one_by_one() {
        let mut state = State { shared: true, ..State::default() };
        let ask = |state: &mut State, url: &str| {
            let params = json!({ "requestId": "r", "request": { "url": url } });
            hear(state, Some("S"), "Fetch.requestPaused", &params)[0].method.clone()
        };

        assert_eq!(ask(&mut state, "https://a.example/x"), "Fetch.continueRequest");
        assert_eq!(ask(&mut state, "http://10.0.0.1/"), "Fetch.failRequest");
        assert_eq!(state.refused, ["http://10.0.0.1/: no"]);
    }
}
