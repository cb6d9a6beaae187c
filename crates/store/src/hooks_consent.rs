//! Which shell hooks somebody agreed to, in `shell-hooks-allowlist.json`.
//!
//! An entry has the original's fields and two more: the digest of the command's words, of the program they
//! start and of every file among them; and a stamp of those files, so that nothing is read again that has
//! not been touched since. A changed script, program or command has lost its consent.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_core::effect::lexical;
use hermes_core::hex::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::home::Home;
use crate::sessions::Moment;

/// Largest list of consents.
const MAX_BYTES: u64 = 1024 * 1024;
/// Largest file that can be agreed to: programs are among them.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// A command at a place: what a consent is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCommand<'a> {
    /// The event it runs at.
    pub event: &'a str,
    /// The command as it is written.
    pub command: &'a str,
    /// Its words.
    pub words: &'a [String],
    /// The file that the first word starts, as it is found on the search path; nothing when there is none.
    pub program: Option<&'a Path>,
    /// Where it runs.
    pub cwd: &'a Path,
}

/// What is known about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsentState {
    /// It was agreed to as it is now.
    Accepted {
        /// When.
        at: String,
        /// The digest of what was agreed to.
        digest: String,
    },
    /// It was agreed to, and has changed since.
    Changed,
    /// It was agreed to in another program, which did not look at what the script says.
    Unbound,
    /// Nobody has agreed to it.
    Unknown,
}

/// The list of consents of a home.
#[derive(Debug, Clone)]
pub struct HooksConsent {
    file: PathBuf,
}

impl HooksConsent {
    /// That of a home; nothing is read yet.
    pub fn new(home: &Home) -> Self {
        Self { file: home.hooks_allowlist() }
    }

    /// What is known about a command as it is now. A list that cannot be read agrees to nothing.
    pub fn state(&self, command: &HookCommand<'_>) -> Result<ConsentState, StoreError> {
        let entries = self.entries()?;
        let Some(entry) = entries.iter().rfind(|entry| is_for(entry, command)) else {
            return Ok(ConsentState::Unknown);
        };
        let Some(accepted) = entry.get("digest").and_then(Value::as_str) else {
            return Ok(ConsentState::Unbound);
        };
        let untouched = entry.get("stamp").and_then(Value::as_str);
        if untouched.is_none_or(|known| known != stamp(command)) && digest(command)? != accepted {
            return Ok(ConsentState::Changed);
        }
        let at = entry.get("approved_at").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(ConsentState::Accepted { at, digest: accepted.to_owned() })
    }

    /// Agrees to a command as it is now; gives its digest.
    pub fn accept(&self, command: &HookCommand<'_>, now: SystemTime) -> Result<String, StoreError> {
        // Stamped before they are read: what changes in between is seen the next time.
        let files = files(command);
        let settled = files.iter().all(|(_, path)| disk::stamp(path).is_some_and(|it| it.had_settled(now)));
        let stamp = settled.then(|| stamp(command));
        let digest = digest(command)?;
        let scripts = files.iter().filter(|(at, _)| *at > 0 || files.len() == 1);
        let modified = scripts.filter_map(|(_, path)| disk::modified(path)).max();
        self.change(|entries| {
            entries.retain(|entry| !is_for(entry, command));
            entries.push(json!({
                "event": command.event,
                "command": command.command,
                "approved_at": Moment::from(now).to_string(),
                "script_mtime_at_approval": modified.map(|at| Moment::from(at).to_string()),
                "digest": digest,
                "stamp": stamp,
            }));
        })?;
        Ok(digest)
    }

    /// Takes back every consent to a command, at whatever event; gives how many there were.
    pub fn revoke(&self, command: &str) -> Result<usize, StoreError> {
        let mut count = 0;
        self.change(|entries| {
            let before = entries.len();
            entries.retain(|entry| entry.get("command").and_then(Value::as_str) != Some(command));
            count = before - entries.len();
        })?;
        Ok(count)
    }

