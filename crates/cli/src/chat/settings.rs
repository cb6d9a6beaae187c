//! What `config.yaml` says about the chat.

use hermes::store::Config;
use serde_json::Value;

use crate::chat::live::Verbosity;
use crate::shell::Shell;

/// Lines of a paste above which it is folded.
const FOLD: u64 = 5;

/// What Enter does while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BusyInput {
    /// The turn is stopped and this is said instead.
    #[default]
    Interrupt,
    /// It is said once the turn is over.
    Queue,
    /// It is said into the turn.
    Steer,
}

/// The settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) busy_input: BusyInput,
    pub(crate) verbosity: Verbosity,
    pub(crate) reasoning: bool,
    pub(crate) fold_pastes: usize,
}

impl Settings {
    /// The settings of this home; what cannot be read is as if it were not there.
    pub(crate) fn read(shell: &Shell) -> Self {
        let variable = |name: &str| shell.variable(name).map(str::to_owned);
        let config = shell.home().ok().and_then(|home| Config::read(&home, &variable).ok());
        config.map_or_else(|| Self::of(&Value::Null), |config| Self::of(config.values()))
    }

    fn of(values: &Value) -> Self {
        let display = |key: &str| values.get("display").and_then(|display| display.get(key));
        let busy_input = match display("busy_input_mode").and_then(Value::as_str) {
            Some("queue") => BusyInput::Queue,
            Some("steer") => BusyInput::Steer,
            _ => BusyInput::Interrupt,
        };
        let verbosity = display("tool_progress").and_then(Value::as_str).and_then(Verbosity::named);
        let fold = values.get("paste_collapse_threshold").and_then(Value::as_u64).unwrap_or(FOLD);
        Self {
            busy_input,
            verbosity: verbosity.unwrap_or_default(),
            reasoning: display("show_reasoning").and_then(Value::as_bool).unwrap_or_default(),
            fold_pastes: usize::try_from(fold).unwrap_or(usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_have_defaults_and_can_be_chosen() {
        let chosen = Settings::of(&json!({
            "display": { "busy_input_mode": "steer", "tool_progress": "new", "show_reasoning": true },
            "paste_collapse_threshold": 9,
        }));

        let expected = Settings {
            busy_input: BusyInput::Steer,
            verbosity: Verbosity::New,
            reasoning: true,
            fold_pastes: 9,
        };
        assert_eq!(chosen, expected);
        assert_eq!(Settings::of(&Value::Null).busy_input, BusyInput::Interrupt);
        assert_eq!(Settings::of(&json!({ "display": { "tool_progress": 7 } })).verbosity, Verbosity::All);
    }
}
