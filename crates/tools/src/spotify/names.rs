//! Music by name: `spotify:track:ID`, a link to it, or the bare id.

use hermes_core::error::ToolError;

use crate::api::shortened;

/// What Spotify has.
const KINDS: [&str; 8] = ["track", "album", "artist", "playlist", "episode", "show", "audiobook", "user"];

/// The id in whatever was written, which has to be of this kind.
pub(crate) fn id(text: &str, kind: &str) -> Result<String, ToolError> {
    let (found, id) = parsed(text, kind)?;
    if found == kind {
        return Ok(id);
    }
    Err(ToolError::Arguments(format!("{:?} is of another kind than {kind}", shortened(text, 80))))
}

/// The full name of whatever was written; a bare id is taken to be of the usual kind.
pub(crate) fn uri(text: &str, usual: &str) -> Result<String, ToolError> {
    parsed(text, usual).map(|(kind, id)| format!("spotify:{kind}:{id}"))
}

/// The same for several.
pub(crate) fn uris<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    usual: &str,
) -> Result<Vec<String>, ToolError> {
    texts.into_iter().map(|text| uri(text, usual)).collect()
}

fn parsed(text: &str, usual: &str) -> Result<(String, String), ToolError> {
    let wrong = || {
        let text = shortened(text, 80);
        ToolError::Arguments(format!("{text:?} names nothing on Spotify; names look like spotify:{usual}:ID"))
    };
    let text = text.trim();
    let (kind, id) = if let Some(name) = text.strip_prefix("spotify:") {
        name.split_once(':').ok_or_else(wrong)?
    } else if let Some((_, path)) = text.split_once("open.spotify.com/") {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        // Links may carry a language in front: intl-de/track/…
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let id = parts.next().unwrap_or_default();
        (parts.next().ok_or_else(wrong)?, id)
    } else {
        (usual, text)
    };
    let usual_id = |c: char| c.is_ascii_alphanumeric() || (kind == "user" && matches!(c, '_' | '-' | '.'));
    let fits = KINDS.contains(&kind) && (1..=64).contains(&id.len()) && id.chars().all(usual_id);
    if fits { Ok((kind.to_owned(), id.to_owned())) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_music_is_found_however_it_is_written() {
        for text in [
            "spotify:track:4iV5W9uYEdYUVa79Axb7Rh",
            "https://open.spotify.com/track/4iV5W9uYEdYUVa79Axb7Rh?si=abc",
            "https://open.spotify.com/intl-de/track/4iV5W9uYEdYUVa79Axb7Rh",
            " 4iV5W9uYEdYUVa79Axb7Rh ",
        ] {
            assert_eq!(uri(text, "track").unwrap(), "spotify:track:4iV5W9uYEdYUVa79Axb7Rh", "{text}");
            assert_eq!(id(text, "track").unwrap(), "4iV5W9uYEdYUVa79Axb7Rh", "{text}");
        }
        assert_eq!(uri("spotify:album:1", "track").unwrap(), "spotify:album:1");
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in [
            "",
            "a/b",
            "../me",
            "spotify:track",
            "spotify:car:1",
            "https://open.spotify.com/track/",
            "a b",
            "é",
        ] {
            assert!(uri(text, "track").is_err(), "{text}");
        }
        assert!(id("spotify:album:1", "track").is_err());
    }
}
