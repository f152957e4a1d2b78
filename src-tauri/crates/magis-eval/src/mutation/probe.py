"""Makes a snippet out of a failing test, and runs snippets; started in the sandbox, in the root of a project.

  probe.py slice NODE      runs the test NODE by pytest and prints the snippet that shows its failure
  probe.py run FILE        runs the snippet in FILE and prints what its last line gives

What it prints stands behind MARK on one line, as JSON.
"""
import ast, builtins, importlib, json, os, sys, traceback

MARK = "@@magis-probe "
LONGEST_INLINE = 80
LONGEST_VALUE = 600
SAME = {"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
        "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual", "assertAlmostEqual", "assertNotEqual", "assertIsNot",
        "assert_equal", "assert_equals", "assert_eq", "eq_", "eq"}
ALONE = {"assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone", "assertIsInstance", "assertNotIsInstance", "assert_", "ok_"}
RELATION = {"assertIn": ast.In, "assertNotIn": ast.NotIn, "assertLess": ast.Lt, "assertLessEqual": ast.LtE,
            "assertGreater": ast.Gt, "assertGreaterEqual": ast.GtE}
RAISES = {"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises"}
FOREIGN = {"pytest", "unittest", "hypothesis", "mock", "nose", "tests", "test", "conftest", "testing"}


# Modules whose values print themselves as they are written.
PRINTING = {"datetime", "decimal", "fractions", "uuid", "collections"}
# Functions of the test's own file that check something.
CHECKERS = set()
# Names of modules and of what is imported from them: a call of theirs changes nothing of a value.
IMPORTED = set()


class NoSnippet(Exception):
    pass


def tell(answer):
    sys.stdout.flush()
    sys.stdout.write("\n" + MARK + json.dumps(answer) + "\n")
    sys.stdout.flush()


# ---- the failing frame

class Watcher:
    """A plugin that keeps the frame of the failing test."""
    seen = None

    def pytest_exception_interact(self, node, call, report):
        function = getattr(node, "function", None)
        if self.seen or call.when != "call" or function is None:
            return
        code = getattr(getattr(function, "__func__", function), "__wrapped__", function)
        frames = []
        trace = call.excinfo.value.__traceback__
        while trace:
            frames.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        path = os.path.realpath(str(node.path if hasattr(node, "path") else node.fspath))
        mine = [(f, n) for f, n in frames if os.path.realpath(f.f_code.co_filename) == path]
        named = [(f, n) for f, n in mine if f.f_code.co_name == getattr(code, "__name__", "")]
        if not named:
            return
        frame, line = named[0]
        self.seen = {"path": path, "line": line, "locals": dict(frame.f_locals), "name": frame.f_code.co_name,
                     "first": frame.f_code.co_firstlineno, "type": call.excinfo.type, "deep": frames[-1][0] is not frame}


def failing(node):
    import pytest
    watcher = Watcher()
    out = sys.stdout
    sys.stdout = open(os.devnull, "w")
    try:
        pytest.main(["-x", "-p", "no:cacheprovider", "-o", "addopts=", "--assert=plain", node], plugins=[watcher])
    finally:
        sys.stdout = out
    if not watcher.seen:
        raise NoSnippet("the test does not fail in its own lines")
    return watcher.seen


# ---- names

def names(node):
    """The names that are read in a node, without those that it binds itself."""
    bound = set()
    for part in ast.walk(node):
        if isinstance(part, (ast.comprehension,)):
            bound |= {n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        elif isinstance(part, ast.Lambda):
            bound |= {a.arg for a in part.args.args + part.args.kwonlyargs}
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bound |= {a.arg for a in part.args.posonlyargs + part.args.args + part.args.kwonlyargs}
            bound |= {a.arg for a in (part.args.vararg, part.args.kwarg) if a}
            bound |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
    return {n for n in read - bound if not hasattr(builtins, n)}


def root(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def binds(statement):
    """The names that a statement binds or changes."""
    targets = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    elif isinstance(statement, ast.Delete):
        targets = statement.targets
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in statement.names}
    elif isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return {statement.name}
    found = set()
    for target in targets:
        for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]):
            found.add(root(part))
    return found - {None}


