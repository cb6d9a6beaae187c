"""Starts a real Home Assistant in a folder, with one lamp in the kitchen, and prints a line of JSON with its
address and a token. It serves until standard input is closed."""

import asyncio
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import aiohttp

folder = pathlib.Path(sys.argv[1])
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
url = f"http://127.0.0.1:{port}"
CONFIG = """
homeassistant: {name: Test, latitude: 0, longitude: 0, elevation: 0, unit_system: metric, time_zone: UTC}
http: {server_host: 127.0.0.1, server_port: PORT}
api:
websocket_api:
config:
conversation:
sun:
input_boolean: {lamp: {name: Kitchen lamp}}
shell_command: {mark: "true"}
"""
(folder / "configuration.yaml").write_text(CONFIG.replace("PORT", str(port)))


def post(path, body, kind="application/json"):
    data = (json.dumps(body) if kind == "application/json" else urllib.parse.urlencode(body)).encode()
    with urllib.request.urlopen(urllib.request.Request(url + path, data, {"Content-Type": kind})) as answer:
        return json.load(answer)


def onboarded():
    """The first person of a fresh house, logged in."""
    person = {"client_id": url + "/", "name": "Ann", "username": "ann", "password": "test-password", "language": "en"}
    code = post("/api/onboarding/users", person)["auth_code"]
    form = {"grant_type": "authorization_code", "code": code, "client_id": url + "/"}
    return post("/auth/token", form, "application/x-www-form-urlencoded")["access_token"]


async def furnish(token):
    """Puts the lamp into the kitchen."""
    async with aiohttp.ClientSession() as session, session.ws_connect(url + "/api/websocket") as socket_:
        await socket_.receive_json()
        await socket_.send_json({"type": "auth", "access_token": token})
        assert (await socket_.receive_json())["type"] == "auth_ok"

        async def ask(number, kind, **more):
            await socket_.send_json({"id": number, "type": kind, **more})
            said = await socket_.receive_json()
            assert said["success"], said
            return said["result"]

        # A fresh house has a kitchen already.
        area = next(it["area_id"] for it in await ask(1, "config/area_registry/list") if it["name"] == "Kitchen")
        await ask(2, "config/area_registry/update", area_id=area, aliases=["galley"])
        await ask(3, "config/entity_registry/update", entity_id="input_boolean.lamp", area_id=area)


log = open(folder / "hass.log", "w")
house = subprocess.Popen([sys.executable, "-m", "homeassistant", "-c", str(folder), "--skip-pip"], cwd=folder, stdout=log, stderr=log)
try:
    deadline = time.monotonic() + 400
    while True:
        try:
            urllib.request.urlopen(url + "/api/onboarding").read()
            break
        except (urllib.error.URLError, ConnectionError) as error:
            if isinstance(error, urllib.error.HTTPError):
                break
            if house.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("Home Assistant does not start:\n" + (folder / "hass.log").read_text())
            time.sleep(0.5)
    token = onboarded()
    while True:
        request = urllib.request.Request(url + "/api/states/input_boolean.lamp", headers={"Authorization": "Bearer " + token})
        try:
            urllib.request.urlopen(request).read()
            break
        except urllib.error.HTTPError:
            assert time.monotonic() < deadline, "the lamp does not appear"
            time.sleep(0.5)
    asyncio.run(furnish(token))
    print(json.dumps({"url": url, "token": token}), flush=True)
    sys.stdin.read()
finally:
    house.terminate()
    try:
        house.wait(20)
    except subprocess.TimeoutExpired:
        house.kill()
        house.wait()
