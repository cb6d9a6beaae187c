//! `write_file`, `patch` and `read_file` on real files, through the whole runtime.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the test makes and looks at real files")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::{Runtime, Session, ToolCall};
use serde_json::{Value, json};

struct Yes;

impl Policy for Yes {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// A folder, and a session that stands in it and may do everything.
struct Desk {
    dir: tempfile::TempDir,
    session: Session,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = Runtime::builder().cwd(dir.path()).policy(Yes).build().unwrap();
        Self { session: runtime.session().open().unwrap(), dir }
    }

    fn with(files: &[(&str, &[u8])]) -> Self {
        let desk = Self::new();
        for (name, bytes) in files {
            fs::write(desk.at(name), bytes).unwrap();
        }
        desk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    #[expect(clippy::needless_pass_by_value, reason = "calls read better without a borrow on every literal")]
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let outcome = self.session.call_blocking(ToolCall::new(tool, arguments.to_string()));
        serde_json::from_str(&outcome.body).unwrap()
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Value {
        self.call("patch", json!({ "mode": "replace", "path": path, "old_string": old, "new_string": new }))
    }

    fn patch(&self, patch: &str) -> Value {
        self.call("patch", json!({ "mode": "patch", "patch": patch }))
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_new_file_is_written_with_its_folders_and_the_users_mode() {
    let desk = Desk::new();

    let answer = desk.call("write_file", json!({ "path": "a/b/c.json", "content": "{\"x\": 1}\n" }));

    let path = fs::canonicalize(desk.at("a/b/c.json")).unwrap();
    assert_eq!(
        answer,
        json!({
            "bytes_written": 9,
            "dirs_created": true,
            "lint": { "status": "ok" },
            "resolved_path": path,
            "files_modified": [path],
        })
    );
    fs::write(desk.at("plain"), "").unwrap();
    assert_eq!(mode(&path), mode(&desk.at("plain")));
    let again = desk.call("write_file", json!({ "path": "a/b/d.txt", "content": "x" }));
    assert_eq!(again["dirs_created"], false);
}

#[test]
fn mode_hard_links_line_ends_and_marks_survive_an_edit() {
    let desk = Desk::with(&[("f.sh", b"\xEF\xBB\xBFone\r\ntwo\r\n"), ("plain.txt", b"x")]);
    fs::set_permissions(desk.at("f.sh"), Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(desk.at("f.sh"), desk.at("other")).unwrap();
    let inode = fs::metadata(desk.at("f.sh")).unwrap().ino();

    assert_eq!(desk.replace("f.sh", "one\ntwo", "one\n2\nthree")["success"], true);

    assert_eq!(desk.read("f.sh"), b"\xEF\xBB\xBFone\r\n2\r\nthree\r\n");
    assert_eq!(desk.read("other"), desk.read("f.sh"));
    assert_eq!((mode(&desk.at("f.sh")), fs::metadata(desk.at("f.sh")).unwrap().ino()), (0o751, inode));
    assert_eq!(desk.names(), ["f.sh", "other", "plain.txt"]);
}

#[test]
fn a_link_stays_a_link_and_its_file_is_changed() {
    let desk = Desk::with(&[("real", b"old\n")]);
    symlink("real", desk.at("link")).unwrap();
    symlink("later", desk.at("dangling")).unwrap();

    desk.replace("link", "old", "new");
    desk.call("write_file", json!({ "path": "dangling", "content": "made" }));

    assert!(fs::symlink_metadata(desk.at("link")).unwrap().is_symlink());
    assert_eq!(desk.read("real"), b"new\n");
    assert_eq!(desk.read("later"), b"made");
}

/// Puts a link in place of a folder right after it was judged.
struct Swap(PathBuf);

impl Policy for Swap {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        fs::remove_dir(self.0.join("sub")).unwrap();
        symlink("outside", self.0.join("sub")).unwrap();
        Verdict::Allow
    }
}

#[test]
fn a_link_planted_after_the_judgement_leads_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["sub", "outside"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    fs::write(dir.path().join("outside/f"), "precious").unwrap();
    let runtime = Runtime::builder().cwd(dir.path()).policy(Swap(dir.path().to_owned())).build().unwrap();
    let arguments = json!({ "path": "sub/f", "content": "mine" }).to_string();

    let outcome = runtime.session().open().unwrap().call_blocking(ToolCall::new("write_file", arguments));

    assert!(!outcome.status.is_ok(), "{}", outcome.body);
    assert_eq!(fs::read_to_string(dir.path().join("outside/f")).unwrap(), "precious");
}

#[test]
fn bytes_that_are_not_text_stay_as_they_are() {
    let desk =
        Desk::with(&[("latin", b"caf\xE9 = 1\nna\xEFve = 2\n"), ("mix", b"\xC3\xA4\xFF = 1\nb = 2\n")]);

    assert_eq!(desk.replace("latin", "caf\u{FFFD} = 1", "caf\u{FFFD} = 3")["success"], true);
    assert_eq!(desk.replace("mix", "b = 2", "b = ö")["success"], true);

    assert_eq!(desk.read("latin"), b"caf\xE9 = 3\nna\xEFve = 2\n");
    assert_eq!(desk.read("mix"), b"\xC3\xA4\xFF = 1\nb = \xC3\xB6\n");
    let cannot = desk.replace("latin", "= 2", "= →");
    assert!(cannot["error"].as_str().unwrap().contains('→'), "{cannot}");
    assert_eq!(desk.read("latin"), b"caf\xE9 = 3\nna\xEFve = 2\n");
}

#[test]
fn a_patch_over_files_is_all_or_nothing() {
    let desk = Desk::with(&[("a", b"1\n2\n"), ("b", b"x\n"), ("c", b"gone\n"), ("d", b"moved\n")]);
    fs::set_permissions(desk.at("d"), Permissions::from_mode(0o700)).unwrap();

    let failed = desk.patch("*** Update File: a\n-1\n+one\n*** Update File: b\n-nothing\n+y\n");
    assert_eq!((failed["success"].clone(), desk.read("a")), (json!(false), b"1\n2\n".to_vec()));

    let done = desk.patch(
        "*** Begin Patch\n*** Update File: a\n-1\n+one\n*** Update File: a\n one\n+and a half\n\
         *** Add File: new/e\n+e\n*** Delete File: c\n*** Move File: d -> f\n*** End Patch\n",
    );

    assert_eq!(done["success"], true, "{done}");
    assert_eq!(desk.read("a"), b"one\nand a half\n2\n");
    assert_eq!(
        (desk.read("new/e"), desk.read("f"), mode(&desk.at("f"))),
        (b"e\n".to_vec(), b"moved\n".to_vec(), 0o700)
    );
    assert_eq!(desk.names(), ["a", "b", "f", "new"]);
    assert_eq!(done["files_deleted"].as_array().unwrap().len(), 2);
}

#[test]
fn a_failure_while_writing_puts_everything_back() {
    let desk = Desk::with(&[("a", b"1\n"), ("blocker", b"a file\n"), ("locked", b"x\n")]);
    fs::set_permissions(desk.at("locked"), Permissions::from_mode(0o444)).unwrap();

    let failed = desk.patch(
        "*** Update File: a\n-1\n+one\n*** Add File: fresh/deep/b\n+b\n*** Delete File: blocker\n\
         *** Update File: locked\n-x\n+y\n",
    );

    assert!(failed["error"].as_str().unwrap().contains("read-only"), "{failed}");
    assert_eq!(desk.read("a"), b"1\n");
    assert_eq!(desk.read("blocker"), b"a file\n");
    assert_eq!(desk.names(), ["a", "blocker", "locked"]);
}

#[test]
fn what_cannot_be_written_says_why() {
    let desk = Desk::with(&[("file", b"x")]);
    fs::create_dir(desk.at("dir")).unwrap();

    let error = |path: &str| {
        let answer = desk.call("write_file", json!({ "path": path, "content": "y" }));
        answer["error"].as_str().unwrap_or_default().to_owned()
    };
    assert!(error("dir").contains("is a directory"), "{}", error("dir"));
    assert!(error("file/below").contains("cannot write"), "{}", error("file/below"));
    assert!(error("/proc/self/environ").contains("process"), "{}", error("/proc/self/environ"));
    assert!(error("/dev/null").contains("not a regular file"), "{}", error("/dev/null"));
    assert_eq!(desk.names(), ["dir", "file"]);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_remarked_on() {
    let desk = Desk::with(&[("f", b"a\nb\n")]);
    desk.call("read_file", json!({ "path": "f" }));
    assert_eq!(desk.replace("f", "a", "A")["_warning"], Value::Null);
    assert_eq!(desk.replace("f", "b", "B")["_warning"], Value::Null);

    fs::write(desk.at("f"), "A\nB\nfrom elsewhere\n").unwrap();

    let warned = desk.replace("f", "A", "AA");
    assert!(warned["_warning"].as_str().unwrap().contains("changed on disk"), "{warned}");
    assert_eq!(desk.read("f"), b"AA\nB\nfrom elsewhere\n");
}

#[test]
fn a_file_read_in_part_and_then_overwritten_is_remarked_on() {
    let desk = Desk::with(&[("f", b"a\nb\nc\n")]);
    desk.call("read_file", json!({ "path": "f", "limit": 1 }));

    let warned = desk.call("write_file", json!({ "path": "f", "content": "x\n" }));

    assert!(warned["_warning"].as_str().unwrap().contains("only a part"), "{warned}");
}

#[test]
fn the_output_of_reading_is_not_written_back() {
    let desk = Desk::with(&[("f", b"a\nb\n")]);
    let read = desk.call("read_file", json!({ "path": "f" }));

    let refused = desk.call("write_file", json!({ "path": "f", "content": read["content"] }));

    assert!(refused["error"].as_str().unwrap().contains("line numbers"), "{refused}");
    assert_eq!(desk.read("f"), b"a\nb\n");
}

#[test]
fn an_unchanged_reading_is_told_once_and_then_shown_again() {
    let desk = Desk::with(&[("f", b"a\nb\n")]);
    let read = || desk.call("read_file", json!({ "path": "f" }));

    assert_eq!(read()["content"], "1|a\n2|b");
    let second = read();
    assert_eq!((&second["status"], &second["dedup"]), (&json!("unchanged"), &json!(true)), "{second}");
    let third = read();
    assert_eq!(third["content"], "1|a\n2|b");
    assert!(third["_warning"].is_string(), "{third}");

    fs::write(desk.at("f"), "c\n").unwrap();
    assert_eq!(read()["content"], "1|c");
    assert_eq!(read()["dedup"], true);
    desk.session.context_shortened();
    assert_eq!(read()["content"], "1|c");
}

#[test]
fn a_picture_comes_beside_the_answer_and_not_in_it() {
    let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";
    let large = [&png[..], &vec![0; 6 * 1024 * 1024]].concat();
    let desk = Desk::with(&[
        ("a.png", png),
        ("large.png", &large),
        ("b.bmp", b"BM\x1E\0\0\0\0\0\0\0\x1A\0\0\0\x0C\0\0\0"),
    ]);
    let read = |name: &str| {
        desk.session.call_blocking(ToolCall::new("read_file", json!({ "path": name }).to_string()))
    };

    let shown = read("a.png");
    let body: Value = serde_json::from_str(&shown.body).unwrap();
    assert_eq!(
        (&body["type"], &body["media_type"], &body["width"], &body["height"], &body["bytes"]),
        (&json!("image"), &json!("image/png"), &json!(2), &json!(3), &json!(png.len())),
        "{body}"
    );
    let [picture] = shown.attachments.as_slice() else { panic!("{shown:?}") };
    assert_eq!((picture.media_type.as_str(), picture.name.as_str()), ("image/png", "a.png"));
    assert_eq!(picture.bytes.as_ref(), png);

    let too_large = read("large.png");
    assert!(too_large.body.contains("5 MB") && too_large.attachments.is_empty(), "{too_large:?}");
    assert!(read("b.bmp").attachments.is_empty());
}

#[test]
fn a_damaged_pdf_is_an_error_in_words_and_a_file_that_only_has_its_name_is_read_as_text() {
    let desk = Desk::with(&[("a.pdf", b"%PDF-1.7\n1 0 obj\n<<"), ("b.pdf", b"just words\n")]);

    let damaged = desk.call("read_file", json!({ "path": "a.pdf" }));
    let words = desk.call("read_file", json!({ "path": "b.pdf" }));

    assert!(damaged["error"].as_str().unwrap().contains("PDF"), "{damaged}");
    assert_eq!(words["content"], "1|just words");
}

#[test]
fn a_notebook_is_read_as_its_cells_and_a_broken_one_as_text() {
    let notebook = json!({ "cells": [{ "cell_type": "code", "source": ["x = 1\n", "x"] }] }).to_string();
    let desk = Desk::with(&[("a.ipynb", notebook.as_bytes()), ("b.ipynb", b"{ broken\n")]);

    let read = desk.call("read_file", json!({ "path": "a.ipynb" }));
    let broken = desk.call("read_file", json!({ "path": "b.ipynb" }));

    assert_eq!(
        (&read["content"], &read["extracted_document"]),
        (&json!("1|## Cell 1 (code)\n2|x = 1\n3|x\n4|"), &json!("ipynb"))
    );
    assert_eq!(broken["content"], "1|{ broken");
}
