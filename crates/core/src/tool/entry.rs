//! A registered tool, whichever source it came from.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::cx::Services;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::gate::Gate;
use crate::json::Dialect;
use crate::session::Place;
use crate::tool::def::{Options, ToolDef};
use crate::tool::typed::{Async, Blocking, describe};
use crate::tool::{
    BlockingTool, DEFAULT_EMOJI, Definition, DynamicSchema, Handler, LazyDefinition, MaxSize, Parallel, Tool,
    Trust,
};

/// A registered tool, built-in or foreign.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that a tool states")]
pub struct ToolEntry {
    name: Arc<str>,
    toolset: Arc<str>,
    definition: LazyDefinition,
    /// As a model reads it, in the dialect that was first asked for.
    written: OnceLock<(Dialect, Arc<str>)>,
    handler: EntryHandler,
    gate: Gate,
    emoji: Cow<'static, str>,
    requires_env: Vec<Cow<'static, str>>,
    variables: fn() -> Vec<&'static str>,
    max_result: Option<MaxSize>,
    trust: Trust,
    parallel: Parallel,
    looking: Option<fn(&str) -> bool>,
    read_only: bool,
    timeout: Option<Duration>,
    winds_up: bool,
    waits: bool,
    elsewhere: Option<Duration>,
    dynamic: Option<DynamicSchema>,
    placed: bool,
    looks_around: bool,
    overrides: bool,
}

enum EntryHandler {
    BuiltIn(&'static dyn Handler),
    Foreign(Arc<dyn Handler>),
}

impl From<&ToolDef> for ToolEntry {
    fn from(def: &ToolDef) -> Self {
        let Options { emoji, requires_env, max_result, trust, parallel, looking, .. } = def.options;
        let Options { read_only, timeout, winds_up, waits, dynamic, placed, looks_around, .. } = def.options;
        Self {
            name: def.name.into(),
            toolset: def.toolset.name().into(),
            definition: LazyDefinition::declared(def.definition),
            written: OnceLock::new(),
            handler: EntryHandler::BuiltIn(def.handler),
            gate: (def.gate)(),
            emoji: Cow::Borrowed(emoji),
            requires_env: requires_env.iter().map(|name| Cow::Borrowed(*name)).collect(),
            variables: def.variables,
            max_result,
            trust,
            parallel,
            looking,
            read_only,
            timeout,
            winds_up,
            waits,
            elsewhere: None,
            dynamic,
            placed,
            looks_around,
            overrides: false,
        }
    }
}

impl ToolEntry {
    /// A foreign tool. Its output is taken as untrusted until said otherwise.
    pub fn new(
        name: impl Into<Arc<str>>,
        toolset: impl Into<Arc<str>>,
        definition: impl Into<LazyDefinition>,
        handler: impl Handler,
    ) -> Self {
        Self {
            name: name.into(),
            toolset: toolset.into(),
            definition: definition.into(),
            written: OnceLock::new(),
            handler: EntryHandler::Foreign(Arc::new(handler)),
            gate: Gate::Open,
            emoji: Cow::Borrowed(DEFAULT_EMOJI),
            requires_env: Vec::new(),
            variables: Vec::new,
            max_result: None,
            trust: Trust::Untrusted,
            parallel: Parallel::ByEffects,
            looking: None,
            read_only: false,
            timeout: None,
            winds_up: false,
            waits: false,
            elsewhere: None,
            dynamic: None,
            placed: false,
            looks_around: true,
            overrides: false,
        }
    }

    /// A foreign tool made from a type, like a built-in one.
    pub fn of<T: Tool>(name: impl Into<Arc<str>>, toolset: impl Into<Arc<str>>) -> Self {
        let handler = Async::<T>(PhantomData);
        Self::new(name, toolset, describe::<T>(), handler).trusted()
    }

    /// The same for a type whose handler blocks.
    pub fn blocking<T: BlockingTool>(name: impl Into<Arc<str>>, toolset: impl Into<Arc<str>>) -> Self {
        let handler = Blocking::<T>(PhantomData);
        Self::new(name, toolset, describe::<T>(), handler).trusted()
    }

    /// When it is available.
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// A picture for people.
    pub fn emoji(mut self, emoji: impl Into<Cow<'static, str>>) -> Self {
        self.emoji = emoji.into();
        self
    }

    /// Variables the tool uses.
    pub fn requires_env(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.requires_env = names.into_iter().map(Cow::Owned).collect();
        self
    }

    /// How large its results may be.
    pub fn max_result(mut self, max: MaxSize) -> Self {
        self.max_result = Some(max);
        self
    }

    /// Its output can be taken at its word.
    pub fn trusted(mut self) -> Self {
        self.trust = Trust::Trusted;
        self
    }

    /// Its calls never overlap with others.
    pub fn alone(mut self) -> Self {
        self.parallel = Parallel::Never;
        self
    }

