//! Policies as a function of the test.

use hermes_core::policy::{Policy, PolicyRequest, Verdict};

/// A policy made from a function.
pub struct Judged<F>(F);

/// Judges with this function.
pub fn judged<F: Fn(&PolicyRequest<'_>) -> Verdict + Send + Sync>(judge: F) -> Judged<F> {
    Judged(judge)
}

/// Allows everything.
pub fn allow() -> impl Policy + 'static {
    judged(|_| Verdict::Allow)
}

impl<F: Fn(&PolicyRequest<'_>) -> Verdict + Send + Sync> Policy for Judged<F> {
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict {
        (self.0)(request)
    }
}
