//! Spotify, as the `spotify_*` tools reach it, by the Web API of 2026.
//!
//! | file | what |
//! |---|---|
//! | here | what every call does: plan, ask, shape |
//! | [`account`] | who we are there: the login, and renewing it |
//! | [`names`] | ids, addresses and links of music, in whichever way they were written |
//! | [`shape`] | their long answers → what a model needs of them |

pub(crate) mod account;
pub(crate) mod names;
mod shape;

use hermes_core::cx::ToolCx;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use serde_json::{Value, json};

use crate::api::{Plan, Refused, Service, set};
use account::Account;

pub(crate) const SERVICE: Service = Service { name: "Spotify", key: "the login", explain };

/// Most rows of a page.
const PAGE: u32 = 50;

/// When its tools are there.
pub(crate) fn gate() -> Gate {
    Gate::check("logged in to Spotify", |probe| async move {
        let by_variables = probe.env("SPOTIFY_REFRESH_TOKEN")
            && (probe.env("SPOTIFY_CLIENT_ID") || probe.env("HERMES_SPOTIFY_CLIENT_ID"));
        if by_variables || probe.login(account::NAME) {
            return Ok(());
        }
        Err("needs a login at Spotify: `hermes auth spotify`".to_owned())
    })
}

/// What stands for a login, where nobody logs in at a browser.
pub(crate) fn variables() -> Vec<&'static str> {
    vec!["SPOTIFY_CLIENT_ID", "HERMES_SPOTIFY_CLIENT_ID", "SPOTIFY_REFRESH_TOKEN"]
}

/// How long a page may be.
pub(crate) fn page(limit: Option<u32>) -> Option<u32> {
    limit.map(|limit| limit.clamp(1, PAGE))
}

/// Does what was planned, and tells what came of it.
pub(crate) async fn run(cx: &ToolCx, plan: Result<Plan, ToolError>, action: &str) -> ToolResult {
    let plan = plan?;
    let mut account = Account::open(cx).await?;
    if plan.is_act() {
        let answer = account.tell(plan.ask).await?;
        let mut told = json!({ "success": true, "action": action });
        if !answer.is_null() {
            set(&mut told, "result", shape::short(&answer));
        }
        return Ok(told);
    }
    match account.ask(plan.ask).await? {
        Value::Null => Ok(json!({ "result": { "is_playing": false, "message": "nothing is playing" } })),
        answer => Ok(json!({ "result": shape::short(&answer) })),
    }
}

/// What their refusals mean.
fn explain(refused: &Refused) -> Option<String> {
    let reason = refused.body.pointer("/error/reason").and_then(Value::as_str).unwrap_or_default();
    let said = refused.said.to_lowercase();
    let meaning = match (refused.status, reason) {
        (_, "NO_ACTIVE_DEVICE") => {
            "no device is active: start Spotify on one, or name one of those that `spotify_devices` lists"
        }
        (_, "PREMIUM_REQUIRED") => "this needs Spotify Premium",
        (404, _) if said.contains("device") => {
            "that device is not there; `spotify_devices` lists those that are"
        }
        (403, _) if said.contains("scope") => {
            "the login does not cover this; `hermes auth spotify` asks for all of it"
        }
        (403, _) if said.contains("premium") => "this needs Spotify Premium",
        (403, _) => "the account, or the application it logged in with, may not do this",
        (401, _) => "the login is no longer accepted; `hermes auth spotify` makes a new one",
        _ => return None,
    };
    Some(meaning.to_owned())
}
