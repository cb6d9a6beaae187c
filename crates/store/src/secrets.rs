//! `.env`: secrets by name, and the one view over them and the process environment.
//!
//! The process environment is handed in as a map and never changed. Values never show up in
//! `Debug` or in an error.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::disk::{self, Mode};
use crate::dotenv;
pub use crate::dotenv::BadLine;
use crate::error::StoreError;
use crate::home::Home;

const MAX_BYTES: u64 = 1024 * 1024;

/// Variables that decide which programs and libraries run; they are never written to `.env`.
pub const WRITE_DENYLIST: &[&str] = &[
    "BROWSER",
    "DYLD_FALLBACK_FRAMEWORK_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "EDITOR",
    "GIT_EXEC_PATH",
    "GIT_SHELL",
    "GIT_SSH_COMMAND",
    "HERMES_CONFIG",
    "HERMES_ENV",
    "HERMES_HOME",
    "HERMES_PROFILE",
    "LD_AUDIT",
    "LD_DEBUG",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "SHELL",
    "VISUAL",
];

/// Names that end like this hold a credential, which is plain ASCII.
const CREDENTIAL_ENDINGS: &[&str] = &["_API_KEY", "_KEY", "_TOKEN", "_SECRET"];

/// The variables of one `.env` file.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    values: BTreeMap<String, String>,
    bad: Vec<BadLine>,
}

impl Secrets {
    /// Reads the `.env` of a home; without one there are no secrets.
    pub fn read(home: &Home) -> Result<Secrets, StoreError> {
        Secrets::read_file(&home.env())
    }

    /// Reads any `.env` file, such as a project's.
    pub fn read_file(path: &Path) -> Result<Secrets, StoreError> {
        Ok(disk::read(path, MAX_BYTES)?.map(|text| Secrets::parse(&text)).unwrap_or_default())
    }

    /// Reads the text of a `.env` file. Of a name given twice the last value counts.
    pub fn parse(text: &str) -> Secrets {
        let parsed = dotenv::parse(text);
        let values = parsed.assignments.into_iter().map(|a| {
            let credential = CREDENTIAL_ENDINGS.iter().any(|ending| a.name.ends_with(ending));
            // A pasted key brings along look-alike quotes and spaces that no header may carry.
            let value = if credential { a.value.chars().filter(char::is_ascii).collect() } else { a.value };
            (a.name, value)
        });
        Secrets { values: values.collect(), bad: parsed.bad }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The lines that could not be read.
    pub fn bad_lines(&self) -> &[BadLine] {
        &self.bad
    }

    /// Writes one variable to the `.env` of a home; all other lines stay as they are.
    pub fn write(home: &Home, name: &str, value: &str) -> Result<(), StoreError> {
        let refused = |why| StoreError::Variable { name: name.to_owned(), why };
        check_writable(name)?;
        if value.contains('\0') {
            return Err(refused("the value holds a NUL character"));
        }
        edit(home, |text| {
            let after = with_variable(text, name, value);
            // Proof before anything is replaced: this variable reads back, no other changed.
            let mut wanted = all(text);
            wanted.insert(name.to_owned(), value.to_owned());
            if all(&after) == wanted { Ok(after) } else { Err(refused("the file cannot be edited safely")) }
        })
        .map(drop)
    }

    /// Removes a variable from the `.env` of a home. Says whether it was there.
    pub fn remove(home: &Home, name: &str) -> Result<bool, StoreError> {
        check_name(name)?;
        edit(home, |text| {
            let mut after = text.to_owned();
            for found in dotenv::parse(text).assignments.iter().rev().filter(|a| a.name == name) {
                after.replace_range(found.whole.clone(), "");
            }
            let mut wanted = all(text);
            wanted.remove(name);
            let why = "the file cannot be edited safely";
            if all(&after) == wanted {
                Ok(after)
            } else {
                Err(StoreError::Variable { name: name.to_owned(), why })
            }
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("names", &self.values.keys()).field("bad", &self.bad).finish()
    }
}

/// What a variable is: the home's `.env`, then the process environment, then a project's `.env`.
#[derive(Clone, Default)]
pub struct EnvView {
    home: Secrets,
    process: BTreeMap<String, String>,
    project: Secrets,
}

impl EnvView {
    /// The view over a home's secrets and a snapshot of the process environment.
    pub fn new(home: Secrets, process: BTreeMap<String, String>) -> EnvView {
        EnvView { home, process, project: Secrets::default() }
    }

    /// Adds a project's `.env`, which only fills gaps.
    pub fn with_project(self, project: Secrets) -> EnvView {
        EnvView { project, ..self }
    }

    /// The value of a variable. An empty value is a value: it hides those behind it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.home
            .get(name)
            .or_else(|| self.process.get(name).map(String::as_str))
            .or_else(|| self.project.get(name))
    }

    /// Whether a variable is set to something other than blanks.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.trim().is_empty())
    }

    /// The lookup that [`crate::Config::read`] asks for.
    pub fn lookup(&self) -> impl Fn(&str) -> Option<String> {
        |name| self.get(name).map(str::to_owned)
    }
}

impl fmt::Debug for EnvView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvView")
            .field("home", &self.home)
            .field("process", &self.process.keys())
            .field("project", &self.project)
            .finish()
    }
}

