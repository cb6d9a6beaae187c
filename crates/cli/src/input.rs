//! A long argument: as it stands, from a file (`@name`), or from standard input (`-`).

#![expect(clippy::disallowed_methods, reason = "reads the file that the person named on the command line")]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::command::Failure;

/// Most bytes that are read.
const MOST: u64 = 64 * 1024 * 1024;

/// The text that `given` stands for; files are looked for from `cwd`.
pub(crate) fn text(given: &str, cwd: &Path) -> Result<String, Failure> {
    if given == "-" {
        return read(io::stdin().lock(), "standard input");
    }
    match given.strip_prefix('@') {
        Some(name) => match File::open(cwd.join(name)) {
            Ok(file) => read(file, name),
            Err(wrong) => Err(unreadable(name, &wrong)),
        },
        None => Ok(given.to_owned()),
    }
}

/// What a file holds; it is looked for from `cwd`.
pub(crate) fn bytes(name: &str, cwd: &Path) -> Result<Vec<u8>, Failure> {
    let path = cwd.join(name);
    // Asked before opening: opening a named pipe would wait for its other end.
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("cannot read {name}: {why}"));
    match std::fs::metadata(&path) {
        Ok(found) if !found.is_file() => Err(wrong(&"it is no file")),
        Ok(_) => File::open(path).map_err(|why| wrong(&why)).and_then(|file| all(file, name)),
        Err(why) => Err(wrong(&why)),
    }
}

fn read(from: impl Read, name: &str) -> Result<String, Failure> {
    String::from_utf8(all(from, name)?).map_err(|_| unreadable(name, &"it is not UTF-8 text"))
}

fn all(from: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes).map_err(|wrong| unreadable(name, &wrong))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST) {
        return Err(unreadable(name, &format!("it is longer than {MOST} bytes")));
    }
    Ok(bytes)
}

fn unreadable(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot read the arguments from {name}: {why}"))
}
