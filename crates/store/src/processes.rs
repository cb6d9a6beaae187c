//! Background processes that outlive the program: one private folder each, found again by its id.
//!
//! `processes/<id>/`. What is in a folder belongs to whoever looks after the process; where the
//! folders are and how they come and go is decided here.

use std::path::PathBuf;

use hermes_core::jobs::JobFolders;

use crate::disk::{self, Kind};
use crate::home::Home;

/// The folders of background processes of a home.
#[derive(Debug, Clone)]
pub struct Processes {
    home: PathBuf,
    folder: PathBuf,
}

impl Processes {
    /// Those of this home. Nothing is created before there is one to keep.
    pub fn of(home: &Home) -> Self {
        Self { home: home.path().to_path_buf(), folder: home.path().join("processes") }
    }

    /// The folder of an id, if the id can be the name of one.
    fn place(&self, id: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (!id.is_empty() && id.len() <= 64 && id.chars().all(plain)).then(|| self.folder.join(id))
    }
}

impl JobFolders for Processes {
    fn make(&self, id: &str) -> Result<PathBuf, String> {
        let path = self.place(id).ok_or_else(|| format!("`{id}` cannot be the name of a folder"))?;
        disk::make_private_folder(&self.home)
            .and_then(|()| disk::own_folder(&self.folder))
            .and_then(|()| disk::own_folder(&path))
            .map_err(|wrong| wrong.to_string())?;
        Ok(path)
    }

    fn all(&self) -> Vec<(String, PathBuf)> {
        let entries = disk::list(&self.folder).unwrap_or_default();
        let folders = entries.into_iter().filter(|entry| entry.kind == Kind::Folder);
        folders.filter_map(|entry| Some((entry.path.file_name()?.to_str()?.to_owned(), entry.path))).collect()
    }

    fn remove(&self, id: &str) {
        let Some(folder) = self.place(id) else { return };
        for entry in disk::list(&folder).unwrap_or_default() {
            // What cannot be removed now is tried again the next time.
            let _ = disk::remove(&entry.path);
        }
        disk::remove_if_empty(&folder);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_is_private_is_found_again_and_goes_with_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        let processes = Processes::of(&home);
        assert_eq!(processes.all(), []);

        let folder = processes.make("proc_1").unwrap();
        fs::write(folder.join("log"), "x").unwrap();

        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(Processes::of(&home).all(), [("proc_1".to_owned(), folder.clone())]);
        processes.remove("proc_1");
        assert!(!folder.exists());
    }

    #[test]
    fn an_id_cannot_lead_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let processes = Processes::of(&Home::at(dir.path()));
        let victim = dir.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("f"), "precious").unwrap();

        for id in ["", "..", "../victim", "a/b", &"a".repeat(65)] {
            assert!(processes.make(id).is_err(), "{id}");
            processes.remove(id);
        }
        fs::create_dir(dir.path().join("processes")).unwrap();
        symlink(&victim, dir.path().join("processes/link")).unwrap();
        assert!(processes.make("link").is_err());
        processes.remove("link");
        assert_eq!(fs::read_to_string(victim.join("f")).unwrap(), "precious");
    }
}
