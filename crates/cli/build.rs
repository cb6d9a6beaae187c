//! Lists the folders whose files are things, and asks for a binary that needs the C library alone.

#![expect(clippy::disallowed_methods, reason = "a build script writes into the folder it is given")]

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        unwind_inside()?;
    }
    hermes_build::gather("src/slash")?;
    hermes_build::gather("src/commands")
}

/// What unwinds panics comes as a shared library of the compiler, unless the linker finds something
/// else under its name first: here it finds where the same code lies as a part to link in.
fn unwind_inside() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("unwind");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-lgcc_eh)\n")?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
