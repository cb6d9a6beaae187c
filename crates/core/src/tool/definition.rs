//! What a model is told about a tool, made when somebody first looks at it: a start that lists nothing pays
//! nothing.

use std::sync::OnceLock;

use serde_json::Value;

use crate::json::{Dialect, JsonText};

/// Description and parameters as the model will see them.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What the tool is for.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A definition, or what it is made of.
pub struct LazyDefinition {
    source: Source,
    /// Apart: there are many of these, and most are never looked at.
    made: OnceLock<Box<Definition>>,
}

enum Source {
    Declared(fn() -> Definition),
    Written(Written),
}

struct Written {
    description: String,
    schema: JsonText,
    fit: Fit,
}

/// What is known of a schema as providers want it.
pub enum Fit {
    /// It is as they want it ([`is_fit`](crate::json::is_fit)), and handed on as it is written.
    AsWritten,
    /// This is handed on in its place.
    As(Box<JsonText>),
    /// It is to be looked at.
    Unknown,
}

impl LazyDefinition {
    /// One whose schema stays text until somebody looks into it.
    pub fn written(description: impl Into<String>, schema: JsonText, fit: Fit) -> Self {
        let written = Written { description: description.into(), schema, fit };
        Self { source: Source::Written(written), made: OnceLock::new() }
    }

    pub(super) fn declared(make: fn() -> Definition) -> Self {
        Self { source: Source::Declared(make), made: OnceLock::new() }
    }

    pub(super) fn get(&self) -> &Definition {
        self.made.get_or_init(|| {
            Box::new(match &self.source {
                Source::Declared(make) => make(),
                Source::Written(Written { description, schema, .. }) => {
                    Definition { description: description.clone(), parameters: schema.value().clone() }
                }
            })
        })
    }

    pub(super) fn description(&self) -> &str {
        match &self.source {
            Source::Written(written) => &written.description,
            Source::Declared(_) => &self.get().description,
        }
    }

    /// The schema as text, where that is what a provider with this dialect wants.
    pub(super) fn fit_schema(&self, dialect: Dialect) -> Option<&str> {
        match &self.source {
            Source::Written(Written { schema, fit, .. }) if dialect == Dialect::Lenient => match fit {
                Fit::AsWritten => schema.written(),
                Fit::As(other) => other.written(),
                Fit::Unknown => None,
            },
            _ => None,
        }
    }
}

impl From<Definition> for LazyDefinition {
    fn from(definition: Definition) -> Self {
        // Never made: it is there.
        let make = || Definition { description: String::new(), parameters: Value::Null };
        Self { source: Source::Declared(make), made: OnceLock::from(Box::new(definition)) }
    }
}
