//! A browser of this machine: an empty profile of its own, messages over pipes that only we hold, and
//! every connection of its pages through our gate.
//!
//! There is no port that others could debug it by. It ends when its line is let go of, when nobody has
//! used it for a while, and, by its pipes and the guardian, however we end.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{FuturesUnordered, StreamExt as _};
use hermes_core::browser::{BrowserLine, Hears, NAMES, PLACES, PROGRAM};
use hermes_core::environment::End;
use hermes_core::host::Host;
use hermes_core::permit::{Connect, Permit};
use hermes_core::web::WebError;
use hermes_env::peers::{Peer, PeerFolder, PeerKeeper, PeerProgram, Peers};
use hermes_env::probe::{is_root, program_on_path};
use hermes_net::{Gate, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio_util::sync::CancellationToken;

use super::{Line, MAX_MESSAGE, Used, WorldBrowsers, rules, unused};
use crate::world::World;

/// Becomes the program in `$1`: it reads messages from its descriptor 3 and writes them to 4.
const ON_PIPES: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

/// What it is told on every start. Nothing of the person's is used, nothing is fetched by itself, no
/// datagrams are sent, and no name is looked up but at the gate.
const FLAGS: [&str; 27] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-quic",
    "--disable-sync",
    "--disable-features=BackForwardCache,Prerender2,DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,\
     AutofillServerCommunication,PaintHolding",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,900",
];

/// Variables of ours that it may know.
const VARIABLES_IT_GETS: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH"];

/// Longest wait for the last words of one that ended, and how much of them is told.
const LAST_WORDS: Duration = Duration::from_millis(500);
const WORDS: usize = 600;

/// Starts one.
pub(super) async fn open(
    browsers: &WorldBrowsers,
    _permit: &Permit<Connect>,
    hears: Arc<dyn Hears>,
) -> Result<Arc<dyn BrowserLine>, WebError> {
    let failed = |why: String| WebError::Failed(format!("the browser cannot be started: {why}"));
    let program = browsers.look(found).ok_or_else(|| {
        WebError::Failed(
            "there is no browser here: install Chromium or Chrome (on Debian: apt install chromium), name one in \
             BROWSER_PATH, or the address of a running one in BROWSER_CDP_URL"
                .to_owned(),
        )
    })?;
    let world = Arc::clone(&browsers.world);
    let rule = Arc::new(move |host: &str, port: u16| {
        let world = world.read().unwrap_or_else(PoisonError::into_inner);
        rules::gate(&world, host, port)
    });
    let gate = Gate::open(browsers.web.http().clone(), rule).await;
    let gate = gate.map_err(|error| failed(error.to_string()))?;
    let refusals = gate.refusals();
    let peers = browsers.peers.get_or_init(|| {
        let host: Arc<dyn Host> = browsers.machine.clone();
        Peers::new(host).with_folders_in(browsers.look(scratch))
    });
    let folder = peers.folder().map_err(|error| failed(error.to_string()))?;
    let peer = PeerProgram {
        program: "/bin/sh".into(),
        arguments: arguments(&program, folder.path(), gate.port()),
        variables: browsers.look(|world| variables(world, folder.path())),
        directory: None,
    };
    let peer = peers.start(&peer).map_err(|error| failed(error.to_string()))?;
    let (outgoing, queue) = mpsc::unbounded_channel();
    let (stop, used) = (CancellationToken::new(), Used::new(&browsers.machine));
    let life = Life {
        peer,
        folder,
        gate,
        queue,
        hears,
        stop: stop.clone(),
        used: used.clone(),
        idle: browsers.idle(),
    };
    browsers.start(life.live().boxed())?;
    Ok(Arc::new(Line { outgoing, used, refusals: Some(refusals), _stop: Some(stop.drop_guard()) }))
}

/// The browser of this machine.
fn found(world: &World) -> Option<PathBuf> {
    let path = world.variable("PATH").unwrap_or_default().to_owned();
    let on_path = |name: &str| program_on_path(name, path.as_ref());
    let (variables, setting) = PROGRAM;
    let configured = world.config(setting);
    let named = variables.iter().find_map(|name| world.variable(name).filter(|it| !it.is_empty()));
    // One that was named is meant, also when it is not there.
    if let Some(named) = named.or_else(|| configured.as_ref()?.as_str()) {
        return on_path(named);
    }
    NAMES.iter().chain(&PLACES).find_map(|name| on_path(name))
}

/// Where profiles may be kept while a browser runs.
fn scratch(world: &World) -> Vec<PathBuf> {
    let named = world.variable("TMPDIR").filter(|it| it.starts_with('/')).map(PathBuf::from);
    named.into_iter().chain([PathBuf::from("/tmp")]).collect()
}

fn arguments(program: &Path, profile: &Path, gate: u16) -> Vec<String> {
    let mut words: Vec<String> = ["-c", ON_PIPES, "hermes-browser"].map(str::to_owned).to_vec();
    words.push(program.to_string_lossy().into_owned());
    words.extend(FLAGS.map(str::to_owned));
    words.push(format!("--user-data-dir={}", profile.join("profile").display()));
    words.push(format!("--proxy-server=socks5://127.0.0.1:{gate}"));
    words.push("--proxy-bypass-list=<-loopback>".to_owned());
    words.push("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".to_owned());
    // Its own sandbox cannot be put up by the administrator.
    words.extend(is_root().then(|| "--no-sandbox".to_owned()));
    words.push("about:blank".to_owned());
    words
}

