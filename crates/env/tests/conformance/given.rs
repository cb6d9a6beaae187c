//! What places are given of this machine: skills and credential files, to be read there; and what was
//! changed there all the same, which comes back beside.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_env::backends::Surroundings;
use hermes_env::shelf::{Item, Shelf};

use crate::bench::Bench;
use crate::processes::until;

/// A home of this machine with a skill and a credential file.
pub(crate) struct Given {
    dir: tempfile::TempDir,
}

impl Given {
    pub(crate) fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    /// The same below a folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let dir = tempfile::tempdir_in(folder).unwrap();
        let given = Self { dir };
        given.skill("one", "first");
        given.skill("two", "second");
        fs::write(given.path("run.sh"), "#!/bin/sh\necho ran\n").unwrap();
        fs::set_permissions(given.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(given.path("run.sh"), given.path("skills/one/run.sh")).unwrap();
        fs::write(given.path("token.json"), "secret").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", given.path("skills/one/passwd")).unwrap();
        given
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn skill(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path("skills").join(name)).unwrap();
        fs::write(self.path("skills").join(name).join("SKILL.md"), text).unwrap();
    }

    pub(crate) fn shelf(&self) -> Shelf {
        let item = |name: &str, secret: bool| Item {
            from: self.path(name),
            below: name.to_owned(),
            secret,
            within: secret.then(|| self.dir.path().to_path_buf()),
        };
        let items = vec![item("skills", false), item("token.json", true)];
        Shelf {
            items: Arc::new(move || items.clone()),
            mirror: self.path("secrets/given"),
            returned: self.path("cache/remote-syncs"),
            fresh: std::time::Duration::from_secs(5),
        }
    }

    pub(crate) fn around(&self) -> Surroundings {
        Surroundings { shelf: Some(self.shelf()), ..Surroundings::default() }
    }
}

fn said(bench: &Bench, text: &str) -> String {
    let ran = bench.run(text);
    assert!(ran.notes.is_empty(), "{:?}", ran.notes);
    String::from_utf8_lossy(&ran.output.head).into_owned()
}

/// What is there, and that it is only there to be read.
fn is_there(bench: &Bench) {
    let text = "cd ~/.hermes && cat skills/one/SKILL.md token.json && skills/one/run.sh && ls -a skills/one && \
                stat -c '%a' token.json skills/one/SKILL.md skills/one/run.sh";
    let expected = "firstsecretran\n.\n..\nSKILL.md\nrun.sh\n400\n444\n555\n";
    let found = said(bench, text);
    // Modes may be narrower where whoever takes it apart is not root.
    let found = found.replace("400\n400\n500", "400\n444\n555");
    assert_eq!(found, expected);
}

/// A place that mounts what it is given: nothing there can change it, and what changes here is seen.
pub(crate) fn is_mounted(bench: &Bench, given: &Given) {
    is_there(bench);
    let text = "cd ~/.hermes; for f in skills/one/SKILL.md skills/one/new token.json new; do \
                echo changed >$f; rm -f $f; done 2>&1 | grep -c -i 'read-only'";
    assert_ne!(said(bench, text).trim(), "0");
    is_there(bench);

    given.skill("three", "third");
    fs::remove_dir_all(given.path("skills/two")).unwrap();

    until("what changed is seen", || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        said(bench, "cd ~/.hermes/skills; ls; cat three/SKILL.md") == "one\nthree\nthird"
    });
    assert_eq!(fs::read_to_string(given.path("skills/one/SKILL.md")).unwrap(), "first");
}

/// A place that is sent what it is given: only what changed is sent again, and what was changed there
/// comes back into a folder of its own.
pub(crate) fn is_sent(bench: &mut Bench, given: &Given) {
    is_there(bench);
    let number = |bench: &Bench| said(bench, "stat -c %i ~/.hermes/skills/one/SKILL.md");
    let before = number(bench);

    given.skill("three", "third");
    fs::remove_dir_all(given.path("skills/two")).unwrap();
    until("what changed is seen", || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        said(bench, "cd ~/.hermes/skills; ls; cat three/SKILL.md") == "one\nthree\nthird"
    });
    assert_eq!(number(bench), before);

    said(
        bench,
        "cd ~/.hermes; chmod -R u+w . ; echo new > skills/made.txt; echo other >> skills/one/SKILL.md; \
         echo stolen > token.json; ln -s /etc/passwd skills/link; mkdir -p 'odd dir'; echo x > 'odd dir/f'; \
         mkdir .hidden; echo x > .hidden/f",
    );
    bench.runtime.block_on(bench.place.close(false)).unwrap();

    let back = given.path("cache/remote-syncs/far");
    let read = |name: &str| fs::read_to_string(back.join(name)).unwrap_or_default();
    assert_eq!(read("skills/made.txt"), "new\n");
    assert_eq!(read("skills/one/SKILL.md"), "firstother\n");
    assert_eq!(read("odd dir/f"), "x\n");
    for never in ["token.json", "skills/link", "skills/three/SKILL.md", ".hidden/f"] {
        assert!(!back.join(never).exists(), "{never}");
    }
    assert_eq!(fs::read_to_string(given.path("skills/one/SKILL.md")).unwrap(), "first");
    assert_eq!(fs::read_to_string(given.path("token.json")).unwrap(), "secret");
    assert!(!given.path("skills/made.txt").exists());
}
