# Threads.


class _Taken(BaseException):
    """Thrown into a handler whose call was taken back."""


class _Job:
    def __init__(self, number, method, params):
        self.number = number
        self.method = method
        self.params = params
        self.cancelled = False
        self.task = None
        self.thread = None
        self.native = None
        self.before = None
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
        job.thread, job.native = threading.get_ident(), threading.get_native_id()
        job.before = _children(os.getpid(), job.native)
    within = job.params.get("within")
    _call.set(within)
    if within is not None:
        _answering.append(within)
    try:
        with _foreign:
            result, error = _METHODS[job.method](job.params, job), None
    except BaseException as raised:
        result, error = None, _words(raised)
        if not isinstance(raised, _Taken):
            trace = _trace(raised)
            _log(trace)
            if job.method == "tool.call":
                result, error = {"raised": error, "trace": trace}, None
    finally:
        _call.set(None)
        if within is not None:
            _answering.remove(within)
    with job.lock:
        job.thread = None
    _answer(job, result, error)


def _answer(job, result=None, error=None):
    _jobs.pop(job.number, None)
    if error is None:
        try:
            _send({"jsonrpc": "2.0", "id": job.number, "result": result})
            return
        except _TooLong as wrong:
            error = "its answer cannot be taken: %s" % wrong
        except BaseException as wrong:
            error = "its answer cannot be written as JSON: " + _words(wrong)
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
            if getattr(_here, "loop", None) is not None:
                _here.loop.close()
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
        task, started = job.task, _started(job)
        if task is None:
            _throw(job)
        else:
            task[0].call_soon_threadsafe(task[1].cancel)
    _signal(started, "SIGTERM")
    if task is not None or started:
        late = threading.Timer(1, _cancel_late, [job, task is not None, started])
        late.daemon = True
        late.start()


def _cancel_late(job, is_late, started):
    """A coroutine that does not let go of its loop hears of nothing, and some processes do not end when asked to."""
    with job.lock:
        if is_late:
            _throw(job)
        started += _started(job)
    _signal(started, "SIGKILL")
    for process in started:
        os.close(process)


def _children(process, thread):
    """The processes that a thread has started and not buried; nothing where the system does not tell."""
    try:
        with open("/proc/%d/task/%d/children" % (process, thread)) as numbers:
            return {int(number) for number in numbers.read().split()}
    except (OSError, ValueError):
        return None


def _started(job):
    """What the thread of a job has started for it and still runs, with all that this has started: a handler that waits
    for it hears of nothing."""
    if job.thread is None or job.before is None:
        return []
    new, held = list((_children(os.getpid(), job.native) or set()) - job.before), []
    for process in new:
        try:
            held.append(os.pidfd_open(process))
            threads = os.listdir("/proc/%d/task" % process)
        except (AttributeError, OSError):
            continue
        for thread in threads:
            new += _children(process, int(thread)) or ()
    return held


def _signal(processes, name):
    import signal

    for process in processes:
        try:
            signal.pidfd_send_signal(process, getattr(signal, name))
        except OSError:
            pass


def _throw(job):
    if job.thread is not None:
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(job.thread), ctypes.py_object(_Taken))


def _start_within(thread, _start=threading.Thread.start):
    """A thread belongs to what is being answered where it is started."""
    run, context = thread.run, contextvars.copy_context()
    thread.run = lambda: context.run(run)
    return _start(thread)


def _take(line):
    global _longest
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
        _longest = params.get("max_message") or _longest
        _set_up(params)
        _send({"jsonrpc": "2.0", "id": number, "result": {"python": sys.version.split()[0], "paths": sys.path}})
    elif method in _METHODS:
        _enqueue(_Job(number, method, params))
    elif number is not None:
        error = {"code": -32601, "message": "no method " + str(method)}
        _send({"jsonrpc": "2.0", "id": number, "error": error})


def main():
    _open_wire()
    sys.modules["__main__"].__class__ = _Main
    threading.Thread.start = _start_within
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


if __name__ == "__main__":
    main()
