//! The network as tools reach it: the guard's rules for addresses in front of the one door.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, UNIX_EPOCH};

use futures::future::BoxFuture;
use futures::lock::Mutex;
use hermes_core::permit::{Connect, Permit};
use hermes_core::web::{
    Dial, Reach, SocketMessage, SocketReceiver, SocketSender, Web, WebError, WebReply, WebRequest, WebSocket,
    Wire,
};
use hermes_guard::urls::{self, UrlPolicy};
use hermes_net::{AddressRule, Call, Frame, Http, HttpError, Limits, Method, Reply, Url};

use crate::host::Machine;
use crate::inside::Inside;
use crate::sites::url_policy;
use crate::unpack::unpacked;
use crate::world::World;

/// Longest wait for a connection, and for the next bytes.
const CONNECT: Duration = Duration::from_secs(15);
const IDLE: Duration = Duration::from_mins(1);

/// How we introduce ourselves where a tool does not.
const AGENT: &str = concat!("hermes/", env!("CARGO_PKG_VERSION"));

/// Headers that carry a secret, and are not taken along to another host.
const SECRET_HEADERS: [&str; 4] = ["authorization", "cookie", "x-api-key", "proxy-authorization"];

/// The network, by the rules of this world.
pub(crate) struct WorldWeb {
    world: Arc<RwLock<World>>,
    machine: Arc<Machine>,
    http: OnceLock<Http>,
}

impl WorldWeb {
    pub(crate) fn new(world: Arc<RwLock<World>>, machine: Arc<Machine>) -> Self {
        Self { world, machine, http: OnceLock::new() }
    }

    /// Work with sockets, inside of the runtime they belong to.
    pub(crate) fn inside<'a, T: Send + 'a>(
        &'a self,
        work: impl Future<Output = Result<T, WebError>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, WebError>> {
        inside(&self.machine, work)
    }

    pub(crate) fn http(&self) -> &Http {
        self.http.get_or_init(|| {
            let world = self.world.read().unwrap_or_else(PoisonError::into_inner);
            Http::from_env(|name| world.variable(name).map(str::to_owned))
        })
    }

    fn rules(&self) -> Arc<UrlPolicy> {
        let world = self.world.read().unwrap_or_else(PoisonError::into_inner);
        Arc::new(url_policy(&world))
    }

    /// Asks, and reads the whole answer. Whether it may be asked was decided before.
    pub(crate) fn exchange(&self, request: WebRequest) -> BoxFuture<'_, Result<WebReply, WebError>> {
        self.inside(async move {
            let whole = hermes_net::within(request.timeout, async {
                let (mut reply, url) = self.ask(&request).await?;
                // One byte more than wanted tells whether there was more.
                let mut body = reply.read(request.max_bytes.saturating_add(1)).await.map_err(told)?;
                let mut cut = body.len() > request.max_bytes;
                body.truncate(request.max_bytes);
                let encoding = reply.header("content-encoding").unwrap_or_default();
                if let Some((whole, more)) =
                    unpacked(encoding, &body, request.max_bytes).map_err(WebError::Failed)?
                {
                    (body, cut) = (whole, cut || more);
                }
                Ok(WebReply { body, cut, ..head(&reply, &url) })
            });
            whole.await.unwrap_or_else(|| Err(too_long(&request)))
        })
    }

    /// Opens a connection. Whether it may be opened was decided before.
    pub(crate) fn dial(&self, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        self.inside(async move {
            let wire = self.http().wire(&dial.host, dial.port, dial.encrypted, dial.timeout).await;
            let opened = Machine::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
            let machine = Arc::clone(&self.machine);
            Ok(Box::new(Line { wire: wire.map_err(told)?, opened, machine }) as Box<dyn Wire>)
        })
    }

    /// Asks, following redirects as far as they may be followed.
    async fn ask(&self, request: &WebRequest) -> Result<(Reply, Url), WebError> {
        let rules = self.rules();
        let mut here = Here::at(request, &rules)?;
        let mut headers = request.headers.clone();
        let mut left = request.redirects;
        loop {
            let idle = if here.judged.is_some() { IDLE } else { request.timeout };
            let limits = Limits { connect: CONNECT.min(request.timeout), idle, total: request.timeout };
            let mut call = Call::post(&here.url, request.body.clone(), limits)
                .method(Method::from_bytes(request.method.as_bytes()).unwrap_or(Method::GET))
                .headers(with_agent(&headers));
            call.rule = here.rule(&rules);
            // What sends, spends or changes something must not arrive twice.
            call.once = !is_repeatable(request.method);
            let reply = self.http().send(call).await.map_err(told)?;
            let location = reply.status.is_redirection().then(|| reply.header("location")).flatten();
            let follows = request.redirects > 0 && is_repeatable(request.method);
            let Some(location) = location.filter(|_| follows) else {
                return Ok((reply, here.url));
            };
            left = left.checked_sub(1).ok_or_else(|| {
                let times = request.redirects;
                WebError::Failed(format!(
                    "{} leads on to other addresses more than {times} times",
                    request.url
                ))
            })?;
            if here.redirect(location, &rules)? {
                headers.retain(|(name, _)| !SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str()));
            }
        }
    }
}

