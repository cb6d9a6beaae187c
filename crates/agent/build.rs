//! Lists the folders whose files are things.

fn main() -> std::io::Result<()> {
    hermes_build::gather("src/prompt/sections")
}
