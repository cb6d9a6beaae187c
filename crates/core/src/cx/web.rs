//! The network, as far as one call may use it.

use super::ToolCx;
use crate::error::ToolError;
use crate::permit::{Connect, Permit};
use crate::web::{Dial, Reach, Web, WebError, WebReply, WebRequest, WebSocket, Wire};

/// The network behind the permits of one call.
#[derive(Clone, Copy)]
pub struct PermittedWeb<'a> {
    pub(super) cx: &'a ToolCx,
    pub(super) web: &'a dyn Web,
}

impl PermittedWeb<'_> {
    /// Judges an address that somebody else is to fetch for this call, by the rules for our own requests.
    pub fn judge(&self, url: &str) -> Result<(), ToolError> {
        Ok(self.web.judge(url)?)
    }

    /// Asks a declared host, and reads the whole answer.
    pub async fn fetch(&self, request: WebRequest) -> Result<WebReply, ToolError> {
        let permit = self.permit(&request.url, request.reach)?;
        let answer = std::pin::pin!(self.web.fetch(permit, request));
        self.unless_cancelled(answer).await
    }

    /// Opens a web socket to a declared host.
    pub async fn socket(&self, request: WebRequest) -> Result<WebSocket, ToolError> {
        let permit = self.permit(&request.url, request.reach)?;
        let answer = std::pin::pin!(self.web.socket(permit, request));
        self.unless_cancelled(answer).await
    }

    /// Opens a connection to a declared service, for a protocol of its own.
    pub async fn connect(&self, dial: Dial) -> Result<Box<dyn Wire>, ToolError> {
        let permit = self.cx.may_connect(dial.service)?;
        let answer = std::pin::pin!(self.web.connect(permit, dial));
        self.unless_cancelled(answer).await
    }

    fn permit(&self, url: &str, reach: Reach) -> Result<Permit<Connect>, ToolError> {
        let no_host = || ToolError::Arguments(format!("{url:?} is no address"));
        self.cx.may_connect(&reach.declares(url).ok_or_else(no_host)?)
    }

    async fn unless_cancelled<T>(
        &self,
        answer: impl Future<Output = Result<T, WebError>> + Unpin,
    ) -> Result<T, ToolError> {
        let stopped = std::pin::pin!(self.cx.cancelled().cancelled());
        match futures::future::select(answer, stopped).await {
            futures::future::Either::Left((answer, _)) => answer.map_err(ToolError::from),
            futures::future::Either::Right(_) => Err(ToolError::Cancelled),
        }
    }
}