/// Work with sockets, inside of the runtime they belong to.
fn inside<'a, T: Send + 'a>(
    machine: &Machine,
    work: impl Future<Output = Result<T, WebError>> + Send + 'a,
) -> BoxFuture<'a, Result<T, WebError>> {
    match machine.handle() {
        Some(runtime) => Box::pin(Inside { runtime, work: Box::pin(work) }),
        None => Box::pin(std::future::ready(Err(WebError::Failed(
            "the system gives us no threads to wait with".to_owned(),
        )))),
    }
}

/// A request whose answer may send us elsewhere without anything being done twice.
fn is_repeatable(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// Whether the permit is one for this request.
fn permitted(permit: &Permit<Connect>, request: &WebRequest) -> Result<(), WebError> {
    if request.reach.declares(&request.url).as_deref() == Some(permit.host()) {
        return Ok(());
    }
    let why = format!("the call was permitted to reach {} only", permit.host());
    Err(WebError::Refused { url: request.url.clone(), why })
}

/// Where a request stands.
struct Here {
    url: Url,
    /// The same as the guard reads it; a configured service is not judged.
    judged: Option<urls::Url>,
}

impl Here {
    fn at(request: &WebRequest, rules: &UrlPolicy) -> Result<Self, WebError> {
        let refused = |why: String| WebError::Refused { url: request.url.clone(), why };
        let judged = match request.reach {
            Reach::Configured(_) => None,
            Reach::Open => {
                let text = request.url.trim();
                let text =
                    text.strip_prefix("ws").map_or_else(|| text.to_owned(), |rest| format!("http{rest}"));
                Some(urls::judge_url(&text, rules).map_err(|why| refused(why.to_string()))?)
            }
        };
        let text = judged.as_ref().map_or_else(|| request.url.clone(), ToString::to_string);
        let url = Url::parse(&text).ok_or_else(|| refused("it is no http address".to_owned()))?;
        Ok(Self { url, judged })
    }

    /// Goes on to where a redirect leads; whether that is another place, which gets no secrets.
    fn redirect(&mut self, location: &str, rules: &UrlPolicy) -> Result<bool, WebError> {
        let refused = |why: String| WebError::Refused { url: location.to_owned(), why };
        let Some(from) = &self.judged else {
            let to = if location.starts_with('/') {
                self.url.with_path(location)
            } else {
                Url::parse(location).ok_or_else(|| refused("it is no http address".to_owned()))?
            };
            let same = (to.tls, &to.host, to.port) == (self.url.tls, &self.url.host, self.url.port);
            if !same {
                return Err(refused("a configured service may not send us to another host".to_owned()));
            }
            self.url = to;
            return Ok(false);
        };
        let redirect = urls::judge_redirect(from, location, rules).map_err(|why| refused(why.to_string()))?;
        self.url = Url::parse(&redirect.to.to_string())
            .ok_or_else(|| refused("it is no http address".to_owned()))?;
        self.judged = Some(redirect.to);
        Ok(redirect.drop_credentials)
    }

    /// What every address of the host must pass at the moment of connecting.
    fn rule(&self, rules: &Arc<UrlPolicy>) -> Option<AddressRule> {
        let host = self.judged.as_ref()?.host.clone();
        let rules = Arc::clone(rules);
        Some(Arc::new(move |address: IpAddr| {
            urls::judge_resolved(&host, address, &rules).err().map(|why| why.to_string())
        }))
    }
}

impl Web for WorldWeb {
    fn judge(&self, url: &str) -> Result<(), WebError> {
        Here::at(&WebRequest::get(url, Reach::Open), &self.rules()).map(drop)
    }

    fn fetch(
        &self,
        permit: Permit<Connect>,
        request: WebRequest,
    ) -> BoxFuture<'_, Result<WebReply, WebError>> {
        if let Err(refused) = permitted(&permit, &request) {
            return Box::pin(std::future::ready(Err(refused)));
        }
        self.exchange(request)
    }

    fn stream<'a>(
        &'a self,
        permit: Permit<Connect>,
        request: WebRequest,
        each: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<WebReply, WebError>> {
        self.inside(async move {
            permitted(&permit, &request)?;
            let asked = hermes_net::within(request.timeout, self.ask(&request)).await;
            let (mut reply, url) = asked.unwrap_or_else(|| Err(too_long(&request)))?;
            let mut left = request.max_bytes;
            while let Some(bytes) = reply.next().await.map_err(told)? {
                let piece = bytes.get(..left.min(bytes.len())).unwrap_or_default();
                each(piece);
                left -= piece.len();
                if piece.len() < bytes.len() {
                    return Ok(WebReply { cut: true, ..head(&reply, &url) });
                }
            }
            Ok(head(&reply, &url))
        })
    }

    fn socket(
        &self,
        permit: Permit<Connect>,
        request: WebRequest,
    ) -> BoxFuture<'_, Result<WebSocket, WebError>> {
        self.inside(async move {
            permitted(&permit, &request)?;
            let rules = self.rules();
            let here = Here::at(&request, &rules)?;
            let rule = here.rule(&rules);
            let opened = self
                .http()
                .socket(&here.url, &request.headers, request.timeout, request.max_bytes, rule.as_ref())
                .await;
            let socket = opened.map_err(told)?;
            Ok(WebSocket {
                sender: Arc::new(Sender(Mutex::new(socket.sender))),
                receiver: Box::new(Receiver(socket.receiver)),
            })
        })
    }

    fn connect(&self, permit: Permit<Connect>, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        if permit.host() != dial.service {
            let why = format!("the call was permitted to reach {} only", permit.host());
            return Box::pin(std::future::ready(Err(WebError::Refused { url: dial.host, why })));
        }
        self.dial(dial)
    }
}

