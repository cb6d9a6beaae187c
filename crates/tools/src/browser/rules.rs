//! Which commands and scripts may be sent to a browser.
//!
//! Only domains of the protocol that are about pages are let through, and of those not what would lead
//! around our gate, read or write files nobody agreed to, end the browser or take over its sessions.
//! What holds a person's sign-in is left alone unless the settings say otherwise.

use std::path::PathBuf;

use hermes_core::effect::Effect;
use hermes_core::session::Place;
use serde_json::Value;

/// The setting that lets scripts and commands look at cookies and what pages have stored.
pub(crate) const OPT_IN: &str = "browser.allow_unsafe_evaluate";

/// Domains whose commands are about a page.
const DOMAINS: [&str; 30] = [
    "Accessibility",
    "Animation",
    "Audits",
    "BackgroundService",
    "CSS",
    "Console",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "DeviceOrientation",
    "Emulation",
    "HeapProfiler",
    "IO",
    "IndexedDB",
    "Input",
    "LayerTree",
    "Log",
    "Media",
    "Memory",
    "Network",
    "Overlay",
    "Page",
    "Performance",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "Storage",
    "WebAuthn",
];

/// Commands of other domains that do no harm.
const ALSO: [&str; 15] = [
    "Browser.getVersion",
    "Browser.getWindowForTarget",
    "Browser.getWindowBounds",
    "Browser.setWindowBounds",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setDownloadBehavior",
    "Browser.cancelDownload",
    "Target.getTargets",
    "Target.getTargetInfo",
    "Target.createTarget",
    "Target.closeTarget",
    "Target.activateTarget",
    "ServiceWorker.enable",
    "SystemInfo.getInfo",
];

/// Commands that are not for tools: each would undo what a browser is held by.
const NEVER: [&str; 5] = [
    "Page.crash",
    "Page.setInterceptFileChooserDialog",
    "Network.setRequestInterception",
    "Page.handleJavaScriptDialog",
    "Page.close",
];

/// Commands that tell what a person's sign-in consists of.
const SIGN_IN: [&str; 6] = [
    "Network.getCookies",
    "Network.getAllCookies",
    "Storage.getCookies",
    "DOMStorage.getDOMStorageItems",
    "IndexedDB.requestData",
    "WebAuthn.getCredentials",
];

/// Words of scripts that do the same.
const SIGN_IN_WORDS: [&str; 6] = [
    "document.cookie",
    "cookiestore",
    "localstorage",
    "sessionstorage",
    "indexeddb",
    "navigator.credentials",
];

/// Commands whose parameters hold a script, and where.
const SCRIPTS: [(&str, &str); 4] = [
    ("Runtime.evaluate", "expression"),
    ("Runtime.callFunctionOn", "functionDeclaration"),
    ("Runtime.compileScript", "expression"),
    ("Page.addScriptToEvaluateOnNewDocument", "source"),
];

/// Why a command is not sent; nothing when it may be. `opted_in`: the person lets sign-ins be looked at.
pub(crate) fn refusal(method: &str, params: &Value, opted_in: bool) -> Option<String> {
    let domain = method.split_once('.').map(|(domain, _)| domain);
    let Some(domain) = domain else {
        return Some(format!("{method:?} is no command: they look like Page.reload"));
    };
    let known = DOMAINS.contains(&domain) || ALSO.contains(&method);
    if !known || NEVER.contains(&method) {
        return Some(format!("{method} is not for tools: it would lead out of the page that is worked with"));
    }
    if SIGN_IN.contains(&method) && !opted_in {
        return Some(sign_in(method));
    }
    let script = SCRIPTS.iter().find(|(name, _)| *name == method);
    if let Some((_, key)) = script
        && let Some(why) =
            script_refusal(params.get(key).and_then(Value::as_str).unwrap_or_default(), opted_in)
    {
        return Some(why);
    }
    None
}

/// Why a script is not run; nothing when it may be.
pub(crate) fn script_refusal(script: &str, opted_in: bool) -> Option<String> {
    let lower = script.to_ascii_lowercase();
    let found = SIGN_IN_WORDS.iter().find(|word| lower.contains(**word));
    found.filter(|_| !opted_in).map(|word| sign_in(&format!("a script with {word}")))
}

