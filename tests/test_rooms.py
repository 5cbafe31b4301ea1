"""The rooms of `fabric/` stand in one order: each imports only those above it, and only `fabric/design/` reads an intent.

All imports count: those inside functions, those for type checkers, and modules that a string names for an import at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache

import networkx
import pytest

from tests import ROOT
from tests.test_imports import FABRIC, imported, inside_of, modules, nodes

ROOMS = ("base", "hardware", "model", "nos", "solver", "configs", "design", "audit", "deliver", "lab", "api", "cli")
ROOF = ("pipeline", "__init__")  # files of the top: the pipeline is above every room but the command line
FILES = {"__init__.py", "pipeline.py"}
EXCEPTIONS: dict[tuple[str, str], str] = {}  # (module, what it imports from a room below its own) → the reason; five at most
NAMED = re.compile(r"(fabric(?:\.\w+)+)(?::\w+)?")
KEYS = {"site", "source"}  # of an intent: its models and its document


def room(module: str) -> str:
    """`base` for `fabric.base.text`; `pipeline` and `__init__` for the two files at the top."""
    return f"{module}.__init__".split(".")[1]


def place(module: str) -> int:
    """Of its room in the order."""
    name = room(module)
    return ROOMS.index("cli") if name == "pipeline" else len(ROOMS) if name == "__init__" else ROOMS.index(name)


@cache
def imports() -> networkx.DiGraph:
    graph = networkx.DiGraph()
    graph.add_nodes_from(modules())
    for name, path in modules().items():
        graph.add_edges_from((name, target) for target in (*imported(path), *named(nodes(path))))
    return graph


def named(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Modules in strings: `fabric.base.formats.documents:report`."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = NAMED.fullmatch(node.value)
            if found and found[1] in modules():
                yield found[1]


def test_what_lies_in_the_package() -> None:
    assert {path.name for path in FABRIC.iterdir()} - {"__pycache__"} == {*ROOMS, *FILES}


def test_no_file_is_longer_than_500_lines() -> None:
    """An idea has a file of 150 to 400 lines; a file of one function lies with what uses it."""
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert {name for name, lines in lengths.items() if lines > 500} == set()


def test_a_room_imports_only_rooms_above_it() -> None:
    down = {(name, target) for name, target in imports().edges if place(target) > place(name)}
    assert sorted(down - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - down) == []
    assert len(EXCEPTIONS) <= 5


def test_rooms_form_no_circle() -> None:
    arrows = networkx.DiGraph((room(name), room(target)) for name, target in imports().edges if room(name) != room(target))
    assert [sorted(circle) for circle in networkx.strongly_connected_components(arrows) if len(circle) > 1] == []


def test_the_page_has_the_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `fabric/(\w+)/", page.partition("## Rooms")[2].partition("## Packages")[0], re.MULTILINE)
    assert tuple(rows) == ROOMS


# --- intents ------------------------------------------------------------------------------------------------------------


def reads(source: str) -> Iterator[str]:
    """Places where the models or the document of an intent are read: of a variable of this name or of this type."""
    if not any(f".{key}" in source for key in KEYS):
        return
    tree = ast.parse(source)
    typed = {
        node.arg if isinstance(node, ast.arg) else node.target.id
        for node in ast.walk(tree)
        if (isinstance(node, ast.arg) or (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)))
        and node.annotation is not None
        and re.search(r"\bIntent\b", ast.unparse(node.annotation))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in KEYS:
            value = node.value
            name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
            if name in {"intent", *typed}:
                yield f"{node.lineno}: {ast.unparse(node)}"


def test_only_the_design_reads_an_intent() -> None:
    found = [
        f"{name}:{read}"
        for name, path in modules().items()
        if not inside_of(name, "fabric.design")
        for read in reads(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(old: Intent): return old.site.checks", ["1: old.site"]),
        ("x = asked.intent.source.data", ["1: asked.intent.source"]),
        ("intent = load(file)\nintent.site", ["2: intent.site"]),
        ("def f(plan: Plan, intent: Intent): return plan.site, intent.name", []),
    ],
)
def test_what_counts_as_reading(source: str, wanted: list[str]) -> None:
    assert list(reads(source)) == wanted


def test_modules_in_strings_are_imports() -> None:
    source = "a = 'fabric.base.text'\nb = 'fabric.base.formats.documents:report'\nc = 'fabric.none', 'of fabric.base'"
    assert list(named(ast.walk(ast.parse(source)))) == ["fabric.base.text", "fabric.base.formats.documents"]
