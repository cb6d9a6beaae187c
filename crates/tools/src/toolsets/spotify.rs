//! `spotify`: music on Spotify.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("spotify", "Play music on Spotify, and search and arrange the library.")
        .tools(&[
            "spotify_playback",
            "spotify_devices",
            "spotify_queue",
            "spotify_search",
            "spotify_playlists",
            "spotify_albums",
            "spotify_library",
        ])
        .configurable()
        .default_off();
