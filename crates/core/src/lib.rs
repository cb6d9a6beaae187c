//! The narrow waist: contracts and pure logic, no I/O.
//!
//! | what | where |
//! |---|---|
//! | a tool and its entry | [`tool`], [`cx`] |
//! | all tools at one moment | [`registry`], [`toolset`] |
//! | which are there now | [`gate`], [`availability`] |
//! | what the model is told | [`definitions`], [`bridge`], [`json`] |
//! | the way of a call | [`road`]: [`call`] → [`outcome`] |
//! | what it may do | [`effect`], [`permit`], [`policy`], [`approval_queue`], [`approval_words`], [`smart`], [`hook`] |
//! | what others bring | [`host`], [`files`], [`checkpoint`], [`environment`], [`jobs`], [`journal`] |
//! | the network | [`web`], [`browser`] |
//! | what an agent's tools ask for | [`memory`], [`recall`], [`skills`], [`clarify`], [`delegate`], [`kanban`], [`project`], [`panes`] |
//! | what services know us by | [`keys`], [`logins`] |
//! | what a gateway keeps open | [`yuanbao`] |
//! | what the clock starts | [`schedule`], [`cron`] |
//! | what a person is asked for | [`sudo`] |
//! | messages to people | [`deliver`] |
//! | the session | [`session`], [`loop_guard`], [`extensions`], [`watch`] |
//! | a model and what is said | [`model`], [`conversation`], [`side`] |
//! | what the model reads | [`shape`], [`error`], [`threat`] |
//! | names | [`names`], [`suggest`], [`tool_index`] |
//! | what is kept from one start to the next | [`packed`], [`digest`] |

pub mod approval_queue;
pub mod approval_words;
pub mod availability;
pub mod bridge;
pub mod browser;
pub mod call;
pub mod checkpoint;
pub mod clarify;
pub mod conversation;
pub mod cron;
pub mod cx;
pub mod definitions;
pub mod delegate;
pub mod deliver;
pub mod digest;
pub mod effect;
pub mod environment;
pub mod error;
pub mod extensions;
pub mod files;
pub mod gate;
pub mod hex;
pub mod hook;
pub mod host;
pub mod jobs;
pub mod journal;
pub mod json;
pub mod kanban;
mod keeping;
pub mod keys;
pub mod logins;
pub mod loop_guard;
pub mod memory;
pub mod model;
pub mod names;
pub mod outcome;
pub mod packed;
pub mod panes;
pub mod permit;
pub mod policy;
pub mod project;
pub mod recall;
pub mod registry;
pub mod road;
pub mod schedule;
pub mod session;
pub mod shape;
pub mod side;
pub mod skills;
pub mod smart;
pub mod sudo;
pub mod suggest;
pub mod threat;
pub mod tool;
pub mod tool_index;
pub mod toolset;
pub mod wait;
pub mod watch;
pub mod web;
mod words;
pub mod yuanbao;
