//! Shell hooks of `config.yaml`: made when the configuration changes, run when somebody agreed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use hermes_core::effect::lexical;
use hermes_core::hook::{EventKind, Hook};
use hermes_core::host::Host;
use hermes_core::registry::{Scope, Source};
use hermes_core::session::Place;
use hermes_env::probe::program_on_path;
use hermes_extend::hooks::{
    Consents, Observers, ShellHook, ShellHookSpec, Tried, sample, words, wrong_pattern,
};
use hermes_extend::launch::Launch;
use hermes_store::config::HookSettings;
use hermes_store::hooks_consent::{ConsentState, HookCommand, HooksConsent};
use serde_json::Value;

use super::launcher::{found, search_path};
use super::{Changes, Kind, Sake};
use crate::host::Machine;
use crate::redact::WorldRedact;
use crate::world::World;

/// The scope that shell hooks are in.
const SCOPE: &str = "shell-hooks";

/// The shell hooks of a runtime.
pub(crate) struct Hooks {
    place: Place,
    launcher: Arc<dyn Launch>,
    host: Arc<dyn Host>,
    observers: Observers,
    consents: Arc<HomeConsents>,
    /// What they were last made from.
    made_from: Mutex<Option<Vec<HookSettings>>>,
}

/// A hook, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookStanding {
    /// The event it runs at.
    pub event: EventKind,
    /// The command as it is written.
    pub command: String,
    /// Which tools it is for.
    pub matcher: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether a call is not run when the hook fails.
    pub policy: bool,
    /// Whether somebody agreed to it; an error is why that cannot be told.
    pub consent: Result<ConsentState, String>,
    /// Why it cannot run, whoever agrees.
    pub broken: Option<String>,
    /// What is odd about it, though it may run.
    pub odd: Vec<String>,
    /// Whether everything is accepted without looking.
    pub unasked: bool,
}

impl HookStanding {
    /// Whether it runs as things stand.
    pub fn runs(&self) -> bool {
        self.event.is_told()
            && self.broken.is_none()
            && (self.unasked || matches!(self.consent, Ok(ConsentState::Accepted { .. })))
    }
}

impl Hooks {
    pub(crate) fn new(
        world: &World,
        place: &Place,
        launcher: &Arc<dyn Launch>,
        machine: &Arc<Machine>,
        secrets: Arc<WorldRedact>,
    ) -> Self {
        let host: Arc<dyn Host> = machine.clone();
        let consents = HomeConsents {
            list: world.home().map(HooksConsent::new),
            cwd: place.cwd.clone(),
            path: search_path(world),
            world: OnceLock::new(),
        };
        Self {
            place: place.clone(),
            launcher: Arc::clone(launcher),
            observers: Observers::new(move |text| secrets.at_once(text).into_owned()),
            host,
            consents: Arc::new(consents),
            made_from: Mutex::default(),
        }
    }

    /// Where it is looked up whether everything is accepted without looking.
    pub(crate) fn look_at(&self, world: &Arc<RwLock<World>>) {
        // Set once, when everything is put together.
        let _ = self.consents.world.set(Arc::downgrade(world));
    }

    /// The programs that nobody waits for.
    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    /// Every hook of the configuration, and how it stands.
    pub(crate) fn standing(&self, world: &World) -> Vec<HookStanding> {
        let one = |settings: &HookSettings| {
            let spec = self.spec(settings);
            let words = spec.words.as_deref().unwrap_or_default();
            HookStanding {
                event: spec.event,
                command: spec.command.clone(),
                matcher: spec.matcher.clone(),
                timeout: spec.timeout,
                policy: spec.policy,
                consent: self.consents.state(spec.event, &spec.command, words),
                broken: spec.words.as_ref().err().cloned(),
                odd: self.odd(&spec, words),
                unasked: unasked(world),
            }
        };
        world.hooks().iter().map(one).collect()
    }

