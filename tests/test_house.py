"""The rules of the house that a linter does not know: what source may not contain, and which room may use which."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "composita"
SOURCES = sorted(PACKAGE.rglob("*.py"))
ROOMS = (
    "store", "corpus", "counting", "spaces", "functions", "grammar", "composition", "evaluation", "experiment",
    "explorer", "cli",
)  # fmt: skip
"""In the order of the flow."""
UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "yaml", "code"}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "pty.spawn", "numba.jit.eval"}
LONGEST_FILE, LONGEST_FUNCTION = 800, 80
LONG_ALL_THE_SAME = {"scan_sentences"}  # one loop over bytes, whose parts would have to share a dozen numbers


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(node):
    """Name the modules of an import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute"
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def at_once(nodes):
    """Go through what runs when a module is imported: all but functions, and what only type checkers read."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from at_once(ast.iter_child_nodes(node))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_from_outside_is_run(path):
    for node in ast.walk(parsed(path)):
        names = {name.split(".")[0] for name in imported(node)}
        assert not names & UNSAFE_MODULES, f"line {node.lineno}: {names & UNSAFE_MODULES}"
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in UNSAFE_CALLS, f"line {node.lineno}: {ast.unparse(node.func)}"
            for keyword in node.keywords:
                assert keyword.arg not in ("shell", "allow_pickle") or ast.unparse(keyword.value) == "False"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_rooms_use_only_those_to_their_left(path):
    room = path.relative_to(PACKAGE).parts[0]
    if room not in ROOMS:
        return  # the modules that stand before the house
    for node in at_once(ast.iter_child_nodes(parsed(path))):
        for name in imported(node):
            parts = name.split(".")
            if parts[0] == "composita" and len(parts) > 1 and parts[1] in ROOMS:
                assert ROOMS.index(parts[1]) <= ROOMS.index(room), f"line {node.lineno}: {room} uses {parts[1]}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in LONG_ALL_THE_SAME:
            assert node.end_lineno - body_line(node) < LONGEST_FUNCTION, node.name


def body_line(node):
    """Give the line where the work begins: options and what is said of them may be as many as there are."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    return first.end_lineno if is_docstring else first.lineno
