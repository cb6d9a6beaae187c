"""A double of Daytona: its API and the toolbox of its sandboxes, as its own SDK speaks to them.

Usage: double_daytona.py FOLDER, prints the port it listens on. The key is `right`. Tests steer it with
`POST /_control` and look at it with `GET /_control`.

What a session's command writes is kept by lines, each behind the mark of its stream, without zero
bytes; its input is text and never ends. Both are as in the toolbox itself, and on purpose.
"""

import asyncio
import base64
import fcntl
import json
import os
import pty
import struct
import sys
import termios
import uuid

from aiohttp import WSMsgType, web

from sandboxes import Growing, Sandbox, kill_tree
from served import Served

OUT, ERR = b"\x01\x01\x01", b"\x02\x02\x02"


class Box:
    """A sandbox with its toolbox."""

    def __init__(self, server, body):
        self.server = server
        self.body = body
        self.id = str(uuid.uuid4())
        self.name = body.get("name") or self.id
        self.state = "creating" if "snapshot" in body else "pending_build"
        self.sandbox = Sandbox(server.folder, self.id, body.get("env"))
        self.sessions = {}
        self.terminals = {}

    def shown(self):
        return {
            "id": self.id,
            "organizationId": "org",
            "name": self.name,
            "user": "daytona",
            "env": self.body.get("env") or {},
            "labels": self.body.get("labels") or {},
            "public": False,
            "networkBlockAll": bool(self.body.get("networkBlockAll")),
            "kvm": False,
            "target": self.body.get("target") or "us",
            "cpu": self.body.get("cpu") or 1,
            "gpu": 0,
            "memory": self.body.get("memory") or 1,
            "disk": self.body.get("disk") or 3,
            "state": self.state,
            "autoStopInterval": self.body.get("autoStopInterval"),
            "autoDeleteInterval": self.body.get("autoDeleteInterval"),
            "toolboxProxyUrl": f"http://127.0.0.1:{self.server.port}/toolbox",
        }

    async def become(self, state, after):
        await asyncio.sleep(after)
        if self.state not in ("destroyed", "error"):
            self.state = state

    def stop(self):
        self.sandbox.stop()
        self.sessions.clear()
        self.terminals.clear()

    def remove(self):
        self.state = "destroyed"
        self.sandbox.remove()


class Command:
    """A command of a session."""

    def __init__(self, box, text, echo):
        self.id = str(uuid.uuid4())
        self.box = box
        self.text = text
        self.echo = echo
        self.code = None
        self.log = Growing(box.sandbox.folder / f"log.{self.id}")

    async def start(self, keeps_input):
        self.process = await asyncio.create_subprocess_exec(
            "sh", "-c", self.text,
            stdin=asyncio.subprocess.PIPE if keeps_input else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.box.sandbox.home,
            env=self.box.sandbox.environment(),
            limit=1 << 20,
            start_new_session=True,
        )
        self.task = asyncio.create_task(self.watch())

    async def watch(self):
        labels = [self.label(self.process.stdout, OUT), self.label(self.process.stderr, ERR)]
        labels = [asyncio.create_task(one) for one in labels]
        code = await self.process.wait()
        # The code is told after the labellers are done, which a child that holds a pipe delays.
        await asyncio.gather(*labels)
        self.code = code if code >= 0 else 128 - code
        await self.log.end()

    async def label(self, stream, mark):
        rest = b""
        while data := await stream.read(1 << 18):
            data = (rest + data).replace(b"\0", b"")
            whole, newline, rest = data.rpartition(b"\n")
            if newline:
                await self.log.add(mark + whole.replace(b"\n", b"\n" + mark) + b"\n")
        if rest:
            await self.log.add(mark + rest + b"\n")

    async def input(self, data):
        if not data.endswith("\n"):
            data += "\n"
        try:
            self.process.stdin.write(data.encode())
            await self.process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise web.HTTPInternalServerError(text="failed to write to input pipe") from None
        if self.echo:
            await self.log.add(OUT + data.encode())


