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


def _await(value, job):
    """The value of a coroutine, on the event loop of this thread: one that blocks is in nobody's way."""
    import asyncio

    loop = getattr(_here, "loop", None)
    if loop is None or loop.is_closed():
        loop = _here.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)

    async def run():
        with _foreign:
            return await value

    task = loop.create_task(run())
    with job.lock:
        job.task = (loop, task)
        if job.cancelled:
            task.cancel()
    try:
        return loop.run_until_complete(task)
    finally:
        with job.lock:
            job.task = None


def _value(function, job, *args, **kwargs):
    with _foreign:
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
    """What every callback answers. Whatever one ends with is its own affair: what the others say counts."""
    answers, notes = [], []
    for event, callback in _find(params).hooks:
        if event != params["event"]:
            continue
        try:
            value = _value(callback, job, **_accepted_all(callback, params.get("payload") or {}))
            if _holds_odd(value):
                raise ValueError("its answer holds a number that JSON has no word for")
            if value is not None:
                answers.append(_encoded(value))
        except BaseException as error:
            if isinstance(error, _Taken) or job.cancelled:
                raise
            _log(_trace(error))
            notes.append(_words(error))
    # The largest go until the rest can be sent: a block is small.
    while answers and len(_encoded(notes)) + sum(len(it) + 2 for it in answers) > _longest - 1000:
        largest = max(answers, key=len)
        answers.remove(largest)
        notes.append("its answer is %d bytes long, and all of them can have %d" % (len(largest), _longest))
    return {"answers": [json.loads(answer) for answer in answers], "errors": notes}


def _accepted_all(callback, payload):
    code = getattr(callback, "__code__", None)
    if code is None or code.co_flags & 0x08:
        return payload
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in payload.items() if name in names}


def _command(params, job):
    entry = _find(params).commands[params["name"]]
    value = _value(entry.handler, job, params.get("arguments") or "")
    return {"text": "" if value is None else str(value)}


_cli_lock = threading.Lock()


def _cli(params, job):
    import argparse

    entry = _find(params).cli[params["name"]]
    parser = argparse.ArgumentParser(prog="hermes " + params["name"], description=entry.description or entry.help)
    code = 0
    # Standard output is one for the whole process.
    with _cli_lock, _Caught(params.get("input")) as caught, _foreign:
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
            code = _exit_code(error)
        except Exception as error:
            # What it printed before counts.
            _log(_trace(error))
            print("error: " + _words(error), file=sys.stderr)
            code = 1
    out, err = caught.texts
    for cut in caught.cut:
        err += "%swarning: %s\n" % ("" if err.endswith("\n") or not err else "\n", cut)
    return {"exit_code": code, "out": out, "err": err}


_METHODS = {
    "load": lambda params, job: _load(params),
    "tool.call": _tool_call,
    "tool.check": _tool_check,
    "hook": _hook,
    "command.run": _command,
    "cli.run": _cli,
}


