"""The process that Python tools and plugins live in.

It speaks newline-delimited JSON-RPC on what were its standard input and output when it started; what
tools print goes to standard error, which is a log. Needs Python 3.9 and nothing beyond it.

Handlers run on threads of their own, coroutines on an event loop of that thread. Heavy modules (asyncio,
inspect, importlib) are imported when somebody needs them, because most starts do not.
"""
import contextvars
import json
import os
import sys
import threading
from queue import SimpleQueue
from types import ModuleType

_wire_in = os.dup(0)
_wire_out = os.dup(1)
_null = os.open(os.devnull, os.O_RDONLY)
os.dup2(_null, 0)
os.dup2(2, 1)
os.close(_null)

_write_lock = threading.Lock()


def _send(message):
    try:
        text = json.dumps(message, ensure_ascii=False, default=str, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(_plain(message), ensure_ascii=False, default=str, allow_nan=False)
    data = (text + "\n").encode("utf-8", "replace")
    with _write_lock:
        view = memoryview(data)
        while view:
            view = view[os.write(_wire_out, view):]


def _plain(value):
    """The value without what JSON has no word for: names that are no text, numbers that are none."""
    if isinstance(value, dict):
        kept = ((key, _plain(inner)) for key, inner in value.items() if not _is_odd(inner))
        return {key if isinstance(key, str) else str(key): inner for key, inner in kept}
    if isinstance(value, (list, tuple)):
        return [None if _is_odd(inner) else _plain(inner) for inner in value]
    return value


def _is_odd(value):
    return isinstance(value, float) and (value != value or value in (float("inf"), float("-inf")))


def _dumps(value):
    return json.dumps(value, ensure_ascii=False, default=str)


def _words(error):
    text = str(error)
    return type(error).__name__ + (": " + text if text else "")


def _told(error, path=None):
    """The error in words, with the line of the file it came from."""
    words = _words(error)
    if isinstance(error, SyntaxError):
        return "%s (line %s)" % (words, error.lineno) if "line" not in words else words
    at = None
    trace = error.__traceback__
    while trace is not None:
        if path is None or trace.tb_frame.f_code.co_filename == path:
            at = trace.tb_lineno
        trace = trace.tb_next
    return "%s (line %d)" % (words, at) if at else words


# The requests we make.

_asked = {}
_asked_lock = threading.Lock()
_next_id = 0


class HermesError(RuntimeError):
    """What was asked of Hermes did not work."""


def _ask(method, params):
    """Asks Hermes and waits for the answer."""
    global _next_id
    box = {"ready": threading.Event()}
    with _asked_lock:
        _next_id += 1
        number = _next_id
        _asked[number] = box
    try:
        _send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    except BaseException:
        with _asked_lock:
            _asked.pop(number, None)
        raise
    box["ready"].wait()
    if box.get("error"):
        raise HermesError(box["error"].get("message", "no reason given"))
    return box.get("result")


def _notify(method, params):
    _send({"jsonrpc": "2.0", "method": method, "params": params})