def called(node):
    """The last name of what is called, as assertEqual of self.assertEqual."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else None


def is_check(node):
    name = called(node) or ""
    return name.lower().startswith("assert") or name in SAME | ALONE | RAISES | CHECKERS | {"fail", "skip", "check"}


# ---- values

def literal(value):
    try:
        text = repr(value)
        if len(text) <= LONGEST_VALUE and ast.literal_eval(text) == value:
            return ast.parse(text, mode="eval").body
    except Exception:
        pass
    return None


def printed(value):
    """The import and the expression of a value that prints itself as it is written."""
    module = type(value).__module__
    if module.split(".")[0] in PRINTING:
        try:
            text = repr(value)
            name = text.split("(")[0].split(".")[0]
            space = {name: __import__(module)} if name == module else {name: type(value)}
            if len(text) <= LONGEST_INLINE and eval(text, dict(space)) == value:
                whole = ast.Import(names=[ast.alias(name=module)])
                return whole if name == module else ast.ImportFrom(module=module, names=[ast.alias(name=name)], level=0), ast.parse(text, mode="eval").body
        except Exception:
            pass
    return None


def importable(value):
    """How a function or class is imported, where that is possible."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not module or not name or "." in name or module.split(".")[0] in FOREIGN or module == "builtins":
        return None
    if getattr(sys.modules.get(module), name, None) is not value or "test" in module:
        return None
    return ast.ImportFrom(module=module, names=[ast.alias(name=name)], level=0), ast.Name(id=name, ctx=ast.Load())


class Put(ast.NodeTransformer):
    """Puts values in place of names and of what `self` has."""

    def __init__(self, values, own):
        self.values, self.own = values, own

    def visit_Name(self, node):
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load) and node.attr in self.own:
            return self.own[node.attr]
        return self.generic_visit(node)


# ---- what is shown

def simple(node):
    """Whether an expression is so plain that it is rather what is expected."""
    return not any(isinstance(n, (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare)) for n in ast.walk(node)) and (
        not isinstance(node, ast.Name))


def side(left, right, given):
    """The side of a comparison that is not what is expected."""
    def weight(node):
        if simple(node) or isinstance(node, ast.Name) and node.id in given:
            return 0
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and called(n) not in ("set", "list", "dict", "tuple", "sorted", "len", "str")]
        return 3 if calls else 2 if isinstance(node, (ast.Attribute, ast.Subscript, ast.BinOp)) else 1
    return right if weight(right) > weight(left) else left


def shown(statement, seen, given):
    """The expression to show, and the statements of its own that come before it."""
    failed = issubclass(seen["type"], AssertionError) or seen["type"].__name__ == "Failed"
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            return side(test.left, test.comparators[0], given), []
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return test.operand, []
        return test, []
    if isinstance(statement, ast.With):
        checks = [i.context_expr for i in statement.items if isinstance(i.context_expr, ast.Call) and called(i.context_expr) in RAISES]
        if checks and statement.body:
            last = statement.body[-1]
            value = last.value if isinstance(last, (ast.Expr, ast.Assign, ast.Return)) else None
            if value is not None:
                return value, statement.body[:-1]
        raise NoSnippet("a with statement")
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) else None
    if isinstance(statement, ast.For):
        value = statement.iter
    if value is None:
        raise NoSnippet("a statement of another kind: " + type(statement).__name__)
    if isinstance(value, ast.Call) and isinstance(statement, ast.Expr):
        name = called(value)
        if (name in SAME or name in CHECKERS and isinstance(value.func, ast.Name)) and len(value.args) == 2 or (
                name in SAME and len(value.args) > 2):
            return side(value.args[0], value.args[1], given), []
        if name in ALONE and value.args:
            return value.args[0], []
        if name in RELATION and len(value.args) >= 2:
            return ast.Compare(left=value.args[0], ops=[RELATION[name]()], comparators=[value.args[1]]), []
        if name in RAISES and len(value.args) >= 2:
            rest = value.args[1 if name != "assertRaisesRegex" else 2:]
            if rest and not isinstance(rest[0], ast.Lambda):
                return ast.Call(func=rest[0], args=rest[1:], keywords=value.keywords), []
            if rest:
                return rest[0].body, []
        if is_check(value):
            raise NoSnippet("a check of the project's own")
    if failed:
        raise NoSnippet("a check within a helper")
    return value, []


# ---- the slice

