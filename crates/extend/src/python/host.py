"""The process that Python tools and plugins live in.

It speaks newline-delimited JSON-RPC on what were its standard input and output when it started; what
tools print goes to standard error, which is a log. Needs Python 3.9 and nothing beyond it.

Handlers run on threads of their own, coroutines on one event loop. Heavy modules (asyncio, inspect,
importlib) are imported when somebody needs them, because most starts do not.
"""
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
    data = (json.dumps(message, ensure_ascii=False, default=str) + "\n").encode("utf-8", "replace")
    with _write_lock:
        view = memoryview(data)
        while view:
            view = view[os.write(_wire_out, view):]


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
    _send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    box["ready"].wait()
    if box.get("error"):
        raise HermesError(box["error"].get("message", "no reason given"))
    return box.get("result")


def _notify(method, params):
    _send({"jsonrpc": "2.0", "method": method, "params": params})


# What files and plugins register.

_here = threading.local()


class _Entry:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class _Loaded:
    """What one file or plugin brought."""

    def __init__(self, key):
        self.key = key
        self.tools = {}
        self.hooks = []
        self.commands = {}
        self.cli = {}
        self.skills = []
        self.notes = []


_loaded = {}


class Registry:
    """The registry that tool files know, as far as a file needs it."""

    def register(
        self,
        name,
        toolset,
        schema,
        handler,
        check_fn=None,
        requires_env=None,
        is_async=False,
        description="",
        emoji="",
        max_result_size_chars=None,
        dynamic_schema_overrides=None,
        override=False,
        **ignored
    ):
        staged = getattr(_here, "loading", None)
        if staged is None:
            raise RuntimeError("registry.register() can be called only while the file is being loaded")
        if not callable(handler):
            raise TypeError("the handler of %r cannot be called" % (name,))
        schema = dict(schema)
        if isinstance(schema.get("function"), dict):
            schema = dict(schema["function"])
        if dynamic_schema_overrides is not None:
            try:
                schema.update(dynamic_schema_overrides() or {})
            except Exception as error:
                staged.notes.append("dynamic_schema_overrides of %s failed: %s" % (name, _words(error)))
        if ignored:
            staged.notes.append("%s: not known to register(): %s" % (name, ", ".join(sorted(ignored))))
        staged.tools[str(name)] = _Entry(
            name=str(name),
            toolset=str(toolset),
            schema=schema,
            handler=handler,
            check_fn=check_fn,
            requires_env=[str(it) for it in (requires_env or [])],
            is_async=bool(is_async),
            description=str(description or schema.get("description", "") or ""),
            emoji=str(emoji or ""),
            max_result_size_chars=max_result_size_chars,
            override=bool(override),
        )

    def deregister(self, name):
        staged = getattr(_here, "loading", None)
        if staged is not None:
            staged.tools.pop(name, None)

    def register_toolset_alias(self, alias, toolset):
        staged = getattr(_here, "loading", None)
        if staged is not None:
            staged.notes.append("the alias %s of toolset %s is not kept" % (alias, toolset))

    def get_entry(self, name):
        staged = getattr(_here, "loading", None)
        for source in ([staged] if staged else []) + list(_loaded.values()):
            if name in source.tools:
                return source.tools[name]
        return None

    def get_schema(self, name):
        entry = self.get_entry(name)
        return entry.schema if entry else None

    def dispatch(self, name, args=None, **kwargs):
        return _dispatch(name, args or {})


def tool_error(message, **extra):
    """A JSON text that says what went wrong."""
    return _dumps(dict({"error": str(message)}, **extra))


def tool_result(data=None, **fields):
    """A JSON text with one value, or with these fields."""
    return _dumps(fields if data is None else dict(data, **fields) if isinstance(data, dict) else data)


def _dispatch(name, args):
    call = getattr(_here, "call", None)
    if call is None:
        raise HermesError("tools can be called only while a call, a hook or a command is being answered")
    return _ask("tool.dispatch", {"within": call, "name": name, "arguments": args})


def _module(name, **members):
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


def _home():
    from pathlib import Path

    return Path(os.environ.get("HERMES_HOME") or os.path.join(os.path.expanduser("~"), ".hermes"))


