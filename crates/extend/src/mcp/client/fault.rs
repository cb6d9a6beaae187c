//! What went wrong with a request over the network, and what that means for it: whether it may have run.

use hermes_net::HttpError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};

use crate::mcp::oauth::OAuthError;

pub(super) type Fault = StreamableHttpError<NetFault>;

/// What went wrong below the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetFault {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    #[error("{0}")]
    Odd(String),
    /// It was sent, and nothing that came back answers it.
    #[error("{0}")]
    Unanswered(String),
}

/// What became of a request that failed.
pub(super) enum Fate {
    /// It never left.
    NotSent(String),
    /// It left, and nobody knows more.
    Lost(String),
    /// Somebody has to log in.
    Login(String),
    /// The server would not take it.
    Refused(String),
}

/// What an error of a transport means for the request.
pub(super) fn fate(error: &DynamicTransportError) -> Fate {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(current) = cause {
        if current.is::<AuthRequiredError>() || current.is::<InsufficientScopeError>() {
            return Fate::Login("it does not know who asks, or that is not enough".to_owned());
        }
        if let Some(fault) = current.downcast_ref::<Fault>() {
            return of_fault(fault);
        }
        if let Some(fault) = current.downcast_ref::<NetFault>() {
            return of_net(fault);
        }
        cause = current.source();
    }
    Fate::Lost(error.error.to_string())
}

pub(super) fn of_fault(fault: &Fault) -> Fate {
    match fault {
        StreamableHttpError::Client(net) => of_net(net),
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            Fate::Login("it does not know who asks, or that is not enough".to_owned())
        }
        StreamableHttpError::HttpStatus(status) if status.status == 429 => {
            Fate::Refused("it is asked too often (HTTP 429)".to_owned())
        }
        // The SDK begins a new session and sends the request once more; none of them was taken.
        StreamableHttpError::SessionExpired => {
            Fate::Refused("it knows neither the session nor a new one that was begun for this".to_owned())
        }
        StreamableHttpError::HttpStatus(status) => Fate::Lost(format!("HTTP {}", status.status)),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            Fate::Refused(text.chars().take(300).collect())
        }
        StreamableHttpError::UnexpectedContentType(kind) => Fate::Refused(format!(
            "it answers with {}, which is not MCP",
            kind.as_deref().unwrap_or("something")
        )),
        other => Fate::Lost(other.to_string()),
    }
}

fn of_net(fault: &NetFault) -> Fate {
    match fault {
        NetFault::Http(
            error @ (HttpError::Unreachable { .. } | HttpError::Refused { .. } | HttpError::BadRequest(_)),
        ) => Fate::NotSent(error.to_string()),
        NetFault::Http(error) => Fate::Lost(error.to_string()),
        NetFault::Unanswered(why) => Fate::Lost(why.clone()),
        NetFault::OAuth(error) => Fate::Login(error.to_string()),
        NetFault::Odd(why) => Fate::Refused(why.clone()),
    }
}
