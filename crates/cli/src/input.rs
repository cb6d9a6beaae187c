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

fn read(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes).map_err(|wrong| unreadable(name, &wrong))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST) {
        return Err(unreadable(name, &format!("it is longer than {MOST} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(name, &"it is not UTF-8 text"))
}

fn unreadable(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot read the arguments from {name}: {why}"))
}
