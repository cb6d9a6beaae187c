//! What `mcp_servers.<name>` in `config.yaml` says, as a value.
//!
//! Reading is forgiving where the meaning is clear (`"yes"` is true, `"60"` is a number) and exact
//! where it is not: a server that is neither a command nor an address is told with its name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::ignored::{Ignored, ignored};
use super::login::{OAuth, oauth};
use super::names::{apart, plain};
use super::shown;
use super::written::{
    expanded_server, flag, names, names_any, pairs, seconds, section, sure, text, unfit, unset, words,
};
use crate::digest::digest;

/// One server, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its key.
    pub name: String,
    /// What stands for it in the names of its tools.
    pub called: String,
    /// The command or the address for people: as it is written, and without secrets.
    pub place: String,
    /// What is named as `${…}` and stands for nothing, as a variable that is not set: it goes out as it is written.
    pub unset: Vec<String>,
    /// What is written and has no effect, in words.
    pub notes: Vec<String>,
    /// How it is reached.
    pub transport: Transport,
    /// Whether it is used at all.
    pub enabled: bool,
    /// How long one call may take; [`Duration::MAX`] where there is no limit.
    pub timeout: Duration,
    /// How long it may take to begin to talk; [`Duration::MAX`] where there is no limit.
    pub connect_timeout: Duration,
    /// How often it is asked whether it is still there.
    pub keepalive: Duration,
    /// After so long without a call it is let go, and started again by the next one.
    pub idle: Option<Duration>,
    /// After so long it is let go when nothing runs, and started again by the next call.
    pub lifetime: Option<Duration>,
    /// Whether calls that may change something may overlap.
    pub parallel: bool,
    /// Which of its tools are taken.
    pub filter: Filter,
    /// Whether it may ask the model.
    pub sampling: Sampling,
    /// Whether it may ask the person, and how long an answer is waited for.
    pub elicitation: Option<Duration>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that talks on its standard streams.
    Stdio(Stdio),
    /// Requests over HTTP.
    Http(Remote),
    /// A stream of events and an address to post to, as servers did before.
    Sse(Remote),
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stdio {
    /// A name on the search path, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables beyond the usual few.
    pub env: BTreeMap<String, String>,
    /// Where it starts; else where the runtime stands.
    pub cwd: Option<String>,
}

/// An address to ask.
#[derive(Clone, PartialEq, Eq)]
pub struct Remote {
    /// The address.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// How the right to ask is got; without it none is sought.
    pub oauth: Option<OAuth>,
    /// `ssl_verify`, `client_cert` and `client_key`.
    pub tls: RemoteTls,
}

/// How a connection to a server is encrypted, where it is not in the usual way. Paths are as they were
/// written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteTls {
    /// Whether any certificate of the server is taken for good.
    pub unverified: bool,
    /// A file of certificate authorities that may have given it.
    pub ca_file: Option<String>,
    /// A file with our certificate, and one with its key.
    pub identity: Option<(String, String)>,
}

/// Leaves out the headers, which may hold keys.
impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("url", &self.url).field("oauth", &self.oauth).finish_non_exhaustive()
    }
}

/// Which tools of a server are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only these, when it is said which: an empty list is none.
    pub include: Option<Vec<String>>,
    /// Not these; `include` wins.
    pub exclude: Vec<String>,
    /// Whether tools to read its resources are offered.
    pub resources: bool,
    /// Whether tools to use its prompts are offered.
    pub prompts: bool,
}

/// Whether, and how much, a server may ask the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Off unless the person turned it on.
    pub enabled: bool,
    /// Most tokens of one answer.
    pub max_tokens: u32,
    /// Most requests in a minute.
    pub per_minute: u32,
    /// How long one answer may take.
    pub timeout: Duration,
    /// The model that answers, whatever the server would like.
    pub model: Option<String>,
    /// Models that may answer; any when empty.
    pub allowed_models: Vec<String>,
    /// Answers in a row that may be calls of the server's own tools; none when 0.
    pub max_tool_rounds: u32,
    /// What is written down about it.
    pub log_level: LogLevel,
}

/// How much is written into the log of a server about its questions to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    /// What it asked, too.
    Debug,
    /// That it asked, and who answered.
    #[default]
    Info,
    /// What was refused.
    Warning,
    /// Nothing.
    Off,
}

impl Default for Filter {
    /// All of them.
    fn default() -> Self {
        Self { include: None, exclude: Vec::new(), resources: true, prompts: true }
    }
}

impl Filter {
    /// Whether a tool of this name is taken.
    pub fn takes(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == tool);
        self.include.as_deref().map_or_else(|| !named(&self.exclude), named)
    }
}

