//! Files that are kept with a task stay where they belong.

use std::path::Path;

use hermes_core::kanban::{MAX_ATTACHMENT, NewAttachment};

use crate::{Bench, person, task};

fn file(name: &str, bytes: &[u8]) -> NewAttachment {
    NewAttachment { name: name.to_owned(), media_type: None, source: None, bytes: bytes.to_vec() }
}

#[test]
fn attachments_stay_below_their_folder() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);

    let kept = bench.boards.attach(&task(&id), &file("report.txt", b"hello"), &person()).unwrap();
    assert_eq!((kept.content_type.as_str(), kept.size), ("text/plain", 5));
    assert_eq!(std::fs::read(&kept.path).unwrap(), b"hello");
    let again = bench.boards.attach(&task(&id), &file("report.txt", b"other"), &person()).unwrap();
    assert_ne!(again.path, kept.path, "the first is still there");
    for bad in ["../x", "/etc/passwd", "a/b", "..", ".env", ""] {
        assert!(bench.boards.attach(&task(&id), &file(bad, b""), &person()).is_err(), "{bad}");
    }
    let large = vec![0; MAX_ATTACHMENT + 1];
    assert!(bench.boards.attach(&task(&id), &file("large", &large), &person()).is_err());
    assert!(bench.boards.attach(&task("../../x"), &file("x", b""), &person()).is_err());
    assert_eq!(bench.boards.show(&task(&id)).unwrap().attachments.len(), 2);
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let bench = Bench::new();
    let id = bench.make("x", &[]);
    let kept = bench.boards.attach(&task(&id), &file("a", b"1"), &person()).unwrap();
    let folder = Path::new(&kept.path).parent().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder).unwrap();

    assert!(bench.boards.attach(&task(&id), &file("b", b"2"), &person()).is_err());

    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(bench.boards.show(&task(&id)).unwrap().attachments.len(), 1, "what was not kept is not told");
}
