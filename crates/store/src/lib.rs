//! The state folder: the only crate that touches it.
//!
//! | module | what it keeps |
//! |---|---|
//! | [`home`] | which folder is the home, and where its files are |
//! | [`config`] | `config.yaml`: read with positions, edited without losing comments |
//! | [`secrets`] | `.env`: names and values that are never printed, and the view over the environment |
//! | [`logins`] | `auth.json`: what services have given a person who agreed |
//! | [`memory`] | notes that last beyond a session |
//! | [`skills`] | written-down know-how, in folders |
//! | [`cron`] | jobs that the clock starts, their runs and their answers |
//! | [`hooks_consent`] | shell hooks that somebody agreed to |
//! | [`processes`] | background processes that outlive the program |
//! | [`kanban`] | the board of tasks that all profiles share |
//! | [`projects`] | folders with a name |
//! | [`checkpoints`] | what files held before a call changed them |
//! | [`spill`] | tool results too long for the model, one private folder per session |
//! | [`sessions`] | conversations and the journal of calls, in one database |
//! | [`recall`] | the same, for a model that looks back |
//! | [`foreign`] | files that foreign tools come from, what was learnt about them, what they said |
//! | [`witness`] | by which dates of files something was found out |
//! | [`trust`] | what a person accepted, by the digest of its content |
//! | [`history`] | lines typed at the prompt |
//! | [`error`] | what can go wrong, always with the path |
//!
//! Every access to a file goes through `disk` (and `beneath`, for folders that strangers may have
//! written), which holds the few promises that matter: bounded
//! reads, whole-or-nothing writes, private modes, no writing through planted links. The process
//! environment and the clock are not read here; both are handed in as values.

mod beneath;
pub mod checkpoints;
pub mod config;
pub mod cron;
mod disk;
mod dotenv;
pub mod error;
pub mod foreign;
pub mod history;
pub mod home;
pub mod hooks_consent;
pub mod kanban;
pub mod logins;
pub mod mcp;
pub mod memory;
pub mod processes;
pub mod projects;
pub mod recall;
pub mod secrets;
pub mod sessions;
pub mod site_lists;
pub mod skills;
pub mod spill;
pub mod trust;
pub mod variables;
pub mod witness;

pub use checkpoints::Checkpoints;
pub use config::{Change, Config, ConfigFile, Settings};
pub use cron::CronHome;
pub use error::StoreError;
pub use history::History;
pub use home::{Home, HomeInputs};
pub use kanban::{Boards, HomeKanban, ImportedTasks};
pub use logins::HomeLogins;
pub use mcp::{McpFile, McpHome};
pub use memory::HomeMemory;
pub use processes::Processes;
pub use projects::HomeProjects;
pub use recall::HomeRecall;
pub use secrets::{EnvView, Secrets};
pub use skills::HomeSkills;
pub use spill::Spill;
pub use trust::{Named, OwnPolicy, Trust};
