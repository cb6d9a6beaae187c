//! Files for what a server hands over that is no text. Its name is the call's, its ending the kind's: what
//! the server calls it never leads anywhere.

use std::path::{Path, PathBuf};

use hermes_core::cx::ToolCx;

use super::server::Server;

/// Most bytes of one file.
const MAX_BYTES: usize = 50 * 1024 * 1024;

/// Where such files go.
pub(crate) enum Keeper<'a> {
    /// Nowhere.
    #[cfg(test)]
    Nowhere,
    /// To whoever takes a word for it, an ending and the bytes, and says where they are.
    To(Box<Keep<'a>>),
}

type Keep<'a> = dyn Fn(&str, &str, &[u8]) -> Option<PathBuf> + Send + Sync + 'a;

impl<'a> Keeper<'a> {
    /// With the other results of the session.
    pub(crate) fn of(server: &'a Server, cx: &'a ToolCx) -> Self {
        Self::To(Box::new(move |word, ending, bytes| {
            let name = format!("{}-{word}", cx.call());
            server.inner.outside.vault.keep_media(cx.session_id(), &name, ending, bytes)
        }))
    }

    /// Keeps bytes and says where, unless there are too many.
    pub(super) fn keep(&self, name: &str, media_type: &str, bytes: &[u8]) -> Option<PathBuf> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let word = if matches!(name, "image" | "audio") { name } else { "file" };
        match self {
            #[cfg(test)]
            Self::Nowhere => None,
            Self::To(keep) => keep(word, ending(media_type), bytes),
        }
    }
}

/// How names of files of a kind end.
fn ending(media_type: &str) -> &'static str {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "image/tiff" => "tiff",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" | "audio/aac" | "audio/m4a" => "m4a",
        "video/mp4" => "mp4",
        "video/webm" | "audio/webm" => "webm",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/json" => "json",
        "application/gzip" => "gz",
        "text/csv" => "csv",
        "text/html" => "html",
        _ if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

/// The path as a tag that other tools take.
pub(super) fn media_tag(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.contains(char::is_whitespace) { format!("MEDIA:\"{path}\"") } else { format!("MEDIA:{path}") }
}

#[cfg(test)]
mod tests {
    use super::ending;

    #[test]
    fn a_kind_has_an_ending_whatever_it_says_of_itself() {
        let kinds = ["image/png", "Image/JPEG", "text/plain; charset=utf-8", "../../x", ""];

        assert_eq!(kinds.map(ending), ["png", "jpg", "txt", "bin", "bin"]);
    }
}