fn variables(world: &World, profile: &Path) -> Vec<(String, String)> {
    let ours = VARIABLES_IT_GETS.iter().filter_map(|name| Some((*name, world.process().get(*name)?.clone())));
    let profile = profile.to_string_lossy().into_owned();
    let own = ["HOME", "TMPDIR"].map(|name| (name, profile.clone()));
    ours.chain(own).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A running browser and all that belongs to it.
struct Life {
    peer: Peer,
    folder: PeerFolder,
    gate: Gate,
    queue: UnboundedReceiver<String>,
    hears: Arc<dyn Hears>,
    stop: CancellationToken,
    used: Used,
    idle: Duration,
}

impl Life {
    /// Carries messages and connections until one side has had enough.
    async fn live(self) {
        let Self { peer, folder, gate, queue, hears, stop, used, idle } = self;
        let Peer { input, output, errors, keeper } = peer;
        let words: Arc<Mutex<Words>> = Arc::default();
        let mut parts: FuturesUnordered<BoxFuture<'_, Option<String>>> = FuturesUnordered::new();
        parts.push(async { Some(read(output, hears.as_ref()).await) }.boxed());
        parts.push(write(input, queue).map(|()| None).boxed());
        parts.push(listen(errors, Arc::clone(&words)).map(|()| None).boxed());
        parts.push(gate.serve().map(|()| None).boxed());
        parts.push(used.idle_for(idle).map(|()| Some(unused(idle))).boxed());
        parts.push(stop.cancelled().map(|()| Some("it is no longer needed".to_owned())).boxed());
        let mut why = None;
        while why.is_none() {
            why = parts.next().await.unwrap_or_else(|| Some(String::new()));
        }
        let why = why.filter(|why| !why.is_empty());
        if why.is_none() {
            // Its last words may still be on their way.
            let all_said = || lock(&words).all_said;
            within(LAST_WORDS, async { while !all_said() && parts.next().await.is_some() {} }).await;
        }
        drop(parts);
        let why = match why {
            Some(why) => why,
            None => ended(&keeper, &words).await,
        };
        hears.ended(&why);
        keeper.stop(Duration::ZERO).await;
        drop(folder);
    }
}

/// The end of what a browser complained about, and whether there can be more.
#[derive(Default)]
struct Words {
    bytes: Vec<u8>,
    all_said: bool,
}

fn lock(words: &Mutex<Words>) -> MutexGuard<'_, Words> {
    words.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How it ended, with the last that it said about it.
async fn ended(keeper: &PeerKeeper, words: &Mutex<Words>) -> String {
    let how = match within(LAST_WORDS, keeper.ended()).await.flatten() {
        Some(End::Code(code)) => format!("it ended with exit code {code}"),
        Some(End::Signal(signal)) => format!("it was ended by signal {signal}"),
        None => "it closed its line".to_owned(),
    };
    let words = lock(words);
    let text = String::from_utf8_lossy(&words.bytes);
    let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = last.get(last.len().saturating_sub(3)..).unwrap_or_default().join("; ");
    if last.is_empty() { how } else { format!("{how}: {last}") }
}

/// Hands on every message, each of which ends with a zero; nothing to say when the browser has ended.
async fn read(output: OwnedFd, hears: &dyn Hears) -> String {
    let Ok(mut pipe) = pipe::Receiver::from_owned_fd(output) else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let read = match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => return String::new(),
            Ok(read) => chunk.get(..read).unwrap_or_default(),
        };
        let mut parts = read.split(|byte| *byte == 0);
        let Some(last) = parts.next_back() else { continue };
        for part in parts {
            kept.extend_from_slice(part);
            let message = String::from_utf8(std::mem::take(&mut kept)).unwrap_or_default();
            hears.message(message);
        }
        kept.extend_from_slice(last);
        if kept.len() > MAX_MESSAGE {
            return "it said more at once than can be read".to_owned();
        }
    }
}

async fn write(input: OwnedFd, mut queue: UnboundedReceiver<String>) {
    let Ok(mut pipe) = pipe::Sender::from_owned_fd(input) else { return };
    while let Some(message) = queue.recv().await {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        if pipe.write_all(&bytes).await.is_err() {
            return;
        }
    }
    // Closing its line would end it before it is asked to; whoever stops it does both.
    std::future::pending::<()>().await;
}

/// Keeps the end of what it complains about.
async fn listen(errors: OwnedFd, words: Arc<Mutex<Words>>) {
    if let Ok(mut pipe) = pipe::Receiver::from_owned_fd(errors) {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
            let kept = &mut lock(&words).bytes;
            kept.extend_from_slice(chunk.get(..read).unwrap_or_default());
            let over = kept.len().saturating_sub(WORDS);
            kept.drain(..over);
        }
    }
    lock(&words).all_said = true;
}