struct Sender(Mutex<hermes_net::SocketSender>);

impl SocketSender for Sender {
    fn send(&self, text: String) -> BoxFuture<'_, Result<(), WebError>> {
        Box::pin(async move { self.0.lock().await.send(text).await.map_err(told) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.0.lock().await.close().await })
    }
}

struct Receiver(hermes_net::SocketReceiver);

impl SocketReceiver for Receiver {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, WebError>> {
        Box::pin(async move {
            let frame = self.0.next().await.map_err(told)?;
            Ok(frame.map(|frame| match frame {
                Frame::Text(text) => SocketMessage::Text(text),
                Frame::Binary(bytes) => SocketMessage::Binary(bytes),
            }))
        })
    }
}

/// A connection of another protocol, used inside of the runtime it belongs to.
struct Line {
    wire: hermes_net::Wire,
    opened: Duration,
    machine: Arc<Machine>,
}

impl Wire for Line {
    fn write(&mut self, bytes: Vec<u8>) -> BoxFuture<'_, Result<(), WebError>> {
        let machine = Arc::clone(&self.machine);
        inside(&machine, async move { self.wire.write(&bytes).await.map_err(told) })
    }

    fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, WebError>> {
        let machine = Arc::clone(&self.machine);
        inside(&machine, async move { self.wire.read().await.map_err(told) })
    }

    fn encrypt(&mut self) -> BoxFuture<'_, Result<(), WebError>> {
        let machine = Arc::clone(&self.machine);
        inside(&machine, async move { self.wire.encrypt().await.map_err(told) })
    }

    fn opened(&self) -> Duration {
        self.opened
    }
}

/// The answer without its body.
fn head(reply: &Reply, url: &Url) -> WebReply {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    WebReply {
        status: reply.status.as_u16(),
        url: url.text(),
        headers: reply
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value.as_bytes())))
            .collect(),
        body: Vec::new(),
        cut: false,
    }
}

fn with_agent(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut headers = headers.to_vec();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
        headers.push(("user-agent".to_owned(), AGENT.to_owned()));
    }
    headers
}

/// Redirects and all, it took longer than it may.
fn too_long(request: &WebRequest) -> WebError {
    WebError::TimedOut(format!("{} was not there after {} s", request.url, request.timeout.as_secs()))
}

fn told(error: HttpError) -> WebError {
    match error {
        HttpError::Refused { host, why } => WebError::Refused { url: host, why },
        HttpError::Stalled { .. } | HttpError::TooLong { .. } => WebError::TimedOut(error.to_string()),
        other => WebError::Failed(other.to_string()),
    }
}
