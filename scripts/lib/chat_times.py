"""Measures `hermes chat` against a scripted model: prints one JSON object, name to [value, unit].

The model's own time is taken off. What a command costs by itself is measured in turns with what
it costs through the program, so that a busy or slow machine disturbs both alike.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import measure

RUNS = 15
CALLS = 20
CROWD = 200
SLEEPS = {"rounds": 1, "parallel": 8, "args": {"command": "sleep 0.50{k}"}}
TRUES = {"rounds": CALLS, "args": {"command": "true"}}
CONFIG = """\
model:
  default: fake-model
  provider: custom
  base_url: http://127.0.0.1:{port}/v1
  api_key: dummy
  context_length: 200000
approvals:
  mode: "off"
memory:
  nudge_interval: 0
skills:
  creation_nudge_interval: 0
"""


class Model:
    """The scripted model, in a process of its own."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port)
        with contextlib.closing(link):
            link.request(method, path, body)
            return json.loads(link.getresponse().read())

    def begin(self, scenario):
        self.ask("POST", "/__reset", json.dumps(scenario))

    def answers(self):
        return self.ask("GET", "/__stats")


@contextlib.contextmanager
def model():
    program = pathlib.Path(__file__).with_name("fake_model.py")
    with subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        yield Model(int(server.stdout.readline()))
        server.stdin.close()


class Client:
    """The program with a home of its own, which asks the scripted model."""

    def __init__(self, binary, folder, model):
        self.words = [os.path.abspath(binary), "chat", "-Q", "-q", "hello"]
        self.home, self.model = pathlib.Path(folder), model
        self.env = {"PATH": os.defpath, "HOME": folder, "HERMES_HOME": folder, "LC_ALL": "C", "SHELL": "/bin/bash"}
        self.new_home()

    def new_home(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        (self.home / "config.yaml").write_text(CONFIG.format(port=self.model.port))

    def turn(self, scenario):
        """Milliseconds of one turn without the model's, and until the model's first byte."""
        self.model.begin(scenario)
        began = measure.time.monotonic()
        took = measure.spawned(self.words, self.env) / 1e6
        answers = [each for each in self.model.answers() if each["task"]]
        expected = scenario.get("rounds", 0) + 1
        if len(answers) != expected:
            raise measure.Failed(f"the model was asked {len(answers)} times, not {expected}")
        server = sum(each["answered"] - each["whole"] for each in answers) * 1e3
        return took - server, (answers[0]["first"] - began) * 1e3


def times(client, rounds):
    """What turns take: one without calls, one with many, one with calls at once; and a bare command."""
    plain, first, many, bare, sleeps, fresh = [], [], [], [], [], []
    client.turn({})
    for _ in range(rounds):
        own, byte = client.turn({})
        plain.append(own)
        first.append(byte)
        bare.append(CALLS * statistics.median(measure.spawned(["/bin/bash", "-c", "true"], client.env) for _ in range(5)))
        many.append(client.turn(TRUES)[0])
    for _ in range(max(3, rounds // 5)):
        sleeps.append(client.turn(SLEEPS)[0])
        client.new_home()
        fresh.append(client.turn({})[0])
    own = statistics.median(plain)
    over = statistics.median(with_calls - own - alone / 1e6 for with_calls, alone in zip(many, bare))
    return {
        "chat_own_ms": [own, "ms"],
        "chat_first_byte_ms": [statistics.median(first), "ms"],
        "chat_new_home_ms": [statistics.median(fresh), "ms"],
        "chat_20_calls_over_ms": [over, "ms"],
        "chat_8_sleeps_s": [statistics.median(sleeps) / 1e3, "s"],
    }


def crowd(bench, work, model):
    """The most memory that many conversations in one process take, and how long they do."""
    env = os.environ | {"BENCH_CONC": str(CROWD)}
    words = [bench, "concurrent", "--json", "--work", work, "--base-url", f"http://127.0.0.1:{model.port}"]
    ended = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)["concurrent"]
    return {
        "chat_200_peak_mb": [found[f"peak_rss_mb_{CROWD}"], "MB"],
        "chat_200_wall_s": [found[f"chat_wall_s_{CROWD}"], "s"],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, help="the binary hermes")
    parser.add_argument("--bench", help="the binary hermes-bench")
    parser.add_argument("--work", required=True, help="a folder for data")
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    measure.adopt_orphans()
    with model() as scripted, tempfile.TemporaryDirectory() as folder:
        client = Client(asked.binary, os.path.join(folder, "home"), scripted)
        found = times(client, asked.runs)
        scripted.begin({})
        found["chat_peak_mb"] = [measure.peak_mb(client.words, client.env), "MB"]
        if asked.bench:
            found |= crowd(asked.bench, asked.work, scripted)
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
