//! What may run, as pure functions.
//!
//! [`judge`] reads a command the way a shell would, follows it to its [`Effect`]s, matches those
//! against [`rules`] and the user's own, and answers with a [`Judgement`]. [`decide`] turns a
//! judgement, the [`Mode`] and the [`Grants`] into what happens next. Nothing here reads a file,
//! a clock or the environment: the caller says where the command would run. [`paths`] and [`urls`]
//! are the policies for file access and for addresses, [`redact`] takes secrets out of text.
//!
//! ```
//! use hermes_guard::{Context, Verdict, judge};
//!
//! let context = Context::new("/work/project", "/home/me");
//! assert_eq!(judge("cargo test", &context).verdict, Verdict::Allow);
//! assert_eq!(judge("x=rm; $x -r src", &context).verdict, Verdict::Ask);
//! assert!(judge("echo cm0gLXJmIC8= | base64 -d | sh", &context).never);
//! ```

#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are compared as the system does, and there case matters"
)]
#![expect(clippy::match_same_arms, reason = "the tables are grouped by meaning, not by result")]

mod effect;
mod grants;
mod judge;
mod mode;
pub mod paths;
mod place;
mod places;
mod programs;
mod rebuilt;
pub mod redact;
mod reveal;
pub mod rules;
mod shell;
pub mod urls;
mod user_rules;
mod walk;
mod wildcards;

pub use effect::{Effect, How, Kind, Span, Target};
pub use grants::{Grant, Grants};
pub use judge::{Context, Finding, Judgement, Verdict, judge, steps};
pub use mode::{Decision, Mode, decide};
pub use place::Place;
pub use rules::{Hold, Rule};
pub use user_rules::{RuleFault, UserRule, UserRules};
pub use walk::glob_matches;