    fn entries(&self) -> Result<Vec<Value>, StoreError> {
        Ok(self.read()?.get("approvals").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    fn read(&self) -> Result<Map<String, Value>, StoreError> {
        let text = disk::read(&self.file, MAX_BYTES)?.unwrap_or_default();
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(&text).map_err(|wrong| StoreError::Syntax {
            path: self.file.clone(),
            line: wrong.line() as u64,
            column: wrong.column() as u64,
            why: "it is not a list of consents".to_owned(),
        })
    }

    fn change(&self, work: impl FnOnce(&mut Vec<Value>)) -> Result<(), StoreError> {
        let _lock = disk::lock(&self.file)?;
        let mut whole = self.read()?;
        let mut entries = whole.get("approvals").and_then(Value::as_array).cloned().unwrap_or_default();
        work(&mut entries);
        whole.insert("approvals".to_owned(), Value::Array(entries));
        let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
        disk::write(&self.file, &text, Mode::Private)
    }
}

fn is_for(entry: &Value, command: &HookCommand<'_>) -> bool {
    let is = |key: &str, value: &str| entry.get(key).and_then(Value::as_str) == Some(value);
    is("event", command.event) && is("command", command.command)
}

/// The files of a command, by the place of their words: the program, and whatever it is handed.
fn files(command: &HookCommand<'_>) -> Vec<(usize, PathBuf)> {
    let program = command.program.map(Path::to_path_buf);
    let handed = command.words.iter().enumerate().skip(1);
    let handed = handed.map(|(at, word)| (at, lexical(word, command.cwd, None)));
    program.map(|path| (0, path)).into_iter().chain(handed).filter(|(_, path)| disk::is_file(path)).collect()
}

/// A sum of things that no other things have.
#[derive(Default)]
struct Sum(Sha256);

impl Sum {
    /// The sum of a command's words and of where its program is.
    fn of(command: &HookCommand<'_>) -> Self {
        let mut sum = Self::default();
        sum.add(command.event.as_bytes());
        sum.add(&command.words.len().to_le_bytes());
        for word in command.words {
            sum.add(word.as_bytes());
        }
        sum.add(command.program.map(Path::as_os_str).unwrap_or_default().as_encoded_bytes());
        sum
    }

    /// Lengths stand before what they measure, so that no two commands look alike.
    fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The digest of a command's words, of its program and of the files among its words, as they are now.
fn digest(command: &HookCommand<'_>) -> Result<String, StoreError> {
    let mut sum = Sum::of(command);
    for (at, path) in files(command) {
        sum.add(&at.to_le_bytes());
        sum.add(&disk::sha256(&path, MAX_FILE)?.unwrap_or_default());
    }
    Ok(sum.finish())
}

/// The same by what the files look like from outside: dates, sizes and numbers.
fn stamp(command: &HookCommand<'_>) -> String {
    let mut sum = Sum::of(command);
    for (at, path) in files(command) {
        sum.add(&at.to_le_bytes());
        for word in disk::stamp(&path).iter().flat_map(disk::Stamp::words) {
            sum.add(&word.to_le_bytes());
        }
    }
    sum.finish()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests set up folders of their own")]

    use super::*;

    #[test]
    fn a_consent_holds_for_the_command_and_the_script_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("hook.sh");
        std::fs::write(&script, "one").unwrap();
        let consents = HooksConsent::new(&Home::at(&dir.path().join("home")));
        let words = [script.display().to_string(), "--fast".to_owned()];
        let text = words.join(" ");
        let program = Some(script.as_path());
        let command =
            HookCommand { event: "pre_tool_call", command: &text, words: &words, program, cwd: dir.path() };

        assert_eq!(consents.state(&command).unwrap(), ConsentState::Unknown);
        let digest = consents.accept(&command, SystemTime::UNIX_EPOCH).unwrap();
        assert!(
            matches!(consents.state(&command).unwrap(), ConsentState::Accepted { digest: known, .. } if known == digest)
        );
        let other = HookCommand { event: "post_tool_call", ..command };
        assert_eq!(consents.state(&other).unwrap(), ConsentState::Unknown);
        std::fs::write(&script, "two").unwrap();
        assert_eq!(consents.state(&command).unwrap(), ConsentState::Changed);
        consents.accept(&command, SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(consents.revoke(&text).unwrap(), 1);
        assert_eq!(consents.state(&command).unwrap(), ConsentState::Unknown);
    }

    #[test]
    fn a_consent_of_the_original_is_not_bound_to_a_script() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let list = json!({ "approvals": [{ "event": "pre_tool_call", "command": "x", "approved_at": "t" }], "kept": 1 });
        std::fs::write(home.hooks_allowlist(), list.to_string()).unwrap();
        let consents = HooksConsent::new(&home);
        let words = ["x".to_owned()];
        let cwd = dir.path();
        let command = HookCommand { event: "pre_tool_call", command: "x", words: &words, program: None, cwd };

        assert_eq!(consents.state(&command).unwrap(), ConsentState::Unbound);
        consents.accept(&command, SystemTime::UNIX_EPOCH).unwrap();
        let kept: Value =
            serde_json::from_str(&std::fs::read_to_string(home.hooks_allowlist()).unwrap()).unwrap();
        assert_eq!((&kept["kept"], kept["approvals"].as_array().unwrap().len()), (&json!(1), 1));
    }

    #[test]
    fn a_list_that_cannot_be_read_agrees_to_nothing_and_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        std::fs::write(home.hooks_allowlist(), "[oops").unwrap();
        let consents = HooksConsent::new(&home);
        let words = ["x".to_owned()];
        let cwd = dir.path();
        let command = HookCommand { event: "pre_tool_call", command: "x", words: &words, program: None, cwd };

        assert!(consents.state(&command).is_err());
        assert!(consents.accept(&command, SystemTime::UNIX_EPOCH).is_err());
        assert_eq!(std::fs::read_to_string(home.hooks_allowlist()).unwrap(), "[oops");
    }

    /// A command whose program is found on the search path.
    fn on_path<'a>(words: &'a [String], program: &'a Path, cwd: &'a Path) -> HookCommand<'a> {
        HookCommand { event: "pre_tool_call", command: "it", words, program: Some(program), cwd }
    }

    #[test]
    fn a_consent_holds_for_the_program_on_the_search_path() {
        let dir = tempfile::tempdir().unwrap();
        let (program, other) = (dir.path().join("bin-myhook"), dir.path().join("other-myhook"));
        for path in [&program, &other] {
            std::fs::write(path, "one").unwrap();
        }
        let consents = HooksConsent::new(&Home::at(&dir.path().join("home")));
        let words = ["myhook".to_owned()];
        let command = on_path(&words, &program, dir.path());
        consents.accept(&command, SystemTime::UNIX_EPOCH).unwrap();

        // A file of the folder that happens to have the program's name is not what runs.
        std::fs::write(dir.path().join("myhook"), "mine").unwrap();
        assert!(matches!(consents.state(&command).unwrap(), ConsentState::Accepted { .. }));
        let elsewhere = on_path(&words, &other, dir.path());
        assert_eq!(consents.state(&elsewhere).unwrap(), ConsentState::Changed);
        std::fs::write(&program, "two").unwrap();
        assert_eq!(consents.state(&command).unwrap(), ConsentState::Changed);
    }

    #[test]
    fn a_large_program_can_be_agreed_to_and_is_not_read_again_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("node");
        std::fs::File::create(&program).unwrap().set_len(20 * 1024 * 1024).unwrap();
        let home = Home::at(&dir.path().join("home"));
        let consents = HooksConsent::new(&home);
        let words = ["node".to_owned()];
        let command = on_path(&words, &program, dir.path());
        let stamped = || std::fs::read_to_string(home.hooks_allowlist()).unwrap().contains("\"stamp\": \"");

        consents.accept(&command, SystemTime::now()).unwrap();
        assert!(!stamped(), "what was changed a moment ago may change again unseen");
        consents.accept(&command, SystemTime::now() + std::time::Duration::from_mins(1)).unwrap();
        assert!(stamped());
        assert!(matches!(consents.state(&command).unwrap(), ConsentState::Accepted { .. }));
        std::fs::File::options().write(true).open(&program).unwrap().set_len(20 * 1024 * 1024 + 1).unwrap();
        assert_eq!(consents.state(&command).unwrap(), ConsentState::Changed);
    }
}
