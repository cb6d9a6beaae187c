//! The agent around the tools: a turn is a pure machine, and one driver carries out what it asks for.
//!
//! | what | where |
//! |---|---|
//! | a turn, as a pure machine | [`turn`], [`recovery`] |
//! | who carries it out | [`driver`], [`tools`], [`steering`], [`settings`], [`learnt`] |
//! | what is told about it | [`event`], [`watcher`] |
//! | what a model is told first | [`prompt`] |
//! | a conversation that fits | [`context`], [`history`] |
//! | names of sessions | [`title`] |
//!
//! Nothing here touches the outside: models, tools, record and clock are traits of the core, handed in.

pub mod context;
pub mod driver;
pub mod event;
pub mod history;
pub mod learnt;
mod patience;
pub mod prompt;
mod rambling;
pub mod recovery;
pub mod settings;
pub mod steering;
pub mod title;
pub mod tools;
pub mod turn;
pub mod watcher;

pub use driver::Driver;
pub use event::{Event, EventSink, TurnEnd, TurnStatus};
pub use learnt::Learnt;
pub use prompt::PromptFacts;
pub use settings::AgentSettings;
pub use steering::Steering;
pub use tools::Tools;
pub use watcher::EventWatcher;
