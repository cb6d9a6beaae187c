//! Files in the form that `tar` reads everywhere. Pure.

/// Every file has the same date, long ago: what is younger in a place was changed there. (No earlier
/// date: there are programs that cannot write one before 1980.)
const DATE: u64 = 631_152_000;

const BLOCK: usize = 512;

/// Longest name that fits into a header.
const LONGEST: usize = 100;

/// A file of an archive.
pub(crate) struct Entry {
    /// Its path, from where the archive is taken apart.
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) bytes: Vec<u8>,
}

/// All of these, one after the other.
pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut all = Vec::new();
    for Entry { path, mode, bytes } in entries {
        if path.len() > LONGEST {
            // The next file's name, in the way that GNU's and busybox's `tar` know.
            let name = [path.as_bytes(), b"\0"].concat();
            all.extend(header("././@LongLink", 0o644, name.len(), b'L'));
            padded(&mut all, &name);
        }
        all.extend(header(path, *mode, bytes.len(), b'0'));
        padded(&mut all, bytes);
    }
    all.extend([0; 2 * BLOCK]);
    all
}

fn padded(all: &mut Vec<u8>, bytes: &[u8]) {
    all.extend_from_slice(bytes);
    all.resize(all.len().next_multiple_of(BLOCK), 0);
}

fn header(path: &str, mode: u32, size: usize, kind: u8) -> Vec<u8> {
    let octal = |value: u64, width: usize| format!("{value:0width$o}\0").into_bytes();
    let size = octal(u64::try_from(size).unwrap_or_default(), 11);
    let name: Vec<u8> = path.bytes().take(LONGEST).collect();
    let fields = [
        (name, LONGEST),
        (octal(u64::from(mode), 7), 8),
        (octal(0, 7), 8),
        (octal(0, 7), 8),
        (size, 12),
        (octal(DATE, 11), 12),
        // The sum below is made as if it were blanks.
        (b"        ".to_vec(), 8),
        (vec![kind], 1),
        (Vec::new(), 100),
        (b"ustar\x0000".to_vec(), 8),
    ];
    let mut block = Vec::with_capacity(BLOCK);
    for (mut field, width) in fields {
        field.resize(width, 0);
        block.extend(field);
    }
    block.resize(BLOCK, 0);
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ").into_bytes();
    block.splice(148..156, sum);
    block
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the system's own tar reads what was made")]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    fn taken_apart(entries: &[Entry]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar")
            .args(["-xof", "-"])
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        tar.stdin.take().unwrap().write_all(&archive(entries)).unwrap();
        assert!(tar.wait().unwrap().success());
        dir
    }

    #[test]
    fn a_name_of_any_length_arrives_with_its_mode_and_an_old_date() {
        let long = format!("skills/{}/{}/SKILL.md", "a".repeat(120), "é".repeat(60));
        let dir = taken_apart(&[
            Entry { path: long.clone(), mode: 0o444, bytes: b"long".to_vec() },
            Entry { path: "run".to_owned(), mode: 0o555, bytes: Vec::new() },
        ]);

        assert_eq!(fs::read(dir.path().join(long)).unwrap(), b"long");
        let run = fs::metadata(dir.path().join("run")).unwrap();
        assert_eq!((run.permissions().mode() & 0o777, run.mtime()), (0o555, 631_152_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_goes_in_comes_out(files in prop::collection::btree_map("[a-z é'-]{1,150}", prop::collection::vec(any::<u8>(), 0..2000), 1..5)) {
            let entries: Vec<Entry> = files
                .iter()
                .map(|(path, bytes)| Entry { path: format!("x{path}"), mode: 0o644, bytes: bytes.clone() })
                .collect();

            let dir = taken_apart(&entries);

            for (path, bytes) in &files {
                prop_assert_eq!(&fs::read(dir.path().join(format!("x{path}"))).unwrap(), bytes);
            }
        }
    }
}
