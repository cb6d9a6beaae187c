"""What the doubles of services share: a server on loopback that answers by a table of routes and
remembers what it was asked.

    python3 discord.py          prints its port, then serves until its standard input is closed
    GET /__log                  what it was asked so far; forgets it
    POST /__next                {"status", "headers", "body"}: the next question is answered so

A double answers what the service's own documentation says, refuses what it does not know, and is tried
with the service's own client (vendor/*.py) in the same tests that try ours."""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit


class Asked:
    """One question."""

    def __init__(self, method, path, query, headers, body):
        self.method, self.path, self.query, self.headers, self.body = method, path, query, headers, body
        self.parts = {}

    def noted(self):
        return {"method": self.method, "path": self.path, "query": self.query, "body": self.body}


class Refusal(Exception):
    """An answer that is a refusal."""

    def __init__(self, status, body, headers=None):
        self.answer = (status, body, headers or {})


class Double:
    """A service."""

    def __init__(self, base=""):
        self.base, self.routes, self.log, self.next = base, [], [], []
        self.before = lambda asked: None
        self.unknown = lambda asked: (404, {"message": "404: Not Found", "code": 0}, {})
        self.upgrade = None

    def route(self, method, pattern):
        """Answers questions to a path; `{name}` is any part of it, handed over in `asked.parts`."""
        regex = re.compile("^" + re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.base + pattern) + "/?$")

        def known(answer):
            self.routes.append((method, regex, answer))
            return answer

        return known

    def answer(self, asked):
        if asked.path == "/__log":
            said, self.log = self.log, []
            return 200, said, {}
        if asked.path == "/__next":
            self.next.append((asked.body["status"], asked.body.get("body"), asked.body.get("headers", {})))
            return 200, {}, {}
        self.log.append(asked.noted())
        if self.next:
            return self.next.pop(0)
        try:
            self.before(asked)
            for method, regex, answer in self.routes:
                found = regex.match(asked.path)
                if found and method == asked.method:
                    asked.parts = {name: unquote(value) for name, value in found.groupdict().items()}
                    said = answer(asked)
                    return said if isinstance(said, tuple) else (200, said, {})
            return self.unknown(asked)
        except Refusal as refusal:
            return refusal.answer

    def serve(self):
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def ask(self):
                if double.upgrade and self.headers.get("Upgrade", "").lower() == "websocket":
                    return double.upgrade(self)
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length).decode()
                parts = urlsplit(self.path)
                query = dict(parse_qsl(parts.query, keep_blank_values=True))
                kind = self.headers.get("Content-Type", "")
                body = None
                if raw and "form" in kind:
                    body = dict(parse_qsl(raw))
                elif raw:
                    body = json.loads(raw)
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, said, more = double.answer(Asked(self.command, parts.path, query, headers, body))
                data = b"" if said is None else said.encode() if isinstance(said, str) else json.dumps(said).encode()
                self.send_response(status)
                if status != 204:
                    more = {"Content-Type": "application/json", "Content-Length": len(data), **more}
                for name, value in more.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = ask

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