/// Whether a text can be the name of a variable: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a variable may be written to `.env`, or why not.
pub fn check_writable(name: &str) -> Result<(), StoreError> {
    check_name(name)?;
    if WRITE_DENYLIST.contains(&name) {
        let why = "this variable decides which programs run; set it in your shell instead";
        return Err(StoreError::Variable { name: name.to_owned(), why });
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), StoreError> {
    if is_variable_name(name) {
        return Ok(());
    }
    let why = "a name has letters, digits and `_`, and does not start with a digit";
    Err(StoreError::Variable { name: name.to_owned(), why })
}

fn edit(home: &Home, change: impl FnOnce(&str) -> Result<String, StoreError>) -> Result<bool, StoreError> {
    let path = home.env();
    let _lock = disk::lock(&path)?;
    let before = disk::read(&path, MAX_BYTES)?.unwrap_or_default();
    let after = change(&before)?;
    if after == before {
        return Ok(false);
    }
    disk::write(&path, &after, Mode::Private).map(|()| true)
}

fn with_variable(text: &str, name: &str, value: &str) -> String {
    let quoted = dotenv::quoted(value);
    let mut after = text.to_owned();
    if let Some(found) = dotenv::parse(text).assignments.iter().rfind(|a| a.name == name) {
        after.replace_range(found.place.clone(), &quoted);
        return after;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(newline);
    }
    after + name + "=" + &quoted + newline
}

fn all(text: &str) -> BTreeMap<String, String> {
    dotenv::parse(text).assignments.into_iter().map(|a| (a.name, a.value)).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests set up folders of their own")]

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        (dir, home)
    }

    fn put(home: &Home, text: &str) {
        std::fs::create_dir_all(home.path()).unwrap();
        std::fs::write(home.env(), text).unwrap();
    }

    #[test]
    fn the_denylist_is_the_one_of_the_contract() {
        let fixture = include_str!("../../../fixtures/env_vars.json");
        let fixture: serde_json::Value = serde_json::from_str(fixture).unwrap();

        assert_eq!(fixture["write_denylist"], serde_json::json!(WRITE_DENYLIST));
        assert_eq!(fixture["name_rule"], "^[A-Za-z_][A-Za-z0-9_]*$");
    }

    #[test]
    fn a_value_never_shows_in_debug_output() {
        let secrets = Secrets::parse("A_KEY=hush\nbad line hush\n");
        let view = EnvView::new(secrets.clone(), BTreeMap::from([("B".to_owned(), "hush".to_owned())]));

        for shown in [format!("{secrets:?}"), format!("{view:?}")] {
            assert!(shown.contains("A_KEY") && !shown.contains("hush"), "{shown}");
        }
    }

    #[test]
    fn the_home_beats_the_process_and_a_project_fills_gaps() {
        let process =
            BTreeMap::from([("A".to_owned(), "process".to_owned()), ("B".to_owned(), "process".to_owned())]);
        let view = EnvView::new(Secrets::parse("A=home\nE=\n"), process)
            .with_project(Secrets::parse("A=project\nB=project\nC=project\nE=project\n"));

        assert_eq!(view.get("A"), Some("home"));
        assert_eq!(view.get("B"), Some("process"));
        assert_eq!(view.get("C"), Some("project"));
        assert_eq!(view.get("D"), None);
        assert_eq!(view.get("E"), Some(""));
        assert!(!view.has("E") && view.has("C"));
        assert_eq!(view.lookup()("A").as_deref(), Some("home"));
    }

    #[test]
    fn credentials_lose_what_is_not_ascii_and_other_values_keep_it() {
        let secrets = Secrets::parse("X_API_KEY=“sk-1”\nNAME=é\n");

        assert_eq!(secrets.get("X_API_KEY"), Some("sk-1"));
        assert_eq!(secrets.get("NAME"), Some("é"));
    }

    #[test]
    fn a_new_variable_makes_a_private_file_in_a_private_home() {
        let (_dir, home) = home();

        Secrets::write(&home, "A_KEY", "it's \"x\" $y\nz").unwrap();

        assert_eq!(Secrets::read(&home).unwrap().get("A_KEY"), Some("it's \"x\" $y\nz"));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(home.path()), mode(&home.env())), (0o700, 0o600));
    }

    #[test]
    fn a_changed_variable_leaves_every_other_byte_alone() {
        let (_dir, home) = home();
        put(&home, "# keys\r\nexport A = 'old' # mine\r\n\r\nbad line\r\nB=2");

        Secrets::write(&home, "A", "new").unwrap();
        Secrets::write(&home, "C", "3").unwrap();

        let text = std::fs::read_to_string(home.env()).unwrap();
        assert_eq!(text, "# keys\r\nexport A = new # mine\r\n\r\nbad line\r\nB=2\r\nC=3\r\n");
    }

    #[test]
    fn an_empty_value_with_a_comment_can_be_filled() {
        let (_dir, home) = home();
        put(&home, "A= # later\n");

        Secrets::write(&home, "A", "x y").unwrap();

        assert_eq!(std::fs::read_to_string(home.env()).unwrap(), "A='x y' # later\n");
    }

    #[test]
    fn of_a_repeated_name_the_last_counts_for_reading_and_writing() {
        let (_dir, home) = home();
        put(&home, "A=1\nA=2\n");
        assert_eq!(Secrets::read(&home).unwrap().get("A"), Some("2"));

        Secrets::write(&home, "A", "3").unwrap();
        assert_eq!(std::fs::read_to_string(home.env()).unwrap(), "A=1\nA=3\n");

        assert!(Secrets::remove(&home, "A").unwrap());
        assert!(!Secrets::remove(&home, "A").unwrap());
        assert_eq!(std::fs::read_to_string(home.env()).unwrap(), "");
    }

    #[test]
    fn an_edit_that_would_swallow_a_neighbour_is_refused() {
        let (_dir, home) = home();
        // Closing this quote would turn the following lines into another value.
        let text = "A=\"open\nB=1\n";
        put(&home, text);

        Secrets::write(&home, "C", "x").unwrap();
        let error = Secrets::write(&home, "D", " #it's").unwrap_err();

        assert!(matches!(error, StoreError::Variable { .. }));
        assert_eq!(std::fs::read_to_string(home.env()).unwrap(), format!("{text}C=x\n"));
    }

    #[test]
    fn names_that_choose_programs_and_broken_names_are_refused() {
        let (_dir, home) = home();

        for name in ["PATH", "LD_PRELOAD", "HERMES_HOME", "", "1A", "A-B", "A B", "A=B", "É", "A\nB"] {
            let error = Secrets::write(&home, name, "x").unwrap_err();
            assert!(matches!(error, StoreError::Variable { .. }), "{name}");
        }
        assert!(Secrets::write(&home, "A", "x\0").is_err());
        assert!(!home.path().exists());
    }
}
