//! A temporary user: a home folder, a project folder, and the program started there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

/// A user nobody else knows.
pub(crate) struct Home {
    root: TempDir,
}

/// What the program said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(home.project()).unwrap();
        std::fs::create_dir_all(home.state()).unwrap();
        home
    }

    /// A user with this `config.yaml`.
    pub(crate) fn configured(config: &str) -> Self {
        let home = Self::new();
        std::fs::write(home.config(), config).unwrap();
        home
    }

    /// Adds a file to the project.
    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join(".hermes")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.state().join("config.yaml")
    }

    pub(crate) fn config_text(&self) -> String {
        std::fs::read_to_string(self.config()).unwrap()
    }

    /// The program in the project folder, with nothing of the tester's environment but the search path.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.program(HERMES, words)
    }

    pub(crate) fn program(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.project()).env_clear().env("HOME", self.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Said {
        Said::of(self.command(words).output().unwrap())
    }

    /// What it answers when all goes well, without a word on standard error.
    pub(crate) fn say(&self, words: &[&str]) -> String {
        let said = self.run(words);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}: {said:?}");
        said.out
    }

    /// The same command with `--json`, parsed.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let words = [words, &["--json"]].concat();
        let text = self.say(&words);
        assert_eq!(text.lines().count(), 1, "piped JSON is one line: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Runs it with something on its standard input.
    pub(crate) fn run_with(&self, words: &[&str], input: &[u8]) -> Said {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Said::of(child.wait_with_output().unwrap())
    }
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|wrong| panic!("{wrong}: {self:?}"))
    }
}
