//! A gate that another program's connections go through: it asks a rule about every host, and about
//! every address at the moment of connecting.
//!
//! It speaks SOCKS 5, because then names are looked up here and nowhere else, and one kind of
//! connection carries whatever is said over it: pages, encrypted or not, web sockets, workers.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional_with_sizes};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::connect::AddressRule;
use crate::http::{Http, HttpError};
use crate::listen::Listener;
use crate::url::Url;

/// Says why a host and port must not be reached, or which of its addresses may be.
pub type GateRule = Arc<dyn Fn(&str, u16) -> Result<AddressRule, String> + Send + Sync>;

/// Connections at once; who comes after that waits.
const MOST: usize = 512;

/// Longest wait for a client to say where it wants to go, and for a server to be reached.
const GREETING: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(30);

/// Bytes that are carried at a time.
const PIECE: usize = 32 * 1024;

/// Refusals that are remembered until somebody asks.
const REMEMBERED: usize = 32;

/// The version of the protocol, its way without a password, and its command to connect.
const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const CONNECT_TO: u8 = 1;

/// A gate on the loopback address.
pub struct Gate {
    listener: Listener,
    http: Http,
    rule: GateRule,
    refusals: Refusals,
}

/// What was not let through, in words. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Refusals(Arc<Mutex<VecDeque<String>>>);

impl Refusals {
    /// What was refused since this was last asked; the same thing twice is told once.
    pub fn take(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }

    fn add(&self, words: String) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.contains(&words) {
            if list.len() >= REMEMBERED {
                list.pop_front();
            }
            list.push_back(words);
        }
    }
}

/// How a request to connect is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Connected = 0,
    Refused = 2,
    Unreachable = 4,
    WrongCommand = 7,
    WrongAddress = 8,
}

impl Gate {
    /// Opens it on a free port. Must be called inside of an async runtime.
    pub async fn open(http: Http, rule: GateRule) -> io::Result<Self> {
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
        Ok(Self { listener, http, rule, refusals: Refusals::default() })
    }

    /// Where it is.
    pub fn port(&self) -> u16 {
        self.listener.address().port()
    }

    /// What it refuses.
    pub fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Lets through what may pass, for as long as this is waited for. All connections end with it.
    pub async fn serve(self) {
        let mut open = FuturesUnordered::new();
        loop {
            if open.is_empty() {
                open.push(self.pass(self.listener.accept().await));
            }
            let has_room = open.len() < MOST;
            let come = std::pin::pin!(async {
                if has_room { self.listener.accept().await } else { std::future::pending().await }
            });
            if let Either::Left((stream, _)) = select(come, open.next()).await {
                open.push(self.pass(stream));
            }
        }
    }

    /// Carries one connection to its end.
    async fn pass(&self, mut client: TcpStream) {
        let Ok(Ok((host, port))) = timeout(GREETING, wanted(&mut client)).await else { return };
        let (answer, server) = match self.reach(&host, port).await {
            Ok(server) => (Answer::Connected, Some(server)),
            Err(HttpError::Refused { why, .. }) => {
                self.refusals.add(format!("{host}:{port}: {why}"));
                (Answer::Refused, None)
            }
            Err(_) => (Answer::Unreachable, None),
        };
        if tell(&mut client, answer).await.is_ok()
            && let Some(mut server) = server
        {
            // Either side may break off at any time; that ends both.
            let _ = copy_bidirectional_with_sizes(&mut client, &mut server, PIECE, PIECE).await;
        }
    }

    async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, HttpError> {
        let refused = |why: String| HttpError::Refused { host: host.to_owned(), why };
        let rule = (self.rule)(host, port).map_err(refused)?;
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        // Only the port can tell whether it will be encrypted, which a proxy of the person's wants to know.
        let scheme = if port == 80 { "http" } else { "https" };
        let url = Url::parse(&format!("{scheme}://{host}:{port}/"))
            .ok_or_else(|| HttpError::BadRequest(format!("{host} is no host")))?;
        self.http.bare_stream(&url, CONNECT, &rule).await
    }
}