def _set_up(params):
    registry = Registry()
    package = _module("tools", __path__=list(params.get("folders") or []))
    package.registry = _module(
        "tools.registry",
        registry=registry,
        ToolRegistry=Registry,
        tool_error=tool_error,
        tool_result=tool_result,
    )
    _module("hermes_constants", get_hermes_home=_home)
    # Started with -c, the current directory would be the first place to import from.
    sys.path[:] = [place for place in sys.path if place != ""] + list(params.get("paths") or [])


# Loading.


def _load(params):
    key, path, kind = params["key"], params["path"], params.get("kind", "file")
    staged = _Loaded(key)
    _here.loading = staged
    try:
        if kind == "file":
            _load_file(path, params["source"])
        else:
            _load_plugin(staged, path, params)
    except BaseException as error:
        import traceback

        traceback.print_exc()
        return {"error": _told(error, path if kind == "file" else None)}
    finally:
        _here.loading = None
    _loaded[key] = staged
    return _described(staged)


def _load_file(path, source):
    name = "tools." + os.path.splitext(os.path.basename(path))[0]
    module = ModuleType(name)
    module.__file__ = path
    module.__package__ = "tools"
    code = compile(source, path, "exec", dont_inherit=True)
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(name, None)
        raise


def _load_plugin(staged, path, params):
    import importlib
    import importlib.util

    if params["kind"] == "entry_point":
        target, _, attribute = params["target"].partition(":")
        module = importlib.import_module(target)
        for part in attribute.split(".") if attribute else []:
            module = getattr(module, part)
    else:
        start = os.path.join(path, "__init__.py")
        if not os.path.isfile(start):
            raise FileNotFoundError("there is no __init__.py in the plugin's folder")
        name = "hermes_plugins." + params["module"]
        _module("hermes_plugins", __path__=[])
        spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[path])
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    register = getattr(module, "register", None)
    if register is None and callable(module):
        register = module
    if register is None:
        raise AttributeError("the plugin has no register(ctx)")
    register(Context(staged, params))


def _described(staged):
    tools = [
        {
            "name": entry.name,
            "toolset": entry.toolset,
            "description": entry.description,
            "schema": entry.schema,
            "requires_env": entry.requires_env,
            "emoji": entry.emoji,
            "max_result_size_chars": entry.max_result_size_chars,
            "check": entry.check_fn is not None,
            "is_async": entry.is_async,
            "override": entry.override,
        }
        for entry in staged.tools.values()
    ]
    return {
        "tools": tools,
        "hooks": sorted({event for event, _ in staged.hooks}),
        "commands": [
            {"name": name, "description": entry.description, "usage": entry.usage}
            for name, entry in staged.commands.items()
        ],
        "cli": [
            {"name": name, "help": entry.help, "description": entry.description}
            for name, entry in staged.cli.items()
        ],
        "skills": staged.skills,
        "notes": staged.notes,
    }


class Manifest:
    """What `plugin.yaml` says."""

    def __init__(self, fields):
        self.raw = dict(fields)
        for name in ("name", "version", "description", "author", "kind", "key"):
            setattr(self, name, fields.get(name) or "")
        self.requires_env = fields.get("requires_env") or []
        self.provides_tools = fields.get("provides_tools") or []
        self.provides_hooks = fields.get("provides_hooks") or []


