//! Where a schema holds other schemas, and which types there are: the one table for all who walk through one.

/// The types a schema can name.
pub const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Keywords whose value is one schema.
pub const ONE: [&str; 9] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas. A list in `items` is the older spelling of
/// `prefixItems`.
pub const LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];

/// Keywords whose value maps names to schemas.
pub const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
