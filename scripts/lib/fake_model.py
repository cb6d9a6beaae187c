"""A model that answers at once and always the same: chat completions, streamed, on the loopback.

Prints its port and serves until standard input is closed. `POST /__reset` takes a scenario:

  rounds      answers with tool calls before the final text (0)
  parallel    calls in each of them (1)
  tool, args  what is called ("terminal", {"command": "true"}); {round} and {k} are filled in
  latency_ms  how long the model thinks (0)

`GET /__stats` tells of every answer since then: when the first byte of the question came, when
the question was whole, when the answer was handed over (CLOCK_MONOTONIC, in seconds), and whether
it was the task or, without tools, something beside it such as a title. Which
round it is can be read from the question, so any number of conversations may go on at once.
"""

import asyncio
import json
import re
import socket
import sys
import time

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)")
SAID_BY_PERSON = re.compile(rb'"role"\s*:\s*"user"')
CALL = re.compile(rb"call_r(\d+)_")
OFFERS_TOOLS = re.compile(rb'"tools"\s*:\s*\[\s*\{')


class Script:
    """What the model says, and what it was asked."""

    def __init__(self):
        self.begin({})

    def begin(self, scenario):
        self.rounds = scenario.get("rounds", 0)
        self.parallel = scenario.get("parallel", 1)
        self.tool = scenario.get("tool", "terminal")
        self.args = json.dumps(scenario.get("args", {"command": "true"}))
        self.latency = scenario.get("latency_ms", 0) / 1e3
        self.records = []

    def answer(self, question):
        """The events of the answer to a question."""
        people = list(SAID_BY_PERSON.finditer(question))
        after = people[-1].end() if people else 0
        done = max((int(found[1]) for found in CALL.finditer(question, after)), default=0)
        if done >= self.rounds or not OFFERS_TOOLS.search(question):
            return [delta({"role": "assistant", "content": "done"}), delta({}, "stop"), usage(), b"data: [DONE]\n\n"]
        calls = [delta({"tool_calls": [self.call(done + 1, k)]}) for k in range(self.parallel)]
        return [delta({"role": "assistant"}), *calls, delta({}, "tool_calls"), usage(), b"data: [DONE]\n\n"]

    def call(self, round_, k):
        arguments = self.args.replace("{round}", str(round_)).replace("{k}", str(k))
        function = {"name": self.tool, "arguments": arguments}
        return {"index": k, "id": f"call_r{round_}_{k}", "type": "function", "function": function}


def chunk(**fields):
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}
    return b"data: " + json.dumps(head | fields).encode() + b"\n\n"


def delta(said, reason=None):
    return chunk(choices=[{"index": 0, "delta": said, "finish_reason": reason}])


def usage():
    return chunk(choices=[], usage={"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020})


class Connection(asyncio.Protocol):
    """One client: its questions, one after the other."""

    def __init__(self, script):
        self.script, self.buffer, self.first = script, bytearray(), None

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        if self.first is None:
            self.first = time.monotonic()
        self.buffer += data
        head = self.buffer.find(HEAD_END)
        if head < 0:
            return
        length = LENGTH.search(self.buffer, 0, head)
        end = head + len(HEAD_END) + (int(length[1]) if length else 0)
        if len(self.buffer) < end:
            return
        line, body = bytes(self.buffer[: self.buffer.find(b"\r\n")]), bytes(self.buffer[head + len(HEAD_END) : end])
        del self.buffer[:end]
        first, self.first = self.first, None
        self.asked(line, body, first, time.monotonic())

    def asked(self, line, body, first, whole):
        if b"/__reset" in line:
            self.script.begin(json.loads(body or b"{}"))
            self.say("200 OK", "application/json", [b"{}"])
        elif b"/__stats" in line:
            self.say("200 OK", "application/json", [json.dumps(self.script.records).encode()])
        elif b"/chat/completions" in line:
            events, task = self.script.answer(body), bool(OFFERS_TOOLS.search(body))
            own = time.monotonic() - whole
            wait = max(0.0, self.script.latency - own)
            if wait:
                asyncio.get_running_loop().call_later(wait, self.stream, events, task, first, whole)
            else:
                self.stream(events, task, first, whole)
        else:
            self.say("404 Not Found", "application/json", [b"{}"])

    def stream(self, events, task, first, whole):
        if not self.transport.is_closing():
            self.say("200 OK", "text/event-stream", events)
            self.script.records.append({"task": task, "first": first, "whole": whole, "answered": time.monotonic()})

    def say(self, status, kind, parts):
        """An answer in pieces, as a server that does not know its length sends it."""
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        pieces = [b"%x\r\n%s\r\n" % (len(part), part) for part in parts]
        self.transport.write(head + b"".join(pieces) + b"0\r\n\r\n")


async def serve():
    script, loop = Script(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(script), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