class Context:
    """What a plugin's register(ctx) is given."""

    def __init__(self, staged, params):
        self._staged = staged
        self.manifest = Manifest(params.get("manifest") or {})
        self.profile_name = params.get("profile") or "default"

    def register_tool(
        self,
        name,
        toolset,
        schema,
        handler,
        check_fn=None,
        requires_env=None,
        is_async=False,
        description="",
        emoji="",
        override=False,
        **ignored
    ):
        sys.modules["tools.registry"].registry.register(
            name=name,
            toolset=toolset,
            schema=schema,
            handler=handler,
            check_fn=check_fn,
            requires_env=requires_env,
            is_async=is_async,
            description=description,
            emoji=emoji,
            override=override,
            **ignored
        )

    def register_hook(self, hook_name, callback):
        if not callable(callback):
            raise TypeError("the callback of hook %r cannot be called" % (hook_name,))
        self._staged.hooks.append((str(hook_name), callback))

    def register_command(self, name, handler, description="", args_hint="", **ignored):
        name = str(name).strip().lstrip("/").lower().replace(" ", "-")
        self._staged.commands[name] = _Entry(handler=handler, description=description, usage=args_hint)

    def register_cli_command(self, name, help="", setup_fn=None, handler_fn=None, description="", **ignored):
        self._staged.cli[str(name)] = _Entry(
            help=help, setup=setup_fn, handler=handler_fn, description=description
        )

    def register_skill(self, name, path, description="", **ignored):
        self._staged.skills.append({"name": str(name), "path": str(path), "description": str(description)})

    def dispatch_tool(self, tool_name, args=None, **ignored):
        return _dispatch(tool_name, args or {})

    def inject_message(self, content, role="user"):
        _notify("message.inject", {"content": str(content), "role": str(role)})
        return True

    def __getattr__(self, name):
        # What other kinds of plugins register has no place here; a plugin that can do without it
        # still loads.
        if name.startswith("register_"):
            def not_here(*args, **kwargs):
                self._staged.notes.append("%s is not supported" % name)

            return not_here
        raise AttributeError("the plugin context has no %r" % (name,))


# Calling.


def _accepted(handler, offered):
    """The keyword arguments that a handler takes."""
    code = getattr(handler, "__code__", None)
    if code is not None:
        if code.co_flags & 0x08:
            return offered
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount][1:]
        return {name: value for name, value in offered.items() if name in names}
    import inspect

    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return offered
    if any(it.kind is it.VAR_KEYWORD for it in parameters):
        return offered
    names = [it.name for it in parameters][1:]
    return {name: value for name, value in offered.items() if name in names}


class _Loop:
    """One event loop for all coroutines, started with the first."""

    def __init__(self):
        self.lock = threading.Lock()
        self.loop = None

    def get(self):
        with self.lock:
            if self.loop is None:
                import asyncio

                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self._run, daemon=True, name="coroutines").start()
            return self.loop

    def _run(self):
        import asyncio

        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


_coroutines = _Loop()


def _await(value, job):
    """The value of a coroutine, waited for on the loop."""
    import asyncio

    loop = _coroutines.get()

    async def run():
        return await value

    future = asyncio.run_coroutine_threadsafe(run(), loop)
    job.future = future
    if job.cancelled:
        future.cancel()
    return future.result()


def _value(function, job, *args, **kwargs):
    value = function(*args, **kwargs)
    if hasattr(value, "__await__"):
        value = _await(value, job)
    return value


def _find(params):
    staged = _loaded.get(params["key"])
    if staged is None:
        raise HermesError("it is not loaded")
    return staged


def _tool_call(params, job):
    entry = _find(params).tools[params["name"]]
    _here.call = params.get("within")
    context = _accepted(entry.handler, params.get("context") or {})
    value = _value(entry.handler, job, params.get("arguments") or {}, **context)
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, dict) and value.get("_multimodal") is True:
        return {"multimodal": value}
    return {"contract": type(value).__name__}


def _tool_check(params, job):
    entry = _find(params).tools[params["name"]]
    try:
        return {"available": bool(_value(entry.check_fn, job))}
    except Exception as error:
        return {"available": False, "reason": "its check failed: " + _words(error)}


def _hook(params, job):
    _here.call = params.get("within")
    answers, notes = [], []
    for event, callback in _find(params).hooks:
        if event != params["event"]:
            continue
        try:
            value = _value(callback, job, **_accepted_all(callback, params.get("payload") or {}))
        except Exception as error:
            import traceback

            traceback.print_exc()
            notes.append(_words(error))
            continue
        if value is not None:
            answers.append(value)
    return {"answers": answers, "errors": notes}


def _accepted_all(callback, payload):
    code = getattr(callback, "__code__", None)
    if code is None or code.co_flags & 0x08:
        return payload
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in payload.items() if name in names}


def _command(params, job):
    entry = _find(params).commands[params["name"]]
    _here.call = params.get("within")
    value = _value(entry.handler, job, params.get("arguments") or "")
    return {"text": "" if value is None else str(value)}


_cli_lock = threading.Lock()


