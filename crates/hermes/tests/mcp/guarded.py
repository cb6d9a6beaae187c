"""An MCP server over HTTP that wants to know who asks, and the authority that says so. Needs nothing
but Python.

    guarded.py NOTES

Its port is the first line it prints. The right to ask holds until the tool `expire` is called or the
authority is asked for a new one with the refresh token it gave last; every answer of the authority
leaves a line in the file NOTES. After the tool `close` the authority refuses.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

LOCK = threading.Lock()
given = {"access": "a0", "refresh": "r0", "count": 0, "closed": False}
READS = {"readOnlyHint": True}


def note(line):
    with open(sys.argv[1], "a") as notes:
        notes.write(line + "\n")


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": READS}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value, headers=()):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405, None)

    do_DELETE = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/token":
            return self.token({key: values[0] for key, values in parse_qs(body.decode()).items()})
        with LOCK:
            known = self.headers.get("authorization") == f"Bearer {given['access']}"
        if not known:
            return self.answer(401, {"error": "invalid_token"}, [("www-authenticate", 'Bearer error="invalid_token"')])
        message = json.loads(body)
        if message.get("id") is None:
            return self.answer(202, None)
        self.answer(200, {"jsonrpc": "2.0", "id": message["id"], **self.reply(message)})

    def token(self, fields):
        with LOCK:
            right = fields.get("grant_type") == "refresh_token" and fields.get("refresh_token") == given["refresh"]
            if not right or given["closed"]:
                note("refused")
                return self.answer(400, {"error": "invalid_grant"})
            given["count"] += 1
            given["access"], given["refresh"] = f"a{given['count']}", f"r{given['count']}"
            note("renewed")
            fresh = {"access_token": given["access"], "refresh_token": given["refresh"], "token_type": "Bearer"}
            self.answer(200, {**fresh, "expires_in": 3600})

    def reply(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            info = {"name": "guarded", "version": "1"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        if method == "tools/list":
            return {"result": {"tools": [tool("who"), tool("expire"), tool("close")]}}
        if method != "tools/call":
            return {"error": {"code": -32601, "message": "no such method"}}
        note(f"ran {params['name']}")
        with LOCK:
            said = given["access"]
            given["closed"] |= params["name"] == "close"
            if params["name"] in ("expire", "close"):
                given["access"] = "nobody has this one"
        return {"result": {"content": [{"type": "text", "text": said}]}}


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
