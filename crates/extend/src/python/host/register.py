# What files and plugins register.

_here = threading.local()

# What is being answered: where this code runs, and in all of this process.
_call = contextvars.ContextVar("call", default=None)
_answering = []


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

# What files register that are only imported, in processes that were started anew.
_spare = None


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
        staged = getattr(_here, "loading", None) or _spare
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
            requires_env=[requires_env] if isinstance(requires_env, str) else [str(it) for it in requires_env or []],
            is_async=bool(is_async),
            description=str(description or schema.get("description", "") or ""),
            emoji=str(emoji or ""),
            max_result_size_chars=_size(max_result_size_chars),
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


def _size(chars):
    """How large results may be; no end of it is a number that is large enough."""
    if not isinstance(chars, (int, float)) or chars != chars:
        return None
    return min(max(chars, 0), 1e18)


def tool_error(message, **extra):
    """A JSON text that says what went wrong."""
    return _dumps(dict({"error": str(message)}, **extra))


def tool_result(data=None, **fields):
    """A JSON text with one value, or with these fields."""
    return _dumps(fields if data is None else dict(data, **fields) if isinstance(data, dict) else data)


def _dispatch(name, args):
    call = _call.get()
    if call not in _answering:
        # A thread that outlived what it was started for, or of which nobody knows what for.
        call = _answering[0] if len(_answering) == 1 else None
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


class _Accepted:
    """Finds the modules of a project that were accepted, as they were then, and no others."""

    def __init__(self, files, folder):
        self.files = {"tools." + os.path.splitext(os.path.basename(it["path"]))[0]: it for it in files}
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("tools."):
            return None
        import importlib.util

        file = self.files.get(name)
        if file is None:
            place = os.path.join(self.folder, *name.split(".")[1:])
            for there in (place + ".py", place):
                if os.path.exists(there):
                    raise ImportError("%s is not accepted; `hermes plugins trust %s` accepts it" % (there, there))
            return None
        return importlib.util.spec_from_file_location(name, file["path"], loader=self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = self.files[module.__name__]
        source = file["source"].lstrip("\ufeff")
        exec(compile(source, file["path"], "exec", dont_inherit=True), module.__dict__)


def _set_up(params):
    registry = Registry()
    package = _module("tools", __path__=list(params.get("folders") or []))
    if params.get("only") is not None:
        sys.meta_path.insert(0, _Accepted(params["only"], params.get("from") or ""))
    package.registry = _module(
        "tools.registry",
        registry=registry,
        ToolRegistry=Registry,
        tool_error=tool_error,
        tool_result=tool_result,
    )
    _module("hermes_constants", get_hermes_home=_home)
    _known["settings"] = params
    sys.path += [place for place in params.get("paths") or [] if place not in sys.path]


