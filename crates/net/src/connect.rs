//! Opens a connection: addresses, proxy, encryption, in this order.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::http::{HttpError, HttpSettings};
use crate::names::Names;
use crate::tls::{Tls, TlsError, Trust};
use crate::url::Url;

/// The next address of a host is tried when the one before has not answered for so long.
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// Longest answer of a proxy to `CONNECT`.
const MAX_PROXY_ANSWER: usize = 16 * 1024;

/// Says why an address must not be connected to; `None` lets it be.
pub type AddressRule = Arc<dyn Fn(IpAddr) -> Option<String> + Send + Sync>;

/// An open connection, encrypted or not.
pub type NetStream = Box<dyn Duplex>;

/// Bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// What is spoken over a connection; an encrypted one agrees on it at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    /// Something that is agreed on in another way.
    Other,
}

impl Protocol {
    /// What it is called when it is agreed on.
    pub(crate) fn name(self) -> Option<&'static [u8]> {
        match self {
            Self::Http1 => Some(b"http/1.1"),
            Self::Http2 => Some(b"h2"),
            Self::Other => None,
        }
    }
}

/// Why there is no connection.
enum Fault {
    Refused(String),
    Failed(String),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// Opens a connection to `url`.
pub(crate) async fn open(
    tls: &Tls,
    settings: &HttpSettings,
    url: &Url,
    limit: Duration,
    rule: Option<&AddressRule>,
    protocol: Protocol,
) -> Result<NetStream, HttpError> {
    let work = async {
        let tcp = || tcp(settings, url, rule);
        if !url.tls {
            return Ok(Box::new(tcp().await?) as NetStream);
        }
        match tls.over(tcp().await?, &url.host, Trust::Usual, protocol).await {
            Ok(stream) => Ok(Box::new(stream) as NetStream),
            Err(TlsError::UnknownIssuer) => {
                match tls.over(tcp().await?, &url.host, Trust::Machine, protocol).await {
                    Ok(stream) => Ok(Box::new(stream) as NetStream),
                    Err(TlsError::UnknownIssuer) => {
                        Err(Fault::Failed("its certificate comes from no trusted authority".into()))
                    }
                    Err(TlsError::Failed(why)) => Err(Fault::Failed(why)),
                }
            }
            Err(TlsError::Failed(why)) => Err(Fault::Failed(why)),
        }
    };
    within(limit, url, work).await
}

/// Opens a connection to `url` and says nothing over it.
pub(crate) async fn bare(
    settings: &HttpSettings,
    url: &Url,
    limit: Duration,
    rule: &AddressRule,
) -> Result<TcpStream, HttpError> {
    within(limit, url, tcp(settings, url, Some(rule))).await
}

async fn within<T>(
    limit: Duration,
    url: &Url,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, HttpError> {
    let unreachable = |why: String| HttpError::Unreachable { host: url.authority(), why };
    match timeout(limit, work).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(Fault::Refused(why))) => Err(HttpError::Refused { host: url.host.clone(), why }),
        Ok(Err(Fault::Failed(why))) => Err(unreachable(why)),
        Err(_) => Err(unreachable(format!("no connection within {} s", limit.as_secs_f32()))),
    }
}

/// A bare connection, through the proxy where there is one.
async fn tcp(settings: &HttpSettings, url: &Url, rule: Option<&AddressRule>) -> Result<TcpStream, Fault> {
    match &settings.proxy.proxy_for(url) {
        Some(proxy) => tunnel(&settings.names, proxy, url, rule).await,
        None => dial(&settings.names, url, rule).await,
    }
}

/// Encrypts an open connection from here on, for a protocol other than http.
pub(crate) async fn encrypt(tls: &Tls, stream: NetStream, host: &str) -> Result<NetStream, HttpError> {
    let failed = |why: String| HttpError::Unreachable { host: host.to_owned(), why };
    match tls.over(stream, host, Trust::Machine, Protocol::Other).await {
        Ok(stream) => Ok(Box::new(stream) as NetStream),
        Err(TlsError::UnknownIssuer) => Err(failed("its certificate comes from no trusted authority".into())),
        Err(TlsError::Failed(why)) => Err(failed(why)),
    }
}

