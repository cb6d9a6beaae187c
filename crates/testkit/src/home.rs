//! A temporary folder with the files of a test.

#![expect(clippy::disallowed_methods, reason = "tests put real files into a temporary folder")]
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot write its files fails here"
)]

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that goes away when the test is over.
pub struct TempHome(TempDir);

impl TempHome {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it makes a folder, which a default should not")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file below it, with the folders it needs.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder for the file");
        }
        std::fs::write(&path, text).expect("a written file");
        path
    }

    /// The permission bits of a path.
    #[cfg(unix)]
    pub fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).expect("a file that exists").permissions().mode() & 0o777
    }
}
