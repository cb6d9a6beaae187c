//! Skills through the library: found, read, written and changed on the road, and never outside of
//! their folders.
//!
//! | module | what it proves |
//! |---|---|
//! | `changing` | skills that a model writes, changes and takes away |
//! | `finding` | where skills come from, which of them count, and how they are told apart |
//! | `reading` | what a skill says, its files, and what it needs |

#![expect(clippy::disallowed_methods, reason = "the tests write the folders that the runtime finds")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

mod changing;
mod finding;
mod reading;

use std::path::{Path, PathBuf};

use hermes::store::Home;
use hermes::{Runtime, Session, ToolCall};
use serde_json::Value;

struct Yard {
    dir: tempfile::TempDir,
}

impl Yard {
    fn new(config: &str) -> Self {
        let yard = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(yard.home()).unwrap();
        std::fs::create_dir_all(yard.project()).unwrap();
        std::fs::write(yard.home().join("config.yaml"), config).unwrap();
        yard
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join(".hermes")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn skills(&self) -> PathBuf {
        self.home().join("skills")
    }

    fn runtime(&self) -> Runtime {
        self.runtime_with(&[])
    }

    fn runtime_with(&self, variables: &[(String, String)]) -> Runtime {
        Runtime::builder()
            .cwd(self.project())
            .user_home(self.dir.path())
            .home(Home::at(&self.home()))
            .env([("PATH".to_owned(), std::env::var("PATH").unwrap())])
            .env(variables.iter().cloned())
            .build()
            .unwrap()
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn text(name: &str, more: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: About {name}\n{more}---\n# Steps\n1. Do it in ${{HERMES_SKILL_DIR}}\n"
    )
}

fn call(session: &Session, tool: &str, arguments: &Value) -> Value {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    serde_json::from_str(&outcome.body).unwrap()
}

fn names(answer: &Value) -> Vec<&str> {
    answer["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect()
}
