# Loading.


def _load(params):
    key, path, kind = params["key"], params["path"], params.get("kind", "file")
    if kind == "file":
        module = "tools." + os.path.splitext(os.path.basename(path))[0]
    elif kind == "entry_point":
        module = params["target"].partition(":")[0].partition(".")[0]
    else:
        module = "hermes_plugins." + params["module"]
    staged = _Loaded(key)
    _here.loading = staged
    try:
        if kind == "file":
            _load_file(module, path, params["source"])
        else:
            _load_plugin(staged, module, path, params)
    except BaseException as error:
        _log(_trace(error))
        return {"error": _told(error, module)}
    finally:
        _here.loading = None
    _loaded[key] = staged
    return _described(staged)


def _load_file(name, path, source):
    module = ModuleType(name)
    module.__file__ = path
    module.__package__ = "tools"
    code = compile(source.lstrip("\ufeff"), path, "exec", dont_inherit=True)
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(name, None)
        raise


def _load_plugin(staged, name, path, params):
    import importlib
    import importlib.util

    if params["kind"] == "entry_point":
        target, _, attribute = params["target"].partition(":")
        module = importlib.import_module(target)
        for part in attribute.split(".") if attribute else []:
            module = getattr(module, part)
    else:
        if not os.path.isfile(os.path.join(path, "__init__.py")):
            raise FileNotFoundError("there is no __init__.py in the plugin's folder")
        _module("hermes_plugins", __path__=[])
        _known["plugins"][name] = path
        spec = _plugin_spec(name, path)
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