/// All servers of the section, and what is wrong with the others.
pub fn read_servers(section: Option<&Value>, variable: &dyn Fn(&str) -> Option<String>) -> Read {
    let mut read = Read::default();
    let servers = match section {
        None | Some(Value::Null) => return read,
        Some(Value::Object(servers)) => servers,
        Some(_) => {
            read.problems.push("`mcp_servers` is not a map of names to servers".to_owned());
            return read;
        }
    };
    for (name, written) in servers {
        match one(name, written, variable) {
            Ok(server) => read.servers.push(server),
            Err(why) => read.misread.push(Misread { name: name.clone(), why }),
        }
    }
    let called = apart(read.servers.iter().map(|server| server.name.as_str()));
    for (server, called) in read.servers.iter_mut().zip(called) {
        server.called = called;
    }
    read
}

/// What the section says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// The usable servers, in the order of the file.
    pub servers: Vec<ServerConfig>,
    /// The others.
    pub misread: Vec<Misread>,
    /// What is wrong with the section itself, in words.
    pub problems: Vec<String>,
}

/// A server that cannot be used as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// Its key.
    pub name: String,
    /// What is wrong.
    pub why: String,
}

impl Read {
    /// Everything that is wrong, in words.
    pub fn complaints(&self) -> Vec<String> {
        let misread = self.misread.iter().map(|Misread { name, why }| format!("MCP server `{name}`: {why}"));
        let used = self.servers.iter().filter(|server| server.enabled);
        self.problems.iter().cloned().chain(misread).chain(used.filter_map(ServerConfig::complaint)).collect()
    }
}

/// One server, whose variables are not known.
pub fn server(name: &str, value: &Value) -> Result<ServerConfig, String> {
    one(name, value, &|_| None)
}

/// One server.
pub fn one(
    name: &str,
    written: &Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<ServerConfig, String> {
    let value = if names_any(written) {
        Cow::Owned(expanded_server(written, variable))
    } else {
        Cow::Borrowed(written)
    };
    let notes = ignored(written).iter().map(Ignored::words).collect();
    let (Value::Object(map), Value::Object(written)) = (&*value, written) else {
        return Err("it is not a map".to_owned());
    };
    if name.is_empty() || name.len() > 48 || name.chars().any(char::is_control) {
        return Err("its name has no, or too many, letters".to_owned());
    }
    // Other programs write it the other way round.
    let (enabled, disabled) = (sure(map, "enabled", true)?, sure(map, "disabled", false)?);
    Ok(ServerConfig {
        notes,
        unset: unset(written, variable),
        filter: filter(map)?,
        enabled: enabled && !disabled,
        ..described(name, written, map, transport(map)?)
    })
}

/// A server of which nothing is written. It cannot be asked.
pub fn absent(name: &str) -> ServerConfig {
    let nothing = Map::new();
    let nowhere = Transport::Stdio(Stdio::default());
    ServerConfig { enabled: false, ..described(name, &nothing, &nothing, nowhere) }
}

fn described(
    name: &str,
    written: &Map<String, Value>,
    map: &Map<String, Value>,
    transport: Transport,
) -> ServerConfig {
    let lifecycle = section(map, "lifecycle");
    let time = |key: &str| seconds(map, key).or_else(|| seconds(&lifecycle, key));
    let elicitation = section(map, "elicitation");
    ServerConfig {
        name: name.to_owned(),
        called: plain(name),
        place: shown::place(written),
        unset: Vec::new(),
        notes: Vec::new(),
        transport,
        enabled: true,
        timeout: time("timeout").map_or(Duration::from_mins(5), or_none),
        connect_timeout: time("connect_timeout").map_or(Duration::from_mins(1), or_none),
        keepalive: time("keepalive_interval").unwrap_or(Duration::from_mins(3)).max(Duration::from_secs(5)),
        idle: time("idle_timeout_seconds").filter(|time| !time.is_zero()),
        lifetime: time("max_lifetime_seconds").filter(|time| !time.is_zero()),
        parallel: flag(map, "supports_parallel_tool_calls", false),
        filter: Filter::default(),
        sampling: sampling(&section(map, "sampling")),
        elicitation: flag(&elicitation, "enabled", false)
            .then(|| seconds(&elicitation, "timeout").map_or(Duration::from_mins(5), or_none)),
    }
}

/// Which tools are taken. One that cannot be read must not mean that all are.
fn filter(map: &Map<String, Value>) -> Result<Filter, String> {
    let tools = match map.get("tools") {
        None => return Ok(Filter::default()),
        // Perhaps the names were forgotten, or stand too far to the left.
        Some(Value::Null) => return Ok(Filter { include: Some(Vec::new()), ..Filter::default() }),
        Some(Value::Object(tools)) => tools,
        Some(_) => {
            return Err(
                "`tools` is not a map: names of tools go below it, into a list `include` or `exclude`"
                    .to_owned(),
            );
        }
    };
    let list = |key: &str| names(tools, key).map_err(|why| format!("`tools.{key}` {why}"));
    Ok(Filter {
        include: list("include")?,
        exclude: list("exclude")?.unwrap_or_default(),
        resources: flag(tools, "resources", true),
        prompts: flag(tools, "prompts", true),
    })
}

/// A limit as it is written: 0 is none.
fn or_none(limit: Duration) -> Duration {
    if limit.is_zero() { Duration::MAX } else { limit }
}

impl ServerConfig {
    /// Fingerprint of what makes it the same server: when it changes, what was learnt is no more true.
    pub fn identity(&self) -> String {
        let text = match &self.transport {
            Transport::Stdio(Stdio { command, args, env, cwd }) => {
                let names: Vec<&String> = env.keys().collect();
                format!("stdio {command:?} {args:?} {names:?} {cwd:?}")
            }
            Transport::Http(remote) => format!("http {:?}", remote.url),
            Transport::Sse(remote) => format!("sse {:?}", remote.url),
        };
        digest(text.as_bytes())
    }

    /// How long a call may wait for the server to begin to talk: a little longer than that may take, so that
    /// whoever starts it says what is wrong.
    pub(super) fn reached_within(&self) -> Duration {
        self.connect_timeout.saturating_add(Duration::from_secs(1))
    }

    /// One word for how it is reached.
    pub fn kind(&self) -> &'static str {
        match self.transport {
            Transport::Stdio(_) => "stdio",
            Transport::Http(_) => "http",
            Transport::Sse(_) => "sse",
        }
    }

    /// That variables are not set, in words.
    pub fn complaint(&self) -> Option<String> {
        let (name, unset) = (&self.name, self.unset.as_slice());
        (!unset.is_empty()).then(|| {
            format!(
                "MCP server `{name}` is given `${{{}}}` as it is written: no such variable is set",
                unset.join("}`, `${")
            )
        })
    }
}