def route(function, line):
    """The statement at a line, with the lists of statements around it: [(list, index, parent), ...], the outer first."""
    way, body, parent = [], function.body, function
    while True:
        at = next((i for i, s in enumerate(body) if s.lineno <= line <= s.end_lineno), None)
        if at is None:
            return way
        way.append((body, at, parent))
        statement = body[at]
        inner = None
        for field in ("body", "orelse", "finalbody"):
            part = getattr(statement, field, None)
            if isinstance(part, list) and part and part[0].lineno <= line <= part[-1].end_lineno:
                inner = part
        if inner is None or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return way
        if isinstance(statement, ast.With) and any(called(i.context_expr) in RAISES for i in statement.items):
            return way
        body, parent = inner, statement


def before(statement, needed):
    """What of an earlier statement the snippet needs: statements, or none."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Import, ast.ImportFrom,
                              ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement] if binds(statement) & needed else []
    if isinstance(statement, ast.Expr):
        if not isinstance(statement.value, ast.Call):
            return []
        if is_check(statement.value):
            return effects(statement.value, needed)
        arguments = set().union(*[names(a) for a in statement.value.args] or [set()])
        own = needed - IMPORTED
        return [statement] if root(statement.value.func) in own or arguments & own else []
    if isinstance(statement, ast.Assert):
        return effects(statement.test, needed)
    if isinstance(statement, ast.With) and any(called(i.context_expr) in RAISES for i in statement.items):
        return []
    if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
        inside = [n for n in ast.walk(statement) if isinstance(n, ast.stmt)]
        touched = any(binds(s) & needed for s in inside) or any(
            isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and root(n.func) in needed for n in ast.walk(statement))
        if not touched:
            return []
        if any(isinstance(n, ast.Assert) or isinstance(n, ast.Call) and is_check(n) for n in ast.walk(statement)):
            raise NoSnippet("a block with checks comes before")
        return [statement]
    return []


def effects(expression, needed):
    """Calls of methods within a check: they may change what is shown."""
    calls = [n for n in ast.walk(expression) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and root(n.func) in needed - IMPORTED]
    return [ast.Expr(value=calls[0])] if calls else []


def sliced(seen):
    source = open(seen["path"], encoding="utf-8").read()
    tree = ast.parse(source)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == seen["name"]
                 and n.lineno <= seen["line"] <= n.end_lineno]
    if not functions:
        raise NoSnippet("the test is not in its file")
    for helper in ast.walk(tree):
        if isinstance(helper, ast.FunctionDef) and not helper.name.startswith("test") and any(isinstance(n, ast.Assert) for n in ast.walk(helper)):
            CHECKERS.add(helper.name)
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            IMPORTED.update(binds(statement))
    function = functions[-1]
    way = route(function, seen["line"])
    if not way:
        raise NoSnippet("the failing line is not in the body")
    body, at, _ = way[-1]
    arguments = {a.arg for a in function.args.args + function.args.kwonlyargs}
    show, own = shown(body[at], seen, arguments)
    needed, setup, given = names(show), [], set()
    for statement in reversed(own):
        setup[:0] = [statement]
        needed |= names(statement)
    for body, at, parent in reversed(way):
        for statement in reversed(body[:at]):
            for part in reversed(before(statement, needed)):
                setup.insert(0, part)
                plain = isinstance(part, ast.Assign) and all(isinstance(t, ast.Name) for t in part.targets)
                needed -= binds(part) if plain or isinstance(part, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)) else set()
                needed |= names(part)
        if isinstance(parent, (ast.For, ast.With)):
            targets = [parent.target] if isinstance(parent, ast.For) else [i.optional_vars for i in parent.items if i.optional_vars]
            given |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)} & needed
    given |= (arguments & needed) - {"self", "cls"}
    values, own_values, imports, first = {}, {}, [], []
    for name in sorted(given):
        value = seen["locals"].get(name)
        text = literal(value) if name in seen["locals"] else None
        if text is not None:
            if len(ast.unparse(text)) <= LONGEST_INLINE and not isinstance(text, (ast.List, ast.Dict, ast.Set)):
                values[name] = text
            else:
                first.append(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=text, lineno=0))
        else:
            known = printed(value) or importable(value)
            if not known:
                raise NoSnippet("it needs the fixture or value " + name)
            imports.append(known[0])
            values[name] = known[1]
        needed.discard(name)
    if "self" in needed or "cls" in needed:
        this = seen["locals"].get("self", seen["locals"].get("cls"))
        for part in [show] + setup:
            for n in ast.walk(part):
                if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in ("self", "cls"):
                    text = literal(getattr(this, n.attr, None)) if n.attr in getattr(this, "__dict__", {}) or n.attr in vars(type(this)) else None
                    if text is None or getattr(this, n.attr) is None:
                        raise NoSnippet("it needs self." + n.attr)
                    own_values[n.attr] = text
        needed -= {"self", "cls"}
    put = Put(values, own_values)
    show = put.visit(show)
    setup = [put.visit(s) for s in setup]
    top, left = module_level(tree, needed)
    if left:
        raise NoSnippet("it needs " + ", ".join(sorted(left)))
    show, setup = inlined(show, first + setup)
    parts = imports + top + setup
    for part in parts + [show]:
        ast.fix_missing_locations(part)
    texts = list(dict.fromkeys(ast.unparse(p) for p in parts))
    texts.sort(key=lambda t: not t.startswith(("import ", "from ")))
    return {"setup": texts, "show": ast.unparse(show)}


def module_level(tree, needed):
    """The statements of the module that names come from, in their order, and the names that come from nowhere."""
    top, open_names, done = {}, set(needed), set()
    statements = []
    for statement in tree.body:
        if isinstance(statement, ast.Try):
            statements += [s for s in statement.body if isinstance(s, (ast.Import, ast.ImportFrom))]
        else:
            statements.append(statement)
    stars = [s for s in statements if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"]
    left = set()
    while open_names:
        name = open_names.pop()
        done.add(name)
        found = [(i, s) for i, s in enumerate(statements) if name in binds(s)]
        if not found:
            star = next((s for s in stars if s.level == 0 and hasattr(loaded(s.module), name)), None)
            if star is None:
                left.add(name)
                continue
            found = [(statements.index(star), ast.ImportFrom(module=star.module, names=[ast.alias(name=name)], level=0))]
        for at, statement in found:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                alias = [a for a in statement.names if (a.asname or a.name).split(".")[0] == name]
                if isinstance(statement, ast.ImportFrom):
                    if statement.level or (statement.module or "").split(".")[0] in FOREIGN:
                        left.add(name)
                        continue
                    top[(at, name)] = ast.ImportFrom(module=statement.module, names=alias or statement.names, level=0)
                elif alias[0].name.split(".")[0] in FOREIGN:
                    left.add(name)
                else:
                    top[(at, name)] = ast.Import(names=alias)
            else:
                top[(at, "")] = statement
                open_names |= names(statement) - done
    # A class of tests is no helper.
    for statement in top.values():
        if isinstance(statement, ast.ClassDef) and statement.name.lower().startswith("test") or isinstance(
                statement, ast.FunctionDef) and (statement.decorator_list or statement.name.startswith("test")):
            left.add(statement.name)
    return [top[key] for key in sorted(top, key=lambda k: (k[0], k[1]))], left


def loaded(module):
    try:
        return importlib.import_module(module)
    except Exception:
        return None


def inlined(show, setup):
    """Puts the last assignment in place of a name that is all that is shown."""
    if isinstance(show, ast.Name) and setup:
        last = setup[-1]
        if isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name) and last.targets[0].id == show.id:
            return last.value, setup[:-1]
    return show, setup


# ---- running a snippet

def run(snippet):
    space = {"__name__": "__main__"}
    text = snippet["show"]
    try:
        for text in snippet["setup"]:
            exec(compile(text, "<stdin>", "exec"), space)
        text = snippet["show"]
        value = eval(compile(text, "<stdin>", "eval"), space)
        return {"value": repr(value), "at": text}
    except BaseException as error:
        lines = traceback.format_exception(type(error), error, trimmed(error.__traceback__))
        trace = "".join(lines).replace(os.getcwd() + os.sep, "").rstrip()
        name = type(error).__name__
        return {"exception": name, "message": str(error), "last": trace.rsplit("\n", 1)[-1] if "\n" not in str(error).strip() else name + ": " + str(error).split("\n")[0],
                "traceback": trace, "at": text}


def trimmed(trace):
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def main():
    mode, what = sys.argv[1:3]
    # The project comes first, whatever holds this file.
    sys.path[0] = os.getcwd()
    try:
        if mode == "slice":
            tell(sliced(failing(what)))
        else:
            tell(run(json.load(open(what, encoding="utf-8"))))
    except NoSnippet as why:
        tell({"none": str(why)})
    except Exception as error:
        tell({"none": "the probe broke: %r" % (error,)})


main()
