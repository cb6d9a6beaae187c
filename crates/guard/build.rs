//! Lists `src/rules/*.rs` into a table, so that adding a rule is adding its file.

#![expect(clippy::disallowed_methods, reason = "a build script works on the folder it lists")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("src/rules");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "rs")
            && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
            && name != "mod"
        {
            names.push((name.to_owned(), path.display().to_string()));
        }
    }
    names.sort();
    let mut out = String::new();
    for (name, path) in &names {
        writeln!(out, "#[path = {path:?}]\nmod {name};").map_err(io::Error::other)?;
    }
    writeln!(out, "/// Every built-in rule, by name.\npub static RULES: &[Rule] = &[")
        .map_err(io::Error::other)?;
    for (name, _) in &names {
        writeln!(out, "    {name}::RULE.named({name:?}),").map_err(io::Error::other)?;
    }
    out.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("rules.rs"), out)
}
