//! xAI's Responses API with its own search of X, as `x_search` uses it.
//!
//! | file | what |
//! |---|---|
//! | here | where it is, and how long it is waited for |
//! | [`filter`] | which posts count: handles and days |
//! | [`answer`] | what it says, and what it cites |

pub(crate) mod answer;
pub(crate) mod filter;

use std::time::Duration;

use hermes_core::keys::Keys;
use serde_json::Value;

use crate::api::Service;

pub(crate) const SERVICE: Service = Service { name: "xAI", key: "XAI_API_KEY", explain: |_| None };

pub(crate) const API: &str = "https://api.x.ai/v1";

/// Longest wait that a setting can ask for.
pub(crate) const LONGEST: u64 = 600;

/// What the person has set under `x_search`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) model: String,
    pub(crate) timeout: Duration,
    pub(crate) retries: u8,
}

impl Settings {
    pub(crate) fn read(keys: &dyn Keys) -> Self {
        let number = |key: &str| keys.setting(key).as_ref().and_then(Value::as_u64);
        let seconds = number("x_search.timeout_seconds").unwrap_or(180).clamp(5, LONGEST);
        let retries = number("x_search.retries").unwrap_or(2).min(5);
        Self {
            model: keys.text("x_search.model").unwrap_or_else(|| "grok-4-fast".to_owned()),
            timeout: Duration::from_secs(seconds),
            retries: u8::try_from(retries).unwrap_or(2),
        }
    }
}
