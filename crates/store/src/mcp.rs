//! What is kept of MCP servers: their definitions with what a person agreed to, the right to ask
//! them, and what they said beside the protocol.
//!
//! `mcp/<server>.json`, `mcp-tokens/<server>.json`, `logs/mcp-stderr.log`. Every file is its owner's
//! only. A name that cannot be a file's name is kept under its fingerprint. What there is to say of all servers is
//! kept once more in one file of the cache, for starts.

use std::path::PathBuf;
use std::sync::Mutex;

use hermes_core::hex::hex;
use hermes_core::packed::{Packer, Unpacker};
use sha2::{Digest as _, Sha256};

use crate::disk::{self, Mode, Stamp};
use crate::error::StoreError;
use crate::home::Home;
use crate::witness::{Kept, Witnesses, is_kept};

/// Largest file that is read.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Size at which the log begins anew; the one before is kept beside it.
const MAX_LOG: u64 = 1024 * 1024;

/// Where a start finds what there is to say of all servers.
const BRIEFS: &str = "mcp-briefs.packed";

/// The servers' part of a home.
#[derive(Debug)]
pub struct McpHome {
    home: Home,
    /// Lines are written by many at once.
    writing: Mutex<()>,
}

/// What is kept of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpFile {
    /// Its definitions.
    Known,
    /// The right to ask it.
    Tokens,
}

impl McpHome {
    /// That of this home. Nothing is created before there is something to keep.
    pub fn of(home: &Home) -> Self {
        Self { home: home.clone(), writing: Mutex::default() }
    }

    fn folder(&self, file: McpFile) -> PathBuf {
        self.home.path().join(match file {
            McpFile::Known => "mcp",
            McpFile::Tokens => "mcp-tokens",
        })
    }

    fn path(&self, server: &str, file: McpFile) -> PathBuf {
        self.folder(file).join(format!("{}.json", file_name(server)))
    }

    /// What is kept; nothing when there is none, or it cannot be read.
    pub fn read(&self, server: &str, file: McpFile) -> Option<String> {
        disk::read(&self.path(server, file), MAX_BYTES).ok().flatten()
    }

    /// Whether an earlier start kept anything of all servers.
    pub fn has_briefs(&self) -> bool {
        is_kept(&self.home, BRIEFS)
    }

    /// What an earlier start kept of all servers; nothing as soon as anything else is known of any of them.
    pub fn briefs(&self) -> Option<Briefs> {
        let Kept { witnesses, head, body } = Kept::read(&self.home, BRIEFS)?;
        let mut packed = Unpacker::new(&head);
        let configuration = packed.number()?;
        let complaints = packed.list(|packed| packed.text().map(str::to_owned))?;
        Some(Briefs { configuration, complaints, marks: witnesses.stamps().collect(), body })
    }

    /// What these servers are known by now, to be seen before it is read.
    pub fn seen<'a>(&self, servers: impl IntoIterator<Item = &'a str>) -> Witnesses {
        let mut witnesses = Witnesses::default();
        for server in servers {
            witnesses.see(&self.path(server, McpFile::Known));
        }
        witnesses
    }

    /// Keeps what there is to say of all servers for the next start. `seen` tells what it was made from.
    pub fn keep_briefs(&self, configuration: u64, complaints: &[String], seen: Witnesses, body: String) {
        let mut packer = Packer::default();
        packer.number(configuration).list(complaints.iter(), |packer, complaint| {
            packer.text(complaint);
        });
        let head = packer.packed();
        // Without it a start takes longer, and that is all.
        let _ = Kept { witnesses: seen, head, body }.keep(&self.home, BRIEFS);
    }

    /// Keeps a text, readable by its owner only.
    pub fn write(&self, server: &str, file: McpFile, text: &str) -> Result<(), StoreError> {
        disk::write(&self.path(server, file), text, Mode::Private)
    }

    /// Puts another text in place of what is kept, as `with` wants it, while nobody else does so; nothing
    /// is written where it wants nothing. What the file is then.
    pub fn update(
        &self,
        server: &str,
        file: McpFile,
        with: &mut dyn FnMut(Option<String>) -> Option<String>,
    ) -> Result<Option<Stamp>, StoreError> {
        let path = self.path(server, file);
        let _turn = disk::lock(&path)?;
        match with(self.read(server, file)) {
            Some(text) => disk::write_stamped(&path, &text, Mode::Private).map(Some),
            None => Ok(disk::stamp(&path)),
        }
    }

    /// Changes when somebody keeps something else of a server; nothing where nothing is kept.
    pub fn stamp(&self, server: &str, file: McpFile) -> Option<Stamp> {
        disk::stamp(&self.path(server, file))
    }

    /// Changes when something else is kept of any server.
    pub fn stamp_of_all(&self, file: McpFile) -> Option<Stamp> {
        disk::any_stamp(&self.folder(file))
    }

    /// Forgets it.
    pub fn remove(&self, server: &str, file: McpFile) -> Result<(), StoreError> {
        disk::remove(&self.path(server, file))
    }

    /// Where servers' own words are written.
    pub fn log_path(&self) -> PathBuf {
        self.home.path().join("logs").join("mcp-stderr.log")
    }

    /// Writes a line of a server. A log that cannot be written costs nobody anything.
    pub fn log(&self, server: &str, line: &str) {
        let path = self.log_path();
        let plain: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _turn = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ready = path.parent().map_or(Ok(()), disk::make_private_folder);
        if ready.is_err() {
            return;
        }
        if disk::size(&path).is_some_and(|size| size > MAX_LOG)
            && let Ok(Some(old)) = disk::read_bytes(&path, 2 * MAX_LOG)
        {
            let _ = disk::write(&path.with_extension("log.1"), &String::from_utf8_lossy(&old), Mode::Private);
            let _ = disk::remove(&path);
        }
        let _ = disk::append(&path, &format!("{server}: {plain}\n"));
    }
}

