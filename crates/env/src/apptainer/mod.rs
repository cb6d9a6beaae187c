//! Instances of Apptainer and Singularity.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set, and what follows from it |
//! | `words.rs` | the words an instance is started with, and its name |
//! | `complaints.rs` | what the program complains of, and what can be done about it |
//! | `folders.rs` | folders of this machine that an instance stands on |
//! | `instance.rs` | the one instance of a place: found again, started, stopped |

mod complaints;
mod folders;
mod instance;
mod settings;
mod words;

pub(crate) use settings::ApptainerSettings;
