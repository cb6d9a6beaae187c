//! The `spotify_*` tools.

use serde_json::{Value, json};

use crate::support::{Bench, Double, assert_within};

const TRACK: &str = "spotify:track:4iV5W9uYEdYUVa79Axb7Rh";
const ALBUM: &str = "1weenld61qoidwYuZ1GESA";
const PLAYLIST: &str = "3cEYpjA9oz9GiPac4AsH4n";

/// A listener whose login is kept in the home.
fn bench(double: &Double, access: &str, renewal: &str) -> Bench {
    let (api, accounts) = (double.url("/v1"), double.url(""));
    let bench = Bench::with(&[
        ("HERMES_SPOTIFY_API_BASE_URL", &api),
        ("HERMES_SPOTIFY_ACCOUNTS_BASE_URL", &accounts),
    ]);
    log_in(&bench, access, renewal);
    bench
}

fn log_in(bench: &Bench, access: &str, renewal: &str) {
    let login = json!({ "client_id": "c1", "access_token": access, "refresh_token": renewal, "expires_at": "2026-01-01T00:00:00Z" });
    let file = json!({ "version": 1, "providers": { "other": { "a": 1 }, "spotify": login } });
    std::fs::write(bench.folder.path().join("home/auth.json"), file.to_string()).unwrap();
}

fn kept(bench: &Bench) -> Value {
    serde_json::from_slice(&std::fs::read(bench.folder.path().join("home/auth.json")).unwrap()).unwrap()
}

/// Every action once, as the tool it belongs to and its arguments.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    let album = format!("spotify:album:{ALBUM}");
    vec![
        ("spotify_playback", json!({ "action": "get_state", "market": "DE" })),
        ("spotify_playback", json!({ "action": "get_currently_playing" })),
        ("spotify_playback", json!({ "action": "recently_played", "limit": 5 })),
        (
            "spotify_playback",
            json!({ "action": "play", "device_id": "d1", "context_uri": album, "offset": { "position": 2 } }),
        ),
        ("spotify_playback", json!({ "action": "play", "uris": [TRACK], "position_ms": 1000 })),
        ("spotify_playback", json!({ "action": "pause" })),
        ("spotify_playback", json!({ "action": "next" })),
        ("spotify_playback", json!({ "action": "previous" })),
        ("spotify_playback", json!({ "action": "seek", "position_ms": 61_000 })),
        ("spotify_playback", json!({ "action": "set_repeat", "state": "track" })),
        ("spotify_playback", json!({ "action": "set_shuffle", "state": false })),
        ("spotify_playback", json!({ "action": "set_volume", "volume_percent": 30, "device_id": "d1" })),
        ("spotify_devices", json!({ "action": "list" })),
        ("spotify_devices", json!({ "action": "transfer", "device_id": "d1", "play": true })),
        ("spotify_queue", json!({ "action": "get" })),
        ("spotify_queue", json!({ "action": "add", "uri": TRACK })),
        (
            "spotify_search",
            json!({ "query": "miles & co", "types": ["tracks", "album"], "limit": 3, "offset": 0 }),
        ),
        ("spotify_albums", json!({ "action": "get", "album_id": ALBUM, "market": "DE" })),
        ("spotify_albums", json!({ "action": "tracks", "id": album, "limit": 5, "offset": 0 })),
        ("spotify_library", json!({ "kind": "tracks", "action": "list", "limit": 5, "offset": 0 })),
        ("spotify_library", json!({ "kind": "albums", "action": "list", "limit": 5, "offset": 0 })),
        ("spotify_library", json!({ "kind": "tracks", "action": "save", "ids": ["4iV5W9uYEdYUVa79Axb7Rh"] })),
        ("spotify_library", json!({ "kind": "albums", "action": "remove", "uris": [album] })),
        ("spotify_playlists", json!({ "action": "list", "limit": 5, "offset": 0 })),
        ("spotify_playlists", json!({ "action": "get", "playlist_id": PLAYLIST, "market": "DE" })),
        (
            "spotify_playlists",
            json!({ "action": "create", "name": "Morning", "public": false, "description": "soft" }),
        ),
        (
            "spotify_playlists",
            json!({ "action": "add_items", "playlist_id": PLAYLIST, "uris": [TRACK], "position": 0 }),
        ),
        (
            "spotify_playlists",
            json!({ "action": "remove_items", "playlist_id": PLAYLIST, "uris": [TRACK], "snapshot_id": "s2" }),
        ),
        (
            "spotify_playlists",
            json!({ "action": "update_details", "playlist_id": PLAYLIST, "name": "Night" }),
        ),
    ]
}