class Terminal:
    """A shell in a terminal."""

    def __init__(self, box, body):
        self.box = box
        self.master, slave = pty.openpty()
        self.resize(int(body.get("rows") or 24), int(body.get("cols") or 80))
        self.process = None
        self.slave = slave
        self.variables = body.get("envs") or {}
        self.cwd = body.get("cwd") or box.sandbox.home

    async def start(self):
        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = await asyncio.create_subprocess_exec(
            "bash", "--norc", "-i",
            stdin=self.slave, stdout=self.slave, stderr=self.slave, cwd=self.cwd,
            env=self.box.sandbox.environment(self.variables), preexec_fn=own_terminal,
        )
        os.close(self.slave)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def serve(self, socket):
        loop = asyncio.get_running_loop()
        queue = asyncio.Queue()

        def readable():
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                data = b""
            if not data:
                loop.remove_reader(self.master)
            queue.put_nowait(data)

        async def typed():
            async for message in socket:
                if message.type == WSMsgType.BINARY:
                    os.write(self.master, message.data)
                elif message.type == WSMsgType.TEXT:
                    os.write(self.master, message.data.encode())

        await socket.send_json({"type": "control", "status": "connected"})
        loop.add_reader(self.master, readable)
        typing = asyncio.create_task(typed())
        try:
            while data := await queue.get():
                await socket.send_bytes(data)
            code = await self.process.wait()
            reason = json.dumps({"exitCode": code if code >= 0 else 128 - code})
            await socket.close(code=1000, message=reason.encode())
        finally:
            loop.remove_reader(self.master)
            typing.cancel()

    def end(self):
        if self.process and self.process.returncode is None:
            kill_tree(self.process.pid)


