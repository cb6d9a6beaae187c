"""A double of Modal: its service of sandboxes and the one that runs programs, as its own SDK calls them.

Usage: double_modal.py FOLDER, prints the port it listens on and that of its control. The key is `right`,
both parts. Tests steer it with `POST /_control` and look at it with `GET /_control`.

A sandbox that ends is gone; what its files were is known only if it was made into an image before.
"""

import asyncio
import base64
import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import sys
import termios
import time
import uuid

from aiohttp import web
from grpclib.const import Status
from grpclib.events import RecvRequest, listen
from grpclib.exceptions import GRPCError
from grpclib.server import Server as GrpcServer
from modal._utils.grpc_utils import custom_detail_codec
from modal_proto import api_pb2, task_command_router_pb2 as router_pb2
from modal_proto.api_grpc import ModalClientBase
from modal_proto.task_command_router_grpc import TaskCommandRouterBase

from sandboxes import Faults, Growing, Sandbox

SUCCESS = api_pb2.GenericResult.GENERIC_STATUS_SUCCESS
STATUSES = {401: Status.UNAUTHENTICATED, 402: Status.RESOURCE_EXHAUSTED, 429: Status.RESOURCE_EXHAUSTED}


def token():
    """A token that is good for an hour, as those who look at its end expect it."""
    parts = [{"alg": "none"}, {"exp": int(time.time()) + 3600}]
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*parts, uuid.uuid4().hex])


class Program:
    """A program that runs, or ran."""

    def __init__(self, box, request):
        self.box = box
        self.request = request
        self.out = Growing(box.sandbox.folder / f"out.{request.exec_id}")
        self.err = Growing(box.sandbox.folder / f"err.{request.exec_id}")
        self.taken = 0
        self.code = None
        self.over = asyncio.Event()

    async def start(self):
        info = self.request.pty_info
        self.master = None
        slave, before = None, None
        if info.enabled:
            self.master, slave = pty.openpty()
            size = struct.pack("HHHH", info.winsz_rows, info.winsz_cols, 0, 0)
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

            def before():
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        more = dict(self.request.env)
        if info.env_term:
            more["TERM"] = info.env_term
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self.request.command_args,
            stdin=pipe if slave is None else slave,
            stdout=pipe if slave is None else slave,
            stderr=pipe if slave is None else slave,
            cwd=self.request.workdir or self.box.sandbox.home,
            env=self.box.sandbox.environment(more),
            limit=1 << 20,
            start_new_session=slave is None,
            preexec_fn=before,
        )
        if slave is not None:
            os.close(slave)
        asyncio.create_task(self.watch())

    async def watch(self):
        if self.master is None:
            carrying = [self.carry(self.process.stdout, self.out), self.carry(self.process.stderr, self.err)]
        else:
            await self.err.end()
            carrying = [self.carry_terminal()]
        carrying = [asyncio.create_task(one) for one in carrying]
        self.code = await self.process.wait()
        self.over.set()
        await asyncio.gather(*carrying)

    async def carry(self, stream, log):
        while data := await stream.read(1 << 18):
            await log.add(data)
        await log.end()

    async def carry_terminal(self):
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()

        def readable():
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                data = b""
            if not data:
                loop.remove_reader(self.master)
            queue.put_nowait(data)

        loop.add_reader(self.master, readable)
        while data := await queue.get():
            await self.out.add(data)
        await self.out.end()

    async def write(self, request):
        data = request.data[max(0, self.taken - request.offset):]
        try:
            if data and self.master is not None:
                os.write(self.master, data)
            elif data:
                self.process.stdin.write(data)
                await self.process.stdin.drain()
            self.taken += len(data)
            if request.eof and self.master is None:
                self.process.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            raise GRPCError(Status.FAILED_PRECONDITION, "stdin is closed") from None

    def status(self, made):
        if self.code is None:
            return made()
        return made(code=self.code) if self.code >= 0 else made(signal=-self.code)


class Box:
    """A sandbox that runs."""

    def __init__(self, server, request):
        self.id = f"sb-{uuid.uuid4().hex}"
        self.task = f"ta-{uuid.uuid4().hex}"
        self.name = request.definition.name
        self.tags = {tag.tag_name: tag.tag_value for tag in request.tags}
        variables = dict(request.definition.environment_variables.contents)
        for source in request.secret_sources:
            variables.update(dict(getattr(source, "env_dict", {}) or {}))
        self.sandbox = Sandbox(server.folder, self.id, variables)
        self.programs = {}
        kept = server.images.get(request.definition.image_id)
        if kept:
            shutil.copytree(kept, self.sandbox.folder, dirs_exist_ok=True, symlinks=True)

    def remove(self):
        self.sandbox.remove()


