"""A double of Vercel Sandbox, as its own SDK speaks to it.

Usage: double_vercel_sandbox.py FOLDER, prints the port it listens on. The token is `right`, the team
`team`, the project `project`; a pass of that team and project is let in until it runs out. Tests steer it with `POST /_control` and look at it with `GET /_control`.

What a command writes is text: what is none is lost, as with the service itself.
"""

import asyncio
import base64
import codecs
import fcntl
import io
import json
import os
import pty
import signal
import struct
import sys
import tarfile
import termios
import time
import uuid

from aiohttp import WSMsgType, web

from sandboxes import Growing, Sandbox, kill, kill_tree
from served import Served


def now():
    return int(time.time() * 1000)


def refused(status, code, message):
    return web.json_response({"error": {"code": code, "message": message}}, status=status)


def refusal(authorization):
    """Why whoever brings this is not let in: there is a token that is right, and passes that run out."""
    if authorization == "Bearer right":
        return None
    try:
        middle = authorization.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (IndexError, ValueError):
        return "Not authorized"
    if claims.get("owner_id") != "team" or claims.get("project_id") != "project":
        return "Not authorized"
    return None if claims.get("exp", 0) > time.time() else "The OIDC token has expired"


class Refused(Exception):
    pass


class Box:
    """A sandbox, with the session it has now."""

    def __init__(self, server, body):
        self.server = server
        self.body = body
        self.name = body.get("name") or f"sbx-{uuid.uuid4().hex[:8]}"
        self.created = now()
        self.sandbox = None
        self.begin()

    def begin(self):
        """Begins a session; one that is not kept begins with nothing."""
        if self.sandbox is None or not self.body.get("persistent"):
            if self.sandbox is not None:
                self.sandbox.remove()
            self.sandbox = Sandbox(self.server.folder, f"sbx_{uuid.uuid4().hex}", self.body.get("env"))
        self.session = f"ses_{uuid.uuid4().hex}"
        self.commands = {}
        self.state = "pending"
        asyncio.get_running_loop().call_later(self.server.faults.slow, self.running, self.session)

    def running(self, session):
        if self.session == session and self.state == "pending":
            self.state = "running"

    def stop(self):
        self.sandbox.stop()
        self.state = "stopped"

    def shown(self):
        return {
            "name": self.name,
            "persistent": bool(self.body.get("persistent")),
            "createdAt": self.created,
            "updatedAt": self.created,
            "currentSessionId": self.session,
            "status": self.state,
            "tags": self.body.get("tags") or {},
            "projectId": "project",
        }

    def shown_session(self):
        return {
            "id": self.session, "memory": 2048, "vcpus": 1, "region": "iad1", "status": self.state,
            "timeout": self.body.get("timeout") or 300000, "requestedAt": self.created,
            "createdAt": self.created, "updatedAt": self.created, "cwd": self.sandbox.home,
        }

    def whole(self):
        return {"sandbox": self.shown(), "session": self.shown_session(), "routes": []}


class Command:
    """A command, with what it has written as lines of JSON."""

    def __init__(self, box, body):
        self.id = f"cmd_{uuid.uuid4().hex}"
        self.box = box
        self.body = body
        self.code = None
        self.started = now()
        self.taken = 0
        self.log = Growing(box.sandbox.folder / f"log.{self.id}")

    async def start(self):
        reads = asyncio.subprocess.PIPE if self.body.get("attachStdin") else asyncio.subprocess.DEVNULL
        try:
            self.process = await asyncio.create_subprocess_exec(
                self.body["command"], *(self.body.get("args") or []),
                stdin=reads, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                cwd=self.body.get("cwd") or self.box.sandbox.home,
                env=self.box.sandbox.environment(self.body.get("env")), limit=1 << 20, start_new_session=True,
            )
        except OSError as wrong:
            raise Refused(str(wrong)) from None
        self.task = asyncio.create_task(self.watch())

    async def watch(self):
        await asyncio.gather(self.carry(self.process.stdout, "stdout"), self.carry(self.process.stderr, "stderr"))
        code = await self.process.wait()
        self.code = code if code >= 0 else 128 - code
        await self.log.end()

    async def carry(self, stream, name):
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        while data := await stream.read(1 << 17):
            line = json.dumps({"stream": name, "data": decoder.decode(data)})
            await self.log.add(line.encode() + b"\n")

    def shown(self):
        shown = {
            "id": self.id, "name": self.body["command"], "args": self.body.get("args") or [],
            "cwd": self.body.get("cwd") or self.box.sandbox.home, "sessionId": self.box.session,
            "exitCode": self.code, "startedAt": self.started,
        }
        return {"command": shown}