/// Where a client wants to go.
async fn wanted(client: &mut TcpStream) -> io::Result<(String, u16)> {
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let [version, ways] = bytes(client).await?;
    if version != VERSION {
        return Err(bad());
    }
    let mut offered = vec![0; usize::from(ways)];
    client.read_exact(&mut offered).await?;
    if !offered.contains(&NO_PASSWORD) {
        return Err(bad());
    }
    client.write_all(&[VERSION, NO_PASSWORD]).await?;
    let [version, command, _, kind] = bytes(client).await?;
    let host = match kind {
        1 => Ipv4Addr::from(bytes::<4>(client).await?).to_string(),
        4 => Ipv6Addr::from(bytes::<16>(client).await?).to_string(),
        3 => {
            let mut name = vec![0; usize::from(client.read_u8().await?)];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).map_err(|_| bad())?.trim_matches(['[', ']']).to_ascii_lowercase()
        }
        _ => {
            tell(client, Answer::WrongAddress).await?;
            return Err(bad());
        }
    };
    let port = client.read_u16().await?;
    if (version, command) != (VERSION, CONNECT_TO) {
        tell(client, Answer::WrongCommand).await?;
        return Err(bad());
    }
    Ok((host, port))
}

async fn bytes<const N: usize>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn tell(client: &mut TcpStream, answer: Answer) -> io::Result<()> {
    client.write_all(&[VERSION, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::HttpSettings;

    /// A gate that lets only this port pass, and only by this address.
    async fn gate(port: u16, address: IpAddr) -> Gate {
        let rule: GateRule = Arc::new(move |host, wanted| {
            if wanted != port {
                return Err(format!("not {wanted}"));
            }
            let host = host.to_owned();
            Ok(Arc::new(move |ip| (ip != address).then(|| format!("{host} is {ip}"))))
        });
        Gate::open(Http::new(HttpSettings::default()), rule).await.unwrap()
    }

    /// Asks the gate for a connection; its answer, and what came over the connection.
    async fn ask(gate: u16, target: &[u8], port: u16) -> (u8, Vec<u8>) {
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate)).await.unwrap();
        client.write_all(&[5, 1, 0]).await.unwrap();
        assert_eq!(bytes::<2>(&mut client).await.unwrap(), [5, 0]);
        let request = [&[5, 1, 0], target, &port.to_be_bytes()].concat();
        client.write_all(&request).await.unwrap();
        let answer = bytes::<10>(&mut client).await.unwrap()[1];
        let mut said = Vec::new();
        if answer == 0 {
            client.write_all(b"hello").await.unwrap();
            client.shutdown().await.unwrap();
            client.read_to_end(&mut said).await.unwrap();
        }
        (answer, said)
    }

    fn name(host: &str) -> Vec<u8> {
        [&[3, u8::try_from(host.len()).unwrap()], host.as_bytes()].concat()
    }

    #[tokio::test]
    async fn only_what_the_rule_lets_through_is_reached() {
        let server = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let port = server.address().port();
        let gate = gate(port, Ipv4Addr::LOCALHOST.into()).await;
        let (at, refusals) = (gate.port(), gate.refusals());
        let echo = async {
            loop {
                let mut stream = server.accept().await;
                let (mut read, mut write) = stream.split();
                tokio::io::copy(&mut read, &mut write).await.unwrap();
            }
        };
        let asking = async {
            assert_eq!(ask(at, &[1, 127, 0, 0, 1], port).await, (0, b"hello".to_vec()));
            assert_eq!(ask(at, &name("127.0.0.1"), port).await, (0, b"hello".to_vec()));
            assert_eq!(ask(at, &name("127.0.0.1"), 9).await.0, 2);
            // One of its two addresses is not let through, and so neither is.
            assert_eq!(ask(at, &name("localhost"), port).await.0, 2);
            assert_eq!(ask(at, &[9, 1], port).await.0, 8);
        };

        let served = std::pin::pin!(futures::future::join(gate.serve(), echo));
        let asked = std::pin::pin!(asking);
        assert!(matches!(select(served, asked).await, Either::Right(_)));

        let told = refusals.take();
        assert_eq!(told, ["127.0.0.1:9: not 9", &format!("localhost:{port}: localhost is ::1")]);
        assert!(refusals.take().is_empty());
    }

    #[tokio::test]
    async fn a_client_that_speaks_something_else_is_sent_away() {
        let gate = gate(80, Ipv4Addr::LOCALHOST.into()).await;
        let at = gate.port();
        let asking = async {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, at)).await.unwrap();
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            let mut said = Vec::new();
            // Closed with words unread, it may also be reset.
            let _ = client.read_to_end(&mut said).await;
            assert!(said.is_empty());
        };

        let served = std::pin::pin!(gate.serve());
        let asked = std::pin::pin!(asking);
        assert!(matches!(select(served, asked).await, Either::Right(_)));
    }
}
