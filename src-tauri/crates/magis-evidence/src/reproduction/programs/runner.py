"""Runs the steps of a check in one namespace, statement by statement, and writes what each printed, gave or raised.

Every record is one line on the standard output: the marker, a blank, JSON. What the steps print goes into the records.
"""
import ast, builtins, contextlib, importlib, io, json, linecache, os, pkgutil, signal, sys, warnings

TASK = json.loads(TASK_TEXT)
MARKER, OUT = TASK["marker"], os.fdopen(os.dup(1), "w", encoding="utf-8")
LIMIT = 20000
os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, os.getcwd())
ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "mpl": "matplotlib", "xr": "xarray", "sns": "seaborn", "so": "seaborn.objects", "sp": "sympy", "sm": "statsmodels.api", "da": "dask.array"}


class Captured(io.StringIO):
    """What is printed, into a stream that can take every character, as a terminal can."""
    encoding = "utf-8"


def write(record):
    OUT.write("\n" + MARKER + " " + json.dumps(record) + "\n")
    OUT.flush()


def module(name):
    # What an import enters on its way is not what a step is about.
    before = sys.gettrace()
    sys.settrace(None)
    try:
        with contextlib.redirect_stdout(Captured()), contextlib.redirect_stderr(Captured()):
            return importlib.import_module(name)
    except BaseException:
        return None
    finally:
        sys.settrace(before)


class Names(dict):
    """A namespace that finds names the steps use and never bind, as a reader of the issue would."""

    def __init__(self, called):
        super().__init__(__name__="__main__", __builtins__=builtins)
        self.called, self.imports, self.preludes, self.failed = called, {}, None, set()

    def __missing__(self, name):
        # What a step tried to bind and could not is missing, and nothing else will do.
        if hasattr(builtins, name) or name.startswith("__") or name in self.failed:
            raise KeyError(name)
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        self.imports[name], value = found
        self[name] = value
        return value

    def find(self, name):
        if name in TASK["packages"] and module(name):
            return "import " + name, module(name)
        if name in ALIASES and module(ALIASES[name]):
            return "import %s as %s" % (ALIASES[name], name), module(ALIASES[name])
        if self.preludes is None:
            self.preludes = {}
            for line in TASK["preludes"]:
                made = {}
                try:
                    exec(line, made)
                except BaseException:
                    continue
                self.preludes.update({key: (line, value) for key, value in made.items() if not key.startswith("__")})
        if name in self.preludes:
            return self.preludes[name]
        for package in TASK["packages"] + [package for package in ("numpy", "pandas", "math") if package in sys.modules]:
            found = self.star(package, name)
            if found:
                return found
        if len(name) > 1:
            found = name in sys.stdlib_module_names if hasattr(sys, "stdlib_module_names") else name in ("os", "sys", "re", "json", "math", "itertools", "functools", "collections", "pickle", "copy", "datetime", "pathlib", "random", "io", "warnings", "logging", "threading", "operator", "inspect", "tempfile", "decimal", "fractions", "typing", "asyncio", "contextlib", "subprocess", "textwrap", "enum", "dataclasses", "timeit", "time", "string", "types", "unittest")
            if found and module(name):
                return "import " + name, module(name)
            found = self.deeper(name) if len(name) > 2 else None
            if found:
                return found
        return self.symbol(name)

    def star(self, package, name):
        whole = module(package)
        value = getattr(whole, name, None)
        # A module, or a name that the package keeps to itself, was hardly meant.
        if value is None or type(value) is type(os) or name not in getattr(whole, "__all__", [name]):
            return None
        return "from %s import %s" % (package, name), value

    def deeper(self, name):
        """A name that exactly one module of the packages under test defines."""
        for package in TASK["packages"]:
            whole = module(package)
            for info in pkgutil.iter_modules(getattr(whole, "__path__", []), package + "."):
                if "test" not in info.name and info.name.count("._") == 0 and info.name not in sys.modules:
                    module(info.name)
        homes = []
        for key, home in sorted(sys.modules.items()):
            value = getattr(home, "__dict__", {}).get(name)
            if key.split(".")[0] in TASK["packages"] and getattr(value, "__module__", None) == key:
                homes.append((key, value))
        return ("from %s import %s" % (homes[0][0], name), homes[0][1]) if len({id(value) for _, value in homes}) == 1 else None

    def symbol(self, name):
        """A mathematical symbol, where a package under test deals in them."""
        for package in TASK["packages"]:
            whole = module(package)
            kind = "Function" if name in self.called else "Symbol"
            if callable(getattr(whole, "Symbol", None)) and callable(getattr(whole, "Function", None)) and name.isidentifier() and len(name) <= 8 and name.islower() | (len(name) <= 2):
                return "from %s import %s; %s = %s(%r)" % (package, kind, name, kind, name), getattr(whole, kind)(name)
        return None


@contextlib.contextmanager
def at_most(seconds):
    def stop(*_):
        raise TimeoutError("over %d s" % seconds)
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(make):
    try:
        with at_most(5), contextlib.redirect_stdout(Captured()), contextlib.redirect_stderr(Captured()):
            return make()
    except BaseException:
        return None


def forms(value, unshown):
    """The ways to show a value: Python's own, the display hook's, and the package's printers."""
    def attempt(make):
        try:
            with at_most(5), contextlib.redirect_stdout(Captured()), contextlib.redirect_stderr(Captured()):
                return make()
        except BaseException as error:
            unshown.append(told(error))
    made = {"repr": attempt(lambda: repr(value)), "str": attempt(lambda: str(value))}
    for package in TASK["packages"]:
        whole = sys.modules.get(package)
        for printer, settings in (("pretty", {"use_unicode": True}), ("pretty", {"use_unicode": False}), ("latex", {})):
            show = getattr(whole, printer, None)
            if home(value) == package and callable(show):
                made[package + "." + printer + ("" if settings.get("use_unicode", True) else "_ascii")] = attempt(lambda: show(value, **settings))
    return {key: text[:LIMIT] for key, text in made.items() if isinstance(text, str)}


