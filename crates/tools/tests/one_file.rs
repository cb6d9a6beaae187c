//! Adding a file with a tool makes it appear, with nothing else edited: shown on a copy of this
//! crate that cargo builds and runs.

#![expect(clippy::disallowed_methods, reason = "the test copies the crate and starts cargo")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the test")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The guide for contributors begins with a whole tool; what it shows is what is built here.
fn example() -> String {
    let guide = fs::read_to_string(workspace().join("CONTRIBUTING.md")).unwrap();
    let (_, from) = guide.split_once("```rust\n").unwrap();
    from.split_once("```\n").unwrap().0.to_owned()
}

/// Prints the tools and what the model is told about them.
const MAIN: &str = r#"
fn main() {
    for def in hermes_tools::tools() {
        let tool = hermes_core::tool::ToolEntry::from(*def);
        println!("{} {} {}", tool.name(), tool.toolset(), tool.definition().parameters);
    }
}
"#;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-file")
}

/// A workspace with a copy of this crate; the crates it stands on are used where they are.
fn copied() -> PathBuf {
    let (root, ours) = (scratch().join("copy"), workspace());
    if root.exists() {
        fs::remove_dir_all(&root).unwrap();
    }
    copy(&ours.join("crates/tools/src"), &root.join("tools/src"));
    for file in ["Cargo.toml", "build.rs"] {
        fs::copy(ours.join("crates/tools").join(file), root.join("tools").join(file)).unwrap();
    }
    let manifest = fs::read_to_string(ours.join("Cargo.toml")).unwrap();
    let manifest = manifest
        .replace("members = [\"crates/*\"]", "members = [\"tools\"]")
        .replace("default-members = [\"crates/cli\"]", "")
        .replace("path = \"crates/", &format!("path = \"{}/crates/", ours.display()));
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::copy(ours.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
    fs::write(root.join("tools/src/main.rs"), MAIN).unwrap();
    root
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What the copy prints, or what the compiler says.
fn run(root: &Path) -> Result<String, String> {
    let out = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(scratch().join("target"))
        .current_dir(root)
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if out.status.success() { Ok(text(&out.stdout)) } else { Err(text(&out.stderr)) }
}

#[test]
fn a_tool_is_one_file_and_a_wrong_one_does_not_compile() {
    let root = copied();
    let file = root.join("tools/src/tools/count_words.rs");
    fs::write(&file, example()).unwrap();

    let printed = run(&root).unwrap();

    let line = printed.lines().find(|line| line.starts_with("count_words ")).unwrap();
    assert!(line.starts_with("count_words file {"), "{line}");
    assert!(line.contains(r#""required":["path"]"#), "{line}");
    assert_eq!(printed.lines().count(), hermes_tools::tools().len() + 1);

    fs::write(&file, example().replace("\"count_words\"", "\"todo\"")).unwrap();
    let refusal = run(&root).unwrap_err();
    assert!(
        refusal.contains("src/tools/count_words.rs: the entry's name must be `count_words`"),
        "{refusal}"
    );
}
