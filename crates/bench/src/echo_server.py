import json, sys, threading, time

READS = {"readOnlyHint": True}
TOOLS = [{"name": n, "inputSchema": {"type": "object"}, "annotations": READS} for n in ("echo", "slow")]
writing = threading.Lock()


def send(number, result):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n")
        sys.stdout.flush()


def slow(number):
    time.sleep(1)
    send(number, {"content": [{"type": "text", "text": "done"}]})


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "tools/call" and message["params"]["name"] == "slow":
        threading.Thread(target=slow, args=(number,), daemon=True).start()
    elif method == "tools/call":
        send(number, {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
    elif method == "initialize":
        version = message["params"]["protocolVersion"]
        send(number, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}})
    elif method == "tools/list":
        send(number, {"tools": TOOLS})
    elif number is not None:
        with writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}}) + "\n")
            sys.stdout.flush()