def home(value):
    return str(getattr(type(value), "__module__", "")).split(".")[0]


def whole(same):
    """Arrays and tables compare piece by piece."""
    while hasattr(same, "all"):
        same = same.all()
    return bool(same)


def is_equal(value, other):
    same = attempt(lambda: whole(value == other))
    if not same and home(value) in TASK["packages"] and callable(getattr(value, "equals", None)):
        same = attempt(lambda: value.equals(other) is True)
    return bool(same)


def told(error):
    kind = type(error)
    return {"kind": kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__name__, "message": attempt(lambda: str(error)) or ""}


def trace_of(error):
    """The frames on the way to an exception that lie outside this program, as Python shows them."""
    lines, at = [], error.__traceback__
    while at is not None and len(lines) < 60:
        path = at.tb_frame.f_code.co_filename
        if not path.startswith("<") and path != __file__:
            lines.append('File "%s", line %d, in %s' % (path, at.tb_lineno, at.tb_frame.f_code.co_name))
        at = at.tb_next
    return "\n".join(lines)


REACHED = Reached(os.path.abspath(os.environ.get("PYTHONPATH", "").split(os.pathsep)[0] or os.getcwd()))


@contextlib.contextmanager
def watching(wanted):
    before = sys.gettrace()
    if wanted:
        sys.settrace(REACHED.enter)
    try:
        yield
    finally:
        sys.settrace(before)


def names_of(text, names):
    spare = Names(names.called)
    spare.update(names)
    spare.preludes, spare.failed = names.preludes, names.failed
    return spare


def equals(value, names):
    """Which of the texts the issue shows are, read as code, equal to the value."""
    if value is None or isinstance(value, str):
        return [at for at, text in enumerate(TASK["texts"]) if isinstance(value, str) and attempt(lambda: ast.literal_eval(text.strip())) == value]
    found = []
    for at, text in enumerate(TASK["texts"]):
        try:
            code = compile(text.strip(), "<text>", "eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        other = attempt(lambda: eval(code, names_of(text, names)))
        if other is not None and is_equal(value, other):
            found.append(at)
    return found


def bound(node):
    """The names that a statement binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [at.id for target in targets for at in ast.walk(target) if isinstance(at, ast.Name)]


def run(step, source, names, filename):
    try:
        tree = ast.parse(source, filename)
    except (SyntaxError, ValueError) as error:
        write({"step": step, "statement": 0, "line": 1, "last_line": source.count("\n") + 1, "assertion": False, "printed": "", "logged": "", "forms": {}, "unshown": [], "equals": [], "raised": {"kind": type(error).__name__, "message": getattr(error, "msg", str(error))}})
        return
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    for at, node in enumerate(tree.body):
        shown = isinstance(node, ast.Expr)
        printed, logged, raised, trace, value = Captured(), Captured(), None, "", None
        try:
            # At a prompt, the values within a loop are shown, too.
            how = "eval" if shown else "single" if len(tree.body) == 1 and hasattr(node, "body") else "exec"
            code = compile({"eval": ast.Expression, "single": lambda node: ast.Interactive([node]), "exec": lambda node: ast.Module([node], [])}[how](node.value if shown else node), filename, how)
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(logged), watching(not isinstance(node, (ast.Import, ast.ImportFrom))):
                value = eval(code, names)
        except BaseException as error:
            raised, trace = told(error), trace_of(error)
            names.failed.update(bound(node))
        unshown = []
        with watching(True):
            made = forms(value, unshown) if value is not None else {}
        if value is not None and sys.displayhook is not sys.__displayhook__:
            show = Captured()
            with contextlib.redirect_stdout(show):
                attempt(lambda: sys.displayhook(value))
            made["display"] = show.getvalue()[:LIMIT]
        # What a loop or a definition leaves behind is not shown; what an assignment binds is, in case the issue prints it.
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and not raised:
            value = names.get(node.targets[0].id)
            made = {"bound_" + key: text for key, text in forms(value, []).items()} if value is not None else {}
        write({"unshown": unshown, "step": step, "statement": at, "line": node.lineno, "last_line": getattr(node, "end_lineno", node.lineno), "assertion": isinstance(node, ast.Assert), "printed": printed.getvalue()[:LIMIT], "logged": logged.getvalue()[:LIMIT], "forms": made, "equals": equals(value, names) if not raised else [], "raised": raised, "trace": trace})
        if shown and value is not None:
            names["_"] = value


def main():
    called = set()
    for source in TASK["steps"] + TASK["texts"]:
        tree = attempt(lambda: ast.parse(source.strip()))
        called.update(node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) if tree else None
    # `import a` alone does not make `a.b` known; where the issue names it so, its reporter had it.
    for source in TASK["steps"]:
        tree = attempt(lambda: ast.parse(source))
        for node in ast.walk(tree) if tree else []:
            parts = []
            while isinstance(node, ast.Attribute):
                parts.insert(0, node.attr)
                node = node.value
            if isinstance(node, ast.Name) and node.id in TASK["packages"]:
                for part in range(len(parts)):
                    if not module(".".join([node.id] + parts[: part + 1])):
                        break
    names = Names(called)
    warnings.simplefilter("default")
    for at, source in enumerate(TASK["steps"]):
        run(at, source, names, "<step %d>" % (at + 1))
    write({"end": True, "imports": sorted(set(names.imports.values())), "reached": REACHED.told()})
    OUT.close()


main()
