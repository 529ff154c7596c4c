"""The house: who may import whom, who may speak, and how large a thing may grow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "geode_traj"

_VALUES = {"errors", "front", "model"}
_RULES = _VALUES | {"codec", "contract"}
_SHELVES = _RULES | {"attest", "report", "scan", "sources", "store"}
_WORK = _SHELVES | {"export", "migrate", "verify"}
_GATES = _WORK | {"live", "release", "review"}
# Room -> rooms it may import. Rooms of one level never import each other; `verify` stands alone.
ROOMS: dict[str, set[str]] = {
    "front": set(),
    "errors": set(),
    "model": set(),
    "codec": _VALUES,
    "contract": _VALUES | {"codec"},
    "attest": _RULES,
    "report": _RULES,
    "scan": _RULES,
    "sources": _RULES,
    "store": _RULES,
    "migrate": _SHELVES,
    "export": _SHELVES,
    "verify": _RULES,
    "live": _WORK,
    "review": _WORK | {"live"},
    "release": _WORK | {"live"},
    "jobs": _GATES,
    "view": _GATES | {"jobs"},
    "cli": _GATES | {"jobs", "view"},
}
# The checker must not share the maker's mistakes: of its room it knows itself and the names of files.
CHECKER, SHARED = "geode_traj.release.check", "geode_traj.release.layout"

MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
IDS = [str(path.relative_to(PACKAGE)) for path in MODULES]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def room_of(name: str) -> str:
    """Return a module's room; the package's front, which holds its version, is one of its own."""
    parts = name.split(".")
    return "front" if len(parts) == 1 else "cli" if parts[1] == "__main__" else parts[1]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports_of(path: Path) -> set[str]:
    """Return the modules of the package that a module imports, lazily too."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            found |= {f"{base}.{a.name}" if f"{base}.{a.name}" in NAMES else base for a in node.names}
    return {name for name in found if name.split(".")[0] == "geode_traj"}


def test_every_room_is_in_the_table() -> None:
    assert {room_of(name) for name in NAMES} <= ROOMS.keys()


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_imports_go_down(path: Path) -> None:
    name = name_of(path)
    room = room_of(name)
    for other in imports_of(path):
        assert room_of(other) in ROOMS[room] | {room}, f"{name} imports {other}"
        if name.startswith(CHECKER) and room_of(other) == "release":
            assert other == SHARED or other.startswith(CHECKER), f"{name} imports {other}"


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {name_of(path): imports_of(path) & NAMES - {name_of(path)} for path in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"an import cycle: {' -> '.join(error.args[1])}")


SPEAKING = {"print", "input", "breakpoint"}
STREAMS = {
    ("sys", "stdout"),
    ("sys", "stderr"),
    ("sys", "stdin"),
    ("sys", "argv"),
    ("os", "environ"),
    ("os", "getenv"),
}
READERS = {"argparse", "click", "configparser", "platformdirs", "rich", "tomllib"}


# Where the ssh-agent listens is a fact of the system, asked for on the command line's behalf; a policy is
# TOML whoever hands it over.
QUIET = [path for path in MODULES if room_of(name_of(path)) != "cli"]
GRANTED = {"attest/agent.py": ["os.environ"], "contract/policy.py": ["tomllib"]}


def heard(tree: ast.Module) -> Iterator[str]:
    """Yield what in a module prints, reads the terminal or reads configuration."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKING:
            yield node.func.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in STREAMS:
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in READERS)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in READERS:
            yield str(node.module)


@pytest.mark.parametrize("path", QUIET, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_speaks(path: Path) -> None:
    assert list(heard(tree_of(path))) == GRANTED.get(str(path.relative_to(PACKAGE)), [])


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_sizes(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 500
    for node in functions(tree_of(path)):
        assert (node.end_lineno or 0) - node.lineno < 60, node.name


def undocumented(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    """Yield the public names in a module or class that have no docstring."""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name[0] != "_":
            if not ast.get_docstring(child):
                yield f"{prefix}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{prefix}{child.name}.")


@pytest.mark.parametrize("path", MODULES, ids=IDS)
def test_every_public_name_says_what_it_is(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree)
    assert list(undocumented(tree, "")) == []