class Client(ModalClientBase):
    """The service of sandboxes."""

    def __init__(self, server):
        self.server = server

    async def ClientHello(self, stream):
        await stream.recv_message()
        await stream.send_message(api_pb2.ClientHelloResponse())

    async def AuthTokenGet(self, stream):
        await stream.recv_message()
        await stream.send_message(api_pb2.AuthTokenGetResponse(token=self.server.token))

    async def AppGetOrCreate(self, stream):
        request = await stream.recv_message()
        await stream.send_message(api_pb2.AppGetOrCreateResponse(app_id=f"ap-{request.app_name}"))

    async def EnvironmentGetOrCreate(self, stream):
        await stream.recv_message()
        settings = api_pb2.EnvironmentSettings(image_builder_version="2025.06")
        metadata = api_pb2.EnvironmentMetadata(name="main", settings=settings)
        await stream.send_message(api_pb2.EnvironmentGetOrCreateResponse(environment_id="en-1", metadata=metadata))

    async def ImageGetOrCreate(self, stream):
        request = await stream.recv_message()
        said = " ".join(request.image.dockerfile_commands)
        identity = "im-broken" if "no-such-image" in said else "im-" + uuid.uuid5(uuid.NAMESPACE_URL, said).hex
        if identity not in self.server.images:
            # It is not there yet: whoever asks has to wait for it.
            self.server.images[identity] = None
            await stream.send_message(api_pb2.ImageGetOrCreateResponse(image_id=identity))
            return
        result = api_pb2.GenericResult(status=SUCCESS)
        await stream.send_message(api_pb2.ImageGetOrCreateResponse(image_id=identity, result=result))

    async def ImageJoinStreaming(self, stream):
        request = await stream.recv_message()
        await asyncio.sleep(self.server.faults.slow)
        result = api_pb2.GenericResult(status=SUCCESS)
        if request.image_id == "im-broken":
            del self.server.images["im-broken"]
            failure = api_pb2.GenericResult.GENERIC_STATUS_FAILURE
            result = api_pb2.GenericResult(status=failure, exception="no such image")
        await stream.send_message(api_pb2.ImageJoinStreamingResponse(result=result, eof=True))

    def box(self, identity):
        if identity not in self.server.boxes:
            raise GRPCError(Status.NOT_FOUND, "Sandbox not found")
        return self.server.boxes[identity]

    async def SandboxCreateV2(self, stream):
        request = await stream.recv_message()
        if request.definition.image_id not in self.server.images:
            raise GRPCError(Status.NOT_FOUND, "Image not found")
        await asyncio.sleep(self.server.faults.slow)
        box = Box(self.server, request)
        self.server.boxes[box.id] = box
        await stream.send_message(api_pb2.SandboxCreateV2Response(
            sandbox_id=box.id, task_id=box.task, command_router_access=self.server.access()))

    async def SandboxGetCommandRouterAccess(self, stream):
        request = await stream.recv_message()
        if request.sandbox_id:
            self.box(request.sandbox_id)
        access = self.server.access()
        await stream.send_message(api_pb2.SandboxGetCommandRouterAccessResponse(jwt=access.jwt, url=access.url))

    async def SandboxGetTaskIdV2(self, stream):
        box = self.box((await stream.recv_message()).sandbox_id)
        await stream.send_message(api_pb2.SandboxGetTaskIdResponse(task_id=box.task))

    async def SandboxListV2(self, stream):
        request = await stream.recv_message()
        wanted = {tag.tag_name: tag.tag_value for tag in request.tags}
        boxes = [box for box in self.server.boxes.values() if wanted.items() <= box.tags.items()]
        if request.before_timestamp:
            boxes = []
        await stream.send_message(api_pb2.SandboxListResponse(sandboxes=[
            api_pb2.SandboxInfo(id=box.id, created_at=time.time(), name=box.name, tags=[
                api_pb2.SandboxTag(tag_name=name, tag_value=value) for name, value in box.tags.items()])
            for box in boxes]))

    async def SandboxTerminateV2(self, stream):
        box = self.box((await stream.recv_message()).sandbox_id)
        box.remove()
        del self.server.boxes[box.id]
        await stream.send_message(api_pb2.SandboxTerminateResponse())

    async def SandboxWaitV2(self, stream):
        request = await stream.recv_message()
        result = None
        if request.sandbox_id not in self.server.boxes:
            result = api_pb2.GenericResult(status=api_pb2.GenericResult.GENERIC_STATUS_TERMINATED)
        await stream.send_message(api_pb2.SandboxWaitResponse(result=result))


