"""A server made with the Python SDK: `sdk_server.py stdio | sse | streamable-http [PORT]`."""

import sys
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve, Sample
from mcp.types import (
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

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


class Person(BaseModel):
    name: str


def person():
    return Elicit("Who are you?", Person)


def answer():
    question = TextContent(type="text", text="What is 2 + 2?")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=9)


@server.tool()
def meet(who: Annotated[Person, Resolve(person)]) -> str:
    """Ask the person who they are."""
    return f"met {who.name}"


@server.tool()
def think(said: Annotated[CreateMessageResult, Resolve(answer)]) -> str:
    """Ask the model."""
    return f"thought {said.content.text}"


@server.prompt()
def welcome(ctx: Context) -> str | InputRequiredResult:
    """A greeting for somebody who has to be asked first."""
    given = (ctx.input_responses or {}).get("who")
    if given is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        form = ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=form)})
    return f"Welcome {given.content['name']}."


kind = sys.argv[1]
if kind == "stdio":
    server.run("stdio")
else:
    server.run(kind, host="127.0.0.1", port=int(sys.argv[2]))
