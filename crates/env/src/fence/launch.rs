//! The launcher: this program, started once more, confines itself and becomes the command.
//!
//! Nothing of the command has run before the fence is up, and everything else is as the starter left
//! it: directory, variables, descriptors, process group, parent-death signal.

#![expect(clippy::disallowed_methods, reason = "becoming the command is how it is started")]

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use super::apply::apply;
use super::spec::{FENCED, Spec};
use super::trial;

/// Exit code when the command was not run.
pub const NOT_RUN: u8 = 126;

/// To be called first thing in `main`, with the words the process was started with.
///
/// `None` means that nothing was asked of the launcher and the program goes on as usual. When a
/// fenced command was asked for, this comes back only if the command could not be run; the reason is
/// on standard error, and the answer is the exit code.
pub fn launched(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut words = words.into_iter().skip(1);
    let first = words.next()?;
    if first == trial::TRIAL {
        return Some(trial::run(words));
    }
    if first != FENCED {
        return None;
    }
    let why = become_command(&mut words);
    // Without standard error the exit code alone has to say it.
    let _ = writeln!(std::io::stderr(), "hermes: the command was not run: {why}");
    Some(ExitCode::from(NOT_RUN))
}

/// Comes back only with the reason why it failed.
fn become_command(words: &mut dyn Iterator<Item = OsString>) -> String {
    let spec = match Spec::read(words) {
        Ok(spec) => spec,
        Err(why) => return format!("the launcher was started wrongly: {why}"),
    };
    let (Some(program), Some(name)) = (words.next(), words.next()) else {
        return "the launcher was started wrongly: there is no command".to_owned();
    };
    if let Err(why) = apply(&spec) {
        return format!("the fence could not be put up: {why}");
    }
    let failed = Command::new(&program).arg0(name).args(words).exec();
    format!("cannot start {}: {failed}", program.display())
}
