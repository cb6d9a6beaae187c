"""An MCP server over HTTP that misbehaves when asked to. Needs nothing but Python.

    faulty_http.py NOTES [PORT [MANNER [SESSION]]]

Its port is the first line it prints; 0 is any. MANNER is what it says to a question that it does not know:
`error` of the protocol, `broken` (HTTP 500), `page` (of HTML) or nothing at all (`hang`); `old` takes no POST here,
`gone` knows no such page, `moved` is elsewhere, `key` wants another key;
`bad_session` and `bad_session_text` refuse a session that is not SESSION (0) with HTTP 400 and words, as an error of
the protocol or plain. Every call that is really carried out leaves a line in the file
NOTES, so that a test can tell how often something ran.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
TOOLS = ["echo", "act", "cut", "cut_events", "die", "expire", "garbage", "page", "broken", "flood", "hang", "slow", "lost", "forget"]
TOOLS += ["slow_events", "accepted", "foreign", "half", "half_events", "batch", "batch_events", "encoding"]
READS = ["look_broken", "look_flood"]
MANNER = sys.argv[3] if len(sys.argv) > 3 else "error"
state = {"session": int(sys.argv[4]) if len(sys.argv) > 4 else 0}


def note(line):
    with LOCK, open(sys.argv[1], "a") as notes:
        notes.write(line + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json", headers=()):
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405, b"")

    def do_DELETE(self):
        note("deleted")
        self.answer(200, b"")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        method, number, params = message["method"], message.get("id"), message.get("params") or {}
        with LOCK:
            ours = self.headers.get("mcp-session-id") == f"s{state['session']}"
        if MANNER == "old":
            return self.answer(405, b"no")
        if MANNER == "gone":
            return self.answer(404, b"<html>\n<pre>Cannot POST</pre>\n</html>", "text/html")
        if MANNER == "moved":
            return self.answer(301, b"", headers=[("location", "https://moved.example/mcp")])
        if MANNER == "key":
            return self.answer(401, b"")
        if method == "initialize":
            note("began")
            info = {"name": "faulty", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return self.result(number, result, [("mcp-session-id", f"s{state['session']}")])
        if MANNER.startswith("bad_session") and self.headers.get("mcp-session-id") and not ours:
            return self.other_session()
        if method == "notifications/cancelled":
            note("cancelled")
        if method.startswith("notifications/"):
            return self.answer(202, b"")
        if method not in ("tools/list", "tools/call"):
            if method == "ping":
                return self.result(number, {})
            if MANNER in ("broken", "page"):
                return self.wrong(MANNER)
            if MANNER == "hang":
                time.sleep(60)
            error = {"code": -32601, "message": "no such method"}
            return self.answer(200, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())
        if not ours:
            return self.answer(404, b"")
        if method == "tools/list":
            schema, hints = {"type": "object"}, {"readOnlyHint": True}
            tools = [{"name": name, "inputSchema": schema} for name in TOOLS]
            tools += [{"name": name, "inputSchema": schema, "annotations": hints} for name in READS]
            return self.result(number, {"tools": tools})
        self.call(number, params["name"])

    def result(self, number, result, headers=()):
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), headers=headers)

    def other_session(self):
        words = "Bad Request: No valid session ID provided"
        if MANNER == "bad_session_text":
            return self.answer(400, words.encode(), "text/plain")
        error = {"jsonrpc": "2.0", "error": {"code": -32000, "message": words}, "id": None}
        self.answer(400, json.dumps(error).encode())

    def wrong(self, how):
        if how == "page":
            return self.answer(200, b"<html>Please log in</html>", "text/html")
        self.answer(500, b"oh no", "text/plain")

    def call(self, number, name):
        note(name)
        if name == "cut":
            self.close_connection = True
            return self.connection.close()
        if name == "cut_events":
            body = b": about to answer\n\n"
            return self.answer(200, body, "text/event-stream")
        if name == "die":
            os._exit(3)
        if name in ("expire", "forget"):
            with LOCK:
                state["session"] += 1
        if name == "garbage":
            return self.answer(200, b'{"jsonrpc": "2.0", "id": ')
        if name in ("page", "broken", "look_broken"):
            return self.wrong(name)
        if name == "lost":
            return self.answer(404, b"")
        if name == "flood":
            return self.result(number, {"content": [{"type": "text", "text": "x" * (40 * 1024 * 1024)}]})
        if name == "look_flood":
            result = {"content": [{"type": "text", "text": "x" * (17 * 1024 * 1024)}]}
            body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
            return self.answer(200, b"data: " + body + b"\n\n", "text/event-stream")
        if name == "accepted":
            return self.answer(202, b"")
        if name == "foreign":
            return self.result(number + 1000, {"content": []})
        if name in ("half", "half_events", "batch", "batch_events"):
            text = "half \ud83c" if name.startswith("half") else "together"
            answer = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}}
            log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
            body = json.dumps([log, answer] if name.startswith("batch") else answer).encode()
            if name.endswith("events"):
                return self.answer(200, b"data: " + body + b"\n\n", "text/event-stream")
            return self.answer(200, body)
        if name == "encoding":
            return self.result(number, {"content": [{"type": "text", "text": self.headers.get("accept-encoding")}]})
        if name in ("hang", "forget"):
            time.sleep(30)
        if name == "slow":
            time.sleep(2)
        if name == "slow_events":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b": soon\n\n")
            time.sleep(30)
            self.close_connection = True
            return self.connection.close()
        self.result(number, {"content": [{"type": "text", "text": f"{name} done"}]})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        """Whoever hangs up in the middle is no news."""


server = Server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
