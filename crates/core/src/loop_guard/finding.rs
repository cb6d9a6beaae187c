//! What the guard noticed, in words and as JSON.

use serde_json::{Value, json};

/// What the guard wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Pass the result on with a remark.
    Warn,
    /// Do not run this call.
    Block,
    /// Do not run this tool any more in this turn; the turn had better end.
    Halt,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
            Self::Halt => "halt",
        }
    }
}

/// Which circle was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// The same call keeps failing.
    ExactFailure,
    /// One tool keeps failing.
    SameToolFailure,
    /// The same read keeps giving the same result.
    NoProgress,
}

/// A circle that was noticed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the guard wants done.
    pub action: Action,
    /// What was noticed.
    pub circle: Circle,
    /// The tool concerned.
    pub tool: String,
    /// How often it has happened.
    pub count: u32,
    /// The arguments concerned.
    pub args_digest: u64,
}

impl Finding {
    /// A stable word for the case, for logs and programs.
    pub fn code(&self) -> &'static str {
        match (self.circle, self.action) {
            (Circle::ExactFailure, Action::Warn) => "repeated_exact_failure_warning",
            (Circle::ExactFailure, _) => "repeated_exact_failure_block",
            (Circle::SameToolFailure, Action::Warn) => "same_tool_failure_warning",
            (Circle::SameToolFailure, _) => "same_tool_failure_halt",
            (Circle::NoProgress, Action::Warn) => "idempotent_no_progress_warning",
            (Circle::NoProgress, _) => "idempotent_no_progress_block",
        }
    }

    /// What the model is told.
    pub fn message(&self) -> String {
        let Self { tool, count, .. } = self;
        match (self.circle, self.action) {
            (Circle::ExactFailure, Action::Warn) => {
                format!(
                    "{tool} has failed {count} times with these same arguments. Change the arguments or the approach."
                )
            }
            (Circle::ExactFailure, _) => {
                format!(
                    "Not run: {tool} has already failed {count} times with these same arguments. Do something else."
                )
            }
            (Circle::SameToolFailure, Action::Warn) => {
                format!(
                    "{tool} has failed {count} times in a row. Look at the errors before trying it again."
                )
            }
            (Circle::SameToolFailure, _) => {
                format!(
                    "Stopped: {tool} has failed {count} times in a row. Say what does not work instead of going on."
                )
            }
            (Circle::NoProgress, Action::Warn) => {
                format!("{tool} gave this same result {count} times. Use it instead of asking again.")
            }
            (Circle::NoProgress, _) => {
                format!("Not run: {tool} gave the same result {count} times already. Use that result.")
            }
        }
    }

    /// The finding as the model and programs see it.
    pub fn guardrail(&self) -> Value {
        json!({
            "action": self.action.name(),
            "code": self.code(),
            "message": self.message(),
            "tool_name": self.tool,
            "count": self.count,
            "signature": format!("{}:{:016x}", self.tool, self.args_digest),
        })
    }

    /// The result that stands for a call that was not run.
    pub fn refusal(&self) -> Value {
        json!({ "error": self.message(), "guardrail": self.guardrail() })
    }

    /// Adds the remark to a result. What is not an object becomes the `result` of one.
    pub fn attach(&self, result: Value) -> Value {
        match result {
            Value::Object(mut fields) => {
                fields.insert("guardrail".to_owned(), self.guardrail());
                Value::Object(fields)
            }
            other => json!({ "result": other, "guardrail": self.guardrail() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_and_a_remark_are_plain_json() {
        let finding = Finding {
            action: Action::Block,
            circle: Circle::ExactFailure,
            tool: "patch".to_owned(),
            count: 5,
            args_digest: 255,
        };
        let message =
            "Not run: patch has already failed 5 times with these same arguments. Do something else.";
        let guardrail = json!({
            "action": "block", "code": "repeated_exact_failure_block", "message": message,
            "tool_name": "patch", "count": 5, "signature": "patch:00000000000000ff",
        });

        assert_eq!(finding.refusal(), json!({ "error": message, "guardrail": guardrail }));
        assert_eq!(finding.attach(json!({ "ok": 1 })), json!({ "ok": 1, "guardrail": guardrail }));
        assert_eq!(finding.attach(json!([1])), json!({ "result": [1], "guardrail": guardrail }));
    }
}
