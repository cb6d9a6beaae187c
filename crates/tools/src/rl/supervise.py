# Looks after one training run: starts its three programs one after the other, watches them, and stops
# all of them when one fails or when it is told to. What to run, and the keys, it reads from its input, a
# JSON document on a line; later lines tell it what else to do. How the run stands is in a file.
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

PATIENCE = 60
GRACE = 10
BREATH = 0.5
NAMES = {"api": "the API server", "trainer": "the trainer", "env": "the environment"}


class Inbox:
    """Lines that somebody writes to us."""

    def __init__(self):
        self.rest = b""
        self.open = True

    def lines(self, wait):
        """What is there within this time."""
        if not self.open:
            time.sleep(wait)
            return []
        if not select.select([0], [], [], wait)[0]:
            return []
        piece = os.read(0, 65536)
        self.open = bool(piece)
        *whole, self.rest = (self.rest + piece).split(b"\n")
        return [read for read in map(understood, whole) if read]


def understood(line):
    """What a line says; nothing where it is not one of ours."""
    try:
        read = json.loads(line)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


class Over(Exception):
    """The run has ended, and how."""

    def __init__(self, status, error=None):
        super().__init__(status)
        self.status = status
        self.error = error


class Run:
    def __init__(self, order, logs, inbox):
        self.record = order["record"]
        self.path = os.path.join(logs, "run_" + self.record["run_id"] + ".json")
        self.inbox = inbox
        self.parts = []
        self.record.update(status="starting", started_at=now(), parts={})
        self.write()

    def write(self):
        with open(os.open(self.path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.record, file, indent=1)
        os.replace(self.path + ".new", self.path)

    def start(self, name, words, secrets):
        variables = {**os.environ, "PYTHONUNBUFFERED": "1", **secrets}
        log = os.open(self.record["logs"][name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            part = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=variables,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        except OSError as wrong:
            raise Over("failed", f"{NAMES[name]} cannot be started: {wrong}")
        finally:
            os.close(log)
        self.parts.append((name, part))
        self.record["parts"][name] = {"pid": part.pid, "code": None}
        self.write()
        print(f"{NAMES[name]} runs as process {part.pid}", flush=True)

    def watch(self, seconds):
        """Waits, unless something happens first."""
        until = time.monotonic() + seconds
        while True:
            for line in self.inbox.lines(min(BREATH, max(0, until - time.monotonic()))):
                self.told(line)
            for name, part in self.parts:
                if part.poll() is not None:
                    self.ended(name, part.returncode)
            if time.monotonic() >= until:
                return

    def told(self, line):
        if line.get("do") == "stop":
            raise Over("stopped")
        if line.get("do") == "checked":
            self.record["checked_at"] = now()
            self.write()

    def ended(self, name, code):
        well = code == 0 and name != "api" and self.record["status"] == "running"
        if well:
            raise Over("completed")
        log = self.record["logs"][name]
        self.record["failed_part"] = name
        raise Over("failed", f"{NAMES[name]} ended with code {code}; its output is in {log}")

    def finish(self, over, grace):
        for name, part in reversed(self.parts):
            stop(part, grace)
            self.record["parts"][name]["code"] = part.returncode
        self.record.update(status=over.status, ended_at=now())
        if over.error:
            self.record["error"] = over.error
        self.write()
        print(over.error or over.status, flush=True)


def stop(part, grace):
    """Stops a program and what it started: it may clean up first, for a while."""
    for sign, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, GRACE)):
        try:
            os.killpg(part.pid, sign)
        except OSError:
            pass
        try:
            part.wait(wait)
        except subprocess.TimeoutExpired:
            continue


def now():
    return int(time.time())


def end_with_parent():
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    except (OSError, AttributeError):
        pass


def cut_short(*_):
    raise Over("stopped", "what looks after it was told to end")


def main():
    checkout, logs = sys.argv[1:3]
    inbox = Inbox()
    lines, until = [], time.monotonic() + PATIENCE
    while not lines:
        if not inbox.open or time.monotonic() > until:
            sys.exit("nobody said what to train")
        lines = inbox.lines(1)
    order = lines.pop(0)
    os.makedirs(logs, mode=0o700, exist_ok=True)
    os.chdir(checkout)
    places = [os.path.join(checkout, name, "bin") for name in (".venv", "venv")]
    os.environ["PATH"] = os.pathsep.join([*places, os.environ.get("PATH", os.defpath)])
    run, grace = Run(order, logs, inbox), GRACE
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, cut_short)
    try:
        for line in lines:
            run.told(line)
        train(run, order)
    except Over as caught:
        over = caught
        grace = 1 if over.error and over.status == "stopped" else GRACE
    except Exception as wrong:
        over = Over("failed", f"the run could not be looked after: {wrong!r}")
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    run.finish(over, grace)
    sys.exit(0 if over.status in ("completed", "stopped") else 1)


def train(run, order):
    python = shutil.which("python3")
    trial = subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
    if trial.returncode:
        raise Over("failed", f"Python 3.11 or later is needed, and {python} is older")
    config, waits, secrets = run.record["config_path"], order["waits"], order["secrets"]
    words = {
        "api": ["run-api"],
        "trainer": [python, "launch_training.py", "--config", config],
        "env": [python, run.record["environment_file"], "serve", "--config", config],
    }
    for name in ("api", "trainer", "env"):
        run.start(name, words[name], secrets[name])
        run.watch(waits[name])
    run.record.update(status="running", running_since=now())
    run.write()
    while True:
        run.watch(3600)


main()
