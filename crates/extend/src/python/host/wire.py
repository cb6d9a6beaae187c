"""The process that Python tools and plugins live in.

It speaks newline-delimited JSON-RPC on what were its standard input and output when it started; what
tools print goes to standard error, which is a log. Needs Python 3.9 and nothing beyond it.

Handlers run on threads of their own, coroutines on an event loop of that thread. Heavy modules (asyncio,
inspect, importlib) are imported when somebody needs them, because most starts do not.

Processes that `multiprocessing` starts anew run this text too, under another name: they only get to know
the modules of tool files and plugins, and nobody is spoken to.
"""
# Started with -c, the current directory is the first place to import from. What lies there is a stranger's as long as
# nobody accepted it, and nothing is imported before it is out of the way.
import sys

sys.path[:] = [place for place in sys.path if place != ""]

import contextvars
import json
import os
import threading
from queue import SimpleQueue
from types import ModuleType

# Python 3.11 and newer leave it out themselves, also in processes that `multiprocessing` starts anew. Programs that a
# handler starts are its own affair.
os.environ.pop("PYTHONSAFEPATH", None)

_wire_in = _wire_out = _log_out = -1

# The process that is spoken to; those that are forked from it are not.
_host = None

# The longest message that is understood at the other end.
_longest = float("inf")

# Hermes reads nothing that is nested much deeper.
_DEEPEST = 100

# So many characters of an error are told.
_MOST_WORDS = 1_000_000

_write_lock = threading.Lock()


def _open_wire():
    global _wire_in, _wire_out, _log_out, _host
    _host = os.getpid()
    _wire_in, _wire_out, _log_out = os.dup(0), os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    os.register_at_fork(after_in_child=_close_wire)


def _close_wire():
    global _wire_in, _wire_out
    for end in (_wire_in, _wire_out):
        if end != -1:
            os.close(end)
    _wire_in = _wire_out = -1


class HermesError(RuntimeError):
    """What was asked of Hermes did not work."""


class _TooLong(HermesError):
    """A message that would not be understood."""


def _send(message):
    if os.getpid() != _host:
        raise HermesError("a process that was forked or started from here cannot talk with Hermes")
    data = _encoded(message)
    if len(data) > _longest:
        raise _TooLong("it is %d bytes long, and a message can have %d at most" % (len(data), _longest))
    try:
        with _write_lock:
            view = memoryview(data + b"\n")
            while view:
                view = view[os.write(_wire_out, view):]
    except OSError:
        # Somebody closed the way to Hermes; nobody would wait for less than the end of this process.
        os._exit(74)


def _encoded(value):
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(_plain(value), ensure_ascii=False, default=str, allow_nan=False)
    if _is_deep(value):
        raise ValueError("it is nested more than %d deep" % _DEEPEST)
    return text.encode("utf-8", "replace")


def _is_deep(value, left=_DEEPEST):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return left == 0 or any(_is_deep(inner, left - 1) for inner in inside)


def _log(text):
    """Writes where logs go, whatever a tool made of standard error."""
    try:
        os.write(_log_out, (text + "\n").encode("utf-8", "replace"))
    except OSError:
        pass


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


def _holds_odd(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return _is_odd(value) or any(map(_holds_odd, inside))


def _dumps(value):
    return json.dumps(value, ensure_ascii=False, default=str)


def _words(error):
    """An error in words; one that has none is called what it is."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    return type(error).__name__ + (": " + _cut(text) if text else "")


def _cut(text):
    """As much of a text as anybody reads of an error."""
    return text if len(text) <= _MOST_WORDS else text[:_MOST_WORDS] + "\n… (cut here)"


def _told(error, module):
    """The error in words, with the line it came from where that is in this module or below it."""
    words = _words(error)
    if isinstance(error, SyntaxError):
        return "%s (line %d)" % (words, error.lineno) if error.lineno and "line" not in words else words
    at, trace = None, error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__")
        if isinstance(name, str) and (name + ".").startswith(module + "."):
            at = trace
        trace = trace.tb_next
    if at is None:
        return words
    file = os.path.basename(at.tb_frame.f_code.co_filename)
    of = "" if file in ("__init__.py", module.rpartition(".")[2] + ".py") else " of " + file
    return "%s (line %d%s)" % (words, at.tb_lineno, of)


def _trace(error):
    """Where it was raised, without the part that is ours."""
    try:
        import traceback

        at = error.__traceback__
        while at is not None and at.tb_frame.f_globals is globals():
            at = at.tb_next
        return _cut("".join(traceback.format_exception(type(error), error, at)).rstrip())
    except BaseException:
        return _words(error)


# The requests we make.

_asked = {}
_asked_lock = threading.Lock()
_next_id = 0


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


