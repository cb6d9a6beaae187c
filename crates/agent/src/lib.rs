//! The agent around the tools: a turn is a pure machine, and one driver carries out what it asks for.

pub mod event;

pub use event::{Event, EventSink, TurnEnd, TurnStatus};
