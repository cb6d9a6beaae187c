# Other processes: those that `multiprocessing` starts anew, and those that handlers fork.


class _Main(ModuleType):
    """This module, as `multiprocessing` looks at it: what it starts runs the file of `__main__` first."""

    @property
    def __file__(self):
        try:
            return _child_file()
        except (OSError, ValueError) as error:
            raise AttributeError("__file__") from error


# How this process was set up, and where plugins lie by the names of their modules.
_known = {"settings": {}, "plugins": {}}
_child_files = {}


def _child_file():
    """A file with this program and what it knows of modules. It is nowhere on a disk, and is gone with this
    process."""
    known = json.dumps(_known)
    if known not in _child_files:
        with open("/proc/self/cmdline", "rb") as words:
            words = words.read().split(b"\0")
        text = words[words.index(b"-c") + 1].decode() + "\n_be_child(%r)\n" % known
        file = os.memfd_create("hermes")
        with open(file, "wb", closefd=False) as whole:
            whole.write(text.encode())
        _child_files[known] = "/proc/%d/fd/%d" % (os.getpid(), file)
    return _child_files[known]


def _be_child(known):
    """Lets modules of tool files and plugins be imported in a process that was started anew."""
    global _spare
    _known.update(json.loads(known))
    _spare = _Loaded("")
    _set_up(_known["settings"])
    _module("hermes_plugins", __path__=[])
    sys.meta_path.insert(0, _Plugins)


class _Plugins:
    """Finds the modules of plugins."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        place = _known["plugins"].get(name)
        return _plugin_spec(name, place) if place is not None else None


def _plugin_spec(name, folder):
    import importlib.util

    start = os.path.join(folder, "__init__.py")
    return importlib.util.spec_from_file_location(name, start, submodule_search_locations=[folder])


class _Foreign:
    """Stands around code of others. A process that it forked ends where that code ends: the answer is its
    parent's."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if os.getpid() == _host:
            return
        code = 0
        if isinstance(error, SystemExit):
            code = _exit_code(error)
        elif error is not None:
            _log(_trace(error))
            code = 1
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        os._exit(code & 0xFF)


_foreign = _Foreign()


def _exit_code(error):
    """What a process ends with that is left by this SystemExit; words are printed, as Python does."""
    if error.code is None or isinstance(error.code, int):
        return int(error.code or 0)
    try:
        print(error.code, file=sys.stderr)
    except BaseException:
        pass
    return 1
