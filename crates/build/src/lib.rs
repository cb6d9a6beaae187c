//! Lists a folder of one-thing files into a table, at build time.
//!
//! A tool, a toolset, a danger rule is one file in its folder, and adding it is adding that
//! file. Two lines make that so. The build script names the folder:
//!
//! ```no_run
//! fn main() -> std::io::Result<()> {
//!     hermes_build::gather("src/toolsets")
//! }
//! ```
//!
//! and the folder's `mod.rs` says what the table is called and which const each file exports:
//!
//! ```ignore
//! include!(concat!(env!("OUT_DIR"), "/toolsets.rs"));
//!
//! gathered! {
//!     /// Every toolset, sorted by name.
//!     pub(crate) static TOOLSETS: [&Toolset] = TOOLSET;
//! }
//! ```
//!
//! The type of the const needs `pub const fn name(&self) -> &'static str`. Its answer must be
//! the file's stem, letter for letter, or the crate does not compile; names are therefore also
//! unique. A stem may hold `-`, which becomes `_` in the module's name.
//!
//! The modules are declared by a macro that expands inside `mod.rs`, not by the included file
//! itself, so that their paths are relative to the folder: no path of the machine that built
//! the crate ends up in it, and editors follow the modules to their files.

#![expect(
    clippy::disallowed_methods,
    reason = "it runs in build scripts, where folders and variables are the input"
)]

mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Writes the table of `folder`, a path relative to the crate such as `src/tools`, and asks
/// cargo to do so again when a file comes or goes.
///
/// The table is put into `OUT_DIR` under the folder's path without `src/`, with `.` for `/`:
/// `src/tools` becomes `tools.rs`, `src/prompt/sections` becomes `prompt.sections.rs`. A crate
/// may gather as many folders as it likes.
///
/// A file name that cannot be a name is reported as a compile error by `mod.rs`, where the
/// person who added the file will look. The error returned here is for a folder that cannot be
/// read or a table that cannot be written.
pub fn gather(folder: &str) -> io::Result<()> {
    let folder = folder.trim_matches('/');
    announce(folder);
    let stems = stems(&crate_root()?.join(folder)).map_err(|error| about(folder, &error))?;
    let file = out_dir()?.join(table::file_name(folder));
    write_if_changed(&file, &table::source(folder, &stems)).map_err(|error| about(folder, &error))
}

#[expect(clippy::print_stdout, reason = "a build script talks to cargo on stdout")]
fn announce(folder: &str) {
    println!("cargo::rerun-if-changed={folder}");
}

/// The names of the files that count, without `.rs`, sorted: neither `mod.rs`, nor what is in
/// folders below, nor the hidden files that editors leave while a file is open.
fn stems(folder: &Path) -> io::Result<Vec<String>> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(stem) = name.strip_suffix(".rs") else { continue };
        if stem != "mod" && !stem.starts_with('.') && path.is_file() {
            stems.push(stem.to_owned());
        }
    }
    stems.sort();
    Ok(stems)
}

/// Leaves an equal file alone, so that its time stamp does not make anything look stale.
fn write_if_changed(file: &Path, source: &str) -> io::Result<()> {
    if fs::read_to_string(file).is_ok_and(|old| old == source) { Ok(()) } else { fs::write(file, source) }
}

fn crate_root() -> io::Result<PathBuf> {
    from_cargo("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

fn out_dir() -> io::Result<PathBuf> {
    from_cargo("OUT_DIR").map(PathBuf::from)
}

fn from_cargo(name: &str) -> io::Result<OsString> {
    std::env::var_os(name)
        .ok_or_else(|| io::Error::other(format!("{name} is not set: call this from a build script")))
}

fn about(folder: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("gathering {folder}: {error}"))
}
