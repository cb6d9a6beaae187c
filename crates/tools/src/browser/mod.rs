//! What the browser tools share.
//!
//! | file | what |
//! |---|---|
//! | `needs.rs` | when there is a browser to use |
//! | `session.rs` | the one browser of a session: opened, found again, gone |
//! | `wire.rs` | questions and answers of the `DevTools` protocol |
//! | `told.rs` | what a browser tells of: pages, frames, dialogs; pure |
//! | `state.rs` | what it has told so far; pure |
//! | `console.rs` | what pages wrote to their console; pure |
//! | `page.rs` | what is done with a page: open, wait, go back, run a script |
//! | `element.rs` | what is done with one element: click, fill |
//! | `picture.rs` | a picture of the page |
//! | `answer.rs` | what answers have in common |
//! | `capture.rs` | reads the accessibility trees of a page and its frames |
//! | `node.rs` | those trees as the protocol tells them; pure |
//! | `snapshot.rs` | what of them is shown, with refs; pure |
//! | `outline.rs` | that as lines; pure |
//! | `refs.rs` | the names that elements have in snapshots; pure |
//! | `keys.rs` | names of keys; pure |
//! | `rules.rs` | which commands and scripts may be sent; pure |

pub(crate) mod answer;
pub(crate) mod capture;
mod console;
mod element;
mod keys;
mod needs;
mod node;
mod outline;
pub(crate) mod page;
mod picture;
mod refs;
pub(crate) mod rules;
mod session;
mod snapshot;
mod state;
mod told;
mod wire;

use hermes_core::browser::SERVICE;
use hermes_core::effect::Effect;
use hermes_core::toolset::Toolset;

pub(crate) use keys::parse as key;
pub(crate) use needs::needs;
pub(crate) use session::{Browser, browsers, current, opened};
pub(crate) use state::State;
pub(crate) use told::{Dialog, Page};

/// The name of what a session remembers about its browser.
const SLOT: &str = "browser";

/// The toolset of the tools that go closer to the protocol. Nobody selects it: they come with the others.
pub(crate) static CLOSER: Toolset =
    Toolset::new("browser-cdp", "Answer dialogs of a page, and send commands of the DevTools protocol.");

/// What every call does that uses the browser of its session.
pub(crate) fn effects() -> Vec<Effect> {
    vec![Effect::WriteSlot(SLOT), Effect::Connect(SERVICE.to_owned())]
}
