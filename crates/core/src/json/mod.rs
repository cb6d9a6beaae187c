//! What happens to the JSON between a model and a tool, as pure functions.
//!
//! On the way in, the text of the arguments is read and mended ([`parse_arguments`]), brought to
//! the types of the tool's schema ([`coerce`]) and checked ([`validate`]). On the way out, the
//! schema is derived from the argument type ([`derived`]) and made fit for a provider
//! ([`sanitize`]).
//!
//! | file | holds |
//! |---|---|
//! | `repair` | text of a call's arguments → an object, with what had to be done to it |
//! | `lenient` | the forgiving reader behind `repair`, `quoted` its strings |
//! | `coerce` | arguments → the types the schema asks for, nothing lost |
//! | `validate` | arguments, and other values, against a schema, with the path of what is wrong; `violation` its words |
//! | `sanitize` | any schema → one a provider accepts |
//! | `derive` | a Rust type → description and schema |
//! | `text` | JSON that is read when somebody looks into it |
//! | `keywords` | where a schema holds other schemas |
//! | `schema`, `number` | what the others share: references, exact numbers |

mod coerce;
mod derive;
pub mod keywords;
mod lenient;
mod number;
mod quoted;
mod repair;
mod sanitize;
mod schema;
mod text;
mod validate;
mod violation;

pub use coerce::coerce;
pub use derive::{Derived, derived};
pub use repair::{Parsed, Problem, RepairError, exact, parse_arguments};
pub use sanitize::{Dialect, FIT_RULES, is_fit, sanitize};
pub use schema::referred;
pub use text::JsonText;
pub use validate::{misfit, validate};
pub use violation::Violation;
