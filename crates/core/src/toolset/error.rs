//! Why a selection could not be made.

use super::UnknownName;

/// Why a selection could not be made. Nothing is selected then: a typo must not turn into
/// more tools, or fewer, than somebody asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// Names that are neither a toolset nor a tool, all of them.
    #[error("in the list of toolsets, {}", join(.0))]
    Unknown(Vec<UnknownName>),
    /// No such platform.
    #[error("platform {0}")]
    Platform(UnknownName),
    /// A toolset that works on other platforms only was named.
    #[error("toolset `{toolset}` does not work on `{platform}`, only on {}", .only_on.join(", "))]
    Elsewhere {
        /// The toolset.
        toolset: String,
        /// Where it was asked for.
        platform: String,
        /// Where it works.
        only_on: Vec<String>,
    },
    /// A list that only leaves things out, of nothing.
    #[error(
        "the list for `{platform}` only leaves things out; put `{preset}` in front to start from what it gets by default"
    )]
    NothingToLeaveOutOf {
        /// Whose list it is.
        platform: String,
        /// What the platform gets without a list.
        preset: String,
    },
}

fn join(names: &[UnknownName]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
