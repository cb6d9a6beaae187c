"""Home Assistant's REST and web socket interfaces, as its developer documentation describes them: one lamp
in the kitchen. The same tests try the real one, where it is there."""

import base64
import hashlib
import json
import struct

from service import Double, Refusal

double = Double("/api")
TOKEN = "good-token"
LAMP = {"entity_id": "input_boolean.lamp", "state": "off", "attributes": {"editable": False, "friendly_name": "Kitchen lamp"}, "last_changed": "2026-01-01T00:00:00+00:00", "last_reported": "2026-01-01T00:00:00+00:00", "last_updated": "2026-01-01T00:00:00+00:00", "context": {"id": "x", "parent_id": None, "user_id": None}}
SUN = {**LAMP, "entity_id": "sun.sun", "state": "above_horizon", "attributes": {"friendly_name": "Sun", "elevation": 9.5}}
REGISTRIES = {
    "config/area_registry/list": [{"aliases": ["galley"], "area_id": "kitchen", "floor_id": None, "icon": None, "labels": [], "name": "Kitchen", "picture": None}],
    "config/device_registry/list": [],
    "config/entity_registry/list": [{"entity_id": LAMP["entity_id"], "area_id": "kitchen", "device_id": None, "platform": "input_boolean"}],
}


def before(asked):
    if asked.headers.get("authorization") != "Bearer " + TOKEN:
        raise Refusal(401, "401: Unauthorized", {"Content-Type": "text/plain"})


double.before = before
double.unknown = lambda asked: (404, "404: Not Found", {"Content-Type": "text/plain"})


@double.route("GET", "/states")
def states(_):
    return [LAMP, SUN]


@double.route("GET", "/states/{id}")
def one(asked):
    found = [state for state in (LAMP, SUN) if state["entity_id"] == asked.parts["id"]]
    return found[0] if found else (404, {"message": "Entity not found."}, {})


@double.route("GET", "/services")
def services(_):
    lamp = {name: {"name": name.replace("_", " ").title(), "description": "Does it.", "fields": {}, "target": {"entity": [{"domain": ["input_boolean"]}]}} for name in ("turn_on", "turn_off", "toggle")}
    return [{"domain": "input_boolean", "services": lamp}, {"domain": "shell_command", "services": {"mark": {"description": "", "fields": {}}}}]


@double.route("POST", "/services/{domain}/{service}")
def call(asked):
    name = (asked.parts["domain"], asked.parts["service"])
    wanted = "return_response" in asked.query
    if name == ("calendar", "get_events") and not wanted:
        return 400, {"message": "Service call requires responses but caller did not ask for responses. Add ?return_response to query parameters."}, {}
    if name == ("script", "quiet") and wanted:
        return 400, {"message": "Service does not support responses. Remove return_response from request."}, {}
    if name in (("calendar", "get_events"), ("conversation", "process")):
        said = {"changed_states": [], "service_response": {"response": {"speech": {"plain": {"speech": "Sorry"}}}}}
        return said if wanted else []
    if name == ("script", "quiet"):
        return []
    new = {("input_boolean", "turn_on"): "on", ("input_boolean", "turn_off"): "off"}.get(name)
    if not new:
        return 400, "400: Bad Request", {"Content-Type": "text/plain"}
    changed = asked.body.get("entity_id") in (LAMP["entity_id"], [LAMP["entity_id"]]) and LAMP["state"] != new
    if changed:
        LAMP["state"] = new
    return [LAMP] if changed else []


def read(stream):
    first = stream.read(2)
    if len(first) < 2:
        return None
    length = first[1] & 127
    if length == 126:
        length = struct.unpack(">H", stream.read(2))[0]
    mask = stream.read(4)
    data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(stream.read(length)))
    return None if first[0] & 15 == 8 else data.decode()


def say(stream, message):
    data = json.dumps(message).encode()
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
    stream.write(b"\x81" + size + data)
    stream.flush()


def upgrade(handler):
    """A web socket, as RFC 6455 says, for short texts."""
    if handler.path != "/api/websocket":
        return handler.send_error(404)
    key = handler.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    handler.wfile.write(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
    handler.wfile.flush()
    handler.close_connection = True
    say(handler.wfile, {"type": "auth_required", "ha_version": "2025.4.4"})
    known = False
    while (text := read(handler.rfile)) is not None:
        message = json.loads(text)
        if not known:
            known = message == {"type": "auth", "access_token": TOKEN}
            say(handler.wfile, {"type": "auth_ok", "ha_version": "2025.4.4"} if known else {"type": "auth_invalid", "message": "Invalid access token or password"})
            if not known:
                return None
        elif message["type"] in REGISTRIES:
            say(handler.wfile, {"id": message["id"], "type": "result", "success": True, "result": REGISTRIES[message["type"]]})
        else:
            say(handler.wfile, {"id": message["id"], "type": "result", "success": False, "error": {"code": "unknown_command", "message": "Unknown command."}})
    return None


double.upgrade = upgrade

if __name__ == "__main__":
    double.serve()
