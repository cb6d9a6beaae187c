//! Where things run: the environments, and the files in them.
//!
//! | module | what |
//! |---|---|
//! | [`backends`] | the environments, one file each: they know how to start things there |
//! | [`workplace`] | what all of them share: limits, stopping, output, shell state |
//! | `script.rs` | programs that call back |
//! | `containers/` | containers of docker and podman |
//! | `apptainer/` | instances of Apptainer and Singularity |
//! | `clouds/` | sandboxes of vendors, by their APIs |
//! | `ssh/` | other machines, by the system's own client |
//! | `far/` | what environments share whose files and processes are not this machine's |
//! | [`jobs`] | commands that go on in the background |
//! | [`screen`] | a person's own terminal, joined to a shell elsewhere |
//! | [`shelf`] | files of this machine that far places are given |
//! | [`shell`] | what a command's shell starts with, and what it leaves |
//! | [`fence`] | what confines a command: rules of the kernel |
//! | [`files`] | files of this machine |
//! | [`editor`] | the person's own editor, on a file of theirs |
//! | [`peers`] | programs that stand beside the agent: servers of foreign tools, hosts of plugins |
//! | [`project`] | what a folder says about itself |
//! | [`sudo`] | the password of `sudo`, from the person to `sudo` and past everything else |
//! | [`probe`] | is a program, a file or a service there? |

mod apptainer;
pub mod backends;
mod capture;
mod clouds;
mod containers;
pub mod editor;
pub mod far;
pub mod fence;
pub mod files;
pub mod jobs;
pub mod peers;
pub mod probe;
mod process;
pub mod project;
pub mod screen;
mod script;
pub mod shelf;
pub mod shell;
mod ssh;
pub mod sudo;
pub mod workplace;
