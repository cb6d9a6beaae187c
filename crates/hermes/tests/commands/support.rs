//! A runtime on a temporary home where everything is allowed.

use std::path::{Path, PathBuf};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Session, ToolCall};
use serde_json::Value;

/// Says yes to everything.
pub(crate) struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// A folder with a user's home, a state folder and a place to work.
pub(crate) struct Bench {
    pub(crate) dir: Folder,
}

/// The folder of this test, or of the one that started us.
pub(crate) enum Folder {
    Own(tempfile::TempDir),
    Given(PathBuf),
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Own(dir) => dir.path(),
            Self::Given(path) => path,
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["user", "home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir: Folder::Own(dir) }
    }

    /// The bench of another process.
    pub(crate) fn at(path: &Path) -> Self {
        Self { dir: Folder::Given(path.to_path_buf()) }
    }

    pub(crate) fn work(&self) -> PathBuf {
        // Temporary folders may lie behind a link; shells tell where they really are.
        self.dir.path().join("work").canonicalize().unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.dir.path().join(path), text).unwrap();
    }

    pub(crate) fn builder(&self) -> RuntimeBuilder {
        let user = self.dir.path().join("user");
        let env =
            [("HOME", user.to_str().unwrap()), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];
        Runtime::builder()
            .cwd(self.work())
            .user_home(&user)
            .home(Home::at(&self.dir.path().join("home")))
            .env(env.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .policy(Everything)
    }

    pub(crate) fn session(&self) -> Session {
        self.builder().build().unwrap().session().open().unwrap()
    }
}

/// What a call of a tool answers.
pub(crate) fn call(session: &Session, tool: &str, arguments: &Value) -> Value {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    serde_json::from_str(&outcome.body).unwrap()
}

/// Whether a process of that number runs.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Waits until something is so; a test that waits in vain fails.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..500 {
        if so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("in vain: {what}");
}