/// What was kept of all servers for a start.
pub struct Briefs {
    /// Fingerprint of the configuration that it was kept for.
    pub configuration: u64,
    /// What is wrong with the configuration, in words.
    pub complaints: Vec<String>,
    /// What each of them is known by, in the order in which they were seen.
    pub marks: Vec<Option<Stamp>>,
    /// What there is to say of them.
    pub body: String,
}

/// The name of a server's file.
fn file_name(server: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !server.is_empty() && server.len() <= 64 && server.chars().all(plain) {
        return server.to_owned();
    }
    let digest = Sha256::digest(server.as_bytes());
    format!("@{}", hex(digest.get(..16).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "looks at the files themselves")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn home() -> (tempfile::TempDir, McpHome) {
        let folder = tempfile::tempdir().unwrap();
        let home = McpHome::of(&Home::at(folder.path()));
        (folder, home)
    }

    #[test]
    fn what_is_kept_is_its_owners_only_and_can_be_forgotten() {
        let (folder, home) = home();

        home.write("gh", McpFile::Tokens, "secret").unwrap();

        let file = folder.path().join("mcp-tokens/gh.json");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(home.read("gh", McpFile::Tokens).as_deref(), Some("secret"));
        assert_eq!(home.read("gh", McpFile::Known), None);
        home.remove("gh", McpFile::Tokens).unwrap();
        assert_eq!(home.read("gh", McpFile::Tokens), None);
    }

    #[test]
    fn a_change_sees_what_others_wrote_and_is_seen_by_them() {
        let (_folder, home) = home();
        home.write("s", McpFile::Known, "one").unwrap();
        let before = (home.stamp("s", McpFile::Known), home.stamp_of_all(McpFile::Known));
        assert!(before.0.is_some() && before.1.is_some() && home.stamp("s", McpFile::Tokens).is_none());

        let mut found = None;
        let stamp = home.update("s", McpFile::Known, &mut |text| {
            found = text;
            Some("two".to_owned())
        });

        assert_eq!(found.as_deref(), Some("one"));
        assert_eq!(home.read("s", McpFile::Known).as_deref(), Some("two"));
        let stamp = stamp.unwrap();
        assert_eq!(home.stamp("s", McpFile::Known), stamp);
        assert_ne!(before.0, stamp);
        assert_eq!(home.update("s", McpFile::Known, &mut |_| None).unwrap(), stamp);
    }

    #[test]
    fn what_is_said_of_all_servers_holds_until_one_of_them_changes() {
        let (folder, home) = home();
        home.write("a", McpFile::Known, "one").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
        let keep = || home.keep_briefs(7, &["odd".to_owned()], home.seen(["a", "b"]), "body".to_owned());
        keep();

        let found = home.briefs().unwrap();
        assert_eq!(
            (found.configuration, found.complaints, found.body),
            (7, vec!["odd".to_owned()], "body".to_owned())
        );
        assert_eq!(found.marks, [home.stamp("a", McpFile::Known), None]);
        home.write("b", McpFile::Known, "two").unwrap();
        assert!(home.briefs().is_none());
        std::thread::sleep(std::time::Duration::from_millis(60));
        keep();
        assert!(home.briefs().is_some());
        std::fs::write(folder.path().join("mcp/a.json"), "in place").unwrap();
        assert!(home.briefs().is_none());
    }

    #[test]
    fn what_is_not_whole_says_nothing() {
        let (folder, home) = home();
        home.keep_briefs(7, &[], home.seen(["a"]), "the whole body".to_owned());
        assert!(home.briefs().is_some());
        let kept = folder.path().join("cache").join(BRIEFS);
        let whole = std::fs::read_to_string(&kept).unwrap();

        let cut = whole.strip_suffix("body").unwrap().to_owned();
        for broken in [whole.replace("whole", "WHOLE"), cut, String::new()] {
            std::fs::write(&kept, broken).unwrap();
            assert!(home.briefs().is_none());
        }
    }

    #[test]
    fn no_name_leads_out_of_the_folder_and_different_names_are_different_files() {
        let names = ["../../etc/passwd", "a/b", "a.b", "", "ä", "a_b"];

        let files: std::collections::BTreeSet<String> = names.iter().map(|name| file_name(name)).collect();

        assert_eq!(files.len(), names.len());
        assert!(files.iter().all(|file| !file.contains(['/', '.'])));
    }

    #[test]
    fn a_log_that_is_flooded_stays_small() {
        let (_folder, home) = home();
        let line = "x".repeat(2000);

        for _ in 0..1500 {
            home.log("s", &line);
        }

        let size = std::fs::metadata(home.log_path()).unwrap().len();
        assert!(size <= MAX_LOG + 4096, "{size}");
    }
}