class Server(Served):
    def __init__(self, folder):
        super().__init__(folder)
        self.cut_now = 0

    # The API.

    def box(self, request):
        which = request.match_info["box"]
        found = [box for box in self.boxes.values() if which in (box.id, box.name)]
        found = [box for box in found if box.state != "destroyed"]
        if not found:
            raise web.HTTPNotFound(text=json.dumps({"message": f"Sandbox with ID or name {which} not found"}))
        return found[0]

    async def create(self, request):
        body = await request.json()
        taken = [box for box in self.boxes.values() if box.name == body.get("name") and box.state != "destroyed"]
        if taken:
            return web.json_response({"message": "Sandbox with this name already exists"}, status=409)
        box = Box(self, body)
        self.boxes[box.id] = box
        if "no-such-image" in json.dumps(body.get("buildInfo", "")):
            box.state = "build_failed"
        else:
            asyncio.create_task(box.become("started", self.faults.slow))
        return web.json_response(box.shown())

    async def list(self, request):
        wanted = json.loads(request.query.get("labels") or "{}")
        boxes = [box.shown() for box in self.boxes.values() if box.state != "destroyed"]
        boxes = [box for box in boxes if wanted.items() <= box["labels"].items()]
        return web.json_response({"items": boxes, "nextCursor": None})

    async def look(self, request):
        return web.json_response(self.box(request).shown())

    async def remove(self, request):
        box = self.box(request)
        box.remove()
        return web.json_response(box.shown())

    async def start(self, request):
        box = self.box(request)
        if box.state != "started":
            box.state = "starting"
            asyncio.create_task(box.become("started", self.faults.slow))
        return web.json_response(box.shown())

    async def stop(self, request):
        box = self.box(request)
        box.stop()
        box.state = "stopped"
        if box.body.get("autoDeleteInterval") == 0:
            box.remove()
        return web.json_response(box.shown())

    async def proxy_url(self, request):
        self.box(request)
        return web.json_response({"url": f"http://127.0.0.1:{self.port}/toolbox"})

    async def activity(self, request):
        self.box(request)
        return web.Response()

    # The toolbox.

    def running(self, request):
        box = self.box(request)
        if box.state != "started":
            raise web.HTTPBadRequest(text=json.dumps({"message": "Sandbox is not running"}))
        return box

    async def execute(self, request):
        box, body = self.running(request), await request.json()
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", body["command"],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=body.get("cwd") or box.sandbox.home,
            env=box.sandbox.environment(body.get("envs")),
        )
        out, _ = await process.communicate()
        return web.json_response({"exitCode": process.returncode, "result": out.decode(errors="replace")})

    async def new_session(self, request):
        box, body = self.running(request), await request.json()
        if body["sessionId"] in box.sessions:
            raise web.HTTPConflict(text=json.dumps({"message": "session already exists"}))
        box.sessions[body["sessionId"]] = {}
        return web.Response(status=201)

    def session(self, request):
        box = self.running(request)
        if request.match_info["session"] not in box.sessions:
            raise web.HTTPNotFound(text=json.dumps({"message": "session not found"}))
        return box, box.sessions[request.match_info["session"]]

    def command(self, request):
        _, session = self.session(request)
        if request.match_info["command"] not in session:
            raise web.HTTPNotFound(text=json.dumps({"message": "command not found"}))
        return session[request.match_info["command"]]

    async def session_exec(self, request):
        box, session = self.session(request)
        body = await request.json()
        command = Command(box, body["command"], not body.get("suppressInputEcho"))
        session[command.id] = command
        apart = body.get("runAsync") or body.get("async")
        await command.start(bool(apart))
        if apart:
            return web.json_response({"cmdId": command.id}, status=202)
        await command.task
        log = command.log.path.read_bytes().decode(errors="replace")
        return web.json_response({"cmdId": command.id, "exitCode": command.code, "output": log})

    async def show_command(self, request):
        command = self.command(request)
        shown = {"id": command.id, "command": command.text}
        if command.code is not None:
            shown["exitCode"] = command.code
        return web.json_response(shown)

    async def logs(self, request):
        command = self.command(request)
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return web.Response(body=command.log.path.read_bytes(), content_type="text/plain")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.cuttable.add(request.transport)
        async for data in command.log.follow():
            await socket.send_bytes(data)
        await socket.close()
        return socket

    async def input(self, request):
        command = self.command(request)
        if command.code is not None:
            raise web.HTTPGone(text=json.dumps({"message": "command has already completed"}))
        await command.input((await request.json())["data"])
        return web.Response(status=204)

    async def end_session(self, request):
        box, session = self.session(request)
        for command in session.values():
            if command.process.returncode is None:
                kill_tree(command.process.pid)
        del box.sessions[request.match_info["session"]]
        return web.Response(status=204)

    async def new_terminal(self, request):
        box, body = self.running(request), await request.json()
        box.terminals[body["id"]] = terminal = Terminal(box, body)
        await terminal.start()
        return web.json_response({"sessionId": body["id"]}, status=201)

    def terminal(self, request):
        found = self.running(request).terminals.get(request.match_info["terminal"])
        if not found:
            raise web.HTTPNotFound(text=json.dumps({"message": "PTY session not found"}))
        return found

    async def connect_terminal(self, request):
        wanted = [word.strip() for word in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        if request.match_info["terminal"] == "create-connect":
            body = dict(request.query)
            for word in wanted:
                if word.startswith("X-Daytona-Pty-Envs~"):
                    text = word.split("~", 1)[1]
                    body["envs"] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            box = self.running(request)
            box.terminals[body["id"]] = terminal = Terminal(box, body)
            await terminal.start()
        else:
            terminal = self.terminal(request)
        socket = web.WebSocketResponse(protocols=[word for word in wanted if word and "~" not in word])
        await socket.prepare(request)
        self.cuttable.add(request.transport)
        await terminal.serve(socket)
        return socket

    async def resize_terminal(self, request):
        terminal, body = self.terminal(request), await request.json()
        terminal.resize(body["rows"], body["cols"])
        return web.json_response({
            "id": request.match_info["terminal"], "cols": body["cols"], "rows": body["rows"], "active": True,
            "createdAt": "2026-01-01T00:00:00Z", "cwd": terminal.cwd, "envs": {}, "lazyStart": False,
        })

    async def end_terminal(self, request):
        self.terminal(request).end()
        del self.box(request).terminals[request.match_info["terminal"]]
        return web.json_response({"message": "PTY session deleted"})

    async def upload(self, request):
        box, paths = self.running(request), {}
        async for part in await request.multipart():
            number, kind = part.name.removeprefix("files[").split("].")
            if kind == "path":
                paths[number] = os.path.join(box.sandbox.home, await part.text())
            elif box.sandbox.is_full():
                wrong = f"{paths[number]}: write {paths[number]}: no space left on device"
                return web.json_response({"errors": [wrong]}, status=400)
            else:
                with open(paths[number], "wb") as file:
                    while data := await part.read_chunk(1 << 18):
                        file.write(data)
        return web.json_response({})

    async def remove_file(self, request):
        path = os.path.join(self.running(request).sandbox.home, request.query["path"])
        if not os.path.isfile(path):
            raise web.HTTPNotFound(text=json.dumps({"message": "file not found"}))
        os.remove(path)
        return web.Response(status=204)

    async def download(self, request):
        box, body = self.running(request), await request.json()
        edge, parts = uuid.uuid4().hex, b""
        for path in body["paths"]:
            with open(os.path.join(box.sandbox.home, path), "rb") as file:
                content = file.read()
            head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{path}"\r\n'
            parts += (head + f"Content-Type: application/octet-stream\r\nContent-Length: {len(content)}\r\n\r\n").encode()
            parts += content + b"\r\n"
        parts += f"--{edge}--\r\n".encode()
        return web.Response(body=parts, headers={"Content-Type": f"multipart/form-data; boundary={edge}"})

    # The tests.

    async def control(self, request):
        wanted = await request.json()
        self.steered(wanted)
        for box in list(self.boxes.values()):
            if wanted.get("vanish"):
                box.remove()
            if wanted.get("stop"):
                box.stop()
                box.state = "stopped"
        if wanted.get("make"):
            box = Box(self, wanted["make"])
            box.state = "started"
            self.boxes[box.id] = box
        return web.json_response({})

    async def told(self, _):
        boxes = [box.shown() for box in self.boxes.values() if box.state != "destroyed"]
        return web.json_response({"sandboxes": boxes, "asked": self.asked})

    @web.middleware
    async def guard(self, request, handler):
        if request.path.startswith("/_control"):
            return await handler(request)
        self.asked.append(f"{request.method} {request.path}")
        if request.headers.get("Authorization") != "Bearer right":
            return web.json_response({"message": "Invalid credentials", "statusCode": 401}, status=401)
        if (status := self.faults.next()) is not None:
            return web.json_response({"message": self.faults.message}, status=status, headers=self.faults.headers)
        return await handler(request)

    def app(self):
        app = web.Application(middlewares=[self.guard], client_max_size=1 << 30)
        box, tool = "/api/sandbox/{box}", "/toolbox/{box}"
        session, terminal = tool + "/process/session/{session}", tool + "/process/pty/{terminal}"
        app.add_routes([
            web.post("/_control", self.control),
            web.get("/_control", self.told),
            web.post("/api/sandbox", self.create),
            web.get("/api/sandbox", self.list),
            web.get(box, self.look),
            web.delete(box, self.remove),
            web.post(box + "/start", self.start),
            web.post(box + "/stop", self.stop),
            web.post(box + "/last-activity", self.activity),
            web.get(box + "/toolbox-proxy-url", self.proxy_url),
            web.post(tool + "/process/execute", self.execute),
            web.post(tool + "/process/session", self.new_session),
            web.post(session + "/exec", self.session_exec),
            web.get(session + "/command/{command}", self.show_command),
            web.get(session + "/command/{command}/logs", self.logs),
            web.post(session + "/command/{command}/input", self.input),
            web.delete(session, self.end_session),
            web.post(tool + "/process/pty", self.new_terminal),
            web.get(terminal + "/connect", self.connect_terminal),
            web.get(tool + "/process/pty/{terminal:create-connect}", self.connect_terminal),
            web.post(terminal + "/resize", self.resize_terminal),
            web.delete(terminal, self.end_terminal),
            web.delete(tool + "/files", self.remove_file),
            web.post(tool + "/files/bulk-upload", self.upload),
            web.post(tool + "/files/bulk-download", self.download),
        ])
        return app


asyncio.run(Server(sys.argv[1]).run())
