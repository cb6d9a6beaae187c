//! Lists the folder whose files are rules.

fn main() -> std::io::Result<()> {
    hermes_build::gather("src/rules")
}