class Router(TaskCommandRouterBase):
    """The service that runs programs."""

    def __init__(self, server):
        self.server = server

    def box(self, task):
        for box in self.server.boxes.values():
            if box.task == task:
                return box
        raise GRPCError(Status.NOT_FOUND, "Task not found")

    def program(self, request):
        found = self.box(request.task_id).programs.get(request.exec_id)
        if not found:
            raise GRPCError(Status.NOT_FOUND, "Exec not found")
        return found

    async def TaskExecStart(self, stream):
        request = await stream.recv_message()
        box = self.box(request.task_id)
        if request.exec_id not in box.programs:
            box.programs[request.exec_id] = program = Program(box, request)
            await program.start()
        await stream.send_message(router_pb2.TaskExecStartResponse())

    async def TaskExecStdioRead(self, stream):
        request = await stream.recv_message()
        program = self.program(request)
        log = program.err if request.file_descriptor else program.out
        async for data in log.follow(request.offset):
            await stream.send_message(router_pb2.TaskExecStdioReadResponse(data=data))

    async def TaskExecStdinWrite(self, stream):
        request = await stream.recv_message()
        await self.program(request).write(request)
        await stream.send_message(router_pb2.TaskExecStdinWriteResponse())

    async def TaskExecStdinStatus(self, stream):
        program = self.program(await stream.recv_message())
        await stream.send_message(router_pb2.TaskExecStdinStatusResponse(num_bytes_written=program.taken))

    async def TaskExecPoll(self, stream):
        program = self.program(await stream.recv_message())
        await stream.send_message(program.status(router_pb2.TaskExecPollResponse))

    async def TaskExecWait(self, stream):
        program = self.program(await stream.recv_message())
        await program.over.wait()
        await stream.send_message(program.status(router_pb2.TaskExecWaitResponse))

    async def TaskSnapshotFilesystem(self, stream):
        box = self.box((await stream.recv_message()).task_id)
        identity = f"im-{uuid.uuid4().hex}"
        kept = os.path.join(self.server.folder, identity)
        # A home is another path in every sandbox here, which what lies in `tmp` may remember.
        shutil.copytree(box.sandbox.folder / "home", os.path.join(kept, "home"), symlinks=True)
        self.server.images[identity] = kept
        await stream.send_message(router_pb2.TaskSnapshotFilesystemResponse(image_id=identity))


for service in (Client, Router):
    # What is not here is not called.
    service.__abstractmethods__ = frozenset()


class Listening(GrpcServer):
    """Knows its connections."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.known = []

    def _protocol_factory(self):
        protocol = super()._protocol_factory()
        self.known.append(protocol)
        return protocol

    def cut(self):
        for protocol in self.known:
            if getattr(protocol, "connection", None):
                protocol.connection._transport.abort()
        self.known.clear()


class Double:
    def __init__(self, folder):
        self.folder = folder
        self.port = 0
        self.boxes = {}
        self.images = {}
        self.faults = Faults()
        self.token = token()
        self.asked = []

    def access(self):
        return api_pb2.CommandRouterAccess(jwt=self.token, url=f"http://127.0.0.1:{self.port}")

    async def guard(self, event):
        """Lets in who has the key, unless something is to go wrong."""
        self.asked.append(event.method_name)
        metadata = event.metadata
        routed = event.method_name.startswith("/modal.task_command_router")
        known = metadata.get("x-modal-token-id") == metadata.get("x-modal-token-secret") == "right"
        if event.method_name.endswith("V2") and not routed:
            known = known and metadata.get("x-modal-auth-token") == self.token
        if routed:
            known = metadata.get("authorization") == f"Bearer {self.token}"
        status, details = self.faults.next() if known else 401, None
        if status is None:
            return
        if self.faults.headers and known:
            details = [api_pb2.RPCRetryPolicy(retry_after_secs=0.2)]
        message = self.faults.message if known else "Token ID is malformed or unknown"

        async def refuse(stream):
            await stream.recv_message()
            raise GRPCError(STATUSES.get(status, Status.INTERNAL), message, details)

        event.method_func = refuse

    async def control(self, request):
        wanted = await request.json()
        self.faults.set(wanted)
        if wanted.get("vanish") or wanted.get("stop"):
            for box in list(self.boxes.values()):
                box.remove()
                del self.boxes[box.id]
        if wanted.get("cut"):
            self.grpc.cut()
        if wanted.get("expire"):
            # Passes that were given out are worth nothing any more.
            self.token = token()
        if make := wanted.get("make"):
            request = api_pb2.SandboxCreateV2Request(definition=api_pb2.Sandbox(name=make["name"]), tags=[
                api_pb2.SandboxTag(tag_name=name, tag_value=value) for name, value in make["labels"].items()])
            box = Box(self, request)
            self.boxes[box.id] = box
        return web.json_response({})

    async def told(self, _):
        boxes = [
            {"id": box.id, "name": box.name, "labels": box.tags, "state": "started"} for box in self.boxes.values()
        ]
        return web.json_response({"sandboxes": boxes, "asked": self.asked})

    async def run(self):
        self.grpc = Listening([Client(self), Router(self)], status_details_codec=custom_detail_codec)
        listen(self.grpc, RecvRequest, self.guard)
        await self.grpc.start("127.0.0.1", 0)
        self.port = self.grpc._server.sockets[0].getsockname()[1]
        app = web.Application()
        app.add_routes([web.post("/_control", self.control), web.get("/_control", self.told)])
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(self.port, site._server.sockets[0].getsockname()[1], flush=True)
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        # Whoever started it holds its input.
        asyncio.get_running_loop().add_reader(0, over.set)
        await over.wait()
        for box in self.boxes.values():
            box.remove()


asyncio.run(Double(sys.argv[1]).run())
