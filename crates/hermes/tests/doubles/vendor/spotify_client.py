"""The double of Spotify, used by spotipy: whatever this prints or raises is a fault of the double."""

import sys

import spotipy

TRACK, ALBUM, PLAYLIST = "4iV5W9uYEdYUVa79Axb7Rh", "1weenld61qoidwYuZ1GESA", "3cEYpjA9oz9GiPac4AsH4n"
URI = "spotify:track:" + TRACK

spotify = spotipy.Spotify(auth="good-access", retries=0, status_retries=0)
spotify.prefix = sys.argv[1] + "/"

assert spotify.current_playback(market="DE")["item"]["name"] == "So What"
assert spotify.currently_playing()["is_playing"]
assert spotify.current_user_recently_played(limit=5)["items"][0]["track"]["id"] == TRACK
assert spotify.devices()["devices"][0]["name"] == "Kitchen"
spotify.transfer_playback("d1", force_play=True)
spotify.start_playback(device_id="d1", context_uri="spotify:album:" + ALBUM, offset={"position": 2})
spotify.start_playback(uris=[URI], position_ms=1000)
spotify.pause_playback()
spotify.next_track()
spotify.previous_track()
spotify.seek_track(61000)
spotify.repeat("track")
spotify.shuffle(False)
spotify.volume(30, device_id="d1")
assert spotify.queue()["queue"][0]["name"] == "So What"
spotify.add_to_queue(URI)
assert spotify.search("miles & co", limit=3, offset=0, type="track,album")["albums"]["total"] == 1
assert spotify.album(ALBUM, market="DE")["label"] == "Columbia"
assert spotify.album_tracks(ALBUM, limit=5, offset=0)["items"][0]["name"] == "So What"
assert spotify.current_user_saved_tracks(limit=5, offset=0)["items"][0]["track"]["id"] == TRACK
assert spotify.current_user_saved_albums(limit=5, offset=0)["items"][0]["album"]["id"] == ALBUM
spotify.current_user_saved_tracks_add([URI])
spotify.current_user_saved_albums_delete(["spotify:album:" + ALBUM])
assert spotify.current_user_playlists(limit=5, offset=0)["items"][0]["name"] == "Evening"
assert spotify.playlist(PLAYLIST, market="DE")["name"] == "Evening"
assert spotify.current_user_playlist_create("Morning", public=False, description="soft")["name"] == "Morning"
assert spotify.playlist_add_items(PLAYLIST, [URI], position=0)["snapshot_id"] == "s2"
assert spotify.playlist_remove_all_occurrences_of_items(PLAYLIST, [URI], snapshot_id="s2")["snapshot_id"] == "s3"
spotify.playlist_change_details(PLAYLIST, name="Night")
try:
    spotify.album("none")
    raise AssertionError("there is an album `none`")
except spotipy.SpotifyException as error:
    assert error.http_status == 404
