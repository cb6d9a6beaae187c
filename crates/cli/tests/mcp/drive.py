"""Drives `hermes mcp serve` with the Python SDK and prints what it met, as one JSON object.

    drive.py MODE stdio COMMAND…
    drive.py MODE URL TOKEN

MODE is `legacy` (the handshake of the protocol up to 2025-11-25) or `auto` (the newest).
The working directory is that of the server; files that calls make are looked for there.
"""

import asyncio
import contextlib
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

asked = []
answers = []


async def person(_context, form):
    """Answers the next form as the test wants it."""
    asked.append({"message": form.message, "schema": form.requested_schema})
    action, content = answers.pop(0) if answers else ("cancel", None)
    return ElicitResult(action=action, content=content)


def transport(words):
    if words[0] == "stdio":
        return stdio_client(StdioServerParameters(command=words[1], args=words[2:], env=dict(os.environ)))
    import httpx2

    headers = {"Authorization": f"Bearer {words[1]}"}
    return streamable_http_client(words[0], http_client=httpx2.AsyncClient(headers=headers, timeout=60))


def told(result):
    return {
        "error": bool(result.is_error),
        "text": "".join(part.text for part in result.content if part.type == "text"),
        "structured": result.structured_content,
    }


def alive(file):
    """Whether the process runs whose number is in the file; nothing while there is no file."""
    try:
        os.kill(int(open(file).read()), 0)
        return True
    except (FileNotFoundError, ValueError):
        return None
    except ProcessLookupError:
        return False


async def until(what, seconds=15):
    for _ in range(seconds * 20):
        if what():
            return True
        await asyncio.sleep(0.05)
    return False


async def calls(client, met):
    """Tools that need nobody's approval, and one session for all of them."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    met["tools"] = sorted(tools)
    met["read_only"] = tools["read_file"].annotations.read_only_hint
    met["schema"] = tools["read_file"].input_schema
    item = {"id": "1", "content": "buy milk", "status": "pending"}
    await client.call_tool("todo", {"todos": [item]})
    met["todo"] = told(await client.call_tool("todo", {}))
    met["read"] = told(await client.call_tool("read_file", {"path": "notes.txt"}))
    met["terminal"] = told(await client.call_tool("terminal", {"command": "echo over the wire"}))
    met["missing"] = told(await client.call_tool("read_file", {"path": "nowhere.txt"}))


async def approvals(client, met):
    """What policy asks about: each answer of the person, and a person who says nothing."""

    async def open_up(action, content=None):
        with open("made.txt", "w"):
            os.chmod("made.txt", 0o600)
        answers[:] = [(action, content)]
        result = told(await client.call_tool("terminal", {"command": "chmod 777 made.txt"}))
        return {"done": os.stat("made.txt").st_mode & 0o777 == 0o777, **result}

    met["declined"] = await open_up("decline")
    met["denied"] = await open_up("accept", {"decision": "deny"})
    met["unclear"] = await open_up("accept", {"decision": "sure"})
    met["once"] = await open_up("accept", {"decision": "once"})
    met["again"] = await open_up("accept", {"decision": "deny"})
    met["session"] = await open_up("accept", {"decision": "session"})
    before = len(asked)
    met["after_session"] = await open_up("decline")
    met["asked_after_session"] = len(asked) - before
    met["asked"] = asked[:1]


async def cancelling(client, met):
    """A call that is taken back: the command and what it started are gone."""
    script = "sleep 300 & echo $! > child.pid; echo $$ > shell.pid; wait"
    call = asyncio.create_task(client.call_tool("terminal", {"command": script, "timeout": 290}))
    met["started"] = await until(lambda: alive("child.pid") and alive("shell.pid"))
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError, MCPError):
        await call
    met["stopped"] = await until(lambda: not alive("child.pid") and not alive("shell.pid"))
    met["after_cancel"] = told(await client.call_tool("terminal", {"command": "echo still here"}))


async def progress(client, met):
    heard = []

    async def note(done, total, message):
        heard.append([done, total, message])

    await client.call_tool("terminal", {"command": "sleep 3"}, progress_callback=note)
    met["progress"] = heard


async def main(mode, words):
    met = {}
    async with Client(transport(words), mode=mode, elicitation_callback=person) as client:
        met["protocol"] = client.protocol_version
        met["server"] = client.server_info.name
        met["instructions"] = client.instructions
        for part in (calls, approvals, progress, cancelling):
            await part(client, met)
    async with Client(transport(words), mode=mode) as client:
        result = await client.call_tool("terminal", {"command": "rm -rf /srv/nothing-here"})
        met["without_forms"] = told(result)
        met["other_todo"] = told(await client.call_tool("todo", {}))
    print(json.dumps(met))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
