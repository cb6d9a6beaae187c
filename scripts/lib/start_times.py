"""Measures a start of the binary with fifty plugins and twenty MCP servers configured: prints one JSON
object, name to [value, unit].

Processes are measured in homes where the plugins and servers are known already, in turns with a home that has
none, so that what the machine does meanwhile disturbs all homes alike. A call is measured to its end, a chat
until its model is asked: what a model does with many tools is not the start.

A call has to find out whether files of plugins have changed. What that adds to it is compared with what the system
takes for telling the dates of as many files (the item `looks` of the bench binary).
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import measure

PLUGINS = 50
SERVERS = 20
RUNS = 60
CALL = ["tools", "call", "todo"]
VERSION = ["--version"]
HELP = ["--help"]
CHAT = ["chat", "-Q", "-q", "hello"]
STARTS = ("version", "help", "call", "chat")
ECHO = pathlib.Path(__file__).parents[2] / "crates/bench/src/echo_server.py"
MANIFEST = "name: plugin{n}\nversion: 1.0.0\ndescription: Plugin number {n}\nauthor: somebody\n"
CODE = """\
PARAMETERS = {{"type": "object", "properties": {{"text": {{"type": "string"}}}}, "required": ["text"]}}
SCHEMA = {{"name": "tool{n}", "description": "Does thing {n}.", "parameters": PARAMETERS}}


def register(ctx):
    ctx.register_tool("tool{n}", "many", SCHEMA, lambda args, **kw: "{{}}")
"""


class Model:
    """Answers whatever it is asked, and knows when that was."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.asked_at = None
        threading.Thread(target=self.serve, daemon=True).start()

    def address(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                self.answer(connection)

    def answer(self, connection):
        """Each request gets the same answer, and a connection of its own."""
        head = connection.recv(1 << 16)
        now = time.perf_counter_ns()
        if head.startswith(b"POST"):
            self.asked_at = self.asked_at or now
        while b"\r\n\r\n" not in head:
            head += connection.recv(1 << 16)
        left = length(head) - len(head.split(b"\r\n\r\n", 1)[1])
        while left > 0:
            left -= len(connection.recv(1 << 16))
        streamed = {"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(streamed)}\n\ndata: [DONE]\n\n".encode()
        kind = b"text/event-stream"
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: " + kind + b"\r\n\r\n" + body)


def length(head):
    """How long the body of a request is."""
    for line in head.split(b"\r\n\r\n", 1)[0].split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def furnish(home, plugins, servers, model):
    """A home with so many plugins and servers."""
    model = {"default": "scripted", "provider": "custom", "base_url": model, "api_key": "dummy", "context_length": 200000}
    config = {"mcp_discovery_timeout": 60, "model": model}
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


def times(binary, bench, runs):
    """Milliseconds of every start, round by round, by kind of home and command; and of looks at files."""
    kinds = {"none": (0, 0), "plugins": (PLUGINS, 0), "servers": (0, SERVERS), "both": (PLUGINS, SERVERS)}
    took = {(kind, name): [] for kind in kinds for name in STARTS}
    looks = []
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        envs = {}
        for kind, wanted in kinds.items():
            home = pathlib.Path(folder, kind)
            envs[kind] = os.environ | {"HERMES_HOME": str(home), "HOME": folder}
            furnish(home, *wanted, model.address())
            learn(binary, envs[kind], *wanted)
        for round_ in range(runs + 3):
            # Another home is the first of each round: what ran just before it makes a start slower or quicker.
            for kind, env in turned(list(envs.items()), round_):
                spent = {
                    "version": measure.spawned([binary, *VERSION], env),
                    "help": measure.spawned([binary, *HELP], env),
                    "call": measure.spawned([binary, *CALL], env),
                    "chat": until_asked(binary, env, model),
                }
                for name, nanos in spent.items() if round_ >= 3 else ():
                    took[kind, name].append(nanos / 1e6)
            if bench:
                looks.append(looked(bench, folder))
    return took, looks


def turned(items, by):
    """The items, beginning with another one."""
    return items[by % len(items) :] + items[: by % len(items)]


def looked(bench, folder):
    """Milliseconds that the system takes for looks at files of as many plugins."""
    words = [bench, "once", "looks", "--work", folder]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["once_us"] / 1000


def until_asked(binary, env, model):
    """Nanoseconds from starting a chat until its model is asked."""
    model.asked_at = None
    began = time.perf_counter_ns()
    measure.spawned([binary, *CHAT], env)
    if model.asked_at is None:
        raise measure.Failed("the chat did not ask its model")
    return model.asked_at - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, help="the binary hermes")
    parser.add_argument("--bench", help="the binary hermes-bench, for what looks at files take")
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    took, looks = times(asked.binary, asked.bench, asked.runs)
    told = {f"start_{name}_{kind}_ms": [statistics.median(spent), "ms"] for (kind, name), spent in took.items()}
    for name in STARTS:
        # Round by round, since a machine may get slower or quicker meanwhile.
        rounds = list(zip(took["none", name], took["both", name], strict=True))
        told[f"start_{name}_foreign_ms"] = [statistics.median(both - none for none, both in rounds), "ms"]
        told[f"start_{name}_foreign_ratio"] = [statistics.median(both / none for none, both in rounds), "×"]
    if looks:
        told["start_call_looks_ratio"] = [told["start_call_foreign_ms"][0] / statistics.median(looks), "×"]
    print(json.dumps(told, ensure_ascii=False))


if __name__ == "__main__":
    main()
