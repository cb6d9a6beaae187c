"""Puts a server that talks on its standard streams behind streamable HTTP, without looking into it.

    bridge.py COMMAND...

Prints the port, then serves until its standard input ends.
"""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
writing = threading.Lock()
waiting = {}


def listen():
    for line in server.stdout:
        message = json.loads(line)
        done = waiting.get(message.get("id")) if "method" not in message else None
        if done:
            done[1] = line
            done[0].set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = [threading.Event(), b""]
        if "id" in message and "method" in message:
            waiting[message["id"]] = done
        with writing:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
        if "id" not in message or "method" not in message:
            return self.answer(202, b"")
        done[0].wait(30)
        self.answer(200, done[1])

    def do_GET(self):
        self.answer(405, b"")

    do_DELETE = do_GET

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=listen, daemon=True).start()
threading.Thread(target=web.serve_forever, daemon=True).start()
print(web.server_port, flush=True)
sys.stdin.read()
server.kill()
