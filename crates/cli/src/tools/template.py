"""NAME: says back what it is given. Change it into what you need.

The file is found by itself: at the next call, in a running chat too. `hermes tools test` tries it.
"""

import json

from tools.registry import registry

SCHEMA = {
    "name": "NAME",
    # The model decides by these words when to call the tool: say what it does and when it helps.
    "description": "Say a text back, in capitals if wanted.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "The text to say back"},
            "loud": {"type": "boolean", "description": "Whether to say it in capitals", "default": False},
        },
        "required": ["text"],
    },
}


def handle(args, **kw):
    """Gets the arguments, which fit the schema, and returns a JSON text.

    `kw` holds `task_id`, `session_id` and `tool_call_id`. What is printed goes to the log.
    A coroutine (`async def`, with `is_async=True` below) works as well.
    """
    text = args["text"]
    return json.dumps({"text": text.upper() if args.get("loud") else text})


registry.register(
    name="NAME",
    toolset="NAME",
    schema=SCHEMA,
    handler=handle,
    # emoji="🔊",
    # requires_env=["SOME_API_KEY"],  # absent without it; the only secrets the tool sees
    # check_fn=lambda: True,  # asked before the tool is offered
)
