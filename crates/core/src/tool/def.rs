//! The table entry of a built-in tool: everything the rest of the program wants to know before a call.

use std::marker::PhantomData;
use std::time::Duration;

use crate::gate::Gate;
use crate::tool::typed::{Async, Blocking, describe};
use crate::tool::{
    BlockingTool, DEFAULT_EMOJI, Definition, DynamicSchema, Handler, MaxSize, Parallel, Tool, Trust,
};
use crate::toolset::Toolset;

/// The table entry of a built-in tool: one `const` in the tool's own file.
#[derive(Clone, Copy)]
pub struct ToolDef {
    pub(super) name: &'static str,
    pub(super) toolset: &'static Toolset,
    pub(super) definition: fn() -> Definition,
    pub(super) handler: &'static dyn Handler,
    pub(super) gate: fn() -> Gate,
    pub(super) variables: fn() -> Vec<&'static str>,
    pub(super) options: Options,
}

/// What an entry may say beyond name, arguments and handler.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that a tool states")]
pub(super) struct Options {
    pub(super) emoji: &'static str,
    pub(super) requires_env: &'static [&'static str],
    pub(super) max_result: Option<MaxSize>,
    pub(super) trust: Trust,
    pub(super) parallel: Parallel,
    pub(super) looking: Option<fn(&str) -> bool>,
    pub(super) read_only: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) winds_up: bool,
    pub(super) waits: bool,
    pub(super) dynamic: Option<DynamicSchema>,
    pub(super) placed: bool,
    pub(super) looks_around: bool,
}

impl ToolDef {
    /// A tool with an async handler.
    pub const fn of<T: Tool>(name: &'static str, toolset: &'static Toolset) -> Self {
        Self::new(name, toolset, describe::<T>, &Async::<T>(PhantomData))
    }

    /// A tool whose handler blocks.
    pub const fn blocking<T: BlockingTool>(name: &'static str, toolset: &'static Toolset) -> Self {
        Self::new(name, toolset, describe::<T>, &Blocking::<T>(PhantomData))
    }

    const fn new(
        name: &'static str,
        toolset: &'static Toolset,
        definition: fn() -> Definition,
        handler: &'static dyn Handler,
    ) -> Self {
        let options = Options {
            emoji: DEFAULT_EMOJI,
            requires_env: &[],
            max_result: None,
            trust: Trust::Trusted,
            parallel: Parallel::ByEffects,
            looking: None,
            read_only: false,
            timeout: None,
            winds_up: false,
            waits: false,
            dynamic: None,
            placed: false,
            looks_around: false,
        };
        Self { name, toolset, definition, handler, gate: || Gate::Open, variables: Vec::new, options }
    }

    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// A picture for people.
    pub const fn emoji(mut self, emoji: &'static str) -> Self {
        self.options.emoji = emoji;
        self
    }

    /// When it is available.
    pub const fn gate(mut self, gate: fn() -> Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Variables the tool uses, for setup and documentation.
    pub const fn requires_env(mut self, names: &'static [&'static str]) -> Self {
        self.options.requires_env = names;
        self
    }

    /// Variables it can use beside those that it requires and those that its gate looks at: the keys of
    /// its providers, where a service is found. Setup and the doctor tell of them.
    pub const fn variables(mut self, names: fn() -> Vec<&'static str>) -> Self {
        self.variables = names;
        self
    }

    /// How large its results may be.
    pub const fn max_result(mut self, max: MaxSize) -> Self {
        self.options.max_result = Some(max);
        self
    }

    /// Its output carries text from strangers.
    pub const fn untrusted(mut self) -> Self {
        self.options.trust = Trust::Untrusted;
        self
    }

    /// Its calls never overlap with others.
    pub const fn alone(mut self) -> Self {
        self.options.parallel = Parallel::Never;
        self
    }

    /// Its calls never overlap with others, except where all that they run are commands that only look:
    /// then they may overlap with whatever else only looks.
    pub const fn alone_unless(mut self, only_looks: fn(&str) -> bool) -> Self {
        self.options.looking = Some(only_looks);
        self.alone()
    }

    /// It only ever looks; the same answer twice is a sign of a loop.
    pub const fn read_only(mut self) -> Self {
        self.options.read_only = true;
        self
    }

    /// How long one call may take, where the session's limit does not fit.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// A call waits for people or for other agents: its own limit holds, and its time is not counted
    /// as that of the batch.
    pub const fn waits(mut self) -> Self {
        self.options.waits = true;
        self
    }

    /// A call that is stopped answers soon by itself, with what it has so far.
    pub const fn winds_up(mut self) -> Self {
        self.options.winds_up = true;
        self
    }

    /// It works in an environment: the one its call names, else the session's.
    pub const fn placed(mut self) -> Self {
        self.options.placed = true;
        self
    }

    /// A call may ask which other tools there are, or call them. For one that does not say so there are none.
    pub const fn looks_around(mut self) -> Self {
        self.options.looks_around = true;
        self
    }

    /// Its definition depends on what is offered beside it.
    pub const fn dynamic(mut self, dynamic: DynamicSchema) -> Self {
        self.options.dynamic = Some(dynamic);
        self
    }
}
