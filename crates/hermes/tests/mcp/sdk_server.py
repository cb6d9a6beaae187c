"""A server made with the Python SDK: `sdk_server.py stdio | sse | streamable-http [PORT]`."""

import sys

from mcp.server import MCPServer

server = MCPServer("sdk")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.resource("note://one")
def one() -> str:
    """A note."""
    return "the first note"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Say hello to {name}."


kind = sys.argv[1]
if kind == "stdio":
    server.run("stdio")
else:
    server.run(kind, host="127.0.0.1", port=int(sys.argv[2]))
