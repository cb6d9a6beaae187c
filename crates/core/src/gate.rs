//! Gates: when a tool is there to be used.
//!
//! A gate is a value where it can be (a variable is set, a program is on the path, a file exists,
//! a service answers), so that it can be compared, explained and probed once for all tools that
//! share it. What cannot be said so is a named function. The probing itself is done by
//! [`crate::availability`].

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::cx::Services;
use crate::extensions::Extensions;

/// The condition under which a tool is available.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// Always.
    Open,
    /// A variable is set and not empty, in the home's `.env` or the process environment.
    Env(Cow<'static, str>),
    /// A variable that the machine sets, such as the screen it has: nothing that a person would type in.
    Machine(Cow<'static, str>),
    /// A program is on the search path.
    Program(Cow<'static, str>),
    /// A file or directory exists (`~` stands for the user's home).
    File(Cow<'static, str>),
    /// A key of `config.yaml` (dotted) holds something other than null, false or an empty value.
    Config(Cow<'static, str>),
    /// Something listens at `host:port`, or behind a URL.
    Service(Cow<'static, str>),
    /// All of these.
    All(Vec<Gate>),
    /// At least one of these.
    Any(Vec<Gate>),
    /// The session, or the runtime, was handed something. Known when a session's tools are planned,
    /// and so no matter for a probe.
    Given(Given),
    /// A function decides.
    Check(Check),
}

/// Something that a tool finds by its type: in its session, or else among the runtime's services.
///
/// Two with the same words are the same.
#[derive(Clone, Copy)]
pub struct Given {
    what: &'static str,
    in_session: fn(&Extensions) -> bool,
    in_runtime: fn(&Services) -> bool,
}

impl Given {
    fn is_there(&self, session: &Extensions, runtime: &Services) -> bool {
        (self.in_session)(session) || (self.in_runtime)(runtime)
    }
}

/// A named function that decides whether a tool is available.
///
/// Two checks with the same name are the same check: it is run once for all tools that share it.
#[derive(Clone)]
pub struct Check {
    name: Cow<'static, str>,
    run: Arc<CheckFn>,
}

/// Says why not, in words for a person.
type CheckFn = dyn Fn(Arc<dyn Probe>) -> BoxFuture<'static, Result<(), String>> + Send + Sync;

/// What gates may look at; the composition root implements it.
pub trait Probe: Send + Sync {
    /// Whether the variable is set to something.
    fn env(&self, name: &str) -> bool;

    /// Whether the program is on the search path.
    fn program(&self, name: &str) -> bool;

    /// Whether the path exists.
    fn file(&self, path: &str) -> bool;

    /// The value at a dotted key of the configuration.
    fn config(&self, key: &str) -> Option<Value>;

    /// Whether somebody has logged in to this service, and the login is kept.
    fn login(&self, _service: &str) -> bool {
        false
    }

    /// The state folder, where there is one.
    fn home(&self) -> Option<PathBuf> {
        None
    }

    /// Whether commands can be run anywhere but on this machine.
    fn elsewhere(&self) -> bool {
        false
    }

    /// Whether something answers at the address.
    fn service(&self, address: &str) -> BoxFuture<'static, bool>;
}

impl Gate {
    /// Opens when the variable is set.
    pub fn env(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Env(name.into())
    }

    /// Opens when the machine has set the variable: it tells of a state, and no setup asks for it.
    pub fn machine(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Machine(name.into())
    }

    /// Opens when any of the variables is set.
    pub fn any_env(names: impl IntoIterator<Item = &'static str>) -> Self {
        Self::Any(names.into_iter().map(Self::env).collect())
    }

    /// Opens when the program is on the search path.
    pub fn program(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Program(name.into())
    }

    /// Opens when the function says so; `name` identifies it.
    pub fn check<F, Fut>(name: impl Into<Cow<'static, str>>, run: F) -> Self
    where
        F: Fn(Arc<dyn Probe>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self::Check(Check { name: name.into(), run: Arc::new(move |probe| Box::pin(run(probe))) })
    }

    /// Opens when the session or the runtime has a `T`; `what` says what that is, after "needs".
    pub fn given<T: Any + Send + Sync>(what: &'static str) -> Self {
        Self::Given(Given {
            what,
            in_session: |extensions| extensions.get::<T>().is_some(),
            in_runtime: |services| services.service::<T>().is_some(),
        })
    }

    /// The variables it looks at and a person may set, each once, in order. What a function looks at, only the function knows.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        match self {
            Self::Env(name) => names.push(name),
            Self::All(gates) | Self::Any(gates) => {
                for name in gates.iter().flat_map(Self::variables) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            _ => {}
        }
        names
    }

    /// What the tool needs and neither the session nor the runtime was handed, in words.
    pub fn not_given(&self, session: &Extensions, runtime: &Services) -> Option<String> {
        let missing = |gate: &Self| gate.not_given(session, runtime);
        match self {
            Self::Given(given) if !given.is_there(session, runtime) => Some(format!("needs {}", given.what)),
            Self::All(gates) => gates.iter().find_map(missing),
            Self::Any(gates) if gates.iter().all(|gate| missing(gate).is_some()) => {
                gates.first().and_then(missing)
            }
            _ => None,
        }
    }

    /// Whether what the session, or the runtime, was handed is enough: one of several ways to be open, whatever the
    /// others need.
    pub fn is_handed(&self, session: &Extensions, runtime: &Services) -> bool {
        match self {
            Self::Any(gates) => gates.iter().any(|gate| match gate {
                Self::Given(given) => given.is_there(session, runtime),
                other => other.is_handed(session, runtime),
            }),
            _ => false,
        }
    }

    /// Opens or says what is missing.
    pub(crate) fn probe(&self, probe: Arc<dyn Probe>) -> BoxFuture<'static, Result<(), String>> {
        let told = |open: bool, why: String| -> BoxFuture<'static, Result<(), String>> {
            Box::pin(std::future::ready(if open { Ok(()) } else { Err(why) }))
        };
        match self {
            Self::Open | Self::Given(_) => told(true, String::new()),
            Self::Env(name) => told(probe.env(name), format!("needs {name}")),
            Self::Machine(name) => told(probe.env(name), format!("needs a machine that sets {name}")),
            Self::Program(name) => told(probe.program(name), format!("needs the program `{name}`")),
            Self::File(path) => told(probe.file(path), format!("needs {path}")),
            Self::Config(key) => told(
                probe.config(key).is_some_and(|value| is_on(&value)),
                format!("needs `{key}` in config.yaml"),
            ),
            Self::Service(address) => {
                let (asked, address) = (probe.service(address), address.clone());
                Box::pin(async move {
                    if asked.await { Ok(()) } else { Err(format!("nothing answers at {address}")) }
                })
            }
            Self::All(gates) => all(gates, &probe),
            Self::Any(gates) => any(gates, &probe),
            Self::Check(check) => (check.run)(probe),
        }
    }
}

fn all(gates: &[Gate], probe: &Arc<dyn Probe>) -> BoxFuture<'static, Result<(), String>> {
    let asked: Vec<_> = gates.iter().map(|gate| gate.probe(Arc::clone(probe))).collect();
    Box::pin(async move {
        let missing: Vec<String> =
            futures::future::join_all(asked).await.into_iter().filter_map(Result::err).collect();
        if missing.is_empty() { Ok(()) } else { Err(missing.join("; ")) }
    })
}

fn any(gates: &[Gate], probe: &Arc<dyn Probe>) -> BoxFuture<'static, Result<(), String>> {
    let is_given = |gate: &Gate| matches!(gate, Gate::Given(_));
    // What a session is handed opens it there (`is_handed`), and for nobody else.
    let others = gates.iter().filter(|gate| !is_given(gate) || gates.iter().all(is_given));
    let asked: Vec<_> = others.map(|gate| gate.probe(Arc::clone(probe))).collect();
    Box::pin(async move {
        let answers = futures::future::join_all(asked).await;
        if answers.iter().any(Result::is_ok) {
            return Ok(());
        }
        let missing: Vec<String> = answers.into_iter().filter_map(Result::err).collect();
        Err(if missing.is_empty() {
            "no alternative is configured".to_owned()
        } else {
            missing.join(", or ")
        })
    })
}

/// Whether a configured value counts as switched on.
fn is_on(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Check").field(&self.name).finish()
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Given").field(&self.what).finish()
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.what == other.what
    }
}

impl Eq for Given {}

impl Hash for Given {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.what.hash(state);
    }
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Check {}

impl Hash for Check {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, gates: &[Self], word: &str| {
            let parts: Vec<String> = gates.iter().map(ToString::to_string).collect();
            f.write_str(&parts.join(word))
        };
        match self {
            Self::Open => f.write_str("always"),
            Self::Env(name) => write!(f, "{name} is set"),
            Self::Machine(name) => write!(f, "the machine sets {name}"),
            Self::Program(name) => write!(f, "`{name}` is installed"),
            Self::File(path) => write!(f, "{path} exists"),
            Self::Config(key) => write!(f, "`{key}` is configured"),
            Self::Service(address) => write!(f, "{address} answers"),
            Self::All(gates) => list(f, gates, " and "),
            Self::Any(gates) => list(f, gates, " or "),
            Self::Given(given) => write!(f, "there is {}", given.what),
            Self::Check(check) => write!(f, "{}", check.name),
        }
    }
}
