//! The queue of fal.ai: work is handed in, looked after, and fetched.

use std::time::Duration;

use hermes_core::error::ToolError;
use serde_json::Value;

use super::service::{Asking, Patience, at, words};

/// The variable with the key.
pub(crate) const KEYS: &[&str] = &["FAL_KEY"];

/// Where the queue is.
const QUEUE: &str = "https://queue.fal.run";

/// Has a model work on something, and waits for it.
pub(crate) async fn run(
    asking: &Asking<'_>,
    section: &str,
    model: &str,
    input: &Value,
    limit: Duration,
) -> Result<Value, ToolError> {
    let base = asking.base(&format!("{section}.fal.base_url"), "FAL_BASE_URL", QUEUE);
    let key = [("authorization", format!("Key {}", asking.key(KEYS)?))];
    let model = model.trim_matches('/');
    let ticket = asking.post(format!("{base}/{model}"), &key, input).await?;
    let id = at(&ticket, "/request_id").as_str().filter(|id| is_plain(id));
    let id = id.ok_or_else(|| ToolError::Failed("fal did not take the work".to_owned()))?;
    let place = format!("{base}/{}/requests/{id}", app(model));
    let mut patience = Patience::new(limit);
    loop {
        let status = asking.get(format!("{place}/status"), &key).await?;
        match at(&status, "/status").as_str() {
            Some("COMPLETED") if status.get("error").is_none_or(Value::is_null) => break,
            Some("COMPLETED" | "FAILED" | "CANCELED" | "ERROR") => {
                let why = words(&status).unwrap_or_else(|| "no reason given".to_owned());
                return Err(ToolError::Failed(format!("fal could not do it: {why}")));
            }
            Some("IN_QUEUE") => {
                let ahead = at(&status, "/queue_position").as_u64().unwrap_or_default();
                asking.cx.progress(&format!("in the queue of fal, {ahead} ahead"));
            }
            _ => asking.cx.progress(&format!("{model} is at work")),
        }
        patience.next(asking).await?;
    }
    asking.get(place, &key).await
}

/// Owner and name of a model: requests are kept under these, whatever stands behind them.
fn app(model: &str) -> String {
    model.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// A name that cannot lead anywhere else.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn requests_are_kept_under_owner_and_name() {
        assert_eq!(super::app("fal-ai/flux-2/klein/9b"), "fal-ai/flux-2");
        assert_eq!(super::app("fal-ai/veo3"), "fal-ai/veo3");
        assert!(super::is_plain("80e732af-660e") && !super::is_plain("../x"));
    }
}
