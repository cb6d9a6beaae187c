//! From a configuration to a connection, and the questions every server is asked first.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_core::session::Place;
use rmcp::model::{
    ClientRequest, ErrorData, PingRequest, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::DynamicTransportError;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::{Stdio, Transport};
use super::handler::Client;
use super::known::Known;
use super::list::{self, Untold};
use super::log::Log;
use super::measured::Measured;
use super::server::{Inner, Live, Trouble};
use super::{fault, http, sse, stdio};
use crate::launch::{Consent, Keeper, LaunchError, Program};

pub(super) type Service = RunningService<RoleClient, Arc<Client>>;

/// How long a server has to answer which protocol it speaks; those who do not know the question may say
/// nothing at all.
const PROBE: Duration = Duration::from_secs(3);

/// Connects, and learns what the server offers. One that is put off by the first question, which asks for
/// the newest protocol, is asked again in the way that all servers knew before. `talks` says whether the first words
/// have gone well.
pub(super) async fn connect(
    server: &Inner,
    handle: Handle,
    talks: &AtomicBool,
) -> Result<(Live, Known), Trouble> {
    let mode = lifecycle(server);
    let probing = matches!(mode, ClientLifecycleMode::Auto { .. });
    let again = match attempt(server, handle.clone(), mode, talks).await {
        Err(Failed::AtFirstWords(_)) if probing => ClientLifecycleMode::Initialize,
        Err(Failed::OnlyLate(_)) if probing => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
        }
        done => return done.map_err(Failed::trouble),
    };
    attempt(server, handle, again, talks).await.map_err(Failed::trouble)
}

/// Why a connection could not be made.
enum Failed {
    /// The first words went wrong; others may do.
    AtFirstWords(Trouble),
    /// It was asked in the old way because it took its time, and only knows the new one.
    OnlyLate(Trouble),
    /// Other words would not help.
    For(Trouble),
}

impl Failed {
    fn trouble(self) -> Trouble {
        match self {
            Self::AtFirstWords(trouble) | Self::OnlyLate(trouble) | Self::For(trouble) => trouble,
        }
    }

    fn of(error: &ClientInitializeError, said: &str, probe: &Probe) -> Self {
        let trouble = remote_trouble(error, said);
        let unreachable =
            |error: &DynamicTransportError| matches!(fault::fate(error), fault::Fate::NotSent(_));
        match (&trouble, error) {
            (Trouble::Login(_), _) => Self::For(trouble),
            (_, ClientInitializeError::TransportError { error, .. }) if unreachable(error) => {
                Self::For(trouble)
            }
            _ if probe.came_late() => Self::OnlyLate(trouble),
            // Over the network both ways were tried; a program may have lost its head at the first.
            (_, ClientInitializeError::LegacyFallbackFailed { .. }) if !probe.of_program => {
                Self::For(trouble)
            }
            _ => Self::AtFirstWords(trouble),
        }
    }
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        Self::For(trouble)
    }
}

/// The question which protocol a server speaks: how long its answer is waited for, and whether it may have
/// come too late.
#[derive(Clone)]
pub(super) struct Probe {
    pub(super) limit: Duration,
    of_program: bool,
    late: Arc<AtomicBool>,
}

impl Probe {
    fn new(server: &Inner) -> Self {
        Self {
            limit: PROBE.min(server.config.connect_timeout / 3),
            of_program: matches!(server.config.transport, Transport::Stdio(_)),
            late: Arc::default(),
        }
    }

    /// An answer in the new way came, or may yet come, after it was given up.
    pub(super) fn is_late(&self) {
        self.late.store(true, Ordering::Release);
    }

    fn came_late(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }

    /// What is told in place of an answer, so that the server is asked in the old way.
    pub(super) fn unanswered(id: RequestId, why: &str) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::invalid_request(why.to_owned(), None), Some(id))
    }
}

