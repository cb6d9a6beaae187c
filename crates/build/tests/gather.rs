//! What a person meets who adds, renames or takes away a file: small crates, built with cargo.

#![expect(clippy::disallowed_methods, reason = "a test sets up files and processes of its own")]
#![expect(clippy::unwrap_used, reason = "the helpers here are part of the tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A throw-away crate that gathers `src/things` and `src/more`. All share one target folder,
/// so that this crate is compiled once for all of them.
struct Crate {
    root: PathBuf,
}

impl Crate {
    fn new(name: &str) -> Crate {
        let root = scratch().join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).display();
        let made = Crate { root };
        made.file(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [build-dependencies]\nhermes-build = {{ path = '{build}' }}\n\n[workspace]\n"
            ),
        );
        made.file(
            "build.rs",
            "fn main() -> std::io::Result<()> {\n    hermes_build::gather(\"src/things\")?;\n    \
             hermes_build::gather(\"src/more\")\n}\n",
        );
        made.file("src/main.rs", MAIN);
        made.file("src/things/mod.rs", &module("things"));
        made.file("src/more/mod.rs", &module("more"));
        made.thing("apple", "apple");
        made
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds `src/things/<stem>.rs` with an entry called `name`.
    fn thing(&self, stem: &str, name: &str) {
        self.file(&format!("src/things/{stem}.rs"), &entry(name));
    }

    fn remove(&self, stem: &str) {
        fs::remove_file(self.root.join(format!("src/things/{stem}.rs"))).unwrap();
    }

    /// What the program prints: the names in its tables.
    fn run(&self) -> String {
        let (well, out, err) = self.cargo("run");
        assert!(well, "{err}");
        out.trim().to_owned()
    }

    /// What the compiler says about it.
    fn refusal(&self) -> String {
        let (well, _, err) = self.cargo("check");
        assert!(!well, "it compiled");
        err
    }

    fn cargo(&self, verb: &str) -> (bool, String, String) {
        let out = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([verb, "--quiet", "--target-dir"])
            .arg(scratch().join("target"))
            .current_dir(&self.root)
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
            .env("RUSTFLAGS", "-Dwarnings -Wunreachable_pub")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.success(), text(&out.stdout), text(&out.stderr))
    }
}

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("gather")
}

fn module(folder: &str) -> String {
    format!(
        "include!(concat!(env!(\"OUT_DIR\"), \"/{folder}.rs\"));\n\n\
         gathered! {{\n    /// All of them.\n    pub(crate) static ALL: [&crate::Thing] = THING;\n}}\n"
    )
}

fn entry(name: &str) -> String {
    format!("pub(crate) const THING: crate::Thing = crate::Thing(\"{name}\");\n")
}

const MAIN: &str = r#"
mod more;
mod things;

pub(crate) struct Thing(&'static str);

impl Thing {
    pub(crate) const fn name(&self) -> &'static str {
        self.0
    }
}

fn main() {
    let names = |all: &[&Thing]| all.iter().map(|thing| thing.name()).collect::<Vec<_>>().join(",");
    println!("{}|{}", names(things::ALL), names(more::ALL));
}
"#;

#[test]
fn a_file_that_comes_or_goes_is_noticed_with_nothing_else_edited() {
    let made = Crate::new("comes-and-goes");
    assert_eq!(made.run(), "apple|");

    made.thing("pear-tree", "pear-tree");
    made.file("src/more/loop.rs", &entry("loop"));
    assert_eq!(made.run(), "apple,pear-tree|loop");

    made.remove("apple");
    assert_eq!(made.run(), "pear-tree|loop");
}

#[test]
fn only_rust_files_directly_in_the_folder_count() {
    let made = Crate::new("only-files");
    made.file("src/things/notes.txt", "not Rust");
    made.file("src/things/.#apple.rs", "an editor's lock file");
    made.file("src/things/deeper/fig.rs", "not looked at");

    assert_eq!(made.run(), "apple|");
}

#[test]
fn a_name_that_is_not_the_files_does_not_compile() {
    let made = Crate::new("wrong-name");
    made.thing("pear", "peer");

    let said = made.refusal();

    assert!(said.contains("src/things/pear.rs: the entry's name must be `pear`"), "{said}");
}

#[test]
fn a_name_given_twice_does_not_compile() {
    let made = Crate::new("given-twice");
    made.thing("pear", "apple");

    let said = made.refusal();

    assert!(said.contains("src/things/pear.rs: the entry's name must be `pear`"), "{said}");
}

#[test]
fn two_files_with_one_module_name_do_not_compile() {
    let made = Crate::new("one-module");
    made.thing("pear-tree", "pear-tree");
    made.thing("pear_tree", "pear_tree");

    let said = made.refusal();

    assert!(said.contains("src/things/pear_tree.rs and src/things/pear-tree.rs make the same"), "{said}");
}

#[test]
fn a_file_name_that_cannot_be_a_name_does_not_compile() {
    let made = Crate::new("bad-name");
    made.thing("Pear", "Pear");

    let said = made.refusal();

    assert!(said.contains("src/things/Pear.rs: a file name here is a name"), "{said}");
    assert!(said.contains("due to 1 previous error"), "nothing else is complained about: {said}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let made = Crate::new("no-folder");
    fs::remove_dir_all(made.root.join("src/more")).unwrap();

    let said = made.refusal();

    assert!(said.contains("gathering src/more"), "{said}");
}
