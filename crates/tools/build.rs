//! Lists the folders whose files are things.

/// One line per folder; its `mod.rs` says what the table is called.
const FOLDERS: &[&str] = &[
    "src/tools",
    "src/toolsets",
    "src/drawing/providers",
    "src/filming/providers",
    "src/senders/platforms",
    "src/speech/providers",
    "src/transcribe/engines",
    "src/transcribe/providers",
    "src/web/providers",
];

fn main() -> std::io::Result<()> {
    FOLDERS.iter().try_for_each(|folder| hermes_build::gather(folder))
}
