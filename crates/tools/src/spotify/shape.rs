//! What a model needs of their answers: names, who made it, how to name it again. Pictures, markets and
//! addresses for programs are left out; a page of fifty tracks shrinks to a twentieth.

use serde_json::{Map, Value, json};

use crate::api::picked;

/// Fields that say nothing to a model.
const NOISE: [&str; 12] = [
    "available_markets",
    "external_ids",
    "external_urls",
    "href",
    "images",
    "linked_from",
    "popularity",
    "preview_url",
    "previous",
    "primary_color",
    "restrictions",
    "video_thumbnail",
];

/// A shorter answer.
pub(crate) fn short(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(short).collect(),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            Value::Object(match kind {
                "track" | "episode" | "chapter" => track(value),
                "artist" | "user" => picked(value, &["type", "name", "display_name", "uri", "genres"]),
                "album" | "show" | "audiobook" => album(value),
                "playlist" => playlist(value),
                _ => other(members),
            })
        }
        plain => plain.clone(),
    }
}

fn track(value: &Value) -> Map<String, Value> {
    let mut track = picked(value, &["type", "name", "uri"]);
    with_artists(&mut track, value);
    for of in ["album", "show"] {
        if let Some(name) = value.get(of).and_then(|it| it.get("name")) {
            track.insert(of.to_owned(), name.clone());
        }
    }
    track.extend(picked(value, &["duration_ms", "track_number", "release_date"]));
    if value.get("explicit") == Some(&Value::Bool(true)) {
        track.insert("explicit".to_owned(), json!(true));
    }
    track
}

fn album(value: &Value) -> Map<String, Value> {
    let mut album = picked(value, &["type", "name", "uri"]);
    with_artists(&mut album, value);
    album.extend(picked(value, &["album_type", "release_date", "total_tracks", "publisher", "label"]));
    if let Some(tracks) = value.get("tracks") {
        album.insert("tracks".to_owned(), short(tracks));
    }
    album
}

fn playlist(value: &Value) -> Map<String, Value> {
    let mut playlist = picked(value, &["type", "name", "uri", "description"]);
    if let Some(owner) = value.get("owner").and_then(|owner| owner.get("display_name")) {
        playlist.insert("owner".to_owned(), owner.clone());
    }
    playlist.extend(picked(value, &["public", "collaborative", "snapshot_id"]));
    // Older applications are told of `tracks` what newer ones are told of `items`.
    if let Some(items) = value.get("items").or_else(|| value.get("tracks")).filter(|it| !it.is_null()) {
        playlist.insert("items".to_owned(), short(items));
    }
    playlist
}

fn with_artists(short: &mut Map<String, Value>, value: &Value) {
    let names: Vec<&Value> = value
        .get("artists")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|it| it.get("name"))
        .collect();
    if !names.is_empty() {
        short.insert("artists".to_owned(), json!(names));
    }
}

fn other(members: &Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        if name == "next" {
            if !value.is_null() {
                kept.insert("has_more".to_owned(), json!(true));
            }
        } else if !value.is_null() && !NOISE.contains(&name.as_str()) {
            kept.insert(name.clone(), short(value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_what_names_the_music() {
        let page = json!({
            "href": "https://api…", "limit": 1, "next": "https://api…?offset=1", "offset": 0, "previous": null, "total": 9,
            "items": [{ "added_at": "2026-01-01", "item": {
                "type": "track", "name": "So What", "uri": "spotify:track:1", "id": "1", "href": "x",
                "artists": [{ "type": "artist", "name": "Miles Davis", "uri": "spotify:artist:2", "href": "x" }],
                "album": { "type": "album", "name": "Kind of Blue", "images": [1, 2, 3] },
                "duration_ms": 562_000, "explicit": false, "available_markets": ["DE"],
            }}],
        });

        assert_eq!(
            short(&page),
            json!({
                "limit": 1, "has_more": true, "offset": 0, "total": 9,
                "items": [{ "added_at": "2026-01-01", "item": {
                    "type": "track", "name": "So What", "uri": "spotify:track:1", "artists": ["Miles Davis"],
                    "album": "Kind of Blue", "duration_ms": 562_000,
                }}],
            })
        );
    }

    #[test]
    fn playlists_of_older_and_newer_applications_look_alike() {
        let old = json!({ "type": "playlist", "name": "p", "owner": { "display_name": "ann" }, "tracks": { "href": "x", "total": 2 } });
        let new = json!({ "type": "playlist", "name": "p", "owner": { "display_name": "ann" }, "tracks": null, "items": { "href": "x", "total": 2 } });

        assert_eq!(short(&old), short(&new));
        assert_eq!(short(&old)["items"], json!({ "total": 2 }));
    }
}