fn sign_in(what: &str) -> String {
    format!("{what} looks at cookies or what a page has stored; `{OPT_IN}: true` in config.yaml allows it")
}

/// Addresses that a command leads to.
pub(crate) fn leads_to<'a>(method: &str, params: &'a Value) -> Option<&'a str> {
    let leads = ["Page.navigate", "Target.createTarget", "Network.loadNetworkResource"].contains(&method);
    leads.then(|| params.get("url").and_then(Value::as_str)).flatten()
}

/// What a command does to files of this machine, which therefore has to be declared.
pub(crate) fn file_effects(method: &str, params: &Value, place: &Place) -> Vec<Effect> {
    match method {
        "DOM.setFileInputFiles" => uploads(params, place).into_iter().map(Effect::Read).collect(),
        _ => download_folder(method, params, place).into_iter().map(Effect::Write).collect(),
    }
}

/// The files that a command puts into a form.
pub(crate) fn uploads(params: &Value, place: &Place) -> Vec<PathBuf> {
    let files = params.get("files").and_then(Value::as_array).into_iter().flatten();
    files.filter_map(Value::as_str).map(|path| place.resolve(path)).collect()
}

/// The folder that a command lets pages save into.
pub(crate) fn download_folder(method: &str, params: &Value, place: &Place) -> Option<PathBuf> {
    let sets = ["Browser.setDownloadBehavior", "Page.setDownloadBehavior"].contains(&method);
    let saves = sets && !matches!(params.get("behavior").and_then(Value::as_str), Some("deny"));
    let folder = params.get("downloadPath").and_then(Value::as_str).unwrap_or(".");
    saves.then(|| place.resolve(folder))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(method: &str, params: &Value) -> bool {
        refusal(method, params, false).is_some()
    }

    #[test]
    fn commands_about_pages_may_be_sent() {
        for method in [
            "Page.reload",
            "Page.printToPDF",
            "DOM.getDocument",
            "Network.setExtraHTTPHeaders",
            "Emulation.setDeviceMetricsOverride",
            "Target.getTargets",
            "Browser.getVersion",
        ] {
            assert!(!refused(method, &json!({})), "{method}");
        }
        assert!(!refused("Runtime.evaluate", &json!({ "expression": "document.title" })));
    }

    #[test]
    fn what_would_lead_around_the_gate_or_out_of_the_page_may_not() {
        for method in [
            "Browser.close",
            "Browser.crash",
            "Target.createBrowserContext",
            "Target.exposeDevToolsProtocol",
            "Target.sendMessageToTarget",
            "Target.attachToTarget",
            "Target.attachToBrowserTarget",
            "Target.setAutoAttach",
            "Target.setRemoteLocations",
            "Tethering.bind",
            "Extensions.loadUnpacked",
            "PWA.install",
            "Fetch.disable",
            "FileSystem.getDirectory",
            "Tracing.start",
            "Debugger.pause",
            "Page.crash",
            "nonsense",
            "",
        ] {
            assert!(refused(method, &json!({})), "{method}");
        }
    }

    #[test]
    fn sign_ins_are_left_alone_unless_the_person_says_otherwise() {
        for (method, params) in [
            ("Network.getAllCookies", json!({})),
            ("Runtime.evaluate", json!({ "expression": "document.COOKIE" })),
            ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": "x = localStorage" })),
        ] {
            assert!(refusal(method, &params, false).is_some_and(|why| why.contains(OPT_IN)), "{method}");
            assert_eq!(refusal(method, &params, true), None, "{method}");
        }
    }

    #[test]
    fn files_that_a_command_touches_are_declared() {
        let place = Place { cwd: "/work".into(), home: None };
        let files = json!({ "files": ["a.txt", "/etc/passwd"] });
        let folder = json!({ "behavior": "allow", "downloadPath": "../x" });

        assert_eq!(
            file_effects("DOM.setFileInputFiles", &files, &place),
            [Effect::Read("/work/a.txt".into()), Effect::Read("/etc/passwd".into())]
        );
        assert_eq!(
            file_effects("Browser.setDownloadBehavior", &folder, &place),
            [Effect::Write("/x".into())]
        );
        assert!(
            file_effects("Browser.setDownloadBehavior", &json!({ "behavior": "deny" }), &place).is_empty()
        );
        assert!(file_effects("Page.reload", &files, &place).is_empty());
    }
}
