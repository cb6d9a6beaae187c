//! Logins that last: what a service has given a person who agreed to it once, kept for the tools that act
//! for them there.
//!
//! What a login consists of only the service knows: an access token, a token to renew it with, the id of
//! the application. The composition root says where logins are kept.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

/// Keeps logins by the name of the service.
pub trait Logins: Send + Sync {
    /// What is kept for a service; nothing when nobody has logged in.
    fn login<'a>(&'a self, service: &'a str)
    -> BoxFuture<'a, Result<Option<Map<String, Value>>, LoginError>>;

    /// Puts these fields into what is kept for a service; a field that is null is taken out. All of
    /// them or none.
    fn renew<'a>(
        &'a self,
        service: &'a str,
        fields: Map<String, Value>,
    ) -> BoxFuture<'a, Result<(), LoginError>>;
}

/// Logins cannot be read, or not be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the logins cannot be used: {0}")]
pub struct LoginError(pub String);
