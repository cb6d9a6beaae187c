"""An MCP server that writes its messages in an odd way. Needs nothing but Python.

    odd.py WAY [NOTES]

The way is that of everything it says; every call that is carried out leaves a line in the file NOTES.
"""

import json
import os
import sys
import time

WAY = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def tools():
    found = [{"name": "echo", "description": "Say it.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}]
    if WAY == "half":
        # As JavaScript cuts a text: in the middle of a letter.
        found[0]["description"] = "Say it \ud83c"
    if WAY == "deep":
        found += [{"name": f"deep{levels}", "inputSchema": nested(levels)} for levels in (199, 200)]
        found[2]["inputSchema"] = {"type": "object", "properties": {}, "$defs": {"b": nested(200)}}
    return found


def result(method, params):
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        return {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        if WAY == "many":
            page = int(params.get("cursor") or 0)
            found = [{"name": f"t{page}_{n}", "inputSchema": SCHEMA} for n in range(50)]
            return {"tools": found, "nextCursor": str(page + 1)}
        return {"tools": tools()}
    if method == "tools/call":
        if len(sys.argv) > 2:
            with open(sys.argv[2], "a") as notes:
                notes.write("ran\n")
        blocks = [{"type": "text", "text": "half \ud83c" if WAY == "half" else "said"}]
        if WAY == "video":
            blocks.append({"type": "video", "data": "AAEC"})
        if WAY == "deep":
            return {"content": blocks, "structuredContent": nested(200)}
        if WAY == "null":
            return {"content": blocks, "structuredContent": None}
        return {"content": blocks}
    return None


def say(message, method):
    text = json.dumps(message)
    if WAY == "batch":
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        text = json.dumps([note, message] if method == "tools/call" else [message])
    if WAY == "mark":
        text = "\ufeff" + text
    if WAY == "broken" and method == "tools/list":
        text = text[:-1] + ",,}"
    if WAY == "unended" and method == "tools/call":
        sys.stdout.write(text)
        sys.stdout.flush()
        os._exit(0)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if WAY == "slow":
    time.sleep(float(os.environ.get("ODD_SLOW", "3")))
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if message.get("id") is None:
        continue
    answer = result(method, params)
    reply = {"error": {"code": -32601, "message": "no such method"}} if answer is None else {"result": answer}
    say({"jsonrpc": "2.0", "id": message["id"], **reply}, method)
