"""An MCP server that says what it is told.

With a path behind its name it can be asked over bare pipes as well: a call of `turn` is answered, and what
comes next is read from the named pipes at that path instead, by the same loop, until the next `turn`.
"""

import json, os, sys, threading, time

READS = {"readOnlyHint": True}
TOOLS = [{"name": n, "inputSchema": {"type": "object"}, "annotations": READS} for n in ("echo", "slow", "turn")]
writing = threading.Lock()


def send(sink, number, result):
    with writing:
        sink.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n")
        sink.flush()


def slow(sink, number):
    time.sleep(1)
    send(sink, number, {"content": [{"type": "text", "text": "done"}]})


def serve(source, sink):
    """Answers until it is told to turn; false at the end."""
    for line in source:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "tools/call" and message["params"]["name"] == "slow":
            threading.Thread(target=slow, args=(sink, number), daemon=True).start()
        elif method == "tools/call":
            send(sink, number, {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
            if message["params"]["name"] == "turn":
                return True
        elif method == "initialize":
            version = message["params"]["protocolVersion"]
            send(sink, number, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}})
        elif method == "tools/list":
            send(sink, number, {"tools": TOOLS})
        elif number is not None:
            with writing:
                sink.write(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}}) + "\n")
                sink.flush()
    return False


named = [sys.argv[1] + ending for ending in (".in", ".out")] if len(sys.argv) > 1 else []
for path in named:
    if not os.path.exists(path):
        os.mkfifo(path)
if serve(sys.stdin, sys.stdout) and named:
    # Whoever wants to talk there opens them in the same order.
    bare = open(named[0]), open(named[1], "w")
    while serve(*bare) and serve(sys.stdin, sys.stdout):
        pass
