//! When the guard speaks up, as configured.

use serde::{Deserialize, Deserializer};

/// `tool_loop_guardrails` in `config.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether results carry warnings.
    pub warnings_enabled: bool,
    /// Whether calls are refused when warnings did not help.
    pub hard_stop_enabled: bool,
    /// When to warn.
    #[serde(deserialize_with = "warn_after")]
    pub warn_after: Thresholds,
    /// When to refuse.
    #[serde(deserialize_with = "hard_stop_after")]
    pub hard_stop_after: Thresholds,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            warnings_enabled: true,
            hard_stop_enabled: false,
            warn_after: Thresholds::warning(),
            hard_stop_after: Thresholds::stopping(),
        }
    }
}

/// How often something may happen. Zero means never to act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// The same tool with the same arguments failed this often.
    pub exact_failure: u32,
    /// The same tool failed this often in a row, whatever the arguments.
    pub same_tool_failure: u32,
    /// The same read-only call gave the same result this often.
    pub idempotent_no_progress: u32,
}

impl Thresholds {
    /// When to warn, unless said otherwise.
    pub const fn warning() -> Self {
        Self { exact_failure: 2, same_tool_failure: 3, idempotent_no_progress: 2 }
    }

    /// When to refuse, unless said otherwise.
    pub const fn stopping() -> Self {
        Self { exact_failure: 5, same_tool_failure: 8, idempotent_no_progress: 5 }
    }

    fn with(self, given: &Given) -> Self {
        Self {
            exact_failure: given.exact_failure.unwrap_or(self.exact_failure),
            same_tool_failure: given.same_tool_failure.unwrap_or(self.same_tool_failure),
            idempotent_no_progress: given.idempotent_no_progress.unwrap_or(self.idempotent_no_progress),
        }
    }
}

/// The thresholds somebody wrote down; the others keep the default of their place.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    exact_failure: Option<u32>,
    same_tool_failure: Option<u32>,
    idempotent_no_progress: Option<u32>,
}

fn warn_after<'de, D: Deserializer<'de>>(from: D) -> Result<Thresholds, D::Error> {
    Ok(Thresholds::warning().with(&Given::deserialize(from)?))
}

fn hard_stop_after<'de, D: Deserializer<'de>>(from: D) -> Result<Thresholds, D::Error> {
    Ok(Thresholds::stopping().with(&Given::deserialize(from)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_may_be_given_in_part() {
        let settings: Settings = serde_json::from_value(
            json!({ "hard_stop_enabled": true, "warn_after": { "exact_failure": 4 } }),
        )
        .unwrap();

        assert!(settings.hard_stop_enabled && settings.warnings_enabled);
        assert_eq!(settings.warn_after, Thresholds { exact_failure: 4, ..Thresholds::warning() });
        assert_eq!(settings.hard_stop_after, Thresholds::stopping());
    }
}
