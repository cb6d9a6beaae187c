"""Spotify's Web API of 2026, and the part of its accounts service that renews tokens, as their
documentation describes them: one listener with two devices."""

import base64
import hashlib

from service import Double, Refusal

double = Double()
TRACK, ALBUM, PLAYLIST = "4iV5W9uYEdYUVa79Axb7Rh", "1weenld61qoidwYuZ1GESA", "3cEYpjA9oz9GiPac4AsH4n"
STATE = {"tokens": {"good-access"}, "renewal": "good-refresh", "renewed": 0, "active": True}


def no(status, message, **more):
    raise Refusal(status, {"error": {"status": status, "message": message, **more}})


def before(asked):
    if asked.path in ("/api/token", "/authorize") or asked.path.startswith("/__"):
        return
    if asked.headers.get("authorization", "").removeprefix("Bearer ") not in STATE["tokens"]:
        no(401, "The access token expired")


double.before = before
double.unknown = lambda asked: (404, {"error": {"status": 404, "message": "Service not found"}}, {})

ARTIST = {"external_urls": {}, "href": "x", "id": "2", "name": "Miles Davis", "type": "artist", "uri": "spotify:artist:2"}
SMALL_ALBUM = {"album_type": "album", "artists": [ARTIST], "external_urls": {}, "href": "x", "id": ALBUM, "images": [{"url": "x"}], "name": "Kind of Blue", "release_date": "1959-08-17", "release_date_precision": "day", "total_tracks": 5, "type": "album", "uri": "spotify:album:" + ALBUM}
SONG = {"album": SMALL_ALBUM, "artists": [ARTIST], "disc_number": 1, "duration_ms": 562000, "explicit": False, "external_urls": {}, "href": "x", "id": TRACK, "is_local": False, "name": "So What", "track_number": 1, "type": "track", "uri": "spotify:track:" + TRACK}
DEVICES = [{"id": "d1", "is_active": True, "is_private_session": False, "is_restricted": False, "name": "Kitchen", "type": "Speaker", "volume_percent": 40, "supports_volume": True}]
LIST = {"collaborative": False, "description": "", "external_urls": {}, "href": "x", "id": PLAYLIST, "images": [], "name": "Evening", "owner": {"display_name": "Ann", "id": "ann", "type": "user", "uri": "spotify:user:ann"}, "public": False, "snapshot_id": "s1", "items": {"href": "x", "total": 1}, "type": "playlist", "uri": "spotify:playlist:" + PLAYLIST}


def page(asked, items, most=50, usual=20):
    limit, offset = int(asked.query.get("limit", usual)), int(asked.query.get("offset", 0))
    if not 1 <= limit <= most:
        no(400, "Invalid limit")
    return {"href": "x", "limit": limit, "next": None, "offset": offset, "previous": None, "total": len(items), "items": items[offset:offset + limit]}


@double.route("GET", "/authorize")
def authorize(asked):
    """The page where the person agrees, who always does."""
    query = asked.query
    if query.get("response_type") != "code" or query.get("code_challenge_method") != "S256" or not query.get("scope"):
        return 400, {"error": "invalid_request"}, {}
    STATE["asked"] = query
    location = f"{query['redirect_uri']}?code=good-code&state={query['state']}"
    return 302, {"location": location}, {"Location": location}