    /// Agrees to a command as it is now, at each event that it is configured for; gives how often.
    pub(crate) fn accept(&self, world: &World, command: &str) -> Result<usize, String> {
        let list = self.consents.list.as_ref().ok_or_else(|| "there is no home".to_owned())?;
        let mut count = 0;
        for settings in world.hooks().iter().filter(|settings| settings.command == command) {
            let spec = self.spec(settings);
            let words = spec.words.clone()?;
            let accept = |command: &HookCommand<'_>| list.accept(command, Machine::wall());
            let accepted = self.consents.about(spec.event, &spec.command, &words, accept);
            accepted.map_err(|wrong| wrong.to_string())?;
            count += 1;
        }
        Ok(count)
    }

    /// Takes back every consent to a command; gives how many there were.
    pub(crate) fn revoke(&self, command: &str) -> Result<usize, String> {
        let list = self.consents.list.as_ref().ok_or_else(|| "there is no home".to_owned())?;
        list.revoke(command).map_err(|wrong| wrong.to_string())
    }

    /// What is odd about a hook that may run all the same.
    fn odd(&self, spec: &ShellHookSpec, words: &[String]) -> Vec<String> {
        let pattern = spec.matcher.as_deref().and_then(|text| wrong_pattern(text, spec.policy));
        let there = self.consents.program(words);
        let there = there.is_some_and(|path| program_on_path(&path.to_string_lossy(), "".as_ref()).is_some());
        let missing = words.first().filter(|_| !there);
        let missing = missing.map(|name| format!("there is no program `{name}` that can be run"));
        let vain = spec.policy && spec.event.is_observed();
        let vain = vain.then(|| "nobody waits for it, so that `policy: true` decides nothing".to_owned());
        pattern.into_iter().chain(missing).chain(vain).collect()
    }

    /// Runs one hook, by its place in the configuration, with a sample about one of these tools that it is
    /// for; nothing when it is for none of them.
    pub(crate) fn try_one<'a>(
        &self,
        world: &World,
        at: usize,
        tools: impl Iterator<Item = &'a str>,
    ) -> Option<Result<Tried, String>> {
        let settings = world.hooks().get(at)?;
        let (hook, event) = (self.hook(settings), EventKind::named(&settings.event)?);
        let mut tools = ["terminal"].into_iter().chain(tools);
        let tool = if hook.is_about_calls() { Some(tools.find(|name| hook.wants(name))?) } else { None };
        Some(hook.try_out(&sample(event, tool, &self.place.cwd.to_string_lossy())))
    }

    /// Runs the hooks of an event once, whether or not they were agreed to.
    pub(crate) fn try_out(
        &self,
        world: &World,
        kind: EventKind,
        tool: Option<&str>,
        told: Option<Value>,
    ) -> Vec<(String, Result<Tried, String>)> {
        let told = told.unwrap_or_else(|| sample(kind, tool, &self.place.cwd.to_string_lossy()));
        let name = told.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let wanted = world.hooks().iter().filter(|settings| settings.event == kind.name());
        let hooks = wanted.map(|settings| (settings.command.clone(), self.hook(settings)));
        let fit = hooks.filter(|(_, hook)| name.is_empty() || !hook.is_about_calls() || hook.wants(&name));
        fit.map(|(command, hook)| (command, hook.try_out(&told))).collect()
    }

    fn spec(&self, settings: &HookSettings) -> ShellHookSpec {
        ShellHookSpec {
            // The configuration is read with the same list of names.
            event: EventKind::named(&settings.event).unwrap_or(EventKind::PreToolCall),
            command: settings.command.clone(),
            words: words(&settings.command, self.place.home.as_deref()).map_err(|wrong| wrong.to_string()),
            matcher: settings.matcher.clone(),
            timeout: settings.timeout,
            policy: settings.policy,
            cwd: self.place.cwd.clone(),
        }
    }

    fn hook(&self, settings: &HookSettings) -> ShellHook {
        let consents: Arc<dyn Consents> = self.consents.clone();
        ShellHook::new(self.spec(settings), &self.launcher, &consents, &self.observers, &self.host)
    }
}