/// One try, begun in this way.
async fn attempt(
    server: &Inner,
    handle: Handle,
    mode: ClientLifecycleMode,
    talks: &AtomicBool,
) -> Result<(Live, Known), Failed> {
    let gone = CancellationToken::new();
    let quiet = CancellationToken::new();
    let root = root_of(&server.outside.place.cwd);
    let host = &server.outside.host;
    let client = Arc::new(Client::new(&server.config, root, Arc::clone(&server.log), &server.outside));
    let us = Arc::clone(&client);
    let probe = Probe::new(server);
    // Only where there is another way to go on with.
    let asking = matches!(mode, ClientLifecycleMode::Auto { .. }).then(|| probe.clone());
    let mut pipes = None;
    let (begun, keeper) = match &server.config.transport {
        Transport::Stdio(program) => {
            let (transport, keeper) = launch(server, program, gone.clone(), &handle, asking)?;
            pipes = Some(transport.lane());
            let transport = measured(server, transport);
            (Box::pin(serve_client_with_lifecycle(us, transport, mode)).await, Some(keeper))
        }
        Transport::Http(remote) => {
            let transport = http::transport(server, remote, asking, quiet.clone());
            let transport = measured(server, transport);
            (Box::pin(serve_client_with_lifecycle(us, transport, mode)).await, None)
        }
        Transport::Sse(remote) => {
            let transport = measured(server, sse::open(server, remote, gone.clone()).await?);
            let begun = serve_client_with_lifecycle(us, transport, ClientLifecycleMode::Initialize);
            (Box::pin(begun).await, None)
        }
    };
    let last = keeper.as_ref().map(|_| said(&server.log)).unwrap_or_default();
    let service = begun.map_err(|error| Failed::of(&error, &last, &probe))?;
    talks.store(true, Ordering::Release);
    let known = learn(server, &service).await?;
    // Newer requests say more of themselves than a call does, and that is the SDK's affair.
    let short = service.peer_info().is_some_and(|info| info.protocol_version.has_initialize());
    let lane = pipes.clone().filter(|_| short);
    let over_http = matches!(server.config.transport, Transport::Http(_));
    let now = host.now();
    let live = Live {
        service,
        client,
        keeper,
        pipes,
        lane,
        gone,
        quiet: over_http.then_some(quiet),
        doubt: Notify::new(),
        since: now,
        used: Mutex::new(now),
        busy: AtomicUsize::new(0),
        parting: server.parting.clone(),
        host: Arc::clone(host),
        handle,
    };
    Ok((live, known))
}

/// The connection, on which the server asks within measure.
fn measured<T: rmcp::transport::Transport<RoleClient>>(server: &Inner, transport: T) -> Measured<T> {
    let log = Arc::clone(&server.log);
    Measured::new(transport, move |line| log.line(line))
}

/// How to begin: as it worked the last time, else by asking which way the server knows.
fn lifecycle(server: &Inner) -> ClientLifecycleMode {
    let known = server.known();
    let same = known.identity == server.identity;
    if same && !known.protocol.is_empty() && known.protocol.as_str() < ProtocolVersion::LATEST.as_str() {
        return ClientLifecycleMode::Initialize;
    }
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn launch(
    server: &Inner,
    program: &Stdio,
    gone: CancellationToken,
    handle: &Handle,
    probe: Option<Probe>,
) -> Result<(stdio::Pipes, Box<dyn Keeper>), Trouble> {
    let unreachable = |why: String| Trouble::Unreachable(why);
    let directory = match &program.cwd {
        Some(cwd) => server.outside.place.resolve(cwd),
        None => server.outside.place.cwd.clone(),
    };
    let place = Place { cwd: directory.clone(), home: server.outside.place.home.clone() };
    let started = server.outside.launcher.launch(&Program {
        program: program_at(&place, &program.command),
        arguments: program.args.iter().cloned().map(Into::into).collect(),
        variables: program.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        directory: Some(directory),
        consent: Consent::Configured(format!("mcp_servers.{}", server.config.name)),
    });
    let started = started.map_err(|error| unreachable(not_started(program, &error)))?;
    let errors = pipe::Receiver::from_owned_fd_unchecked(started.errors)
        .map_err(|error| unreachable(error.to_string()))?;
    TaskTracker::new().spawn_on(listen(errors, Arc::clone(&server.log)), handle);
    let (log, host) = (Arc::clone(&server.log), Arc::clone(&server.outside.host));
    let pipes = stdio::Pipes::new(started.input, started.output, log, gone, handle, host);
    let pipes = pipes.map_err(|error| unreachable(error.to_string()))?;
    Ok((pipes.probing(probe), started.keeper))
}

/// A name on the search path as it is; a path as it is meant where the program starts.
fn program_at(place: &Place, command: &str) -> String {
    let is_relative = match command.split_once('/') {
        // Words before the path are a program and its arguments, which is told as it is written.
        Some((first, _)) => !first.is_empty() && !first.contains(char::is_whitespace),
        None => false,
    };
    if is_relative { place.resolve(command).to_string_lossy().into_owned() } else { command.to_owned() }
}

/// Why a program was not started. Many people write it as they would type it.
fn not_started(program: &Stdio, error: &LaunchError) -> String {
    match program.command.split_once(char::is_whitespace) {
        Some((first, _)) if program.args.is_empty() => {
            format!("{error}; all that follows `{first}` belongs into `args`")
        }
        _ => error.to_string(),
    }
}

/// Takes what a program complains about until it closes the pipe.
async fn listen(errors: pipe::Receiver, log: Arc<Log>) {
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without end is taken in pieces.
        match (&mut reader).take(8 * 1024).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => log.line(&String::from_utf8_lossy(&line)),
        }
    }
}