/// Connects to the first address of the host that answers. The name is looked up once: what was checked is
/// what is connected to, by number.
async fn dial(names: &Names, url: &Url, rule: Option<&AddressRule>) -> Result<TcpStream, Fault> {
    let mut addresses = checked(addresses(names, url).await?, rule)?.into_iter();
    let mut tries = FuturesUnordered::new();
    let mut last = String::from("the host has no address");
    loop {
        match addresses.next() {
            Some(address) => tries.push(TcpStream::connect(address)),
            None if tries.is_empty() => return Err(Fault::Failed(last)),
            None => {}
        }
        let more = addresses.len() > 0;
        let wait = async { if more { sleep(NEXT_ADDRESS).await } else { std::future::pending().await } };
        futures::pin_mut!(wait);
        match futures::future::select(tries.next(), wait).await {
            futures::future::Either::Left((Some(Ok(stream)), _)) => {
                // Requests are written whole; waiting for more to send would only delay them.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            futures::future::Either::Left((Some(Err(error)), _)) => last = plain(&error),
            futures::future::Either::Left((None, _)) | futures::future::Either::Right(_) => {}
        }
    }
}

/// The addresses as they are, or a refusal when the rule is against any of them: a name that points
/// both outward and inward is not to be trusted with either.
fn checked(found: Vec<SocketAddr>, rule: Option<&AddressRule>) -> Result<Vec<SocketAddr>, Fault> {
    let against = rule.and_then(|rule| found.iter().find_map(|address| rule(address.ip())));
    against.map_or(Ok(found), |why| Err(Fault::Refused(why)))
}

/// The addresses of a host. `localhost` and addresses need no resolver, which would be a thread.
async fn addresses(names: &Names, url: &Url) -> Result<Vec<SocketAddr>, String> {
    if let Some(ip) = url.ip() {
        let mut found = vec![SocketAddr::new(ip, url.port)];
        if url.host == "localhost" {
            found.push(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), url.port));
        }
        return Ok(found);
    }
    let found = names.look_up(&url.host, url.port).await;
    Ok(interleave(found.map_err(|_| "the host name is not known".to_owned())?))
}

/// IPv6 and IPv4 in turns, so that one broken family delays little.
fn interleave(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (a, b): (Vec<_>, Vec<_>) = found.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut mixed = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return mixed,
            (left, right) => mixed.extend(left.into_iter().chain(right)),
        }
    }
}

/// Has a proxy open a connection to the host.
async fn tunnel(
    names: &Names,
    proxy: &Url,
    url: &Url,
    rule: Option<&AddressRule>,
) -> Result<TcpStream, Fault> {
    // The proxy looks the name up by itself; what this machine finds under it is checked at least.
    if rule.is_some() {
        checked(addresses(names, url).await?, rule)?;
    }
    let named = |why: String| Fault::Failed(format!("proxy {}: {why}", proxy.host));
    if proxy.tls {
        return Err(named("proxies are spoken to in plain http only".into()));
    }
    let mut stream = dial(names, proxy, None).await?;
    connect_through(&mut stream, proxy, url).await.map_err(named)?;
    Ok(stream)
}

async fn connect_through(stream: &mut TcpStream, proxy: &Url, url: &Url) -> Result<(), String> {
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let target = format!("{host}:{}", url.port);
    let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
    if let Some(user) = &proxy.user {
        head.push_str("Proxy-Authorization: Basic ");
        head.push_str(&STANDARD.encode(user));
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.map_err(|error| plain(&error))?;
    let mut answer = Vec::new();
    // Byte by byte: what follows the answer belongs to the encrypted connection.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() > MAX_PROXY_ANSWER {
            return Err("its answer is too long".into());
        }
        answer.push(stream.read_u8().await.map_err(|error| plain(&error))?);
    }
    let first = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
    match first.split(' ').nth(1) {
        Some(status) if status.starts_with('2') => Ok(()),
        _ => Err(format!("refused: {first}")),
    }
}

/// A system error in words without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text.get(..end).unwrap_or(&text).to_lowercase()
}