class Server(Served):
    def __init__(self, folder):
        super().__init__(folder)
        self.tokens = {}

    # Sandboxes.

    async def create(self, request):
        body = await request.json()
        if body.get("projectId") != "project":
            return refused(404, "not_found", "Project not found")
        if body.get("name") in self.boxes:
            return refused(409, "conflict", "A sandbox with this name already exists")
        box = Box(self, body)
        self.boxes[box.name] = box
        return web.json_response(box.whole())

    async def list(self, request):
        boxes = [box.shown() for box in self.boxes.values()]
        if wanted := request.query.get("tags"):
            key, value = wanted.split(":", 1)
            boxes = [box for box in boxes if box["tags"].get(key) == value]
        if prefix := request.query.get("namePrefix"):
            boxes = [box for box in boxes if box["name"].startswith(prefix)]
        return web.json_response({"sandboxes": boxes, "pagination": {"count": len(boxes), "next": None}})

    def box(self, request):
        if request.match_info["name"] not in self.boxes:
            raise web.HTTPNotFound(text=json.dumps({"error": {"code": "not_found", "message": "Sandbox not found"}}))
        return self.boxes[request.match_info["name"]]

    async def look(self, request):
        box = self.box(request)
        resumed = request.query.get("resume") == "true" and box.state == "stopped"
        if resumed:
            box.begin()
        return web.json_response({**box.whole(), "resumed": resumed})

    async def remove(self, request):
        box = self.box(request)
        box.stop()
        box.sandbox.remove()
        del self.boxes[box.name]
        return web.json_response(box.whole())

    # Sessions.

    def session(self, request):
        for box in self.boxes.values():
            if box.session == request.match_info["session"]:
                if box.state == "stopped":
                    said = {"error": {"code": "sandbox_stopped", "message": "Sandbox has stopped execution"}}
                    raise web.HTTPGone(text=json.dumps(said))
                return box
        raise web.HTTPNotFound(text=json.dumps({"error": {"code": "not_found", "message": "Session not found"}}))

    async def look_session(self, request):
        return web.json_response({"session": self.session(request).shown_session(), "routes": []})

    async def stop(self, request):
        box = self.session(request)
        box.stop()
        return web.json_response({"session": box.shown_session(), "sandbox": box.shown()})

    async def extend(self, request):
        return web.json_response({"session": self.session(request).shown_session()})

    async def new_command(self, request):
        box, body = self.session(request), await request.json()
        command = Command(box, body)
        try:
            await command.start()
        except Refused as wrong:
            return refused(400, "bad_request", str(wrong))
        box.commands[command.id] = command
        if not body.get("wait"):
            return web.json_response(command.shown())
        stream = await self.stream(request)
        await stream.write(json.dumps(command.shown()).encode() + b"\n")
        async for data in command.log.follow():
            await stream.write(data)
        await command.task
        await stream.write(json.dumps(command.shown()).encode() + b"\n")
        return stream

    async def stream(self, request):
        stream = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        self.cuttable.add(request.transport)
        return stream

    def command(self, request):
        found = self.session(request).commands.get(request.match_info["command"])
        if not found:
            raise web.HTTPNotFound(text=json.dumps({"error": {"code": "not_found", "message": "Command not found"}}))
        return found

    async def look_command(self, request):
        command = self.command(request)
        if request.query.get("wait") == "true":
            await command.task
        return web.json_response(command.shown())

    async def logs(self, request):
        command = self.command(request)
        stream = await self.stream(request)
        async for data in command.log.follow():
            await stream.write(data)
        return stream

    async def stdin(self, request):
        command, body = self.command(request), await request.json()
        if command.process.stdin is None or command.code is not None:
            return refused(400, "command_stdin_unavailable", "Command stdin is not available")
        data = base64.b64decode(body.get("data") or "")
        data = data[max(0, command.taken - body.get("offset", command.taken)):]
        try:
            if data:
                command.process.stdin.write(data)
                await command.process.stdin.drain()
                command.taken += len(data)
            if body.get("close"):
                command.process.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            return refused(400, "command_stdin_unavailable", "Command stdin is not available")
        return web.json_response({**command.shown(), "bytesWritten": command.taken})

    async def kill(self, request):
        command, body = self.command(request), await request.json()
        if command.process.returncode is None:
            if body["signal"] == signal.SIGKILL:
                kill_tree(command.process.pid)
            else:
                kill(command.process.pid, body["signal"])
        return web.json_response(command.shown())

    async def write(self, request):
        box, body = self.session(request), await request.read()
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as archive:
            for entry in archive:
                path = os.path.join(request.headers.get("x-cwd", "/"), entry.name)
                path = path if path.startswith(box.sandbox.home) else os.path.join(box.sandbox.home, entry.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(archive.extractfile(entry).read())
        return web.json_response({})

    async def read(self, request):
        box, body = self.session(request), await request.json()
        path = os.path.join(body.get("cwd") or box.sandbox.home, body["path"])
        if not os.path.isfile(path):
            return refused(404, "not_found", "File not found")
        with open(path, "rb") as file:
            return web.Response(body=file.read(), content_type="application/octet-stream")

    # Terminals.

    async def interactive(self, request):
        box, token = self.session(request), uuid.uuid4().hex
        self.tokens[token] = box
        return web.json_response({"url": f"ws://127.0.0.1:{self.port}/terminal", "token": token})

    async def terminal(self, request):
        box = self.tokens.pop(request.query.get("token"), None)
        if box is None:
            return refused(401, "unauthorized", "Bad token")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.cuttable.add(request.transport)
        start = json.loads(await socket.receive_str())
        master, slave = pty.openpty()

        def resize(size):
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size["rows"], size["cols"], 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        resize(start)
        process = await asyncio.create_subprocess_exec(
            start["command"], *start["args"], stdin=slave, stdout=slave, stderr=slave,
            cwd=start.get("cwd") or box.sandbox.home, preexec_fn=own_terminal,
            env=box.sandbox.environment(dict(pair.split("=", 1) for pair in start["env"])),
        )
        os.close(slave)
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()

        def readable():
            try:
                data = os.read(master, 1 << 16)
            except OSError:
                data = b""
            if not data:
                loop.remove_reader(master)
            queue.put_nowait(data)

        async def typed():
            async for message in socket:
                if message.type == WSMsgType.BINARY:
                    os.write(master, message.data)
                elif message.type == WSMsgType.TEXT:
                    said = json.loads(message.data)
                    if said["type"] == "resize":
                        resize(said)

        loop.add_reader(master, readable)
        typing = asyncio.create_task(typed())
        try:
            while data := await queue.get():
                await socket.send_bytes(data)
            code = await process.wait()
            said = {"type": "exit"}
            if code:
                said["code"] = code if code >= 0 else 128 - code
            await socket.send_json(said)
            await socket.close()
        finally:
            loop.remove_reader(master)
            typing.cancel()
            kill_tree(process.pid)
        return socket

    # The tests.

    async def control(self, request):
        wanted = await request.json()
        self.steered(wanted)
        for box in list(self.boxes.values()):
            if wanted.get("vanish"):
                box.stop()
                box.sandbox.remove()
                del self.boxes[box.name]
            if wanted.get("stop"):
                box.stop()
        if make := wanted.get("make"):
            self.boxes[make["name"]] = Box(self, {"name": make["name"], "tags": make["labels"]})
        return web.json_response({})

    async def told(self, _):
        boxes = []
        for box in self.boxes.values():
            shown = box.shown()
            state = "started" if box.state == "running" else box.state
            boxes.append({**shown, "labels": shown["tags"], "state": state})
        return web.json_response({"sandboxes": boxes, "asked": self.asked})

    @web.middleware
    async def guard(self, request, handler):
        if not request.path.startswith("/api/"):
            return await handler(request)
        self.asked.append(f"{request.method} {request.path}")
        if wrong := refusal(request.headers.get("Authorization", "")):
            return refused(401, "unauthorized", wrong)
        if request.query.get("teamId") != "team":
            return refused(401, "unauthorized", "Not authorized")
        if (status := self.faults.next()) is not None:
            said = {"error": {"code": "fault", "message": self.faults.message}}
            return web.json_response(said, status=status, headers=self.faults.headers)
        return await handler(request)

    def app(self):
        app = web.Application(middlewares=[self.guard], client_max_size=1 << 30)
        box, session = "/api/v2/sandboxes/{name}", "/api/v2/sandboxes/sessions/{session}"
        command = session + "/cmd/{command}"
        app.add_routes([
            web.post("/_control", self.control),
            web.get("/_control", self.told),
            web.get("/terminal", self.terminal),
            web.post("/api/v2/sandboxes", self.create),
            web.post("/api/v3/sandboxes", self.create),
            web.get("/api/v2/sandboxes", self.list),
            web.get(box, self.look),
            web.delete(box, self.remove),
            web.get(session, self.look_session),
            web.post(session + "/stop", self.stop),
            web.post(session + "/extend-timeout", self.extend),
            web.post(session + "/cmd", self.new_command),
            web.get(command, self.look_command),
            web.get(command + "/logs", self.logs),
            web.post(command + "/stdin", self.stdin),
            web.post(command + "/kill", self.kill),
            web.post(session + "/fs/write", self.write),
            web.post(session + "/fs/read", self.read),
            web.post(session + "/interactive", self.interactive),
        ])
        return app


asyncio.run(Server(sys.argv[1]).run())
