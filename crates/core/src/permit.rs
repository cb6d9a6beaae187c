//! Permits: the proof that a call was allowed to do what it is about to do.
//!
//! Environments take a permit instead of a path or a command text and act on what the permit
//! says, so there is nothing to get out of step. Only the authorising step of the road makes a
//! [`Clearance`]; a tool turns the part of it that it needs into a permit. There is no public
//! constructor for either, and that is the point of this module.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::call::CallId;
use crate::effect::{Command, Effect, Spot};
use crate::error::ToolError;

/// Everything one call was allowed to do.
#[derive(Debug, Clone)]
pub(crate) struct Clearance {
    call: CallId,
    effects: Arc<[Effect]>,
    /// The environment whose files it may use, where these are not those of this machine.
    there: Option<Arc<str>>,
}

/// Permission of one call for one thing.
#[derive(Debug, Clone)]
pub struct Permit<What> {
    call: CallId,
    what: What,
}

/// To read one path, or below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read(PathBuf);

/// To write one path, or below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write(PathBuf);

/// To run one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec(Command);

/// To connect to one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect(String);

impl<What> Permit<What> {
    /// The call this permit belongs to, for the record.
    pub fn call(&self) -> &CallId {
        &self.call
    }
}

impl Permit<Read> {
    /// The only path that may be read, with what lies below it.
    pub fn path(&self) -> &Path {
        &self.what.0
    }
}

impl Permit<Write> {
    /// The only path that may be written, with what lies below it.
    pub fn path(&self) -> &Path {
        &self.what.0
    }
}

impl Permit<Exec> {
    /// The exact command that may run.
    pub fn command(&self) -> &Command {
        &self.what.0
    }

    /// To read what this command may change, for those who keep what was there before it alone.
    pub(crate) fn to_keep(&self, path: &Path) -> Permit<Read> {
        Permit { call: self.call.clone(), what: Read(path.to_path_buf()) }
    }
}

impl Permit<Connect> {
    /// The host that may be reached.
    pub fn host(&self) -> &str {
        &self.what.0
    }
}

impl Clearance {
    /// Made by the authorising step alone, after policy has said yes to every effect.
    pub(crate) fn new(call: CallId, effects: Arc<[Effect]>) -> Self {
        Self { call, effects, there: None }
    }

    /// The same for a call that works in an environment with files of its own.
    pub(crate) fn in_environment(mut self, there: Option<Arc<str>>) -> Self {
        self.there = there;
        self
    }

    /// Whether this spot is in the environment the call works in.
    fn is_there(&self, spot: &Spot) -> bool {
        self.there.as_deref() == Some(spot.environment.as_str())
    }

    pub(crate) fn call(&self) -> &CallId {
        &self.call
    }

    pub(crate) fn read(&self, path: &Path) -> Result<Permit<Read>, ToolError> {
        let allowed = |effect: &Effect| match effect {
            Effect::Read(root) | Effect::Write(root) => self.there.is_none() && path.starts_with(root),
            Effect::ReadIn(spot) | Effect::WriteIn(spot) => {
                self.is_there(spot) && path.starts_with(&spot.path)
            }
            _ => false,
        };
        self.grant(allowed, Read(path.to_path_buf()), || format!("reading {}", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<Permit<Write>, ToolError> {
        let allowed = |effect: &Effect| match effect {
            Effect::Write(root) => self.there.is_none() && path.starts_with(root),
            Effect::WriteIn(spot) => self.is_there(spot) && path.starts_with(&spot.path),
            _ => false,
        };
        self.grant(allowed, Write(path.to_path_buf()), || format!("writing {}", path.display()))
    }

    pub(crate) fn exec(&self, command: &Command) -> Result<Permit<Exec>, ToolError> {
        let allowed = |effect: &Effect| matches!(effect, Effect::Exec(known) if known == command);
        self.grant(allowed, Exec(command.clone()), || format!("running `{}`", command.text))
    }

    /// The one command that was declared; with none or several there is no telling which is meant.
    pub(crate) fn declared_exec(&self) -> Result<Permit<Exec>, ToolError> {
        let mut commands = self.effects.iter().filter_map(|effect| match effect {
            Effect::Exec(command) => Some(command),
            _ => None,
        });
        match (commands.next(), commands.next()) {
            (Some(command), None) => Ok(Permit { call: self.call.clone(), what: Exec(command.clone()) }),
            _ => Err(ToolError::Undeclared("running a command".to_owned())),
        }
    }

    pub(crate) fn connect(&self, host: &str) -> Result<Permit<Connect>, ToolError> {
        let allowed = |effect: &Effect| matches!(effect, Effect::Connect(known) if known == host);
        self.grant(allowed, Connect(host.to_owned()), || format!("connecting to {host}"))
    }

    fn grant<What>(
        &self,
        allowed: impl Fn(&Effect) -> bool,
        what: What,
        words: impl FnOnce() -> String,
    ) -> Result<Permit<What>, ToolError> {
        if self.effects.iter().any(allowed) {
            return Ok(Permit { call: self.call.clone(), what });
        }
        Err(ToolError::Undeclared(words()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clearance(effects: impl Into<Arc<[Effect]>>) -> Clearance {
        Clearance::new(CallId::from("c1"), effects.into())
    }

    #[test]
    fn a_permit_covers_what_lies_below_a_declared_path_and_nothing_else() {
        let clearance = clearance([Effect::Read("/work/src".into())]);

        assert_eq!(clearance.read(Path::new("/work/src/a.rs")).unwrap().path(), Path::new("/work/src/a.rs"));
        assert!(clearance.read(Path::new("/work/src2")).is_err());
        assert!(clearance.write(Path::new("/work/src/a.rs")).is_err());
    }

    #[test]
    fn a_permit_for_one_environment_is_none_for_another() {
        let there = |name: &str| Effect::WriteIn(Spot { environment: name.to_owned(), path: "/w".into() });
        let lab = clearance([there("lab")]).in_environment(Some("lab".into()));
        let path = Path::new("/w/a");

        assert!(lab.write(path).is_ok() && lab.read(path).is_ok());
        assert!(clearance([there("lab")]).write(path).is_err());
        let own = clearance([Effect::Write("/w".into())]).in_environment(Some("lab".into()));
        assert!(own.write(path).is_err() && own.read(path).is_err());
    }

    #[test]
    fn a_command_must_be_the_one_that_was_allowed_to_the_letter() {
        let command = |text: &str| Command {
            text: text.to_owned(),
            environment: "local".to_owned(),
            workdir: "/w".into(),
        };
        let clearance = clearance([Effect::Exec(command("ls"))]);

        assert_eq!(clearance.exec(&command("ls")).unwrap().command().text, "ls");
        assert!(clearance.exec(&command("ls; rm x")).is_err());
    }

    #[test]
    fn a_host_must_be_the_declared_one() {
        let clearance = clearance([Effect::Connect("a.example".to_owned())]);

        assert_eq!(clearance.connect("a.example").unwrap().host(), "a.example");
        assert!(clearance.connect("b.example").is_err());
    }
}
