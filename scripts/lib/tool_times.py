"""Measures the file and terminal tools: prints one JSON object, name to [value, unit].

Searching and running commands are told as ratios to `rg` and to a bare shell, measured in turns
with them, so that a busy or slow machine disturbs both alike.
"""

import argparse
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

WORDS = "alpha beta gamma delta parser socket kernel query module server stream retry budget quota cache omega".split()
SEARCHES = 5


def generate(data):
    """Files to work on, the same in every run."""
    if (data / "done").exists():
        return
    chance = random.Random(1)
    sentence = lambda: " ".join(chance.choice(WORDS) for _ in range(chance.randrange(4, 9)))
    data.mkdir(parents=True, exist_ok=True)
    (data / "big.txt").write_text("".join(f"{n} {sentence()}\n" for n in range(100_000)))
    for kind in ("txt", "py"):
        lines = (f"value_{n:04} = '{chance.choice(WORDS)}'  # {chance.choice(WORDS)}\n" for n in range(5_000))
        (data / f"patch.{kind}").write_text("".join(lines))
    for folder in range(200):
        place = data / "tree" / f"d{folder:03}"
        place.mkdir(parents=True, exist_ok=True)
        for file in range(100):
            lines = [sentence() for _ in range(chance.randrange(10, 70))]
            if (folder * 100 + file) % 997 == 0:
                lines.append(f"fn needle_{folder}() {{ treeneedle }}")
            ending = ("rs", "py", "md", "ts", "txt")[file % 5]
            (place / f"f{file:03}.{ending}").write_text("\n".join(lines) + "\n")
    (data / "done").touch()


def item(bench, name, work):
    ended = subprocess.run([bench, name, "--json", "--work", work], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)[name]


def ripgrep(tree):
    """Milliseconds of a search by `rg`: the median."""
    times = []
    for _ in range(SEARCHES * 3):
        began = time.perf_counter()
        subprocess.run(["rg", "-n", "treeneedle", tree], stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def search_ratio(bench, work):
    """How many times longer than `rg` our search takes: the median of runs in turns."""
    if shutil.which("rg") is None:
        print("search_ratio not measured: `rg` is not installed", file=sys.stderr)
        return {}
    tree = str(pathlib.Path(work, "data", "tree"))
    pairs = [(item(bench, "search", work)["literal_rare_ms"], ripgrep(tree)) for _ in range(3)]
    return {"search_ratio": [statistics.median(ours / theirs for ours, theirs in pairs), "×"]}


def terminal_ratio(text):
    """What the terminal bench said."""
    said = re.search(r"([\d.]+) times as long", text)
    if said is None:
        print("terminal_ratio not measured: the bench did not say it", file=sys.stderr)
        return {}
    return {"terminal_ratio": [float(said.group(1)), "×"]}


def mcp(bench, work):
    """A server's tool through the whole road, the record of calls included, as a multiple of a bare pipe to
    the same process; both on one processor, since between two it is chance that decides."""
    try:
        found = item(bench, "mcp", work)
    except subprocess.CalledProcessError as wrong:
        print(f"mcp_* not measured: {wrong.stderr.strip()}", file=sys.stderr)
        return {}
    return {
        "mcp_echo_ratio": [found["recorded_ratio"], "×"],
        "mcp_4_calls_s": [found["four_calls_s"], "s"],
    }


def browser(bench, work):
    """A click and a snapshot by the tools, as a multiple of a bare client that sends the same commands."""
    try:
        found = item(bench, "browser", work)
    except subprocess.CalledProcessError as wrong:
        print(f"browser_ratio not measured: {wrong.stderr.strip()}", file=sys.stderr)
        return {}
    if "ratio" not in found:
        print("browser_ratio not measured: there is no browser", file=sys.stderr)
        return {}
    return {"browser_ratio": [found["ratio"], "×"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True, help="the binary hermes-bench")
    parser.add_argument("--work", required=True, help="a folder for data")
    parser.add_argument("--terminal", required=True, help="what the terminal bench printed")
    asked = parser.parse_args()
    generate(pathlib.Path(asked.work, "data"))
    read, patch = item(asked.bench, "read_file", asked.work), item(asked.bench, "patch", asked.work)
    slowest = max(value for key, value in patch.items() if key.startswith(("replace_", "v4a_")))
    found = {"read_file_page": [read["random_ms"], "ms"], "patch_slowest": [slowest, "ms"]}
    python = item(asked.bench, "python", asked.work)
    found["python_call_ms"] = [python["call_ms"], "ms"]
    # Nothing due, one job, a hundred, or a file that somebody else has written: the slowest counts.
    ticks = item(asked.bench, "cron", asked.work)
    found["cron_tick_ms"] = [max(value for key, value in ticks.items() if key.endswith("tick_ms")), "ms"]
    found |= mcp(asked.bench, asked.work)
    found |= browser(asked.bench, asked.work)
    found |= search_ratio(asked.bench, asked.work)
    found |= terminal_ratio(pathlib.Path(asked.terminal).read_text(encoding="utf-8"))
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