    /// Its calls never overlap with others, except where all that they run are commands that only look.
    pub fn alone_unless(mut self, only_looks: fn(&str) -> bool) -> Self {
        self.looking = Some(only_looks);
        self.alone()
    }

    /// It only ever looks.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// How long one call may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Its definition depends on what is offered beside it.
    pub fn dynamic(mut self, dynamic: DynamicSchema) -> Self {
        self.dynamic = Some(dynamic);
        self
    }

    /// It is meant to stand in for a tool of the same name from another source.
    pub fn overriding(mut self) -> Self {
        self.overrides = true;
        self
    }

    /// Its name on the wire.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The toolset it belongs to.
    pub fn toolset(&self) -> &Arc<str> {
        &self.toolset
    }

    /// Description and parameters, before dynamic changes.
    pub fn definition(&self) -> &Definition {
        self.definition.get()
    }

    /// What it is for; its schema is not looked at.
    pub fn description(&self) -> &str {
        self.definition.description()
    }

    /// Its schema as text, where that is what a provider with this dialect wants.
    pub(crate) fn fit_schema(&self, dialect: Dialect) -> Option<&str> {
        self.definition.fit_schema(dialect)
    }

    /// The definition as a model reads it, made by `write` and kept.
    pub(crate) fn written(&self, dialect: Dialect, write: impl Fn() -> Arc<str>) -> Arc<str> {
        let (kept, text) = self.written.get_or_init(|| (dialect, write()));
        if *kept == dialect { Arc::clone(text) } else { write() }
    }

    /// When it is available.
    pub fn gate_value(&self) -> &Gate {
        &self.gate
    }

    /// Its picture.
    pub fn emoji_text(&self) -> &str {
        &self.emoji
    }

    /// Variables it uses.
    pub fn required_env(&self) -> impl Iterator<Item = &str> {
        self.requires_env.iter().map(AsRef::as_ref)
    }

    /// Every variable it can use, each once: those it requires, those its gate looks at, and what else its
    /// file names.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.required_env().chain(self.gate.variables()).chain((self.variables)()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// How large its results may be.
    pub fn max_result_size(&self) -> Option<MaxSize> {
        self.max_result
    }

    /// Whether its output can be taken at its word.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Whether its calls may overlap with others.
    pub fn parallel(&self) -> Parallel {
        self.parallel
    }

    /// Whether a call with these effects only runs commands that are known to look and do nothing else.
    pub fn only_looks(&self, effects: &[Effect]) -> bool {
        let harmless = |looking: fn(&str) -> bool| {
            effects.iter().all(|effect| match effect {
                Effect::Exec(command) => looking(&command.text),
                other => other.is_read_only(),
            })
        };
        self.looking.is_some_and(harmless)
    }

    /// Whether it only ever looks.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Its own time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether a call that is stopped answers soon by itself.
    pub fn winds_up(&self) -> bool {
        self.winds_up
    }

    /// Says that a call that is stopped answers soon by itself, with what it has so far.
    pub fn winding_up(mut self) -> Self {
        self.winds_up = true;
        self
    }

    /// Whether a call waits for people or for other agents.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Says that a call waits for people or for other agents, for this long at most.
    pub fn waiting(mut self, most: Duration) -> Self {
        self.waits = true;
        self.timeout = Some(most);
        self
    }

    /// Whether it runs where a call that took too long can only be asked to stop.
    pub fn runs_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// How long it may take to reach the place where it runs; its own time counts from when a call is sent there.
    pub fn reached_within(&self) -> Option<Duration> {
        self.elsewhere
    }

    /// Says that it runs where a call that took too long can only be asked to stop, and that it may take this
    /// long to get there. Its handler says by [`ToolCx::sent`](crate::cx::ToolCx::sent) that a call is on its way.
    pub fn elsewhere(mut self, reached_within: Duration) -> Self {
        self.elsewhere = Some(reached_within);
        self
    }

    /// Whether it works in an environment: the one its call names, else the session's.
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// Whether a call may ask which other tools there are, or call them.
    pub fn looks_around(&self) -> bool {
        self.looks_around
    }

    /// How its definition changes with what is offered beside it.
    pub fn dynamic_schema(&self) -> Option<DynamicSchema> {
        self.dynamic
    }

    /// What a call with these arguments would do; nothing is done.
    pub fn effects_of(
        &self,
        arguments: Map<String, Value>,
        place: &Place,
        services: &Services,
    ) -> Result<Vec<Effect>, ToolError> {
        Ok(self.handler().prepare(arguments)?.effects_with(place, services))
    }

    pub(crate) fn may_override(&self) -> bool {
        self.overrides
    }

    pub(crate) fn handler(&self) -> &dyn Handler {
        match &self.handler {
            EntryHandler::BuiltIn(handler) => *handler,
            EntryHandler::Foreign(handler) => handler.as_ref(),
        }
    }
}
