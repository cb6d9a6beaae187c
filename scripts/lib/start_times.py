"""Measures a start of the binary with fifty plugins and twenty MCP servers configured: prints one JSON
object, name to [value, unit].

Whole processes are measured, in homes where the plugins and servers are known already, in turns with a home
that has none. What the machine does meanwhile disturbs all homes alike.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import measure

PLUGINS = 50
SERVERS = 20
RUNS = 60
COMMANDS = {"call": ["tools", "call", "todo"], "chat": ["chat", "-Q", "-q", "hello"]}
ECHO = pathlib.Path(__file__).parents[2] / "crates/bench/src/echo_server.py"
MANIFEST = "name: plugin{n}\nversion: 1.0.0\ndescription: Plugin number {n}\nauthor: somebody\n"
CODE = """\
PARAMETERS = {{"type": "object", "properties": {{"text": {{"type": "string"}}}}, "required": ["text"]}}
SCHEMA = {{"name": "tool{n}", "description": "Does thing {n}.", "parameters": PARAMETERS}}


def register(ctx):
    ctx.register_tool("tool{n}", "many", SCHEMA, lambda args, **kw: "{{}}")
"""


def furnish(home, plugins, servers):
    """A home with so many plugins and servers."""
    config = {"mcp_discovery_timeout": 60}
    if plugins:
        config["plugins"] = {"enabled": [f"plugin{n}" for n in range(plugins)]}
    if servers:
        server = {"command": "python3", "args": [str(ECHO)]}
        config["mcp_servers"] = {f"s{n}": server for n in range(servers)}
    for n in range(plugins):
        folder = home / "plugins" / f"plugin{n}"
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(MANIFEST.format(n=n), encoding="utf-8")
        (folder / "__init__.py").write_text(CODE.format(n=n), encoding="utf-8")
    home.mkdir(exist_ok=True)
    # JSON is YAML too, but nobody writes a configuration so.
    (home / "config.yaml").write_text("\n".join(yaml(config)) + "\n", encoding="utf-8")


def yaml(value, depth=0):
    """The lines of a value as people write them."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield f"{'  ' * depth}{key}:"
            yield from yaml(inner, depth + 1)
        else:
            yield f"{'  ' * depth}{key}: {json.dumps(inner)}"


def learn(binary, env, plugins, servers):
    """Lets the binary hear what everything offers, until it is known for good."""
    if plugins:
        subprocess.run([binary, "plugins", "enable", "plugin0"], env=env, check=True, capture_output=True)
    for n in range(servers):
        subprocess.run([binary, "mcp", "test", f"s{n}"], env=env, check=True, capture_output=True)
    for _ in range(60):
        listed = subprocess.run([binary, "tools", "list"], env=env, check=True, capture_output=True, text=True).stdout
        found = listed.count("\ntool"), listed.count("\nmcp__s")
        if found[0] >= plugins and found[1] >= servers:
            return
        time.sleep(0.5)
    raise measure.Failed(f"only {found} of {plugins} plugins and {servers} servers were heard")


def times(binary, runs):
    """Milliseconds of a start, by kind of home and command."""
    kinds = {"none": (0, 0), "plugins": (PLUGINS, 0), "servers": (0, SERVERS), "both": (PLUGINS, SERVERS)}
    took = {(kind, name): [] for kind in kinds for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        envs = {}
        for kind, wanted in kinds.items():
            home = pathlib.Path(folder, kind)
            envs[kind] = os.environ | {"HERMES_HOME": str(home), "HOME": folder}
            furnish(home, *wanted)
            learn(binary, envs[kind], *wanted)
        for round_ in range(runs + 3):
            for kind, env in envs.items():
                for name, words in COMMANDS.items():
                    spent = measure.spawned([binary, *words], env)
                    if round_ >= 3:
                        took[kind, name].append(spent / 1e6)
    return {key: statistics.median(spent) for key, spent in took.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, help="the binary hermes")
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    found = times(asked.binary, asked.runs)
    told = {f"start_{name}_{kind}_ms": [value, "ms"] for (kind, name), value in found.items()}
    for name in COMMANDS:
        told[f"start_{name}_foreign_ratio"] = [found["both", name] / found["none", name], "×"]
    print(json.dumps(told, ensure_ascii=False))


if __name__ == "__main__":
    main()