def logged_in(asked):
    first, body = STATE.get("asked", {}), asked.body
    proof = base64.urlsafe_b64encode(hashlib.sha256(body.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
    same = all(body.get(name) == first.get(name) for name in ("client_id", "redirect_uri"))
    if body.get("code") != "good-code" or proof != first.get("code_challenge") or not same:
        return 400, {"error": "invalid_grant", "error_description": "Invalid authorization code"}, {}
    return {"access_token": "good-access", "token_type": "Bearer", "scope": first["scope"], "expires_in": 3600, "refresh_token": STATE["renewal"]}


@double.route("POST", "/api/token")
def token(asked):
    if asked.body.get("grant_type") == "authorization_code":
        return logged_in(asked)
    if asked.body.get("grant_type") != "refresh_token" or not asked.body.get("client_id"):
        return 400, {"error": "invalid_request"}, {}
    if asked.body.get("refresh_token") != STATE["renewal"]:
        return 400, {"error": "invalid_grant", "error_description": "Refresh token revoked"}, {}
    # The old ones are worth nothing from now on.
    STATE["renewed"] += 1
    STATE["renewal"], access = f"refresh-{STATE['renewed']}", f"access-{STATE['renewed']}"
    STATE["tokens"] = {access}
    return {"access_token": access, "token_type": "Bearer", "scope": "x", "expires_in": 3600, "refresh_token": STATE["renewal"]}


@double.route("PUT", "/__idle/{on}")
def idle(asked):
    STATE["active"] = asked.parts["on"] != "true"
    return {}


@double.route("GET", "/v1/me/player")
def state(asked):
    if not STATE["active"]:
        return 204, None, {}
    return {"device": DEVICES[0], "repeat_state": "off", "shuffle_state": False, "timestamp": 1, "context": {"type": "album", "href": "x", "external_urls": {}, "uri": SMALL_ALBUM["uri"]}, "progress_ms": 1000, "is_playing": True, "item": SONG, "currently_playing_type": "track", "actions": {}}


@double.route("GET", "/v1/me/player/currently-playing")
def playing(asked):
    return state(asked)


@double.route("GET", "/v1/me/player/recently-played")
def recently(asked):
    if "after" in asked.query and "before" in asked.query:
        no(400, "only one of after and before")
    return {"href": "x", "limit": 20, "next": None, "cursors": {"after": "9", "before": "1"}, "items": [{"track": SONG, "played_at": "2026-01-01T00:00:00Z", "context": None}]}


@double.route("GET", "/v1/me/player/devices")
def devices(_):
    return {"devices": DEVICES}


def control(asked):
    if not STATE["active"] and "device_id" not in asked.query:
        no(404, "Player command failed: No active device found", reason="NO_ACTIVE_DEVICE")
    if asked.query.get("device_id", "d1") != "d1":
        no(404, "Device not found")
    # As the real one does: not JSON, although it says so.
    return 200, "AAhYxx5", {}


def needs(asked, name, fits):
    if not fits(asked.query.get(name, "")):
        no(400, "Bad " + name)
    return control(asked)


@double.route("PUT", "/v1/me/player")
def transfer(asked):
    if asked.body.get("device_ids") != ["d1"]:
        no(404, "Device not found")
    return 204, None, {}


@double.route("PUT", "/v1/me/player/play")
def play(asked):
    body = asked.body or {}
    if not set(body) <= {"context_uri", "uris", "offset", "position_ms"} or ("uris" in body and "context_uri" in body):
        no(400, "Malformed json")
    return control(asked)


double.route("PUT", "/v1/me/player/pause")(control)
double.route("POST", "/v1/me/player/next")(control)
double.route("POST", "/v1/me/player/previous")(control)
double.route("PUT", "/v1/me/player/seek")(lambda asked: needs(asked, "position_ms", str.isdigit))
double.route("PUT", "/v1/me/player/repeat")(lambda asked: needs(asked, "state", lambda it: it in ("track", "context", "off")))
double.route("PUT", "/v1/me/player/shuffle")(lambda asked: needs(asked, "state", lambda it: it in ("true", "false")))
double.route("PUT", "/v1/me/player/volume")(lambda asked: needs(asked, "volume_percent", lambda it: it.isdigit() and int(it) <= 100))
double.route("POST", "/v1/me/player/queue")(lambda asked: needs(asked, "uri", lambda it: it.startswith("spotify:")))


@double.route("GET", "/v1/me/player/queue")
def queue(_):
    return {"currently_playing": SONG, "queue": [SONG]}


@double.route("GET", "/v1/search")
def search(asked):
    if not asked.query.get("q") or not asked.query.get("type"):
        no(400, "No search query")
    found = {"track": [SONG], "album": [SMALL_ALBUM], "artist": [ARTIST]}
    kinds = asked.query["type"].split(",")
    if not set(kinds) <= {"album", "artist", "playlist", "track", "show", "episode", "audiobook"}:
        no(400, "Bad search type field")
    return {kind + "s": page(asked, found.get(kind, []), 10, 5) for kind in kinds}


@double.route("GET", "/v1/albums/{id}")
def album(asked):
    if asked.parts["id"] != ALBUM:
        no(404, "Resource not found")
    return {**SMALL_ALBUM, "label": "Columbia", "copyrights": [], "tracks": page(asked, [SONG])}


@double.route("GET", "/v1/albums/{id}/tracks")
def album_tracks(asked):
    album(asked)
    return page(asked, [SONG])


double.route("GET", "/v1/me/tracks")(lambda asked: page(asked, [{"added_at": "2026-01-01T00:00:00Z", "track": SONG}]))
double.route("GET", "/v1/me/albums")(lambda asked: page(asked, [{"added_at": "2026-01-01T00:00:00Z", "album": SMALL_ALBUM}]))
double.route("GET", "/v1/me/playlists")(lambda asked: page(asked, [LIST]))


@double.route("PUT", "/v1/me/library")
@double.route("DELETE", "/v1/me/library")
def library(asked):
    uris = asked.query.get("uris", "").split(",")
    if not 1 <= len(uris) <= 40 or not all(uri.startswith("spotify:") for uri in uris):
        no(400, "Invalid uris")
    return 200, None, {}


@double.route("POST", "/v1/me/playlists")
def create(asked):
    if not asked.body.get("name"):
        no(400, "Missing required field: name")
    return 201, {**LIST, "name": asked.body["name"]}, {}


def own(asked):
    if asked.parts["id"] != PLAYLIST:
        no(404, "Resource not found")


@double.route("GET", "/v1/playlists/{id}")
def playlist(asked):
    own(asked)
    return {**LIST, "items": page(asked, [{"added_at": "2026-01-01T00:00:00Z", "is_local": False, "item": SONG}])}


@double.route("PUT", "/v1/playlists/{id}")
def change(asked):
    own(asked)
    return 200, None, {}


@double.route("POST", "/v1/playlists/{id}/items")
def add(asked):
    own(asked)
    # A list alone is taken too; the position stands in the query then.
    uris = asked.body if isinstance(asked.body, list) else asked.body.get("uris")
    if not uris or len(uris) > 100:
        no(400, "Invalid uris")
    return 201, {"snapshot_id": "s2"}, {}


@double.route("DELETE", "/v1/playlists/{id}/items")
def remove(asked):
    own(asked)
    if not all("uri" in item for item in asked.body["items"]):
        no(400, "Invalid items")
    return {"snapshot_id": "s3"}


if __name__ == "__main__":
    double.serve()