impl Kind for Hooks {
    fn look(&self, world: &World, _: Sake) -> Changes {
        let settings = world.hooks();
        let mut made_from = self.made_from.lock().unwrap_or_else(PoisonError::into_inner);
        if made_from.as_ref().is_some_and(|known| known.as_slice() == settings)
            || made_from.is_none() && settings.is_empty()
        {
            return Changes::default();
        }
        let hooks = settings.iter().map(|settings| Arc::new(self.hook(settings)) as Arc<dyn Hook>);
        let scope = hooks.fold(Scope::new(Source::Embedder(SCOPE.to_owned())), Scope::hook);
        let problems = self.standing(world).iter().flat_map(problems).collect();
        *made_from = Some(settings.to_vec());
        Changes {
            removed: Vec::new(),
            installed: vec![scope],
            problems: Some(problems),
            ..Changes::default()
        }
    }
}

/// Why a hook does not do what it is there for, or does it oddly, in words.
pub(crate) fn problems(hook: &HookStanding) -> Vec<String> {
    let HookStanding { event, command, .. } = hook;
    let name = event.name();
    if !event.is_told() {
        return vec![format!("hooks.{name}: nothing tells about this event here; `{command}` never runs")];
    }
    let odd = hook.odd.iter().map(|odd| format!("hooks.{name}: `{command}`: {odd}"));
    let why = match &hook.consent {
        _ if hook.runs() => return odd.collect(),
        _ if hook.broken.is_some() => hook.broken.clone().unwrap_or_default(),
        Ok(ConsentState::Changed) => "it has changed since it was accepted".to_owned(),
        Ok(ConsentState::Unbound) => "its consent does not say what the script was".to_owned(),
        Ok(_) => "nobody has accepted it".to_owned(),
        Err(why) => why.clone(),
    };
    let then = if hook.policy && !event.is_observed() {
        "what it decides about is denied"
    } else {
        "it does not run"
    };
    let why = format!("hooks.{name}: `{command}`: {why}; {then} (see `hermes hooks list`)");
    std::iter::once(why).chain(odd).collect()
}

/// Whether everything is accepted without looking: by the configuration, a variable or a flag.
fn unasked(world: &World) -> bool {
    let spoken = world.variable("HERMES_ACCEPT_HOOKS").map(str::to_lowercase);
    world.settings().hooks_auto_accept
        || spoken.is_some_and(|spoken| matches!(spoken.as_str(), "1" | "true" | "yes" | "on"))
}

/// The list of consents, and whether it counts.
struct HomeConsents {
    list: Option<HooksConsent>,
    cwd: PathBuf,
    /// Where programs are looked for.
    path: String,
    world: OnceLock<Weak<RwLock<World>>>,
}

impl HomeConsents {
    fn state(&self, event: EventKind, command: &str, words: &[String]) -> Result<ConsentState, String> {
        let Some(list) = &self.list else { return Ok(ConsentState::Unknown) };
        self.about(event, command, words, |command| list.state(command)).map_err(|wrong| wrong.to_string())
    }

    /// The file that a command starts, found as it is when it is started.
    fn program(&self, words: &[String]) -> Option<PathBuf> {
        let found = found(words.first()?, &self.path).ok()?;
        Some(lexical(&found.to_string_lossy(), &self.cwd, None))
    }

    /// A command as consents are about it.
    fn about<T>(
        &self,
        event: EventKind,
        command: &str,
        words: &[String],
        look: impl FnOnce(&HookCommand<'_>) -> T,
    ) -> T {
        let program = self.program(words);
        let (event, program) = (event.name(), program.as_deref());
        look(&HookCommand { event, command, words, program, cwd: &self.cwd })
    }

    fn unasked(&self) -> bool {
        let world = self.world.get().and_then(Weak::upgrade);
        world.is_some_and(|world| unasked(&world.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Consents for HomeConsents {
    fn allowed(&self, event: EventKind, command: &str, words: &[String]) -> Result<String, String> {
        match self.state(event, command, words) {
            Ok(ConsentState::Accepted { digest, .. }) => Ok(digest),
            _ if self.unasked() => Ok("accepted without looking".to_owned()),
            Ok(ConsentState::Changed) => {
                Err("it has changed since it was accepted; `hermes hooks accept` accepts it again".to_owned())
            }
            Ok(_) => Err("nobody has accepted it; `hermes hooks accept` does".to_owned()),
            Err(why) => Err(why),
        }
    }
}
