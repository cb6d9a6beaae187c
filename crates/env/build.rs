//! Lists the backends: a file in their folder is one.

fn main() -> std::io::Result<()> {
    hermes_build::gather("src/backends")
}