#[test]
fn every_action_works_and_asks_what_spotipy_asks() {
    let double = Double::of("spotify");
    let bench = bench(&double, "good-access", "good-refresh");

    for (tool, arguments) in calls() {
        let body = bench.call(tool, &arguments);
        assert!(body.get("error").is_none(), "{tool} {arguments}: {body}");
    }
    let ours = double.asked();
    assert_eq!(ours.len(), calls().len());

    if let Some(vendors) = double.asked_by_vendor("spotify_client.py", "/v1") {
        assert_within(&ours, &vendors);
    }
}

#[test]
fn a_login_that_has_ended_is_renewed_and_kept() {
    let double = Double::of("spotify");
    let bench = bench(&double, "stale", "good-refresh");

    let body = bench.call("spotify_playback", &json!({ "action": "get_state" }));

    assert_eq!(body["result"]["item"]["name"], "So What", "{body}");
    assert_eq!(double.paths(), ["GET /v1/me/player", "POST /api/token", "GET /v1/me/player"]);
    let login = &kept(&bench)["providers"];
    assert_eq!(
        (&login["spotify"]["access_token"], &login["spotify"]["refresh_token"]),
        (&json!("access-1"), &json!("refresh-1"))
    );
    assert_eq!((&login["other"], &login["spotify"]["expires_at"]), (&json!({ "a": 1 }), &Value::Null));
    bench.call("spotify_devices", &json!({ "action": "list" }));
    assert_eq!(double.paths(), ["GET /v1/me/player/devices"]);
}

#[test]
fn what_is_done_is_done_once_although_the_login_was_renewed() {
    let double = Double::of("spotify");
    let bench = bench(&double, "stale", "good-refresh");

    assert_eq!(
        bench.call("spotify_playback", &json!({ "action": "next" })),
        json!({ "success": true, "action": "next" })
    );

    assert_eq!(
        double.paths(),
        ["POST /v1/me/player/next", "POST /api/token", "POST /v1/me/player/next"],
        "the first of them was refused"
    );
}

#[test]
fn a_login_that_cannot_be_renewed_says_how_to_make_a_new_one() {
    let double = Double::of("spotify");
    let bench = bench(&double, "stale", "revoked");

    let why = bench.fails("spotify_devices", &json!({ "action": "list" }));

    assert!(why.contains("Refresh token revoked") && why.contains("hermes auth spotify"), "{why}");
    assert_eq!(kept(&bench)["providers"]["spotify"]["refresh_token"], "revoked");
}

#[test]
fn variables_are_a_login_too_and_what_they_become_is_kept() {
    let double = Double::of("spotify");
    let (api, accounts) = (double.url("/v1"), double.url(""));
    let bench = Bench::with(&[
        ("HERMES_SPOTIFY_API_BASE_URL", &api),
        ("HERMES_SPOTIFY_ACCOUNTS_BASE_URL", &accounts),
        ("SPOTIFY_CLIENT_ID", "c9"),
        ("SPOTIFY_REFRESH_TOKEN", "good-refresh"),
    ]);

    let body = bench.call("spotify_devices", &json!({ "action": "list" }));

    assert_eq!(body["result"]["devices"][0]["name"], "Kitchen", "{body}");
    assert_eq!(kept(&bench)["providers"]["spotify"]["client_id"], "c9");
}

#[test]
fn without_a_login_the_tools_are_not_there_and_say_why() {
    let bench = Bench::with(&[]);

    let why = bench.call("spotify_devices", &json!({ "action": "list" })).to_string();

    assert!(why.contains("hermes auth spotify"), "{why}");
}

#[test]
fn silence_and_refusals_are_told_in_words() {
    let double = Double::of("spotify");
    let bench = bench(&double, "good-access", "good-refresh");
    double.http("PUT", "/__idle/true", &Value::Null);

    let state = bench.call("spotify_playback", &json!({ "action": "get_state" }));
    assert_eq!(state["result"]["is_playing"], false);
    let why = bench.fails("spotify_playback", &json!({ "action": "pause" }));
    assert!(why.contains("no device is active"), "{why}");
    let why = bench.fails("spotify_playback", &json!({ "action": "pause", "device_id": "d7" }));
    assert!(why.contains("that device is not there"), "{why}");
    double.next(403, &json!({}), &json!({ "error": { "status": 403, "message": "Player command failed: Premium required", "reason": "PREMIUM_REQUIRED" } }));
    let why = bench.fails("spotify_playback", &json!({ "action": "next", "device_id": "d1" }));
    assert!(why.contains("Premium"), "{why}");
    let before = double.asked().len();
    assert!(before > 0);
    let why = bench.fails("spotify_albums", &json!({ "action": "get", "album_id": "../me" }));
    assert!(why.contains("names nothing") && double.asked().is_empty(), "{why}");
}
