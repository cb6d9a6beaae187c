//! Waits on this machine for the one request that a browser makes when a person has logged in
//! somewhere.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Longest request that is read.
const MAX_REQUEST: usize = 16 * 1024;

/// A door on the loopback address.
pub struct Callback {
    listener: TcpListener,
    port: u16,
}

impl Callback {
    /// Opens it, on this port or on any. Must be called inside the runtime.
    pub async fn open(port: Option<u16>) -> Result<Self, String> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
        let listener = TcpListener::bind(address).await.map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        Ok(Self { listener, port })
    }

    /// Where it is.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for a request to `path` and answers it with `page`; its path and query.
    pub async fn wait(&self, path: &str, page: &str) -> Result<String, String> {
        loop {
            let (mut stream, _) = self.listener.accept().await.map_err(|error| error.to_string())?;
            let Some(target) = target(&mut stream).await else { continue };
            let meant = target.split('?').next() == Some(path);
            let (status, body) = if meant { ("200 OK", page) } else { ("404 Not Found", "Not here.") };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            // The browser may be gone already; what it brought counts.
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
            if meant {
                return Ok(target);
            }
        }
    }
}

/// Path and query of a request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = tokio::time::timeout(std::time::Duration::from_secs(5), stream.read(&mut piece));
        let count = read.await.ok()?.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(piece.get(..count)?);
        if head.len() > MAX_REQUEST {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut words = text.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use crate::{Call, Http, HttpSettings, Limits, Url};
    use std::time::Duration;

    use super::Callback;

    #[tokio::test]
    async fn only_the_request_that_is_waited_for_ends_the_wait() {
        let door = Callback::open(None).await.unwrap();
        let http = Http::new(HttpSettings::default());
        let limits = Limits {
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(9),
        };
        let base = format!("http://127.0.0.1:{}", door.port());
        let ask = async {
            let other = Url::parse(&format!("{base}/favicon.ico")).unwrap();
            assert_eq!(http.send(Call::get(&other, limits)).await.unwrap().status, 404);
            let meant = Url::parse(&format!("{base}/callback?code=1&state=2")).unwrap();
            assert_eq!(http.send(Call::get(&meant, limits)).await.unwrap().status, 200);
        };

        let (brought, ()) = futures::join!(door.wait("/callback", "done"), ask);

        assert_eq!(brought.unwrap(), "/callback?code=1&state=2");
    }
}
