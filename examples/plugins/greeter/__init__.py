"""A plugin in Python: `register` is called once, in a process of the plugin's own."""

import json
from pathlib import Path

SCHEMA = {
    "name": "greet",
    "description": "Greet somebody by name.",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Whom to greet"}},
        "required": ["name"],
    },
}


def register(ctx):
    greeted = []

    def greet(args, **kw):
        greeted.append(args["name"])
        return json.dumps({"greeting": "Hello, %s!" % args["name"], "number": len(greeted)})

    def before(tool_name, args, **kw):
        if tool_name == "greet" and args.get("name") == "Voldemort":
            return {"action": "block", "message": "not him"}

    def command(words):
        ctx.inject_message("Greet %s, please." % (words or "everybody"))
        return "I will ask for it."

    def arguments(parser):
        parser.add_argument("name")

    ctx.register_tool(name="greet", toolset="greeter", schema=SCHEMA, handler=greet, emoji="👋")
    ctx.register_hook("pre_tool_call", before)
    ctx.register_command("greet", command, description="Have somebody greeted", args_hint="NAME")
    ctx.register_cli_command(
        "greet", help="Greet somebody", setup_fn=arguments, handler_fn=lambda chosen: print("Hello, %s!" % chosen.name)
    )
    ctx.register_skill("greeting", Path(__file__).parent / "skills" / "greeting" / "SKILL.md")