def _cli(params, job):
    import argparse
    import contextlib
    import io

    entry = _find(params).cli[params["name"]]
    _here.call = params.get("within")
    parser = argparse.ArgumentParser(prog="hermes " + params["name"], description=entry.description or entry.help)
    out, err, code = io.StringIO(), io.StringIO(), 0
    # Standard output is one for the whole process.
    with _cli_lock, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if entry.setup is not None:
                entry.setup(parser)
            chosen = parser.parse_args(params.get("arguments") or [])
            run = entry.handler or getattr(chosen, "func", None)
            value = _value(run, job, chosen) if run is not None else parser.print_help()
            if isinstance(value, bool):
                code = 0 if value else 1
            elif isinstance(value, int):
                code = value
            elif isinstance(value, str):
                print(value)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
    return {"exit_code": code, "out": out.getvalue(), "err": err.getvalue()}


_METHODS = {
    "load": lambda params, job: _load(params),
    "tool.call": _tool_call,
    "tool.check": _tool_check,
    "hook": _hook,
    "command.run": _command,
    "cli.run": _cli,
}


# Threads.


class _Taken(BaseException):
    """Thrown into a handler whose call was taken back."""


class _Job:
    def __init__(self, number, method, params):
        self.number = number
        self.method = method
        self.params = params
        self.cancelled = False
        self.future = None
        self.thread = None
        self.lock = threading.Lock()


_jobs = {}
_queue = SimpleQueue()
_idle_lock = threading.Lock()
_idle = 0


def _run(job):
    with job.lock:
        if job.cancelled:
            _answer(job, error="taken back")
            return
        job.thread = threading.get_ident()
    try:
        result, error = _METHODS[job.method](job.params, job), None
    except BaseException as raised:
        if job.method != "tool.call" and not isinstance(raised, _Taken):
            import traceback

            traceback.print_exc()
        result, error = None, _words(raised)
        if job.method == "tool.call" and not isinstance(raised, _Taken):
            result, error = {"raised": error}, None
    with job.lock:
        job.thread = None
    _here.call = None
    _answer(job, result, error)


def _answer(job, result=None, error=None):
    _jobs.pop(job.number, None)
    if error is None:
        _send({"jsonrpc": "2.0", "id": job.number, "result": result})
    else:
        _send({"jsonrpc": "2.0", "id": job.number, "error": {"code": -32000, "message": error}})


def _work():
    global _idle
    while True:
        job = _queue.get()
        try:
            _run(job)
        except _Taken:
            _answer(job, error="taken back")
        if job.cancelled:
            # What was thrown into this thread may still be on its way.
            return
        with _idle_lock:
            _idle += 1


def _enqueue(job):
    global _idle
    _jobs[job.number] = job
    with _idle_lock:
        # Every job has a thread: one that waits, or a new one.
        waiting = _idle > 0
        if waiting:
            _idle -= 1
    _queue.put(job)
    if not waiting:
        threading.Thread(target=_work, daemon=True).start()


def _cancel(number):
    job = _jobs.get(number)
    if job is None:
        return
    with job.lock:
        job.cancelled = True
        if job.future is not None:
            job.future.cancel()
        elif job.thread is not None:
            import ctypes

            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(job.thread), ctypes.py_object(_Taken))


def _take(line):
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        with _asked_lock:
            box = _asked.pop(number, None)
        if box is not None:
            box["result"], box["error"] = message.get("result"), message.get("error")
            box["ready"].set()
    elif method == "cancel":
        _cancel(params.get("id"))
    elif method == "ping":
        _send({"jsonrpc": "2.0", "id": number, "result": {}})
    elif method == "initialize":
        if sys.version_info < (3, 9):
            error = "Python %s is too old; 3.9 is needed" % sys.version.split()[0]
            _send({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": error}})
            return
        _set_up(params)
        _send({"jsonrpc": "2.0", "id": number, "result": {"python": sys.version.split()[0], "paths": sys.path}})
    elif method in _METHODS:
        _enqueue(_Job(number, method, params))
    elif number is not None:
        error = {"code": -32601, "message": "no method " + str(method)}
        _send({"jsonrpc": "2.0", "id": number, "error": error})


def main():
    kept = b""
    while True:
        chunk = os.read(_wire_in, 65536)
        if not chunk:
            os._exit(0)
        kept += chunk
        if b"\n" not in chunk:
            continue
        *lines, kept = kept.split(b"\n")
        for line in lines:
            if line.strip():
                _take(line)


main()