/// What a server says of itself and its tools.
async fn learn(server: &Inner, service: &Service) -> Result<Known, Trouble> {
    let info = service.peer_info();
    let mut known = Known::clone(&server.known());
    known.identity.clone_from(&server.identity);
    known.tried = String::new();
    let has_tools = match &info {
        Some(info) => {
            known.protocol = info.protocol_version.as_str().to_owned();
            known.server = info.server_info.as_ref().map(|it| format!("{} {}", it.name, it.version));
            known.instructions.clone_from(&info.instructions);
            known.resources = info.capabilities.resources.is_some();
            known.prompts = info.capabilities.prompts.is_some();
            info.capabilities.tools.is_some()
        }
        None => true,
    };
    let listed = if has_tools {
        match list::tools(server, service).await {
            Ok(told) => told,
            Err(Untold::Ourselves(why)) => {
                known.learn(Vec::new());
                // What an earlier list of ours said of it must not be offered; unwritten, it is said again.
                let _ = server.keep(&known);
                server.outside.ring.tell(&format!("MCP server {}: {why}", server.config.name));
                return Err(Trouble::Unreachable(why));
            }
            Err(Untold::Failed(why)) => {
                return Err(Trouble::Unreachable(format!("its tools could not be listed: {why}")));
            }
        }
    } else {
        list::Tools::default()
    };
    listed.learnt_by(&mut known);
    Ok(known)
}

/// Whether it is there. Any answer is a sign of life, also that it knows no such question.
pub(super) async fn ping(service: &Service) -> bool {
    let request = ClientRequest::PingRequest(PingRequest::default());
    !matches!(
        service.send_request(request).await,
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Timeout { .. })
    )
}

/// Listens for changes of the list of tools, where a server tells of them only to those who listen.
pub(super) async fn hear_changes(live: Arc<Live>) {
    let modern = live.service.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
    if !modern {
        return;
    }
    let heard = async {
        let wanted = SubscriptionFilter::builder().tools_list_changed().build();
        // A server that tells nobody has a list that does not change.
        let Ok(mut subscription) = live.service.listen(wanted).await else { return };
        while let Ok(Some(_)) = subscription.next().await {
            live.client.changed.notify_one();
        }
    };
    tokio::select! {
        () = heard => {}
        () = live.gone.cancelled() => {}
    }
}

/// The folder as an address.
fn root_of(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn said(log: &Log) -> String {
    log.last().map(|line| format!("; it last said: {line}")).unwrap_or_default()
}

/// Why it did not begin, without the machinery.
fn plain(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_) => {
            "its answer to the first question makes no sense".to_owned()
        }
        ClientInitializeError::ConnectionClosed(_) => "it ended before it said what it is".to_owned(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => plain(fallback),
        ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
        ClientInitializeError::TransportError { error, .. } => match fault::fate(error) {
            fault::Fate::NotSent(why)
            | fault::Fate::Lost(why)
            | fault::Fate::Login(why)
            | fault::Fate::Refused(why) => why,
        },
        other => other.to_string(),
    }
}

fn remote_trouble(error: &ClientInitializeError, said: &str) -> Trouble {
    if error.auth_challenge().is_some() || error.is_authorization_required() {
        return Trouble::Login("it does not know who asks".to_owned());
    }
    if let ClientInitializeError::TransportError { error, .. } = error
        && let fault::Fate::Login(why) = fault::fate(error)
    {
        return Trouble::Login(why);
    }
    Trouble::Unreachable(format!("{}{said}", plain(error)))
}

pub(super) fn words(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => error.message.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_program_is_found_below_the_persons_home_and_beside_where_it_starts() {
        let place = Place { cwd: "/srv/app".into(), home: Some("/home/ann".into()) };

        let found =
            ["npx", "/bin/x", "npx /x", "~/bin/x", "./x", "bin/x"].map(|command| program_at(&place, command));

        assert_eq!(found, ["npx", "/bin/x", "npx /x", "/home/ann/bin/x", "/srv/app/x", "/srv/app/bin/x"]);
    }

    #[test]
    fn a_program_that_is_written_with_its_arguments_is_told_where_they_belong() {
        let error = LaunchError { program: "p x".to_owned(), why: "no".to_owned() };
        let words = |args: &[&str]| {
            let args = args.iter().map(ToString::to_string).collect();
            not_started(&Stdio { command: "p x".to_owned(), args, ..Stdio::default() }, &error)
        };

        assert_eq!(words(&[]), "cannot start `p x`: no; all that follows `p` belongs into `args`");
        assert_eq!(words(&["y"]), "cannot start `p x`: no");
    }

    #[test]
    fn a_folder_is_told_as_an_address() {
        assert_eq!(root_of(Path::new("/home/ann/my work")), "file:///home/ann/my%20work");
    }
}
