"""Measures start-up and memory of the binary, gathers what the benches and the guard tell, compares
with budgets.

Start-up is a ratio: the command and /bin/true are started in turns by one process, and the
medians are compared, so that a busy or slow machine disturbs both alike.
"""

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

NOTHING = ["/bin/true"]
COMMANDS = {"version": ["--version"], "tools_list": ["tools", "list", "--json"]}
MEMORY_RUNS = 15
NANOSECONDS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
PR_SET_CHILD_SUBREAPER = 36
DISCARD = [
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]


class Failed(Exception):
    """A command that was to be measured did not do its work."""


def spawned(words, env):
    """Nanoseconds from starting a command to its end."""
    began = time.perf_counter_ns()
    pid = os.posix_spawn(words[0], words, env, file_actions=DISCARD)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter_ns() - began
    check(words, status)
    return took


def check(words, status):
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise Failed(f"`{' '.join(words)}` ended with {code}")


def ratios(commands, env, rounds):
    """How many times longer than /bin/true each command takes: medians of interleaved runs."""
    runs = {"": NOTHING, **commands}
    times = {name: [] for name in runs}
    order = list(runs)
    for words in runs.values():  # Once unmeasured, so that every file is in memory.
        spawned(words, env)
    for _ in range(rounds):
        for name in order:
            times[name].append(spawned(runs[name], env))
        order.append(order.pop(0))  # Nobody always runs after the same neighbour.
    median = {name: statistics.median(took) for name, took in times.items()}
    nothing = median.pop("")
    return nothing, {name: took / nothing for name, took in median.items()}


def peak_mb(words, env):
    """The most memory a command held, in units of 1024 KiB.

    A process started from here would count this process's memory as its own, for the kernel
    carries the peak over `exec`. So a shell, which is small, starts it in the background and
    ends; it becomes our child then, and its own peak is what we are told.
    """
    peaks = []
    for _ in range(MEMORY_RUNS):
        shell = os.posix_spawn("/bin/sh", ["sh", "-c", '"$@" &', "sh", *words], env, file_actions=DISCARD)
        for _ in range(2):  # The shell and the command, in whichever order they end.
            pid, status, usage = os.wait4(-1, 0)
            check(words, status)
            if pid != shell:
                peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(peaks)


def adopt_orphans():
    """Processes whose parent ends become children of this one, not of init."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def start_up(binary, rounds):
    """Start-up and memory of the binary: name to value, and what could not be measured."""
    found, troubles = {}, []
    with tempfile.TemporaryDirectory() as home:
        # An empty home, and none of this user's settings.
        env = {"PATH": os.defpath, "HOME": home, "HERMES_HOME": home, "LC_ALL": "C"}
        working = {}
        for name, words in COMMANDS.items():
            try:
                spawned([binary, *words], env)
                working[name] = [binary, *words]
            except (Failed, OSError) as why:
                troubles.append(f"{name} not measured: {why}")
        if not working:
            return found, troubles
        nothing, compared = ratios(working, env, rounds)
        troubles.append(f"starting /bin/true takes {nothing / 1e3:.0f} µs here (median of {rounds})")
        found.update({f"{name}_ratio": (value, "×") for name, value in compared.items()})
        found.update({f"{name}_peak_mb": (peak_mb(words, env), "MB") for name, words in working.items()})
    return found, troubles


def medians(folder, since):
    """Criterion's median of every bench measured since then, in nanoseconds."""
    found = {}
    for file in sorted(pathlib.Path(folder).glob("**/new/estimates.json")):
        if file.stat().st_mtime >= since:
            name = file.parent.parent.relative_to(folder).as_posix()
            found[name] = json.loads(file.read_text(encoding="utf-8"))["median"]["point_estimate"]
    return found


def guard(file):
    """What the guard's own example tells of its corpora and of its speed, as name to value."""
    told = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    shapes = told["shapes_ms"]
    found = {
        "guard_recall": (told["recall_percent"], "%"),
        "guard_false_alarms": (told["false_alarms_percent"], "%"),
        "guard_never_missed": (told["never_missed"], ""),
        "guard_harmless_denied": (told["harmless_denied"], ""),
        "guard_median": (told["median_us"], "µs"),
        "guard_worst_100kb": (max(shapes.values()), "ms"),
    }
    for technique, right in told["techniques"].items():
        side, name = technique.split("/", 1)
        wrong = "false_alarms" if side == "harmless" else "recall"
        found[f"guard_{wrong}/{name}"] = (100 - right if side == "harmless" else right, "%")
    found.update({f"guard_100kb/{name}": (took, "ms") for name, took in shapes.items()})
    return found


def judged(budgets, found, benches):
    """One line per number: those with a budget first, as they stand in the file."""
    for name, wanted in budgets.items():
        budget, unit = wanted["budget"], wanted["unit"]
        value = found[name][0] if name in found else None
        if name in benches:
            value = benches[name] / NANOSECONDS[unit]
        least = wanted.get("least", False)
        ok = value is not None and (value >= budget if least else value <= budget)
        yield line(name, value, unit, budget, ok, least)
    for name, (value, unit) in found.items():
        if name not in budgets:
            yield line(name, value, unit, None, True)
    for name, value in benches.items():
        if name not in budgets:
            yield line(name, value / NANOSECONDS["µs"], "µs", None, True)


def line(name, value, unit, budget, ok, least=False):
    value = value and round(value, 4)
    return {"name": name, "value": value, "unit": unit, "budget": budget, "least": least, "ok": ok}


def table(lines):
    width = max(len(each["name"]) for each in lines)
    yield f"{'name':<{width}}  {'value':>12}     {'budget':>8}"
    for each in lines:
        value = "not measured" if each["value"] is None else f"{each['value']:,.3f}"
        budget = "" if each["budget"] is None else f"{'≥' if each['least'] else '≤'} {each['budget']:g}"
        verdict = "" if each["budget"] is None else "ok" if each["ok"] else "MISSED"
        yield f"{each['name']:<{width}}  {value:>12} {each['unit']:<3} {budget:>8}  {verdict}".rstrip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--criterion", required=True)
    parser.add_argument("--guard", help="what the guard's example `corpus --json` printed")
    parser.add_argument("--since", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--budgets", required=True)
    parser.add_argument("--also", action="append", default=[], help="a JSON file with further numbers: name to [value, unit]")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-gate", action="store_true")
    asked = parser.parse_args()

    adopt_orphans()
    budgets = json.loads(pathlib.Path(asked.budgets).read_text(encoding="utf-8"))
    found, remarks = start_up(os.path.abspath(asked.binary), asked.rounds)
    for file in asked.also:
        found.update(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
    if asked.guard:
        found.update(guard(asked.guard))
    lines = list(judged(budgets, found, medians(asked.criterion, asked.since)))
    ok = all(each["ok"] for each in lines)
    for remark in remarks:
        print(remark, file=sys.stderr)
    if asked.json:
        print(json.dumps({"ok": ok, "results": lines}, ensure_ascii=False))
    else:
        print("\n".join(table(lines)))
    return 0 if ok or asked.no_gate else 1


if __name__ == "__main__":
    sys.exit(main())
