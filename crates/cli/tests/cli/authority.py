"""An MCP server over HTTP that wants to know who asks, and the authority that says so, which describes
itself and takes strangers. Needs nothing but Python.

    authority.py

Its port is the first line it prints; every request to the authority leaves a line after that. The
authority gives a right only for the code it gave, to whoever knows the secret behind the challenge.
"""

import base64
import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

asked = {}


def note(line):
    print(line, flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value=None, headers=()):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        parts = urlsplit(self.path)
        if parts.path == "/.well-known/oauth-protected-resource/mcp":
            note("described the server")
            return self.answer(200, {"resource": f"{base}/mcp", "authorization_servers": [base], "scopes_supported": ["ask"]})
        if parts.path == "/.well-known/oauth-authorization-server":
            note("described the authority")
            ways = {name: f"{base}/{name.split('_')[0]}" for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint")}
            return self.answer(200, {"issuer": base, "code_challenge_methods_supported": ["S256"], **ways})
        if parts.path == "/authorization":
            fields = {key: values[0] for key, values in parse_qs(parts.query).items()}
            asked.update(fields)
            note(f"was asked for {fields['scope']} of {urlsplit(fields['resource']).path} with {fields['code_challenge_method']}")
            back = {"code": "code-1", "state": fields["state"]}
            return self.answer(302, None, [("location", f"{fields['redirect_uri']}?{urlencode(back)}")])
        self.answer(405 if parts.path == "/mcp" else 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/registration":
            told = json.loads(body)
            note("took a stranger")
            return self.answer(201, {"client_id": "stranger", "redirect_uris": told["redirect_uris"]})
        if self.path == "/token":
            return self.token({key: values[0] for key, values in parse_qs(body.decode()).items()})
        if self.headers.get("authorization") != "Bearer right-1":
            base = f"http://127.0.0.1:{self.server.server_port}"
            where = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
            return self.answer(401, {"error": "invalid_token"}, [("www-authenticate", where)])
        message = json.loads(body)
        if message.get("id") is None:
            return self.answer(202)
        self.answer(200, {"jsonrpc": "2.0", "id": message["id"], **self.reply(message)})

    do_DELETE = do_GET

    def token(self, fields):
        digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        right = fields.get("code") == "code-1" and challenge == asked.get("code_challenge")
        right = right and all(fields.get(key) == asked.get(key) for key in ("redirect_uri", "client_id", "resource"))
        note("gave the right" if right else f"refused {fields}")
        if not right:
            return self.answer(400, {"error": "invalid_grant"})
        self.answer(200, {"access_token": "right-1", "refresh_token": "again-1", "token_type": "Bearer", "expires_in": 3600})

    def reply(self, message):
        method = message["method"]
        if method == "initialize":
            info = {"name": "guarded", "version": "1"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        if method == "tools/list":
            tool = {"name": "who", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
            return {"result": {"tools": [tool]}}
        if method == "tools/call":
            return {"result": {"content": [{"type": "text", "text": "somebody we know"}]}}
        return {"error": {"code": -32601, "message": "no such method"}}


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
note(server.server_port)
sys.stdin.close()
server.serve_forever()
