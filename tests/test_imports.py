"""Who imports whom in `fabric/`: the pipeline is the roof, the solver a leaf, and there are no large circles.

A command imports what it uses: a start of `fabric` is nearly all imports. What only some inputs need, or a library that is
large, is imported in the function that needs it; what is only named in annotations, under TYPE_CHECKING.

Of who imports whom all imports count, those inside functions too. Imports for type checkers alone count in the circles as
well: who reads a file has to know what its types are. What is imported by name at run time (`import_module`) does not.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import networkx
import pytest

from fabric.nos.target import GROUP
from tests import ROOT

FABRIC = ROOT / "fabric"
CIRCLE = 4  # files that may need each other
STARTER = str(ROOT / "intent" / "starter.yaml")  # of SONiC switches
START = "import sys; from fabric.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
LARGE = {"concurrent.futures", "jinja2", "netaddr", "networkx", "numpy", "numpy.ma", "pydantic", "scipy", "ssl", "yaml"}
# Command → the most modules of `fabric` that it may import, and the large libraries that it does
STARTS = {
    ("--help",): (22, set()),
    ("explain", "FAB102"): (30, {"pydantic", "yaml"}),
    ("plan", STARTER): (122, {"netaddr", "numpy", "pydantic", "yaml"}),
    ("plan", STARTER, "--json"): (120, {"netaddr", "numpy", "pydantic", "yaml"}),
    ("estimate", STARTER): (157, {"netaddr", "numpy", "numpy.ma", "pydantic", "yaml"}),
}


@cache
def modules() -> dict[str, Path]:
    """Name → file of every module and package."""
    parts = {path: path.relative_to(ROOT).with_suffix("").parts for path in sorted(FABRIC.rglob("*.py"))}
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for path, names in parts.items()}


@cache
def imports() -> networkx.DiGraph:
    """An edge from each module to each that it imports; `from package import module` is an import of the module."""
    graph = networkx.DiGraph((name, target) for name, path in modules().items() for target in imported(path))
    graph.add_nodes_from(modules())
    return graph


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Of a file, parsed once."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom) and node.module in modules():
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules() else homes().get(name, str(node.module)) for name in names)


@cache
def homes() -> dict[str, str]:
    """Name that a package hands on → its module, as the package's `__init__.pyi` says."""
    return {
        f"{package}.{alias.name}": f"{package}.{node.module}"
        for package, path in modules().items()
        if (stub := path.with_suffix(".pyi")).is_file()
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def importers(package: str) -> dict[str, list[str]]:
    """Module → what it imports of a package, for all modules outside it."""
    graph, inside = imports(), {name for name in modules() if inside_of(name, package)}
    return {
        name: found
        for name in graph
        if name not in inside and (found := sorted(target for target in graph[name] if target in inside))
    }


def inside_of(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


def test_only_the_cli_imports_the_pipeline() -> None:
    users = [name for name in importers("fabric.pipeline") if not inside_of(name, "fabric.cli")]
    assert users == ["fabric"]  # the public API


def test_only_the_pipeline_imports_the_verbs() -> None:
    assert list(importers("fabric.api")) == ["fabric.pipeline"]


def test_nothing_imports_the_cli() -> None:
    assert importers("fabric.cli") == {}


def test_import_cycles_are_small() -> None:
    cycles = [sorted(component) for component in networkx.strongly_connected_components(imports())]
    assert [cycle for cycle in cycles if len(cycle) > CIRCLE] == []


def test_the_solver_is_a_leaf() -> None:
    may = ("solver", "base", "hardware", "model")
    found = {
        (name, target) for name in modules() if inside_of(name, "fabric.solver") for target in imports().successors(name)
    }
    assert sorted(pair for pair in found if not any(inside_of(pair[1], f"fabric.{name}") for name in may)) == []


@pytest.mark.parametrize("words", STARTS, ids=lambda words: " ".join(Path(word).name for word in words))
def test_a_command_imports_what_it_uses(words: tuple[str, ...]) -> None:
    most, large = STARTS[words]
    loaded = started(words)
    assert loaded & LARGE == large
    assert len([name for name in loaded if inside_of(name, "fabric")]) <= most


@pytest.mark.parametrize("words", [("plan", STARTER), ("estimate", STARTER)], ids=lambda words: words[0])
def test_a_plan_imports_no_other_network_os(words: tuple[str, ...]) -> None:
    loaded = started(words)
    homes = {entry.name: entry.module.rpartition(".")[0] for entry in entry_points(group=GROUP)}
    assert [name for name, home in homes.items() if home in loaded] == ["sonic"]


@cache
def started(words: tuple[str, ...]) -> frozenset[str]:
    """The modules that a command has imported when it ends."""
    done = subprocess.run([sys.executable, "-c", START, *words], capture_output=True, text=True, check=True)
    return frozenset(done.stderr.splitlines()[-1].split())
