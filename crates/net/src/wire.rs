//! A connection for a protocol other than http: bytes both ways, encrypted from the start or later.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connect::NetStream;
use crate::http::{Http, HttpError};
use crate::url::Url;

/// Most bytes that are read at once.
const PIECE: usize = 8 * 1024;

/// An open connection. Dropping it closes it.
pub struct Wire {
    http: Http,
    host: String,
    /// Gone while it is being encrypted, and for good when that failed.
    stream: Option<NetStream>,
    limit: Duration,
}

impl Http {
    /// Connects to a host, through the proxy where there is one. Each step waits no longer than `limit`.
    pub async fn wire(
        &self,
        host: &str,
        port: u16,
        encrypted: bool,
        limit: Duration,
    ) -> Result<Wire, HttpError> {
        let host = host.trim().trim_matches(['[', ']']).to_ascii_lowercase();
        let url = Url { tls: false, host: host.clone(), port, path: "/".to_owned(), user: None };
        let stream = self.stream(&url, limit, None).await?;
        let mut wire = Wire { http: self.clone(), host, stream: Some(stream), limit };
        if encrypted {
            wire.encrypt().await?;
        }
        Ok(wire)
    }
}

impl Wire {
    /// Writes all of it.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), HttpError> {
        let (late, broken, limit) = (self.late(), self.broken(), self.limit);
        let stream = self.open()?;
        let work = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        timeout(limit, work).await.map_err(|_| late)?.map_err(|wrong| broken(&wrong))
    }

    /// The next bytes; none when the other side has closed.
    pub async fn read(&mut self) -> Result<Vec<u8>, HttpError> {
        let (late, broken, limit) = (self.late(), self.broken(), self.limit);
        let stream = self.open()?;
        let mut piece = vec![0; PIECE];
        let read = timeout(limit, stream.read(&mut piece)).await.map_err(|_| late)?;
        piece.truncate(read.map_err(|wrong| broken(&wrong))?);
        Ok(piece)
    }

    /// Encrypts from here on, and checks that the certificate is one of the host.
    pub async fn encrypt(&mut self) -> Result<(), HttpError> {
        let closed = self.closed();
        let stream = self.stream.take().ok_or(closed)?;
        self.stream = Some(self.http.encrypt(stream, &self.host, self.limit).await?);
        Ok(())
    }

    fn open(&mut self) -> Result<&mut NetStream, HttpError> {
        let closed = self.closed();
        self.stream.as_mut().ok_or(closed)
    }

    fn closed(&self) -> HttpError {
        HttpError::Broken { host: self.host.clone(), why: "it is closed".to_owned() }
    }

    fn late(&self) -> HttpError {
        HttpError::Stalled { host: self.host.clone(), after: self.limit }
    }

    fn broken(&self) -> impl Fn(&std::io::Error) -> HttpError + use<> {
        let host = self.host.clone();
        move |wrong| HttpError::Broken { host: host.clone(), why: wrong.to_string() }
    }
}
