//! Sandboxes of vendors, reached by their APIs: what the backends share, and one folder for each.
//!
//! Nothing of this machine runs for them: a program over there is a conversation with the vendor.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what the settings of sandboxes have in common, and the labels they are known by |
//! | `own.rs` | what is remembered about the one sandbox of a place |
//! | `api.rs` | requests with JSON, and what refusals mean |
//! | `cloud.rs` | a vendor as a place that programs can be started in |
//! | `carrier.rs` | the thread that carries all conversations of a place |
//! | `conversation.rs` | a program, as the far layer knows programs |
//! | `speech.rs` | bytes through vendors who carry only text |
//! | `daytona/` | Daytona |
//! | `modal/` | Modal |
//! | `vercel/` | Vercel Sandbox |

mod api;
mod carrier;
mod cloud;
mod conversation;
pub(crate) mod daytona;
pub(crate) mod modal;
mod own;
mod settings;
mod speech;
pub(crate) mod vercel;
