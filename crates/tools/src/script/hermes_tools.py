"""The tools of this session, as functions.

Each returns what the tool answers, as Python values; a call that fails returns {"error": ...}.
Several threads may call at the same time, and the calls then run at the same time.
"""

import json as _json
import os as _os
import shlex as _shlex
import threading as _threading
import time as _time

_PLACE = "HERMES_TOOLS_LINE"
_CHUNK = 65536


class _Line:
    """The way to the tools. One of the threads that wait reads for all of them."""

    def __init__(self, place):
        kind, _, where = place.partition(":")
        self._fd = int(where) if kind == "fd" and where.isdigit() else None
        self._out = self._fd
        self._pipes = where if kind == "fifo" else None
        if self._fd is not None:
            _os.set_inheritable(self._fd, False)
        self._owner = _os.getpid()
        self._sending = _threading.Lock()
        self._state = _threading.Condition()
        self._number = 0
        self._waiting = set()
        self._answers = {}
        self._reading = False
        self._closed = False
        self._rest = b""

    def call(self, tool, arguments):
        self._open()
        if self._fd is None:
            raise RuntimeError("tools can be called only by a script that execute_code runs, in its own process")
        if _os.getpid() != self._owner:
            raise RuntimeError("tools can be called only from the script's own process; use threads for several at once")
        given = {name: value for name, value in arguments.items() if value is not None}
        with self._state:
            self._number += 1
            number = self._number
            self._waiting.add(number)
        try:
            message = {"id": number, "tool": tool, "arguments": given}
            text = _json.dumps(message, ensure_ascii=False, allow_nan=False, default=_os.fspath)
            self._send(text.encode("utf-8", "replace") + b"\n")
            return self._answer(number)
        finally:
            with self._state:
                self._waiting.discard(number)
                self._answers.pop(number, None)

    def _open(self):
        """Opens the named pipes when they are first needed: somebody waits at their other ends."""
        with self._sending:
            if self._pipes is not None and self._fd is None:
                self._out = _os.open(self._pipes + "/q", _os.O_WRONLY | _os.O_CLOEXEC)
                self._fd = _os.open(self._pipes + "/a", _os.O_RDONLY | _os.O_CLOEXEC)

    def _send(self, data):
        with self._sending:
            view = memoryview(data)
            while view:
                view = view[_os.write(self._out, view):]

    def _answer(self, number):
        with self._state:
            while number not in self._answers:
                if self._closed:
                    raise RuntimeError("the line to the tools is closed")
                if self._reading:
                    self._state.wait()
                else:
                    self._read()
            return self._answers[number]

    def _read(self):
        """Reads once, without holding up those who only look. Called and left with the lock held."""
        self._reading = True
        self._state.release()
        data = b""
        try:
            data = _os.read(self._fd, _CHUNK)
        finally:
            self._state.acquire()
            self._reading = False
            self._closed = self._closed or not data
            self._state.notify_all()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answer = _json.loads(line)
            if answer.get("id") in self._waiting:
                self._answers[answer["id"]] = answer["result"]


_line = _Line(_os.environ.pop(_PLACE, ""))


def _call(tool, **arguments):
    return _line.call(tool, arguments)


def json_parse(text):
    """Parses JSON that may hold control characters inside of strings."""
    return _json.loads(text, strict=False)


def shell_quote(text):
    """Quotes a text so that a shell takes it as one word."""
    return _shlex.quote(str(text))


def retry(function, max_attempts=3, delay=2):
    """Calls the function until it does not raise, waiting twice as long each time."""
    for attempt in range(max_attempts):
        try:
            return function()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            _time.sleep(delay * 2**attempt)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    raise ImportError(f"hermes_tools has no {name}; it has {', '.join(sorted(__all__))}")
