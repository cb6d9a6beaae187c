//! `hermes chat` as a person or a script meets it: the real program against a scripted model, a real
//! small model, a real terminal, and `kill -9`.
//!
//! | module | what it proves |
//! |---|---|
//! | `stage` | a temporary user with a scripted model |
//! | `answers` | what is written where, in three forms, and how a session is gone on with |
//! | `asked` | what MCP servers ask the person, who is at the terminal or not |
//! | `cron` | work that the clock starts: made, run, killed, served |
//! | `endings` | every exit code; nobody is waited for who is not there |
//! | `hooks` | what is told about hooks that fail, and who is asked about new ones |
//! | `kill` | a kill at any instant loses nothing and repeats nothing; eight at once |
//! | `picker` | `hermes tools` in a terminal: toolsets are switched with the keyboard |
//! | `real_model` | a real model answers, streamed |
//! | `screen` | the chat in a terminal, as a person sees it |
//! | `skills` | skills at the prompt: listed, and used by their names |
//! | `tls` | a model behind TLS, with an authority of one's own |
//! | `together` | several programs and one session, at once and after a kill |

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start the program, write the files it finds, and kill it at random times"
)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "helpers are part of the tests"
)]

mod answers;
mod asked;
mod cron;
mod endings;
#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "shared with the other tests, which use more of it")]
mod home;
mod hooks;
mod kill;
mod picker;
mod real_model;
mod screen;
mod skills;
mod stage;
#[path = "../cli/sudo.rs"]
mod sudo;
mod tls;
mod together;
