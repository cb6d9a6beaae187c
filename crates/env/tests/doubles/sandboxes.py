"""Sandboxes that run commands for real, for the doubles of vendors.

A sandbox is a folder with a home, and the processes that carry its name. It hides nothing of the
machine: tests look at its processes and files from outside.
"""

import asyncio
import os
import pathlib
import shutil
import signal
import subprocess

MARK = "HERMES_DOUBLE_SANDBOX"


class Sandbox:
    """A folder, and what runs in it."""

    # How large the disk of the next ones is, in megabytes; as large as it is here when there is none.
    disk = None

    def __init__(self, root, identity, variables=None):
        self.id = identity
        self.folder = pathlib.Path(root) / identity
        self.small = Sandbox.disk is not None
        (self.folder / "home").mkdir(parents=True, exist_ok=True)
        if self.small:
            size = f"size={Sandbox.disk}m"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", self.home], check=True)
        self.temp = self.folder / ("home/.tmp" if self.small else "tmp")
        self.temp.mkdir(exist_ok=True)
        self.variables = dict(variables or {})

    @property
    def home(self):
        return str(self.folder / "home")

    def environment(self, more=None):
        """The variables of a program in it."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home,
            "TMPDIR": str(self.temp),
            MARK: self.id,
            **self.variables,
            **(more or {}),
        }

    def stop(self):
        """Ends everything that runs in it."""
        wanted = f"{MARK}={self.id}".encode()
        for _ in range(20):
            found = []
            for entry in os.listdir("/proc"):
                if not entry.isdigit() or int(entry) == os.getpid():
                    continue
                try:
                    with open(f"/proc/{entry}/environ", "rb") as file:
                        if wanted in file.read().split(b"\0"):
                            found.append(int(entry))
                except OSError:
                    continue
            if not found:
                return
            for pid in found:
                kill(pid, signal.SIGKILL)

    def remove(self):
        """Ends it, with all its files."""
        self.stop()
        if os.path.ismount(self.home):
            subprocess.run(["umount", "-l", self.home], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_full(self):
        """Whether nothing more can be written."""
        return self.small and os.statvfs(self.home).f_bavail == 0


def kill(pid, number):
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill_tree(pid):
    """Ends a process and everything below it; what has left for another parent stays."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = int(file.read().rsplit(") ", 1)[1].split()[1])
                children.setdefault(parent, []).append(int(entry))
            except (OSError, IndexError):
                continue
    todo, all_of_them = [pid], []
    while todo:
        one = todo.pop()
        all_of_them.append(one)
        todo.extend(children.get(one, []))
    for one in all_of_them:
        kill(one, signal.SIGKILL)


class Growing:
    """Bytes that come, for those who follow them from the beginning. They are kept in a file."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=0)
        self.size = 0
        self.done = False
        self.changed = asyncio.Condition()

    async def add(self, data):
        self.file.write(data)
        self.size += len(data)
        async with self.changed:
            self.changed.notify_all()

    async def end(self):
        self.done = True
        self.file.close()
        async with self.changed:
            self.changed.notify_all()

    async def follow(self, start=0):
        """Yields everything from `start` on until it is done."""
        with open(self.path, "rb") as file:
            file.seek(start)
            while True:
                data = file.read(1 << 18)
                if data:
                    yield data
                    continue
                async with self.changed:
                    if self.done and file.tell() >= self.size:
                        return
                    if file.tell() >= self.size:
                        await self.changed.wait()


class Faults:
    """What is to go wrong, as a test asks for it."""

    def __init__(self):
        self.status = None
        self.message = ""
        self.times = 0
        self.headers = {}
        self.slow = 0.0

    def set(self, wanted):
        self.status = wanted.get("status", self.status)
        self.message = wanted.get("message", self.message)
        self.times = wanted.get("times", self.times)
        self.headers = wanted.get("headers", {})
        self.slow = wanted.get("slow", self.slow)
        Sandbox.disk = wanted.get("disk", Sandbox.disk)

    def next(self):
        """The status to refuse the next request with, if any."""
        if self.times <= 0 or self.status is None:
            return None
        self.times -= 1
        return self.status
