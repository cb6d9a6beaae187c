//! The files a person names in the chat: pictures to send, where to save, names to complete.

#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes what the person named at the prompt, nothing else"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hermes::core::effect::lexical;
use hermes::core::model::Part;

/// Largest picture that is sent.
const MAX_IMAGE: u64 = 20 * 1024 * 1024;

/// Longest text that is shown.
const MAX_TEXT: u64 = 1024 * 1024;

/// Most names of a folder that are looked at.
const MAX_NAMES: usize = 2_000;

/// Where names begin.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) cwd: PathBuf,
    pub(crate) user_home: Option<PathBuf>,
}

impl Place {
    /// The path that is meant.
    fn path(&self, named: &str) -> PathBuf {
        lexical(named, &self.cwd, self.user_home.as_deref())
    }

    /// A picture: a URL as it is, a file as what it holds.
    pub(crate) fn image(&self, named: &str) -> Result<Part, String> {
        if named.starts_with("https://") || named.starts_with("http://") || named.starts_with("data:") {
            return Ok(Part::Image { url: named.to_owned() });
        }
        let bytes = read(&self.path(named), MAX_IMAGE)
            .map_err(|why| format!("cannot read the picture {named}: {why}"))?;
        let kind = kind(&bytes).ok_or_else(|| format!("{named} is not a PNG, JPEG, GIF or WebP picture"))?;
        Ok(Part::Image { url: format!("data:{kind};base64,{}", STANDARD.encode(&bytes)) })
    }

    /// Writes a new file, readable by its owner; an existing one is left alone.
    pub(crate) fn save(&self, named: &str, text: &str) -> Result<PathBuf, String> {
        use std::os::unix::fs::OpenOptionsExt;
        let path = self.path(named);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|why| format!("cannot write {}: {why}", path.display()))?;
        Ok(path)
    }

    /// The names in a folder, folders ended by `/`.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let path = if folder.is_empty() { self.cwd.clone() } else { self.path(folder) };
        let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            // What could not be typed is not offered.
            let typeable = !name.chars().any(|letter| letter.is_control() || letter.is_whitespace());
            let end = if entry.path().is_dir() { "/" } else { "" };
            typeable.then(|| format!("{name}{end}"))
        };
        entries.take(MAX_NAMES).flatten().filter_map(name).collect()
    }
}

/// The texts with this ending in a folder, by name.
pub(crate) fn texts(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let text = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.ends_with(ending))?;
        let bytes = read(&entry.path(), MAX_TEXT).ok()?;
        Some((name, String::from_utf8_lossy(&bytes).into_owned()))
    };
    let mut texts: Vec<_> = entries.take(MAX_NAMES).flatten().filter_map(text).collect();
    texts.sort();
    texts
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    // Asked before opening: opening a named pipe would wait for its other end.
    if !fs::metadata(path).map_err(|why| why.to_string())?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|why| why.to_string())?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        Ok(bytes)
    } else {
        Err(format!("it is longer than {most} bytes"))
    }
}

/// What a picture is, by its first bytes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &tempfile::TempDir) -> Place {
        Place { cwd: folder.path().to_owned(), user_home: None }
    }

    #[test]
    fn a_picture_is_sent_as_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.png"), b"\x89PNG\r\n").unwrap();
        fs::write(folder.path().join("a.txt"), b"text").unwrap();
        let place = place(&folder);

        assert_eq!(
            place.image("a.png"),
            Ok(Part::Image { url: "data:image/png;base64,iVBORw0K".to_owned() })
        );
        assert_eq!(place.image("a.txt"), Err("a.txt is not a PNG, JPEG, GIF or WebP picture".to_owned()));
        assert!(place.image("none.png").is_err());
        assert_eq!(place.image("https://x/y.png"), Ok(Part::Image { url: "https://x/y.png".to_owned() }));
    }

    #[test]
    fn saving_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(&folder);

        assert!(place.save("talk.md", "one").is_ok());
        assert!(place.save("talk.md", "two").is_err());
        assert_eq!(fs::read_to_string(folder.path().join("talk.md")).unwrap(), "one");
    }

    #[test]
    fn folders_are_named_with_a_slash_and_odd_names_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("a.rs"), "").unwrap();
        fs::write(folder.path().join("a\u{1b}b"), "").unwrap();
        let mut names = place(&folder).names("");
        names.sort();

        assert_eq!(names, ["a.rs", "src/"]);
    }
}
