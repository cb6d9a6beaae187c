//! What a model is told about a tool, made when somebody first looks at it: a start that lists nothing pays
//! nothing.

use std::sync::OnceLock;

use serde_json::Value;

/// Description and parameters as the model will see them.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What the tool is for.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A definition, or how to make it.
pub struct LazyDefinition {
    make: Make,
    made: OnceLock<Definition>,
}

enum Make {
    Declared(fn() -> Definition),
    Given(Box<dyn Fn() -> Definition + Send + Sync>),
}

impl LazyDefinition {
    /// One that `make` makes when it is first wanted.
    pub fn later(make: impl Fn() -> Definition + Send + Sync + 'static) -> Self {
        Self { make: Make::Given(Box::new(make)), made: OnceLock::new() }
    }

    pub(super) fn declared(make: fn() -> Definition) -> Self {
        Self { make: Make::Declared(make), made: OnceLock::new() }
    }

    pub(super) fn get(&self) -> &Definition {
        self.made.get_or_init(|| match &self.make {
            Make::Declared(make) => make(),
            Make::Given(make) => make(),
        })
    }
}

impl From<Definition> for LazyDefinition {
    fn from(definition: Definition) -> Self {
        // Never made: it is there.
        let make = || Definition { description: String::new(), parameters: Value::Null };
        Self { make: Make::Declared(make), made: OnceLock::from(definition) }
    }
}
