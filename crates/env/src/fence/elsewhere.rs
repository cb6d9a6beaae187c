//! Where there is no Linux there is no fence: nothing runs that was to run inside one.

use super::spec::Spec;

/// Why the fence is not up.
#[derive(Debug, thiserror::Error)]
#[error("only Linux can confine a process this way")]
pub(super) struct ApplyError;

pub(super) fn apply(_: &Spec) -> Result<(), ApplyError> {
    Err(ApplyError)
}

pub(super) fn landlock_abi() -> u8 {
    0
}

pub(super) fn filters_calls() -> bool {
    false
}
