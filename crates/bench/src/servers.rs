//! MCP servers in the benchmarks: homes that know one, and what starting and calling it takes.

use std::path::{Path, PathBuf};

use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Session};
use serde_json::{Value, json};

use crate::item::{Numbers, Work, called};
use crate::process;
use crate::timing::{micros, millis, per_call, per_second, timed};

/// A server that says what it is told.
const SERVER: &str = include_str!("echo_server.py");

/// The folder in which npm has put a server that others wrote.
const NPM: &str = "PEER_NPM";
const EVERYTHING: &str = "node_modules/.bin/mcp-server-everything";

/// Calls in a row, and calls from threads at once.
const CALLS: u32 = 100;
const THREADS: u32 = 8;
const CALLS_OF_A_THREAD: u32 = 100;

/// The keys of a server: until it can be called, a call, and calls in a second, also from threads.
type Keys = [&'static str; 4];

const ECHO: Keys = ["becho_connect_ms", "becho_call_us", "becho_calls_per_s", "becho_calls_per_s_8threads"];
const EVERY: Keys =
    ["bevery_connect_ms", "bevery_call_us", "bevery_calls_per_s", "bevery_calls_per_s_8threads"];

/// The program of our own server.
pub(crate) fn script(work: &Work) -> Result<PathBuf, String> {
    let script = work.folder.join("echo_server.py");
    process::keep(&script, SERVER)?;
    Ok(script)
}

/// A server in Python, as it is configured.
pub(crate) fn python(script: &Path, arguments: &[&Path]) -> Value {
    let words: Vec<&Path> = [&[script], arguments].concat();
    json!({ "command": "python3", "args": words })
}

/// A runtime of a new home that knows one server, `bench`.
pub(crate) fn runtime(
    work: &Work,
    home: &Home,
    server: &Value,
    with: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
) -> Result<Runtime, String> {
    // What an earlier run learnt of another server does not count.
    process::remove(home.path())?;
    process::make(home.path())?;
    let text = json!({ "mcp_servers": { "bench": server }, "mcp_discovery_timeout": 20 }).to_string();
    process::keep(&home.path().join("config.yaml"), &text)?;
    let builder = Runtime::builder().cwd(&work.folder).home(home.clone()).env(process::variables());
    with(builder).build().map_err(|wrong| wrong.to_string())
}

/// What our own server takes, and the one that others wrote, where it is installed.
pub(crate) fn numbers(work: &Work, script: &Path) -> Result<Numbers, String> {
    let mut numbers = of_server(work, &python(script, &[]), "text", ECHO)?;
    let everything = process::variable(NPM).map(|folder| Path::new(&folder).join(EVERYTHING));
    if let Some(program) = everything.filter(|program| process::is_there(program)) {
        let server = json!({ "command": program, "args": ["stdio"] });
        numbers.extend(of_server(work, &server, "message", EVERY)?);
    }
    Ok(numbers)
}

/// Starts a server and calls its tool `echo`, which repeats what it is told under this name.
fn of_server(work: &Work, server: &Value, word: &str, keys: Keys) -> Result<Numbers, String> {
    let home = Home::at(&work.folder.join("home-mcp-servers"));
    let (connected, took) = timed(|| {
        let runtime = runtime(work, &home, server, |builder| builder)?;
        runtime.mcp().ready_blocking();
        Ok::<_, String>(runtime)
    });
    let session = connected?.session().open().map_err(|wrong| wrong.to_string())?;
    let mut count = 0_u32;
    let one = per_call(CALLS, || {
        count += 1;
        echo(&session, word, &format!("hello {count}"))
    })?;
    let calls = |thread: u32| {
        (0..CALLS_OF_A_THREAD).try_for_each(|n| echo(&session, word, &format!("hello {n} from {thread}")))
    };
    let (done, all) = timed(|| process::from_threads(THREADS, calls));
    done?;
    let each = all / (THREADS * CALLS_OF_A_THREAD);
    let [connect, call, calls, threads] = keys;
    Ok(vec![
        (connect, millis(took)),
        (call, micros(one)),
        (calls, per_second(one)),
        (threads, per_second(each)),
    ])
}

fn echo(session: &Session, word: &str, said: &str) -> Result<(), String> {
    called(session, "mcp__bench__echo", &json!({ word: said })).map(drop)
}