fn transport(map: &Map<String, Value>) -> Result<Transport, String> {
    if let Some(url) = text(map, "url") {
        if hermes_net::Url::parse(&url).is_none() {
            return Err("`url` is no http address".to_owned());
        }
        let wanted = text(map, "auth").is_some_and(|auth| auth.eq_ignore_ascii_case("oauth"));
        let oauth =
            (wanted || map.contains_key("oauth")).then(|| oauth(&section(map, "oauth"))).transpose()?;
        let remote = Remote { url, headers: pairs(map, "headers"), oauth, tls: tls(map)? };
        let kind = text(map, "transport").or_else(|| text(map, "type")).unwrap_or_default();
        return Ok(if kind.eq_ignore_ascii_case("sse") {
            Transport::Sse(remote)
        } else {
            Transport::Http(remote)
        });
    }
    let command = text(map, "command").ok_or_else(|| no_place(map))?;
    let (args, mut env, cwd) = (words(map, "args"), pairs(map, "env"), text(map, "cwd"));
    env.retain(|name, value| unfit(name, value).is_none());
    Ok(Transport::Stdio(Stdio { command, args, env, cwd }))
}

/// Why it is not known where a server is.
fn no_place(map: &Map<String, Value>) -> String {
    let written = |key: &str| map.get(key).filter(|value| !value.is_null() && **value != "");
    match (written("url"), written("command")) {
        (None, None) => "it has neither `command` nor `url`".to_owned(),
        (Some(url), _) => format!("`url` is no text: {url}"),
        (None, Some(command @ Value::Array(_))) => {
            format!("`command` is no text: {command}; all but the program goes into `args`")
        }
        (None, Some(command)) => format!("`command` is no text: {command}; in quotes it is one"),
    }
}

fn tls(map: &Map<String, Value>) -> Result<RemoteTls, String> {
    // A word that is neither yes nor no is the path of a file.
    let verify = text(map, "ssl_verify").filter(|word| {
        !["true", "yes", "on", "1", "false", "no", "off", "0"].contains(&word.to_ascii_lowercase().as_str())
    });
    let identity = match words(map, "client_cert").as_slice() {
        [] => None,
        [both] => Some((both.clone(), text(map, "client_key").unwrap_or_else(|| both.clone()))),
        [certificate, key] => Some((certificate.clone(), key.clone())),
        _ => return Err("`client_cert` with a password is not supported: give a key without one".to_owned()),
    };
    if identity.is_none() && map.contains_key("client_key") {
        return Err("`client_key` is set, but `client_cert` is not".to_owned());
    }
    let unverified = verify.is_none() && !flag(map, "ssl_verify", true);
    Ok(RemoteTls { unverified, ca_file: verify, identity })
}

fn sampling(map: &Map<String, Value>) -> Sampling {
    let number = |key: &str, usual: u32| text(map, key).and_then(|text| text.parse().ok()).unwrap_or(usual);
    Sampling {
        enabled: flag(map, "enabled", false),
        max_tokens: number("max_tokens_cap", 4096),
        per_minute: number("max_rpm", 10),
        timeout: seconds(map, "timeout").map_or(Duration::from_secs(30), or_none),
        model: text(map, "model"),
        allowed_models: words(map, "allowed_models"),
        max_tool_rounds: number("max_tool_rounds", 5),
        log_level: match text(map, "log_level").unwrap_or_default().to_ascii_lowercase().as_str() {
            "debug" => LogLevel::Debug,
            "warning" | "warn" | "error" => LogLevel::Warning,
            "off" | "none" | "critical" => LogLevel::Off,
            _ => LogLevel::Info,
        },
    }
}

#[cfg(test)]
mod tests;
